// The graphs that measure a machine, by the sizes of what they compute and communicate: one kind of work alone, and two kinds beside each
// other. All ranks are one axis, `ranks`.
#pragma once

#include "../../launch/executor.hpp"
#include "../../ops/ops.hpp"

namespace dovetail::observe {

// Large enough that bandwidth and arithmetic count and not latency: 256 MiB in a vector, 64 MiB in a message. A long message takes about as
// long as the work beside it, so that how much the two slow each other is not lost in the noise of the longer one.
struct gpu_sizes {
    static constexpr std::int64_t half_product = 8192, float_product = 4096, double_product = 4096;
    static constexpr std::int64_t vector = std::int64_t{1} << 26, message = std::int64_t{1} << 24, long_message = 1 << 27;  // of 4 bytes
    static constexpr int runs = 15;
};
// The same for ranks that are threads of this machine.
struct thread_sizes {
    static constexpr std::int64_t half_product = 96, float_product = 96, double_product = 96;
    static constexpr std::int64_t vector = 1 << 20, message = 1 << 18, long_message = 1 << 20;
    static constexpr int runs = 9;
};

namespace machine_graphs {

using namespace ops;

struct ranks;
struct x;
struct v;
struct w;
struct start;
struct held;
struct message;
struct moved;
template <int>
struct step;

constexpr int square_root(std::int64_t n) {
    int root = 1;
    while (std::int64_t{root + 1} * (root + 1) <= n) ++root;
    return root;
}
using number = tensor<float, 16>;
using everywhere = mesh<axis<ranks>>;
// Ranks arrive at different times: what is measured starts behind a small reduction.
using start_together = moved_by<transport::nccl, let<start, all_reduce<sum, ranks>(x)>>;

// Products of one another, of elements of which a product has the same variance.
template <int I>
using multiplied = let<step<I + 1>, matmul(step<I>, w)>;
template <class T, std::int64_t N, int Count>
struct products : graph<everywhere, state<w, tensor<T, N, N>, normal_init<1, 1, square_root(N)>>, let<step<0>, matmul(w, w)>,
                        repeat<multiplied, Count - 1>, output<step<Count - 1>>> {};

// Sums of two vectors.
template <std::int64_t N>
struct sums : graph<everywhere, state<v, tensor<float, N>, constant<1>>, state<w, tensor<float, N>, constant<1>>, let<step<0>, add(v, w)>,
                    let<step<1>, add(step<0>, w)>, let<step<2>, add(step<1>, w)>, let<step<3>, add(step<2>, w)>, output<step<3>>> {};

// Operations that do next to nothing, one after the other.
template <int I>
using tiny = let<step<I + 1>, add(step<I>, x)>;
template <int Count>
struct launches : graph<everywhere, input<x, number>, let<step<0>, add(x, x)>, repeat<tiny, Count>, output<step<Count>>> {};

// From the compute stream to the copy stream and back, 16 times.
inline constexpr int stream_changes = 32;
template <int I>
using there_and_back = group<let<step<3 * I + 1>, to_host(step<3 * I>)>, let<step<3 * I + 2>, from_host(step<3 * I + 1>)>,
                             let<step<3 * I + 3>, add(step<3 * I + 2>, x)>>;
struct edges : graph<everywhere, input<x, number>, let<step<0>, add(x, x)>, repeat<there_and_back, stream_changes / 2>,
                     output<step<3 * stream_changes / 2>>> {};

template <std::int64_t N>
struct to_the_host : graph<everywhere, state<w, tensor<float, N>, constant<1>>, let<moved, to_host(w)>, output<moved>> {};

// Of N elements on each rank.
template <std::int64_t N>
struct reduced : graph<everywhere, input<x, number>, state<w, tensor<float, N>, constant<1>>, start_together,
                       after<start, let<moved, all_reduce<sum, ranks>(w)>>, output<start, moved>> {};
// From each rank to the one that is `Distance` behind it. Copy engines read the arena: states are copied there first.
template <std::int64_t N, int Distance, transport By>
struct sent : graph<everywhere, input<x, number>, state<w, tensor<float, N>, constant<1>>, let<message, copy(w)>, start_together,
                    moved_by<By, after<start, let<moved, shift<ranks, Distance>(message)>>>, output<start, moved>> {};

// Communication beside computation, each of which depends on nothing of the other; the communication is issued first.
template <class Graph, std::int64_t N>
struct beside_nccl;
template <class... Statement, std::int64_t N>
struct beside_nccl<graph<Statement...>, N>
    : graph<state<message, tensor<float, N>, constant<1>>, let<moved, all_reduce<sum, ranks>(message)>, Statement..., output<moved>> {};
template <class Graph, std::int64_t N>
struct beside_copies;
template <class... Statement, std::int64_t N>
struct beside_copies<graph<Statement...>, N>
    : graph<state<held, tensor<float, N>, constant<1>>, let<message, copy(held)>,
            moved_by<transport::peer_copy, let<moved, shift<ranks, 1>(message)>>, Statement..., output<moved>> {};

}  // namespace machine_graphs

}  // namespace dovetail::observe
