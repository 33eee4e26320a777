// The main function of a program that shows plans without running them: it prints the text, and writes a page and a DOT file for each graph
// to the folder given as its argument. With --search in front of the folder it searches for rewrites instead, and writes for each graph a
// header with what it decided, for the options of the program. dovetail_plan of CMake and Meson builds such programs.
//   int main(int count, char** arguments) { return dovetail::observe::plan_tool<app::model>(count, arguments); }
#pragma once

#include "../plan/wide_search.hpp"
#include "dot.hpp"
#include "files.hpp"
#include "html.hpp"
#include "text.hpp"

namespace dovetail::observe {

// A graph with options of its plan other than the defaults.
template <class G, class O>
struct with {};

namespace detail {

template <class G>
struct graph_and_options {
    using graph = G;
    using options = dovetail::options<>;
};
template <class G, class O>
struct graph_and_options<with<G, O>> {
    using graph = G;
    using options = O;
};

template <class G>
bool show(files& to, const std::string& folder, int number) {
    using asked = graph_and_options<G>;
    const plan_view of{tables_of<typename asked::graph, typename asked::options>()};
    const std::string text = explain(of) + "\n" + report_text(of, overlap(of, predicted(of), sequential(of))) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    const std::string path = folder + "/" + file_name(of.title()) + (number > 1 ? "_" + std::to_string(number) : "");
    const bool page = to.write("page", path + ".html", html(of));
    return to.write("DOT file", path + ".dot", dot(of)) && page;
}

// A header that defines NAME_decisions, an option of a plan.
inline std::string decisions_text(const std::string& title, const std::string& name, const plan_options& s,
                                  const dovetail::plan::wide_search& found) {
    const dovetail::plan::rewrite_trial& best = found.best();
    const std::string words = rewrites_text(best.list);
    std::string type = "dovetail::decided_rewrites<" + std::to_string(best.list.blocks) + ", " + std::to_string(best.list.halved) + "u, " +
                       (best.list.everywhere ? "true" : "false") + ", " +
                       (best.list.kept == all_kept ? std::string{"dovetail::all_kept"} : std::to_string(best.list.kept));
    for (int i = 0; i < best.list.count; ++i) type += ", dovetail::rewrite::" + std::string(dovetail::name_of(best.list.kind[i]));
    type += ">";
    if (best.list.copied_from != INT64_MAX)
        type = "dovetail::decided<" + type + ", dovetail::collective_transport<dovetail::transport::peer_copy, " +
               std::to_string(best.list.copied_from) + ">>";
    return "// Decisions for `" + title + "` on " + s.machine.name +
           ", written by dovetail_plan --search: " + (words.empty() ? "as written" : words) +
           ".\n// Predicted: " + microseconds(best.length) + " us; as written " + microseconds(found.as_written().length) +
           " us. An option of the plan: dv::options<machine, " + name +
           "_decisions>.\n#pragma once\n\n#include <dovetail/dovetail.hpp>\n\nusing " + name + "_decisions = " + type + ";\n";
}

template <class G>
bool search(files& to, const std::string& folder, int number) {
    using asked = graph_and_options<G>;
    static_assert(dovetail::plan::is_valid_graph<typename asked::graph>());
    const plan_options& s = asked::options::value;
    const std::string title = display(tag_of<typename asked::graph>);
    std::string name = type_name(title) + (number > 1 ? "_" + std::to_string(number) : "");
    for (char& c : name)
        if (c == '-' || c == '.') c = '_';
    const dovetail::plan::wide_search found{dovetail::plan::typed<typename asked::graph>::value, s, [&](const auto& trial) {
                                                std::printf("%s: %s us, %s\n", title.c_str(), microseconds(trial.length).c_str(),
                                                            rewrites_text(trial.list).c_str());
                                            }};
    return to.write("decisions", folder + "/" + name + "_decisions.hpp", decisions_text(title, name, s, found));
}

}  // namespace detail

// The files of the second and further plans have a number in their names. Returns 1 if a file could not be written.
template <class... G>
int plan_tool(int count, char** arguments) {
    const bool searches = count > 1 && std::string(arguments[1]) == "--search";
    const int at = searches ? 2 : 1;
    const std::string folder = count > at ? arguments[at] : ".";
    files to;
    int number = 0;
    bool all = true;
    ((all = (searches ? detail::search<G>(to, folder, ++number) : detail::show<G>(to, folder, ++number)) && all), ...);
    return all ? 0 : 1;
}

}  // namespace dovetail::observe
