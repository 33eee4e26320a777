// Descriptions of machines for the prediction. Rates are per second, times in picoseconds, ratios in thousandths: integers only, so that
// every compiler makes the same plan.
#pragma once

#include "../core/hasher.hpp"

#include <cstdint>
#include <initializer_list>

namespace dovetail {

// What limits a computation, by the roofline model: arithmetic, memory traffic, or the latency of its launch.
enum class work_class : unsigned char { compute_bound, memory_bound, latency_bound };
inline constexpr int work_class_count = 3;

// How much a computation and a task on another stream slow each other, by the class of the computation: the time beside each other, in
// thousandths of the time alone.
struct interference {
    int of_compute[work_class_count] = {1000, 1000, 1000};
    int of_other[work_class_count] = {1000, 1000, 1000};
};

// The link from one GPU of a host to another, as a copy engine uses it.
struct gpu_pair {
    std::int64_t bandwidth = 0;  // bytes per second
    std::int64_t latency = 0;    // of one copy, including its flags, ps
};

// The links between the GPUs of a host, where they differ. Rank r of a world is on GPU r % gpus of its host, as launchers number them.
struct gpu_pairs {
    const gpu_pair* first = nullptr;  // from the GPU of a row to the GPU of a column, row by row; not read where both are the same
    int gpus = 0;                     // 0: all links are alike

    constexpr gpu_pairs() = default;
    template <int Count>
    constexpr gpu_pairs(const gpu_pair (&rows)[Count]) : first{rows} {
        while ((gpus + 1) * (gpus + 1) <= Count) ++gpus;
        if (gpus * gpus != Count) gpus = -1;
    }

    constexpr explicit operator bool() const { return gpus > 0; }
    constexpr const gpu_pair& between(int from, int to) const { return first[from * gpus + to]; }
};

struct machine_description {
    const char* name = "";
    // Sustained arithmetic, operations per second: half precision (tensor cores), float32, float64.
    std::int64_t half_flops = 0;
    std::int64_t float_flops = 0;
    std::int64_t double_flops = 0;
    int multiprocessors = 0;               // 0: operations are not divided into waves
    std::int64_t memory_bandwidth = 0;     // bytes per second, read plus written
    std::int64_t launch_latency = 0;       // one kernel on the device, ps
    std::int64_t edge_latency = 0;         // a dependency between two streams, ps
    std::int64_t link_latency = 0;         // one message between ranks, ps
    std::int64_t link_bandwidth = 0;       // bytes per second and direction, one peer
    std::int64_t peer_latency = 0;         // one peer copy, including its flags, ps
    std::int64_t peer_bandwidth = 0;       // bytes per second of a peer copy by the copy engine; 0: no peer copies
    std::int64_t bus_bandwidth = 0;        // bytes per second that a collective sustains on each rank (NCCL's bus bandwidth)
    std::int64_t network_latency = 0;      // one message between nodes, ps
    std::int64_t network_bandwidth = 0;    // bytes per second and direction, of each rank; 0: as within a node
    std::int64_t host_bandwidth = 0;       // bytes per second between device and pinned host memory
    interference with_communication = {};  // by kernels of NCCL
    interference with_copy = {};           // by copy engines
    gpu_pairs links = {};                  // where pairs of GPUs differ. peer_latency and peer_bandwidth then are those of other pairs, on
                                           // two hosts, and choose between NCCL and copy engines; 0: copy engines move nothing
};

// Calls f(name, value) for each figure of a machine that is a number. A new member does not compile until it has a place here.
template <class F>
constexpr void for_each_figure(const machine_description& m, F f) {
    const auto& [name, half_flops, float_flops, double_flops, multiprocessors, memory_bandwidth, launch_latency, edge_latency, link_latency,
                 link_bandwidth, peer_latency, peer_bandwidth, bus_bandwidth, network_latency, network_bandwidth, host_bandwidth,
                 with_communication, with_copy, links] = m;
    f("half_flops", half_flops);
    f("float_flops", float_flops);
    f("double_flops", double_flops);
    f("multiprocessors", multiprocessors);
    f("memory_bandwidth", memory_bandwidth);
    f("launch_latency", launch_latency);
    f("edge_latency", edge_latency);
    f("link_latency", link_latency);
    f("link_bandwidth", link_bandwidth);
    f("peer_latency", peer_latency);
    f("peer_bandwidth", peer_bandwidth);
    f("bus_bandwidth", bus_bandwidth);
    f("network_latency", network_latency);
    f("network_bandwidth", network_bandwidth);
    f("host_bandwidth", host_bandwidth);
}

// A hash of all that predictions read of a machine; its name is no part of it.
constexpr std::uint64_t machine_key(const machine_description& m) {
    detail::hasher h;
    for_each_figure(m, [&](const char*, std::int64_t value) { h.all(value); });
    for (int link = 0; link < m.links.gpus * m.links.gpus; ++link) h.all(m.links.first[link].bandwidth, m.links.first[link].latency);
    for (const interference& with : {m.with_communication, m.with_copy})
        for (int k = 0; k < work_class_count; ++k) h.all(with.of_compute[k], with.of_other[k]);
    return h.h;
}

// Whether a list of links is a square, and each link moves something.
constexpr bool is_possible(const gpu_pairs& links) {
    for (int from = 0; from < links.gpus; ++from)
        for (int to = 0; to < links.gpus; ++to)
            if (from != to && (links.between(from, to).bandwidth <= 0 || links.between(from, to).latency < 0)) return false;
    return links.gpus >= 0;
}

// Whether these can be figures of a machine: none is negative, and nothing is faster beside something else than alone. A list of slow-downs
// or links that stops early has zeros, which are refused, too.
constexpr bool is_possible(const machine_description& m) {
    bool negative = false;
    for_each_figure(m, [&](const char*, std::int64_t value) { negative = negative || value < 0; });
    if (negative) return false;
    for (const interference& with : {m.with_communication, m.with_copy})
        for (int k = 0; k < work_class_count; ++k)
            if (with.of_compute[k] < 1000 || with.of_other[k] < 1000) return false;
    return is_possible(m.links) && (!m.links || m.peer_bandwidth > 0);
}

namespace machine {

// 4 to 8 H200s connected by NVLink, measured by hand from 2026-11-21 to 2026-11-26 with CUDA 13.0 and NCCL 2.28.9. README.md of this
// folder gives the measurement behind each constant. The arithmetic rate is that of matrix products of random numbers without a pause
// between them, which the power limit determines; a product after a pause is up to a tenth faster, a product of equal numbers up to a
// quarter. This is the largest error of the model.
struct h200_nvlink {
    static constexpr machine_description description{
        .name = "h200_nvlink",
        .half_flops = 680'000'000'000'000,
        .float_flops = 50'000'000'000'000,
        .double_flops = 30'000'000'000'000,
        .multiprocessors = 132,
        .memory_bandwidth = 4'000'000'000'000,
        .launch_latency = 3'000'000,
        .edge_latency = 2'000'000,
        .link_latency = 10'000'000,
        .link_bandwidth = 350'000'000'000,
        .peer_latency = 26'000'000,
        .peer_bandwidth = 393'000'000'000,
        .bus_bandwidth = 300'000'000'000,
        .network_latency = 20'000'000,
        .network_bandwidth = 50'000'000'000,
        .host_bandwidth = 50'000'000'000,
        .with_communication = {.of_compute = {1500, 1100, 1000}, .of_other = {1500, 1500, 1000}},
        .with_copy = {.of_compute = {1060, 1020, 1000}}};
};

// H100s of 80 GB (HBM3) connected by NVLink: as dovetail_machine measured two of them on 2026-11-26 with NCCL 2.28.9, rounded. The
// edge is as above, although it found none. Not measured and as above: small operations beside copies, and the network.
struct h100_nvlink {
    static constexpr machine_description description{
        .name = "h100_nvlink",
        .half_flops = 682'000'000'000'000,
        .float_flops = 51'500'000'000'000,
        .double_flops = 59'800'000'000'000,
        .multiprocessors = 132,
        .memory_bandwidth = 2'920'000'000'000,
        .launch_latency = 3'190'000,
        .edge_latency = 2'000'000,
        .link_latency = 12'000'000,
        .link_bandwidth = 278'000'000'000,
        .peer_latency = 25'800'000,
        .peer_bandwidth = 395'000'000'000,
        .bus_bandwidth = 275'000'000'000,
        .network_latency = 20'000'000,
        .network_bandwidth = 50'000'000'000,
        .host_bandwidth = 54'700'000'000,
        .with_communication = {.of_compute = {1355, 1189, 1409}, .of_other = {1137, 2828, 1053}},
        .with_copy = {.of_compute = {1080, 1275, 1000}, .of_other = {1003, 1304, 1000}}};
};

}  // namespace machine

}  // namespace dovetail
