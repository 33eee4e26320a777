// Runs as a trace that Perfetto and chrome://tracing open: a process for each rank with a track for each stream, flow events
// for channels and collectives, and the prediction as a process beside it. Times count from the start of the world, on one clock,
// and numbers of processes and flow events follow from ranks alone: traces of single ranks can be joined by joining their lists of
// events. Such a trace is laid out so that HolisticTraceAnalysis reads it: kernels with streams, communication named as NCCL's
// kernels are, peer copies included.
#pragma once

#include "flow_events.hpp"
#include "measured.hpp"

#include <map>

namespace dovetail::observe {

// Runs of one graph, to be drawn together.
struct traced {
    const plan_view* of = nullptr;
    std::vector<timeline> runs;
    const geometry* where = nullptr;  // of the ranks; null: no flow events
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
    // What the rank's times are worth against those of others.
    void clock(int process, std::int64_t error) {
        for (const auto& [known, largest] : clocks_)
            if (known == process && largest >= error) return;
        clocks_[process] = error;
    }
    // ... of all ranks, at the end.
    std::string clocks() {
        std::string text;
        for (const auto& [process, error] : clocks_) {
            metadata("process_labels", process, -1, "\"labels\": " + in_quotes("clock to " + microseconds(error) + " us"));
            text += (text.empty() ? "" : ", ") + in_quotes(std::to_string(process)) + ": " + microseconds(error);
        }
        return text;
    }
    // The track of a stream for what begins at `start`: a further one where the first is still taken, so that slices that
    // overlap never share one.
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

// As HolisticTraceAnalysis tells kernels apart: NCCL's, copies, and the rest, which compute.
inline std::string kernel_name(const plan_view& of, int task) {
    const ir::task& v = of.program.tasks[task];
    if (of.communicates[static_cast<std::size_t>(task)]) return "ncclDevKernel_" + of.label(task);
    if (v.kind == op_kind::compute) return of.label(task);
    return std::string(v.kind == op_kind::to_host ? "Memcpy DtoH " : "Memcpy HtoD ") + of.label(task);
}

inline std::string flow(const char* phase, std::int64_t id, const std::string& name, bool channel, int process, int track, std::int64_t at) {
    return std::string("{\"ph\": \"") + phase + "\", \"id\": " + std::to_string(id) + ", \"name\": " + in_quotes(name) + ", \"cat\": \"" +
           (channel ? "channel" : "collective") + "\", \"pid\": " + std::to_string(process) + ", \"tid\": " + std::to_string(track) +
           ", \"ts\": " + microseconds(at) + (*phase == 'f' ? ", \"bp\": \"e\"}" : "}");
}

inline constexpr int first_predicted = 100'000;  // process ids behind those of the ranks

}  // namespace detail

// `only`: the rank to write, for tools that want a file each; -1: all.
inline std::string trace(const std::vector<traced>& graphs, int only = -1, int ranks = 0) {
    detail::trace_writer w;
    std::int64_t ordinal = -1;
    for (const traced& g : graphs) {
        const plan_view& of = *g.of;
        ++ordinal;
        for (const timeline& t : g.runs) {
            std::vector<std::vector<int>> track(t.rows.size());
            for (std::size_t k = 0; k < t.rows.size(); ++k) {
                const row& r = t.rows[k];
                if (only >= 0 && r.rank != only) continue;
                w.process(r.rank, r.name, 2 * r.rank);
                w.clock(r.rank, r.clock_error);
                for (std::size_t i = 0; i < r.slices.size(); ++i) {
                    const slice& s = r.slices[i];
                    const std::int64_t start = t.origin + s.start, end = t.origin + s.end;
                    track[k].push_back(w.track(r.rank, s.stream, start, end));
                    w.event("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": " + in_quotes(detail::kernel_name(of, s.task)) +
                            ", \"pid\": " + std::to_string(r.rank) + ", \"tid\": " + std::to_string(track[k].back()) + ", \"ts\": " + microseconds(start) +
                            ", \"dur\": " + microseconds(end - start) + ", \"args\": {\"stream\": " + std::to_string(s.stream + 1) + ", \"correlation\": " +
                            std::to_string(w.next_correlation()) + ", \"graph\": " + in_quotes(of.title()) + ", \"run\": " + std::to_string(t.run) +
                            ", \"step\": " + std::to_string(i) + ", \"bytes\": " + std::to_string(of.bytes(of.steps(r.role)[static_cast<int>(i)])) + "}}");
                }
            }
            for (std::size_t k = 0; g.where != nullptr && k < t.rows.size(); ++k) {
                const row& r = t.rows[k];
                for (std::size_t i = 0; i < track[k].size(); ++i) {
                    const slice& s = r.slices[i];
                    if (!of.communicates[static_cast<std::size_t>(s.task)]) continue;
                    const bool channel = of.program.tasks[s.task].kind == op_kind::transfer;
                    for (const flow_event& a : flow_events(of, *g.where, s.task, r.rank)) {
                        const std::int64_t id = (ordinal << 40) + t.run * of.program.members.size() * g.where->ranks() + a.number;
                        const bool begins = a.from == r.rank;
                        w.event(detail::flow(begins ? "s" : "f", id, of.label(s.task), channel, r.rank, track[k][i], t.origin + (begins ? s.start : s.end)));
                    }
                }
            }
            const timeline p = predicted(of);
            for (const row& r : p.rows) {
                int first = -1;
                for (const row& x : t.rows)
                    if (x.role == r.role && (first < 0 || x.rank < first) && (only < 0 || x.rank == only)) first = x.rank;
                if (first < 0) continue;
                const int process = detail::first_predicted + first;
                w.process(process, "predicted: " + of.rank_name(r.role, first), 2 * first + 1);
                for (const slice& s : r.slices) {
                    const std::int64_t start = t.origin + s.start, end = t.origin + s.end;
                    w.event("{\"ph\": \"X\", \"cat\": \"predicted\", \"name\": " + in_quotes(of.label(s.task)) + ", \"pid\": " + std::to_string(process) +
                            ", \"tid\": " + std::to_string(w.track(process, s.stream, start, end)) + ", \"ts\": " + microseconds(start) +
                            ", \"dur\": " + microseconds(end - start) + ", \"args\": {\"run\": " + std::to_string(t.run) + "}}");
                }
            }
        }
    }
    const std::string clocks = w.clocks();
    return "{\n\"schemaVersion\": 1,\n" +
           (only >= 0 ? "\"distributedInfo\": {\"rank\": " + std::to_string(only) + ", \"world_size\": " + std::to_string(ranks) + "},\n" : std::string{}) +
           "\"otherData\": {\"clock_error_us\": {" + clocks + "}},\n\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [\n" + w.events + "\n]\n}\n";
}

}  // namespace dovetail::observe
