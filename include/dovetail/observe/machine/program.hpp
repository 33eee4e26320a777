// The main function of a program that measures the machine it runs on, as a table and as a header with a machine description.
// dovetail_machine of CMake builds such a program.
//   int main(int count, char** arguments) {
//       return machine_tool<gpu_sizes>(count, arguments, {gpus, multiprocessors, "H200"}, [](int n) { return cuda::world::local(n); });
//   }
#pragma once

#include "../files.hpp"
#include "../format.hpp"
#include "machine.hpp"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <exception>

namespace dovetail::observe {

namespace detail {

inline std::string date_text() {
    const std::time_t now = std::time(nullptr);
    std::tm day = {};
    char text[16] = {};
    if (gmtime_r(&now, &day) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%d", &day);
    return text;
}
inline std::string numbers_text(const int (&list)[work_class_count]) {
    std::string text;
    for (const int number : list) text += (text.empty() ? "" : ", ") + std::to_string(number);
    return "{" + text + "}";
}
inline std::string interference_text(const interference& x) {
    return "{.of_compute = " + numbers_text(x.of_compute) + ", .of_other = " + numbers_text(x.of_other) + "}";
}
inline std::string links_text(const measured_machine& measured) {
    if (measured.links.empty()) return "";
    std::string text = "    static constexpr dovetail::gpu_pair links[" + std::to_string(measured.links.size()) + "] = {";
    for (std::size_t i = 0; i < measured.links.size(); ++i)
        text += (i % static_cast<std::size_t>(measured.ranks) == 0 ? "\n        {" : " {") + std::to_string(measured.links[i].bandwidth) +
                ", " + std::to_string(measured.links[i].latency) + "},";
    return text + "};\n";
}

}  // namespace detail

// A header that defines a machine of this name, an option of a plan. `where`: what was measured on.
inline std::string machine_header(const measured_machine& measured, const std::string& name, const std::string& where) {
    const machine_description& m = measured.description;
    std::string text = "// Measured by dovetail_machine on " + detail::date_text() + ": " + std::to_string(measured.ranks) + " x " + where +
                       ". An option of a plan: dv::options<" + name + ">.\n";
    for (const machine_figure& f : measured.figures)
        if (f.value == "not measured")
            text += "// Not measured, and as in machine::h200_nvlink: " + f.name + " (" + f.how + ").\n";
        else if (f.value == no_peer_copies)
            text += "// Not measured, and 0, so that there are no peer copies: " + f.name + " (" + f.how + ").\n";
    text += "#pragma once\n\n#include <dovetail/dovetail.hpp>\n\nstruct " + name + " {\n" + detail::links_text(measured) +
            "    static constexpr dovetail::machine_description description{\n        .name = \"" + name + "\"";
    for_each_figure(
        m, [&](const char* member, std::int64_t value) { text += std::string(",\n        .") + member + " = " + std::to_string(value); });
    text += ",\n        .with_communication = " + detail::interference_text(m.with_communication) +
            ",\n        .with_copy = " + detail::interference_text(m.with_copy);
    if (!measured.links.empty()) text += ",\n        .links = links";
    return text + "};\n};\n";
}

// The figures as a table.
inline std::string machine_table(const measured_machine& measured) {
    std::vector<std::vector<std::string>> rows{{"figure", "value", "measured by"}};
    for (const machine_figure& f : measured.figures) rows.push_back({f.name, f.value, f.how});
    return table(rows, "lrl");
}

// Whether a type of a header that machine_header writes can have this name.
inline bool names_type(const std::string& name) {
    static constexpr const char* taken[] = {
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t",
        "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval",
        "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
        "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
        "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
        "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
        "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void",
        "volatile", "wchar_t", "while", "xor", "xor_eq",
        // namespaces, and members of the type
        "dovetail", "dv", "std", "description", "links"};
    const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && std::all_of(name.begin(), name.end(), word) &&
           std::find(std::begin(taken), std::end(taken), name) == std::end(taken);
}

// `program [NAME]` measures a world that `make_world(ranks)` makes, prints the table, and writes NAME.hpp into the current folder. Of more
// than eight ranks it measures eight. Returns 1 if there is none, one cannot be measured, or the file cannot be written.
template <class Sizes, class MakeWorld>
int machine_tool(int count, char** arguments, machine_ranks ranks, MakeWorld make_world) {
    const std::string name = count > 1 ? arguments[1] : "measured_machine";
    if (count > 2 || !names_type(name)) {
        const std::string given = count > 2 ? std::to_string(count - 1) + " arguments" : '`' + name + '`';
        std::fprintf(stderr, "dovetail: one name of a type is expected, of letters, digits and _ and no keyword, and there is %s\n",
                     given.c_str());
        return 1;
    }
    if (ranks.count < 1) {
        std::fprintf(stderr, "dovetail: there is no GPU here to measure\n");
        return 1;
    }
    ranks.count = std::min(ranks.count, most_measured_ranks);
    try {
        auto world = make_world(ranks.count);
        const std::string where = ranks.name + ", " + world.links();
        const measured_machine measured = detail::machine_measurement<Sizes, decltype(world)>{std::move(world), ranks}.measure();
        std::fputs(machine_table(measured).c_str(), stdout);
        files to;
        return to.write("machine", name + ".hpp", machine_header(measured, name, where)) ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "dovetail: this machine cannot be measured: %s\n", text_of(e).c_str());
        return 1;
    }
}

}  // namespace dovetail::observe
