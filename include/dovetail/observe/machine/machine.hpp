// Measures a machine by dovetail's own graphs: every figure of a machine_description for which the world has what it takes. What is not
// measured keeps the figure of machine::h200_nvlink, and is said.
#pragma once

#include "times.hpp"

#include <string>
#include <utility>

namespace dovetail::observe {

// One figure of a machine: how it was found, or why it was not.
struct machine_figure {
    std::string name, value, how;
};

// What is measured: GPUs, or threads of the host.
struct machine_ranks {
    int count = 1;
    int multiprocessors = 0;  // of one; 0: it is not divided into any
    std::string name = {};
};

struct measured_machine {
    machine_description description = machine::h200_nvlink::description;
    std::vector<gpu_pair> links = {};  // from each GPU to each, row by row; empty where all are alike
    int ranks = 1;
    std::vector<machine_figure> figures = {};
};

inline constexpr int most_measured_ranks = 8;
inline constexpr const char* no_peer_copies = "0, not measured";  // the value of a bandwidth

namespace detail {

constexpr std::int64_t per_second(std::int64_t amount, std::int64_t ns) {
    const std::int64_t time = ns > 0 ? ns : 1;
    return amount / time * 1'000'000'000 + amount % time * 1'000'000'000 / time;
}

// The link on which copies of two sizes take these times, the smaller one first. Bandwidth 0: the larger one took no longer.
constexpr gpu_pair line_through(std::int64_t bytes, std::int64_t ns, std::int64_t more_bytes, std::int64_t more_ns) {
    if (more_ns <= ns) return {0, 1000 * ns};
    const std::int64_t bandwidth = per_second(more_bytes - bytes, more_ns - ns);
    return {bandwidth, std::max<std::int64_t>(0, 1000 * ns - cost_model::time_at(bytes, bandwidth))};
}

// Of work that takes so long alone, and took so long, `together` of it beside something: its time beside it, in thousandths.
constexpr std::int64_t pace(std::int64_t alone, std::int64_t took, std::int64_t together) {
    constexpr std::int64_t most = 8000;
    const std::int64_t done = alone - (took - together);
    return done * most <= together * 1000 ? most : std::max<std::int64_t>(1000, together * 1000 / done);
}

template <class Sizes, class World>
class machine_measurement {
public:
    machine_measurement(World world, const machine_ranks& ranks) : world_{std::move(world)} {
        made_.ranks = ranks.count;
        made_.description.multiprocessors = ranks.multiprocessors;
    }

    measured_machine measure() {
        measure_arithmetic();
        measure_latencies();
        measure_memory();
        if (made_.ranks > 1) {
            measure_messages();
            measure_links();
            measure_interference();
        } else {
            for (const char* name :
                 {"link_latency", "link_bandwidth", "bus_bandwidth", "peer_latency", "peer_bandwidth", "with_communication", "with_copy"})
                not_measured(name, "that takes two GPUs");
        }
        not_measured("network_latency, network_bandwidth", "that takes two hosts");
        return made_;
    }

private:
    using plain = options<force_candidate<candidate::written>, collective_transport<transport::nccl>, channel_transport<transport::nccl>>;

    template <class G>
    recorded_ranks runs_of() {
        return recorded_ranks::of<G, plain>(world_, made_.ranks, Sizes::runs);
    }
    void note(const std::string& name, std::int64_t& figure, std::int64_t value, const char* unit, const std::string& how) {
        figure = value;
        made_.figures.push_back({name, std::to_string(value) + " " + unit, how});
    }
    // From how much longer the large amount took; noise can hide that.
    void note_bandwidth(const std::string& name, std::int64_t& figure, std::int64_t bytes, std::int64_t longer, const std::string& how) {
        if (longer <= 0) return not_measured(name, "a large message took no longer than a small one");
        note(name, figure, per_second(bytes, longer), "bytes per second", how);
    }
    void not_measured(const std::string& name, const std::string& why) { made_.figures.push_back({name, "not measured", why}); }

    // The time of all that computes in a run, on the slowest rank.
    template <class G>
    std::int64_t compute_time() {
        const recorded_ranks all = runs_of<G>();
        std::int64_t slowest = 0;
        for (int rank = 0; rank < made_.ranks; ++rank)
            slowest = std::max(slowest,
                               median_of_runs(all.runs(), [&](int run) { return all.rank(rank).busy(run, measured_work::compute).sum; }));
        return slowest;
    }
    template <class T, std::int64_t N>
    std::int64_t products_per_second() {
        return per_second(16 * 2 * N * N * N, compute_time<machine_graphs::products<T, N, 16>>());
    }
    static std::string side(std::int64_t n) { return "16 products of matrices of " + std::to_string(n) + " x " + std::to_string(n); }
    void measure_arithmetic() {
        machine_description& m = made_.description;
        note("half_flops", m.half_flops, products_per_second<half, Sizes::half_product>(), "per second", side(Sizes::half_product));
        note("float_flops", m.float_flops, products_per_second<float, Sizes::float_product>(), "per second", side(Sizes::float_product));
        note("double_flops", m.double_flops, products_per_second<double, Sizes::double_product>(), "per second",
             side(Sizes::double_product));
    }
    void measure_memory() {
        constexpr std::int64_t bytes = 4 * Sizes::vector;
        machine_description& m = made_.description;
        note("memory_bandwidth", m.memory_bandwidth, per_second(4 * 3 * bytes, compute_time<machine_graphs::sums<Sizes::vector>>()),
             "bytes per second", "sums of two vectors of " + std::to_string(bytes >> 20) + " MiB");
        const recorded_ranks copies = runs_of<machine_graphs::to_the_host<Sizes::message>>();
        const std::int64_t time = copies.least([](const recorded_runs& r, int run) { return r.busy(run, measured_work::copy).sum; });
        note("host_bandwidth", m.host_bandwidth, per_second(4 * Sizes::message, time), "bytes per second", "a copy to pinned memory");
    }
    template <class G, class O>
    std::int64_t run_time_of() {
        return run_time<G, O>(world_, 4 * Sizes::runs);
    }
    // By what many operations, or changes of the stream, add to a run.
    void measure_latencies() {
        machine_description& m = made_.description;
        constexpr int more = 64;
        const std::int64_t many = run_time_of<machine_graphs::launches<more + 1>, plain>(),
                           one = run_time_of<machine_graphs::launches<1>, plain>();
        note("launch_latency", m.launch_latency, std::max<std::int64_t>(0, many - one) * 1000 / more, "ps", "64 small operations in a row");
        const std::int64_t changing = run_time_of<machine_graphs::edges, plain>(),
                           on_one = run_time_of<machine_graphs::edges, options<dovetail::overlap<false>>>();
        note("edge_latency", m.edge_latency, std::max<std::int64_t>(0, changing - on_one) * 1000 / machine_graphs::stream_changes, "ps",
             "32 changes of the stream, against one stream");
    }
    // A latency from a small message, and a bandwidth from how much longer a large one takes.
    void measure_messages() {
        machine_description& m = made_.description;
        using namespace machine_graphs;
        constexpr std::int64_t bytes = 4 * Sizes::message;
        const std::int64_t small = runs_of<sent<16, 1, transport::nccl>>().message_time();
        const std::int64_t large = runs_of<sent<Sizes::message, 1, transport::nccl>>().message_time();
        note("link_latency", m.link_latency, 1000 * small, "ps", "NCCL sends 64 bytes to the next rank");
        note_bandwidth("link_bandwidth", m.link_bandwidth, bytes, large - small, "... and a large message");
        const std::int64_t sum = runs_of<reduced<Sizes::message>>().message_time();
        note_bandwidth("bus_bandwidth", m.bus_bandwidth, 2 * (bytes - bytes / made_.ranks), sum - small,
                       "NCCL's all_reduce of a large vector");
    }

    // How long each rank takes to send and receive by copy engines at this distance.
    template <std::int64_t N, int Distance>
    std::vector<std::int64_t> copy_times() {
        const recorded_ranks all = runs_of<machine_graphs::sent<N, Distance, transport::peer_copy>>();
        std::vector<std::int64_t> times;
        for (int rank = 0; rank < made_.ranks; ++rank)
            times.push_back(median_of_runs(all.runs(), [&](int run) { return duration(all.rank(rank).last_message(run)); }));
        return times;
    }
    // A rank's time is that of the slower of the two links that it uses, so that a link takes no longer than either of its ranks does.
    template <int Distance>
    void measure_links_at() {
        if (Distance >= made_.ranks) return;
        // Two sizes at which copies are chosen: the bandwidth of small ones is less, and they would put the latency too low.
        constexpr std::int64_t less = Sizes::message / 4;
        const std::vector<std::int64_t> small = copy_times<less, Distance>(), large = copy_times<Sizes::message, Distance>();
        for (int from = 0; from < made_.ranks; ++from) {
            const int to = (from + Distance) % made_.ranks;
            const auto of_link = [&](const std::vector<std::int64_t>& times) {
                return std::min(times[static_cast<std::size_t>(from)], times[static_cast<std::size_t>(to)]);
            };
            made_.links[static_cast<std::size_t>(from * made_.ranks + to)] =
                line_through(4 * less, of_link(small), 4 * Sizes::message, of_link(large));
        }
    }
    // False where GPUs do not reach each other's memory.
    bool copies_reach() {
        made_.links.resize(static_cast<std::size_t>(made_.ranks * made_.ranks));
        try {
            [this]<int... K>(std::integer_sequence<int, K...>) {
                (this->template measure_links_at<K + 1>(), ...);
            }(std::make_integer_sequence<int, most_measured_ranks - 1>{});
            return true;
        } catch (const transport_unavailable& e) {
            unreachable_ = e.reason;
        }
        std::replace(unreachable_.begin(), unreachable_.end(), '\n', ' ');  // it is a part of a comment
        made_.links.clear();
        made_.description.peer_bandwidth = 0;
        made_.figures.push_back({"peer_bandwidth", no_peer_copies, unreachable_});
        not_measured("peer_latency", "there are no peer copies");
        return false;
    }
    void measure_links() {
        if (!copies_reach()) return;
        std::vector<std::int64_t> bandwidths, latencies;
        for (int i = 0; i < made_.ranks * made_.ranks; ++i)
            if (const gpu_pair& link = made_.links[static_cast<std::size_t>(i)]; i / made_.ranks != i % made_.ranks) {
                bandwidths.push_back(link.bandwidth);
                latencies.push_back(link.latency);
            }
        const auto [slowest, fastest] = std::minmax_element(bandwidths.begin(), bandwidths.end());
        machine_description& m = made_.description;
        note("peer_latency", m.peer_latency, median(latencies), "ps",
             "what a copy takes beside its bytes at that bandwidth, the median of pairs");
        if (*slowest == 0) {
            made_.links.clear();
            return not_measured("peer_bandwidth", "a large copy took no longer than a small one");
        }
        const std::string how = std::to_string(bandwidths.size()) + " pairs by copy engines, the median; " + std::to_string(*slowest) +
                                " to " + std::to_string(*fastest);
        note("peer_bandwidth", m.peer_bandwidth, median(bandwidths), "bytes per second", how);
        constexpr int percent_alike = 90;
        if (*slowest / percent_alike * 100 >= *fastest) made_.links.clear();
    }

    // A computation of a class, and a message of so many elements, which take about as long: each alone, and both at once.
    template <class Compute, std::int64_t Message>
    void measure_beside(work_class work, const std::string& name) {
        using namespace machine_graphs;
        using statements = typename Compute::dovetail_graph;
        const std::int64_t compute =
            runs_of<Compute>().least([](const recorded_runs& r, int run) { return r.busy(run, measured_work::compute).span(); });
        const std::int64_t sum = runs_of<reduced<Message>>().message_time();
        machine_description& m = made_.description;
        note_pace<beside_nccl<statements, Message>>(m.with_communication, static_cast<int>(work), name + " beside NCCL", compute, sum);
        if (!unreachable_.empty()) return not_measured(name + " beside copies", "there are no peer copies");
        const std::int64_t copy = runs_of<sent<Message, 1, transport::peer_copy>>().message_time();
        note_pace<beside_copies<statements, Message>>(m.with_copy, static_cast<int>(work), name + " beside copies", compute, copy);
    }
    template <class Beside>
    void note_pace(interference& to, int work, const std::string& name, std::int64_t compute, std::int64_t message) {
        const recorded_ranks all = runs_of<Beside>();
        std::vector<std::int64_t> of_compute, of_other;
        for (int run = 0; run < all.runs(); ++run) {
            const paces found = paces_of(all, run, compute, message);
            if (found.of_compute == 0) continue;
            of_compute.push_back(found.of_compute);
            of_other.push_back(found.of_other);
        }
        if (of_compute.empty()) return not_measured(name, "they did not run at the same time");
        to.of_compute[work] = static_cast<int>(median(of_compute));
        to.of_other[work] = static_cast<int>(median(of_other));
        made_.figures.push_back({name, std::to_string(to.of_compute[work]) + " and " + std::to_string(to.of_other[work]),
                                 "thousandths of the time alone: the computation, and what is beside it"});
    }
    struct paces {
        std::int64_t of_compute = 0, of_other = 0;  // 0: they did not overlap
    };
    // On the rank where the message took the shortest time, since it waited for nobody.
    paces paces_of(const recorded_ranks& all, int run, std::int64_t compute, std::int64_t message) const {
        int last = 0;
        for (int rank = 1; rank < made_.ranks; ++rank)
            if (duration(all.rank(rank).last_message(run)) < duration(all.rank(last).last_message(run))) last = rank;
        const step_time sent = all.rank(last).last_message(run);
        const busy_time busy = all.rank(last).busy(run, measured_work::compute);
        const std::int64_t together = std::min(sent.end_ns, busy.last_end) - std::max(sent.start_ns, busy.first_start);
        if (2 * together < std::min(duration(sent), busy.span())) return {};
        return {pace(compute, busy.span(), together), pace(message, duration(sent), together)};
    }
    void measure_interference() {
        using namespace machine_graphs;
        measure_beside<products<half, Sizes::half_product, 1>, Sizes::long_message>(work_class::compute_bound, "products");
        measure_beside<sums<Sizes::vector>, Sizes::long_message>(work_class::memory_bound, "sums");
        measure_beside<launches<64>, Sizes::message>(work_class::latency_bound, "small operations");
    }

    static std::int64_t duration(const step_time& t) { return t.end_ns - t.start_ns; }

    World world_;
    measured_machine made_;
    std::string unreachable_;  // why GPUs do not reach each other's memory; empty: they do
};

}  // namespace detail

}  // namespace dovetail::observe
