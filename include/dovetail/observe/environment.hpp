// The environment variables of observers. Only this header reads them, once:
//   DOVETAIL_TRACE=file.json          records runs, and writes them as a trace when executors end; %r in the name: one file per rank
//   DOVETAIL_PROFILE=file.hpp         records runs, and writes the times of their operations as a header when executors end, for the
//                                     option dv::profile; if ranks are processes, each writes its own file, %r in the name: its rank
//   DOVETAIL_REPORT=1                 records runs, and prints the overlap report of one of them when executors end
//   DOVETAIL_VISUALIZE_SCHEDULE=1     at the first run, writes a page and a DOT file of each graph, to the current folder or to the folder
//                                     given in place of 1; if runs are recorded, writes the page again at the end, with one of them
//   DOVETAIL_EXPLAIN=1                at the first run, prints each plan; this and the report go to the standard error
//   DOVETAIL_EXPLAIN=passes           prints the table that each stage of the planner makes instead of the plan, if the
//                                     program includes passes.hpp
//   DOVETAIL_NVTX=1                   marks runs and operations as NVTX ranges for profilers
//   DOVETAIL_DUMP=name,name           writes values of these names in the first four runs of each executor to NumPy files in the
//                                     current folder, one for each name, run and rank; `name` also matches the members of a family
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
    bool report = false;
    std::string dump = {};     // names of values; empty: off
    bool passes = false;       // prints the tables of the stages of each plan
    std::string profile = {};  // empty: off

    bool records() const { return !trace.empty() || !profile.empty() || report; }
    bool any() const { return records() || !visualize.empty() || !dump.empty() || explain || passes || nvtx; }

    static environment read() {
        const auto get = [](const char* name) {
            const char* text = std::getenv(name);
            return std::string{text == nullptr ? "" : text};
        };
        const auto on = [](const std::string& text) { return !text.empty() && text != "0"; };
        environment e;
        e.trace = get("DOVETAIL_TRACE");
        e.profile = get("DOVETAIL_PROFILE");
        const std::string visualize = get("DOVETAIL_VISUALIZE_SCHEDULE");
        if (on(visualize)) e.visualize = visualize == "1" ? "." : visualize;
        e.dump = get("DOVETAIL_DUMP");
        const std::string explain = get("DOVETAIL_EXPLAIN");
        e.passes = explain == "passes";
        e.explain = on(explain) && !e.passes;
        e.nvtx = on(get("DOVETAIL_NVTX"));
        e.report = on(get("DOVETAIL_REPORT"));
        return e;
    }
};

}  // namespace dovetail::observe
