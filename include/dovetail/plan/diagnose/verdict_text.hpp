// A verdict as text, with names of the graph, or numbers for what has no name.
#pragma once

#include "../../core/display.hpp"
#include "verdict_names.hpp"

#include <string>

namespace dovetail::plan {

namespace detail {

inline std::string text_of(const tag* name, const char* what, int number) {
    return dovetail::named(name) ? "`" + display(*name) + "`" : std::string(what) + " " + std::to_string(number);
}
inline std::string text_of(const ir::graph& g, const named_operation& named, int task) {
    const bool calls = named.node >= 0 && named.kind == op_kind::compute && dovetail::named(g.nodes[named.node].op->name);
    std::string text = "`" + (calls ? display(*g.nodes[named.node].op->name) : std::string(name_of(named.kind))) + "`";
    if (named.symbol >= 0 && dovetail::named(g.symbols[named.symbol].name))
        return text + " of `" + display(*g.symbols[named.symbol].name) + "`";
    return task < 0 ? text : text + " (" + std::to_string(task) + ")";
}

}  // namespace detail

// A verdict as text: "race, in what the stage synchronise makes: role `receiver`, operation `matmul` of `product<0>` and `fill` of
// `block<0>`, buffer of `block<0>`, run 1"; "proven" if there is no flaw.
inline std::string text_of(const verdict& found, const ir::graph& g, const ir::program& p) {
    if (found) return "proven";
    const verdict bad = completed(found, p);
    std::string text = std::string(name_of(bad.what)) + ", in what the stage `" + stage_of(bad.what) + "` makes", separator = ": ";
    const auto add = [&](const std::string& more) {
        text += separator + more;
        separator = ", ";
    };
    if (bad.role >= 0 && !g.single_rank && detail::within_rows(bad.role, g.roles.count)) {
        if (dovetail::named(g.roles[bad.role].name) || g.roles.count > 1)
            add("role " + detail::text_of(g.roles[bad.role].name, "", bad.role));
    }
    if (const named_operation by = operation_of(g, p, bad); by.known()) {
        std::string operation = "operation " + detail::text_of(g, by, bad.task);
        if (const named_operation other = operation_of(g, p, bad.other); other.known())
            operation += " and " + detail::text_of(g, other, bad.other);
        add(operation);
    }
    if (bad.buffer >= 0) {
        const int symbol = value_of(g, p, bad.buffer);
        add("buffer of " + (symbol < 0 ? std::string("workspace") : detail::text_of(g.symbols[symbol].name, "value", symbol)));
    }
    if (bad.run >= 0) add("run " + std::to_string(bad.run));
    return text;
}

}  // namespace dovetail::plan
