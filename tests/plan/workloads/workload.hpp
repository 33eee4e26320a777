// Workloads: graphs of real programs, made of operations that have facts only. report.cpp plans them and prints what is predicted.
#pragma once
#include <dovetail/dovetail.hpp>
#include <dovetail/ops/facts.hpp>

#include <cstdint>
#include <vector>

namespace dv = dovetail;

namespace workloads {

using h200 = dv::machine::h200_nvlink;

namespace op {
using tt = dv::tensor_type;
using dv::cost;
template <bool A, bool B>
struct product_facts {
    static constexpr tt result(tt a, tt b) {
        if (a.rank != 2 || b.rank != 2 || a.type != b.type || inner(a) != b.extent[B ? 1 : 0]) return {};
        return a.with_extents(a.extent[A ? 1 : 0], b.extent[B ? 0 : 1]);
    }
    static constexpr dv::cost cost(tt a, tt b) {
        const tt c = result(a, b);
        return {2 * c.size() * inner(a), a.bytes() + b.bytes() + c.bytes(), a.type};
    }
    static constexpr dv::tiles tiles(tt a, tt b) { return dv::ops_detail::product_tiles(a.extent[A ? 1 : 0], b.extent[B ? 0 : 1]); }
    static constexpr auto row_wise = dv::by_extents({A ? 1 : 0, dv::whole}, {0});
    static constexpr std::int64_t inner(tt a) { return a.extent[A ? 0 : 1]; }
};
struct mm : product_facts<false, false> {};
struct mm_nt : product_facts<false, true> {};
struct mm_tn : product_facts<true, false> {};
// Memory-bound maps.
struct map1 {
    static constexpr tt result(tt x) { return x; }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(2 * x.bytes()); }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = dv::elementwise();
};
struct rms_norm : map1 {
    static constexpr auto row_wise = dv::by_rows(0);
};
struct act : map1 {};
struct map2 {
    static constexpr tt result(tt x, tt y) { return x == y ? x : tt{}; }
    static constexpr dv::cost cost(tt x, tt) { return dv::bytes_moved(3 * x.bytes()); }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = dv::elementwise();
};
struct plus : map2 {};
struct glu {  // gate and up in one: [M, 2F] -> [M, F]
    static constexpr tt result(tt x) { return x.with_extents(x.extent[0], x.extent[1] / 2); }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(x.bytes() + x.bytes() / 2); }
    static constexpr auto row_wise = dv::by_rows(0);
};
// Causal attention over sequences of Seq tokens: [tokens, (Heads + 2 KvHeads) Dim] -> [tokens, Heads Dim].
template <int Seq, int Heads, int KvHeads, int Dim>
struct attention {
    static constexpr tt result(tt x) {
        return x.rank == 2 && x.extent[1] == (Heads + 2 * KvHeads) * Dim && x.extent[0] % Seq == 0
                   ? x.with_extents(x.extent[0], std::int64_t{Heads} * Dim)
                   : tt{};
    }
    static constexpr dv::cost cost(tt x) { return {2 * x.extent[0] * Seq * Heads * Dim, 2 * x.bytes(), x.type}; }
    static constexpr auto row_wise = dv::by_rows(0).in_units_of(Seq);
};
// Tokens to the places of their experts, [T, D] -> [Experts, T / Experts, D], products there, and back.
template <int Experts>
struct dispatch {
    static constexpr tt result(tt x) {
        return x.rank == 2 && x.extent[0] % Experts == 0 ? x.with_extents(Experts, x.extent[0] / Experts, x.extent[1]) : tt{};
    }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(2 * x.bytes()); }
    static constexpr auto row_wise = dv::by_extents({0}, {1});
};
struct expert_mm {
    static constexpr tt result(tt x, tt w) {
        return x.rank == 3 && w.rank == 2 && x.extent[2] == w.extent[0] ? x.with_extents(x.extent[0], x.extent[1], w.extent[1]) : tt{};
    }
    static constexpr dv::cost cost(tt x, tt w) {
        return {2 * x.size() * w.extent[1], x.bytes() + w.bytes() + result(x, w).bytes(), x.type};
    }
    static constexpr auto row_wise = dv::by_extents({1, dv::whole}, {1});
};
struct combine {
    static constexpr tt result(tt x) { return x.rank == 3 ? x.with_extents(x.extent[0] * x.extent[1], x.extent[2]) : tt{}; }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(2 * x.bytes()); }
    static constexpr auto row_wise = dv::by_extents({1}, {0});
};
template <int I, int N>
struct rows {  // a copy of a block of rows
    static constexpr tt result(tt x) {
        if (x.extent[0] % N != 0) return {};
        tt y = x;
        y.extent[0] /= N;
        return y;
    }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(2 * x.bytes() / N); }
};
struct join {  // a copy of all along extent 0
    template <class... T>
    static constexpr tt result(tt x, T... y) {
        x.extent[0] += (y.extent[0] + ... + 0);
        return x;
    }
    template <class... T>
    static constexpr dv::cost cost(tt x, T... y) {
        return dv::bytes_moved(2 * (x.bytes() + (y.bytes() + ... + 0)));
    }
};
// A fixed time, in microseconds: result like the first argument.
template <int Us>
struct takes {
    template <class... T>
    static constexpr tt result(tt x, T...) {
        return x;
    }
    template <class... T>
    static constexpr dv::cost cost(tt, T...) {
        return dv::floating_operations(std::int64_t{Us - 3} * 680'000'000, dv::element::bfloat16);
    }
};
}  // namespace op

// A graph with its options. It is planned at run time, so that a workload costs the compiler its graph and little else.
struct workload {
    const char* name;
    dv::ir::graph graph;
    dv::plan_options options;
};
template <class G, class O = dv::options<h200>>
workload of(const char* name) {
    return {name, dv::plan::typed<G>::value, O::value};
}
template <std::int64_t Bytes>
using limited = dv::options<h200, dv::memory_limit<Bytes>>;

using kept = dv::options<h200, dv::rewritten_by<dv::rewrite::keep>>;
using bucketed = dv::options<h200, dv::rewritten_by<dv::rewrite::bucket>>;
using decomposed = dv::options<h200, dv::rewritten_by<dv::rewrite::decompose>>;

// A pipeline, and what theory says of it, where transfers take no time.
struct scheduled_pipeline {
    workload training;
    int micro_batches;
    std::int64_t work;    // of a stage, picoseconds
    std::int64_t bubble;  // the time by which a run is longer
};

std::vector<workload> data_parallel();
std::vector<workload> fsdp();
std::vector<workload> hpc();
std::vector<workload> pipelines();
std::vector<scheduled_pipeline> schedules();
std::vector<workload> sequence_parallel();
std::vector<workload> transformers();
std::vector<workload> tutorials();

}  // namespace workloads
