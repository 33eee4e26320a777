// The environment variables of observers, all of them and read here only, once:
//   DOVETAIL_TRACE=file.json          runs are recorded, and written as a trace when executors end; %r in the name: a file a rank
//   DOVETAIL_VISUALIZE_SCHEDULE=1     at the first run the page and the DOT of each graph are written; a folder in place of 1: there
//   DOVETAIL_EXPLAIN=1                at the first run each plan is printed, to the standard error
//   DOVETAIL_NVTX=1                   profilers see ranges with the names of graphs and operations
#pragma once

#include "../core/config.hpp"

#include <cstdlib>
#include <string>

namespace dovetail::observe {

struct environment {
    std::string trace;      // empty: off
    std::string visualize;  // the folder; empty: off
    bool explain = false;
    bool nvtx = false;

    bool any() const { return !trace.empty() || !visualize.empty() || explain || nvtx; }

    static environment read() {
        const auto get = [](const char* name) {
            const char* text = std::getenv(name);
            return std::string{text == nullptr ? "" : text};
        };
        const auto on = [](const std::string& text) { return !text.empty() && text != "0"; };
        environment e;
        e.trace = get("DOVETAIL_TRACE");
        const std::string visualize = get("DOVETAIL_VISUALIZE_SCHEDULE");
        if (on(visualize)) e.visualize = visualize == "1" ? "." : visualize;
        e.explain = on(get("DOVETAIL_EXPLAIN"));
        e.nvtx = on(get("DOVETAIL_NVTX"));
        return e;
    }
};

}  // namespace dovetail::observe
