// Runs as a trace for Perfetto and chrome://tracing: a process for each rank with a track for each stream, flow events for channels and
// collectives, and the prediction as another process. Times are on one clock, from the start of the world, and the numbers of processes and
// flow events depend on ranks alone: traces of single ranks are joined by joining their lists of events. HolisticTraceAnalysis reads a
// trace of a single rank: it contains kernels with streams, and communication, including peer copies, is named like NCCL's kernels.
#pragma once

#include "flow_events.hpp"
#include "measured.hpp"

#include <map>

namespace dovetail::observe {

// Runs of one graph in a trace.
struct traced {
    const plan_view* of = nullptr;
    std::vector<timeline> runs;
    const geometry* where = nullptr;  // positions of the ranks; null: no flow events
    std::string hardware = {};        // of the first rank
};

namespace detail {

class trace_writer {
public:
    std::string events;

    void event(const std::string& text) {
        if (!events.empty()) events += ",\n";
        events += text;
    }
    void metadata(const char* what, int process, int track, const std::string& value) {
        event("{\"ph\": \"M\", \"name\": " + in_quotes(what) + ", \"pid\": " + std::to_string(process) +
              (track >= 0 ? ", \"tid\": " + std::to_string(track) : "") + ", \"args\": {" + value + "}}");
    }
    void process(int id, const std::string& name, int place) {
        for (const int known : processes_)
            if (known == id) return;
        processes_.push_back(id);
        metadata("process_name", id, -1, "\"name\": " + in_quotes(name));
        metadata("process_sort_index", id, -1, "\"sort_index\": " + std::to_string(place));
    }
    // Notes the clock error of a rank's times.
    void clock(int process, std::int64_t error) {
        for (const auto& [known, largest] : clocks_)
            if (known == process && largest >= error) return;
        clocks_[process] = error;
    }
    // Writes the clock errors of all ranks, at the end.
    std::string clocks() {
        std::string text;
        for (const auto& [process, error] : clocks_) {
            metadata("process_labels", process, -1, "\"labels\": " + in_quotes("clock to " + microseconds(error) + " us"));
            text += (text.empty() ? "" : ", ") + in_quotes(std::to_string(process)) + ": " + microseconds(error);
        }
        return text;
    }
    // The track of a stream for a slice that begins at `start`. If the stream's first track is occupied, another one is used, so that
    // overlapping slices never share a track.
    int track(int process, int stream, std::int64_t start, std::int64_t end) {
        int same = 0;
        for (track_state& t : tracks_) {
            if (t.process != process || t.stream != stream) continue;
            if (t.end <= start) {
                t.end = end;
                return t.id;
            }
            ++same;
        }
        const int id = 1 + stream + stream_count * same;
        tracks_.push_back({process, stream, id, end});
        metadata("thread_name", process, id,
                 "\"name\": " + in_quotes(std::string("stream ") + dovetail::name_of(static_cast<stream_kind>(stream)) +
                                          (same > 0 ? " (" + std::to_string(same + 1) + ")" : "")));
        metadata("thread_sort_index", process, id, "\"sort_index\": " + std::to_string(id));
        return id;
    }
    int next_correlation() { return ++correlations_; }

private:
    struct track_state {
        int process, stream, id;
        std::int64_t end;
    };
    std::vector<int> processes_;
    std::vector<track_state> tracks_;
    std::map<int, std::int64_t> clocks_;
    int correlations_ = 0;
};

// Kernel names by which HolisticTraceAnalysis recognises NCCL kernels and copies; all others count as computation, also the sums of
// blocks that copy engines have delivered.
inline std::string kernel_name(const plan_view& of, int task) {
    const op_kind kind = of.program.tasks[task].kind;
    std::string label = of.label(task);
    if (kind == op_kind::own_rows) return "Memcpy DtoD " + label;
    if (of.communicates[static_cast<std::size_t>(task)]) return "ncclDevKernel_" + label;
    if (kind == op_kind::to_host) return "Memcpy DtoH " + label;
    if (kind == op_kind::from_host || kind == op_kind::input) return "Memcpy HtoD " + label;
    return label;
}

inline std::string flow(const char* phase, std::int64_t id, const std::string& name, bool channel, int process, int track,
                        std::int64_t at) {
    return std::string("{\"ph\": \"") + phase + "\", \"id\": " + std::to_string(id) + ", \"name\": " + in_quotes(name) + ", \"cat\": \"" +
           (channel ? "channel" : "collective") + "\", \"pid\": " + std::to_string(process) + ", \"tid\": " + std::to_string(track) +
           ", \"ts\": " + microseconds(at) + (*phase == 'f' ? ", \"bp\": \"e\"}" : "}");
}

inline constexpr int first_predicted = 100'000;  // process ids after those of the ranks

// Writes one run of one graph: the slices of its ranks, the flow events between them, and the prediction.
class run_writer {
public:
    // `graph`: its index among the graphs of the trace. `only`: the rank to write; -1: all.
    run_writer(trace_writer& to, const traced& g, const timeline& t, std::int64_t graph, int only)
        : to_{to}, of_{*g.of}, where_{g.where}, t_{t}, graph_{graph}, only_{only}, track_(t.rows.size()) {}

    void write() {
        for (std::size_t k = 0; k < t_.rows.size(); ++k)
            if (only_ < 0 || t_.rows[k].rank == only_) write_slices(k);
        for (std::size_t k = 0; where_ != nullptr && k < t_.rows.size(); ++k) write_arrows(k);
        for (const row& r : predicted(of_).rows) write_prediction(r);
    }

private:
    // A complete event, which has a duration.
    std::string complete(const char* category, const std::string& name, int process, int track, const slice& s,
                         const std::string& arguments) const {
        return std::string("{\"ph\": \"X\", \"cat\": \"") + category + "\", \"name\": " + in_quotes(name) +
               ", \"pid\": " + std::to_string(process) + ", \"tid\": " + std::to_string(track) +
               ", \"ts\": " + microseconds(t_.origin + s.start) + ", \"dur\": " + microseconds(s.end - s.start) + ", \"args\": {" +
               arguments + "}}";
    }
    std::string run_member() const { return "\"run\": " + std::to_string(t_.run); }

    void write_slices(std::size_t k) {
        const row& r = t_.rows[k];
        to_.process(r.rank, r.name, 2 * r.rank);
        to_.clock(r.rank, r.clock_error);
        for (std::size_t i = 0; i < r.slices.size(); ++i) {
            const slice& s = r.slices[i];
            track_[k].push_back(to_.track(r.rank, s.stream, t_.origin + s.start, t_.origin + s.end));
            const ir::step step = of_.steps(r.role)[static_cast<int>(i)];
            to_.event(complete("kernel", kernel_name(of_, s.task), r.rank, track_[k].back(), s,
                               "\"stream\": " + std::to_string(s.stream + 1) + ", \"correlation\": " +
                                   std::to_string(to_.next_correlation()) + ", \"graph\": " + in_quotes(of_.title()) + ", " + run_member() +
                                   ", \"step\": " + std::to_string(i) + ", \"bytes\": " + std::to_string(of_.bytes(step))));
        }
    }

    void write_arrows(std::size_t k) {
        const row& r = t_.rows[k];
        for (std::size_t i = 0; i < track_[k].size(); ++i) {
            const slice& s = r.slices[i];
            if (!of_.communicates[static_cast<std::size_t>(s.task)]) continue;
            const bool channel = of_.program.tasks[s.task].kind == op_kind::transfer;
            for (const flow_event& a : flow_events(of_, *where_, s.task, r.rank)) {
                const std::int64_t id = (graph_ << 40) + t_.run * of_.program.members.size() * where_->ranks() + a.number;
                const bool begins = a.from == r.rank;
                const std::int64_t at = t_.origin + (begins ? s.start : s.end);
                to_.event(flow(begins ? "s" : "f", id, of_.label(s.task), channel, r.rank, track_[k][i], at));
            }
        }
    }

    // Writes the prediction of a role as a process beside the first rank of that role.
    void write_prediction(const row& r) {
        int first = -1;
        for (const row& x : t_.rows)
            if (x.role == r.role && (first < 0 || x.rank < first) && (only_ < 0 || x.rank == only_)) first = x.rank;
        if (first < 0) return;
        const int process = first_predicted + first;
        to_.process(process, "predicted: " + of_.rank_name(r.role, first), 2 * first + 1);
        for (const slice& s : r.slices) {
            const int track = to_.track(process, s.stream, t_.origin + s.start, t_.origin + s.end);
            to_.event(complete("predicted", of_.label(s.task), process, track, s, run_member()));
        }
    }

    trace_writer& to_;
    const plan_view& of_;
    const geometry* where_;
    const timeline& t_;
    std::int64_t graph_;
    int only_;
    std::vector<std::vector<int>> track_;  // by row and slice; empty for ranks that are not written
};

}  // namespace detail

// `only`: the rank to write, for tools that need one file per rank; -1: all.
inline std::string trace(const std::vector<traced>& graphs, int only = -1, int ranks = 0) {
    detail::trace_writer w;
    for (std::size_t g = 0; g < graphs.size(); ++g)
        for (const timeline& t : graphs[g].runs) detail::run_writer{w, graphs[g], t, static_cast<std::int64_t>(g), only}.write();
    const std::string clocks = w.clocks();
    std::string head = "{\n\"schemaVersion\": 1,\n";
    if (only >= 0)
        head += "\"distributedInfo\": {\"rank\": " + std::to_string(only) + ", \"world_size\": " + std::to_string(ranks) + "},\n";
    return head + "\"otherData\": {\"clock_error_us\": {" + clocks + "}},\n\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [\n" + w.events +
           "\n]\n}\n";
}

}  // namespace dovetail::observe
