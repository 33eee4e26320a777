// The overlap report as a table: one line per rank, then the exposed communication and the computations that could have covered it.
#pragma once

#include "overlap.hpp"

namespace dovetail::observe {

namespace detail {

inline std::vector<std::string> report_row(const rank_overlap& x, bool knows_waiting) {
    return {x.name,
            microseconds(x.length),
            microseconds(x.compute),
            microseconds(x.communication),
            microseconds(x.exposed),
            knows_waiting ? microseconds(x.waiting) : "-",
            percent(x.both, x.communication),
            x.communication_alone == 0 || !knows_waiting ? "-" : percent(x.communication_alone - x.exposed_moving, x.communication_alone),
            x.smaller == 0                        ? "-"
            : x.sequential - x.length > x.smaller ? "> 100 %"
            : x.length - x.sequential > x.smaller ? "< -100 %"
                                                  : percent(x.sequential - x.length, x.smaller),
            microseconds(x.sequential),
            ratio(x.sequential, x.length, 2),
            ratio(x.sequential, x.larger, 2)};
}

// What the columns mean, and what is not known.
inline std::string legend(const overlap_report& report) {
    std::string text =
        "  hidden 1: of the time that communicates, the share that also computes (as HolisticTraceAnalysis counts); "
        "2: one minus exposed over\n"
        "  communication on one stream, both without waiting for partners; "
        "3: what was gained over the smaller of compute and communication on one stream\n";
    if (!report.knows_waiting) text += "  waiting and 2 are not known: other ranks are in other processes\n";
    if (report.measured && !report.before_measured)
        text +=
            "  one stream was not measured: its times are predicted, and 2, 3, the speed-up and its bound are worth no more than that\n";
    return text;
}

}  // namespace detail

// `exposures`: how many of each rank's longest exposures to list.
inline std::string report_text(const plan_view& of, const overlap_report& report, int exposures = 5) {
    std::vector<std::vector<std::string>> rows{{report.measured ? "rank" : "role", "time", "compute", "comm", "exposed", "waiting",
                                                "hidden 1", "hidden 2", "hidden 3", "one stream", "speed-up", "at most"}};
    for (const rank_overlap& x : report.ranks) rows.push_back(detail::report_row(x, report.knows_waiting));
    if (report.ranks.size() > 1) rows.push_back(detail::report_row(report.total, report.knows_waiting));
    std::string text = std::string("overlap of `") + of.title() + "`, " +
                       (report.measured ? "run " + std::to_string(report.run) + " measured" : "predicted") + ", microseconds\n" +
                       table(rows, "lrrrrrrrrrrr");
    text += detail::legend(report);
    bool any_exposed = false;
    for (const rank_overlap& x : report.ranks) {
        if (x.exposures.empty()) continue;
        any_exposed = true;
        text += "exposed on " + x.name + ":\n";
        int left = exposures;
        for (const exposure& e : x.exposures) {
            if (left-- == 0) {
                text += "  ... and " + std::to_string(x.exposures.size() - static_cast<std::size_t>(exposures)) + " more\n";
                break;
            }
            text += "  " + padded(microseconds(e.time), 10, true) + "  " + of.label(e.task) + "; could cover:";
            bool any = false;
            for (int why = 0; why < obstacle_count; ++why)
                if (e.count[why] > 0) {
                    text += std::string(any ? "," : "") + " " + std::to_string(e.count[why]) + " (" + microseconds(e.sum[why]) + ") " +
                            name_of(static_cast<obstacle>(why));
                    any = true;
                }
            text += any ? "\n" : " nothing else computes on it\n";
            // Names the operations that a better plan could have moved.
            int named_ones = 3;
            for (const cover& c : e.candidates)
                if (c.why != obstacle::dependency && c.why != obstacle::elsewhere && named_ones-- > 0)
                    text += "              " + of.label(c.task) + " " + microseconds(c.time) + ": " + name_of(c.why) + "\n";
        }
    }
    if (any_exposed)
        text +=
            "  could cover: computations of the rank that did not run beside it. "
            "dependency: one needs what the other makes; memory: they share bytes;\n"
            "  queue: it belongs to a communication that the stream takes before or after; "
            "covers another: it runs beside another communication;\n"
            "  interference: nothing forbids it, and the plan sees no gain\n";
    return text;
}

}  // namespace dovetail::observe
