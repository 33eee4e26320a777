// Graphs with rewrites, and one under a memory limit, on a mesh of any width, also of one GPU: run on GPUs, real or simulated, and compared
// with the graph as written on the host.
#pragma once

#include "graphs.hpp"
#include "support/compare.hpp"

namespace gpu {

struct bias;
template <int> struct shard;
template <int> struct gathered;
template <int> struct summed;
using matrix = dv::tensor<float, 8, 64>;

// In blocks: a state that is read in them and changed behind them, and a value that is used outside too.
template <int Width, int Blocks>
struct split_update : dv::graph<
    dv::mesh<dv::axis<dp, Width>>,
    dv::input<x, matrix>,
    dv::state<count, matrix, constant<1>>,
    dv::split<Blocks, dv::let<a, add(x, count)>, dv::let<b, all_reduce<sum, dp>(a)>, dv::let<c, relu(subtract(b, x))>>,
    dv::update<count, add(count, x)>,
    dv::let<y, add(b, c)>,
    dv::output<c, y>> {};

// On shards: operations between an all_reduce and its readers, one of which reads a bias whole.
template <int Width, template <class...> class Decompose>
struct sharded : dv::graph<
    dv::mesh<dv::axis<dp, Width>>,
    dv::input<x, matrix>,
    dv::input<bias, dv::tensor<float, 64>, dv::replicated<dp>>,
    Decompose<dv::let<a, all_reduce<sum, dp>(x)>, dv::let<b, multiply(relu(bias_add(a, bias)), a)>>,
    dv::let<y, subtract(b, x)>,
    dv::output<b, y>> {};

// Gathered once for two readers, and again behind an update.
template <int Width, template <class...> class Keep>
struct gathered_again : dv::graph<
    dv::mesh<dv::axis<dp, Width>>,
    dv::input<x, dv::tensor<float, 4 * Width>>,
    dv::state<count, dv::tensor<float, 4>, constant<1>>,
    Keep<dv::let<a, all_gather<dp>(count)>,
         dv::let<b, multiply(a, x)>,
         dv::let<c, add(b, all_gather<dp>(count))>,
         dv::update<count, add(count, reduce_scatter<sum, dp>(x))>,
         dv::let<y, all_gather<dp>(count)>>,
    dv::output<c, y>> {};

// Six values gathered ahead of the sum that reads them: more than the limit has bytes for.
using total = dv::tensor<float, 1024>;
template <int Width>
struct ahead {
    template <int I> using feed = dv::input<shard<I>, dv::tensor<float, 1024 / Width>>;
    template <int I> using step =
        dv::group<dv::let<gathered<I>, all_gather<dp>(shard<I>)>, dv::let<summed<I + 1>, add(summed<I>, gathered<I>)>>;
};
template <int Width>
struct gathered_ahead : dv::graph<
    dv::mesh<dv::axis<dp, Width>>,
    dv::input<summed<0>, total>,
    dv::repeat<ahead<Width>::template feed, 6>,
    dv::repeat<ahead<Width>::template step, 6>,
    dv::output<summed<6>>> {};
using limited = dv::options<samples::slow_links, dv::memory_limit<3 * total::bytes>>;
using several_limited = dv::options<samples::slow_links, dv::memory_limit<5 * total::bytes>, dv::in_flight<2>>;

// Of a graph of one role whose communication reads inputs alone: how often that waits for an operation of its run, to release memory.
template <class G, class O>
constexpr int waits_for_memory() {
    constexpr const dv::plan::plan& plan = dv::plan::planned<G, O>::plan;
    constexpr int compute = static_cast<int>(dv::stream_kind::compute);
    int count = 0;
    for (const dv::ir::step& s : plan.steps)
        for (const dv::ir::wait& w : plan.waits.subspan(s.first_wait, s.waits))
            count += s.stream != compute && w.distance == 0 && plan.steps[w.step].stream == compute ? 1 : 0;
    return count;
}

template <class G, class Written>
inline constexpr bool has_other_operations =
    dv::plan::planned<G, samples::overlapped>::graph.nodes.size() != dv::plan::typed<Written>::value.nodes.size();

template <class G, class Written, class Run>
void compare_with_written(int ranks, const std::string& what, Run run) {
    support::compare<G, samples::sequential, Written>(ranks, 1, what, run);
    support::compare<G, samples::overlapped, Written>(ranks, 1, what, run);
    support::compare<G, samples::several, Written>(ranks, 3, what, run);
}
template <int Width, class Run>
void compare_rewrites(Run run) {
    const std::string on = " on " + std::to_string(Width);
    using blocks = split_update<Width, 2>;
    using shards = sharded<Width, dv::decompose>;
    using kept = gathered_again<Width, dv::keep>;
    using whole = split_update<Width, 1>;
    using reduced = sharded<Width, dv::group>;
    using repeated = gathered_again<Width, dv::group>;
    static_assert(has_other_operations<blocks, whole> && has_other_operations<kept, repeated>);
    static_assert(has_other_operations<shards, reduced> == (Width > 1));  // one rank has no shards
    compare_with_written<blocks, whole>(Width, "split" + on, run);
    compare_with_written<shards, reduced>(Width, "decompose" + on, run);
    compare_with_written<kept, repeated>(Width, "keep" + on, run);
    static_assert(waits_for_memory<gathered_ahead<Width>, limited>() > 0 && waits_for_memory<gathered_ahead<Width>, several_limited>() > 0);
    static_assert(waits_for_memory<gathered_ahead<Width>, samples::overlapped>() == 0);
    support::compare<gathered_ahead<Width>, limited>(Width, 1, "a memory limit" + on, run);
    support::compare<gathered_ahead<Width>, several_limited>(Width, 2, "a memory limit, two in flight" + on, run);
}

}  // namespace gpu
