// The main function of a program that shows plans without running them: it prints the text, and writes a page and a DOT file for each graph
// to the folder given as its argument. dovetail_plan of CMake and Meson builds such programs.
//   int main(int count, char** arguments) { return dovetail::observe::plan_tool<app::model>(count, arguments); }
#pragma once

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

}  // namespace detail

// The files of the second and further plans have a number in their names. Returns 1 if a file could not be written.
template <class... G>
int plan_tool(int count, char** arguments) {
    const std::string folder = count > 1 ? arguments[1] : ".";
    files to;
    int number = 0;
    bool all = true;
    ((all = detail::show<G>(to, folder, ++number) && all), ...);
    return all ? 0 : 1;
}

}  // namespace dovetail::observe
