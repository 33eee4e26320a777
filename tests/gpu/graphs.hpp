// Graphs for GPUs with operations of their own: trivial kernels where nvcc compiles, loops on the host.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>

namespace gpu {

namespace dv = dovetail;
using namespace dv::ops;

struct dp;
struct left;
struct right;
struct middle;
struct x;
struct y;
struct z;
struct a;
struct b;
struct c;
struct d;
struct e;
struct f;
struct g;
struct h;
struct total;
struct count;
template <int> struct stage;
template <int> struct v;
template <int, int> struct w;

// Three small integers of arithmetic that no order of evaluation confuses.
struct sum_rule {
    template <class T>
    DOVETAIL_HOST_DEVICE static constexpr T of(T p, T q) { return static_cast<T>(p + q); }
};
struct product_rule {
    template <class T>
    DOVETAIL_HOST_DEVICE static constexpr T of(T p, T q) { return static_cast<T>(p * q); }
};
struct step_rule {
    template <class T>
    DOVETAIL_HOST_DEVICE static constexpr T of(T p, T q) { return static_cast<T>(p * static_cast<T>(2) - q); }
};

#if defined(__CUDACC__)
template <class Rule, class T>
__global__ void combine(const T* p, const T* q, T* r, std::int64_t n) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) r[i] = Rule::of(p[i], q[i]);
}
#endif

template <class Rule>
struct combined {
    static constexpr dv::tensor_type result(dv::tensor_type p, dv::tensor_type q) { return p == q ? p : dv::tensor_type{}; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> p, dv::in<X> q, dv::out<X> r) {
        for (std::int64_t i = 0; i < X::size; ++i) r[i] = Rule::of(p[i], q[i]);
    }
#if defined(__CUDACC__)
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> p, dv::in<X> q, dv::out<X> r) {
        if constexpr (X::size > 0)
            combine<Rule><<<static_cast<unsigned>((X::size + 255) / 256), 256, 0, static_cast<cudaStream_t>(s.handle)>>>(p.data(), q.data(), r.data(), X::size);
    }
#endif
};
struct plus : combined<sum_rule> {};
struct times : combined<product_rule> {};
struct step : combined<step_rule> {};

template <int N>
using row = dv::tensor<float, N>;

// Two roles that send to each other.
template <int N>
struct crossing : dv::graph<
    dv::input<x, row<N>>,
    dv::on<left, dv::let<a, plus(x, x)>, dv::let<c, plus(a, b)>>,
    dv::on<right, dv::let<b, times(x, x)>, dv::let<d, step(a, b)>>,
    dv::output<c, d>> {};

// a, b, a, b.
template <int N>
struct back_and_forth : dv::graph<
    dv::input<x, row<N>>,
    dv::on<left, dv::let<a, plus(x, x)>, dv::let<c, times(b, x)>>,
    dv::on<right, dv::let<b, plus(a, x)>, dv::let<d, plus(c, a)>>,
    dv::output<d>> {};

// Collectives on overlapping sets of roles, beside channels.
template <int N>
struct overlapping : dv::graph<
    dv::input<x, row<N>>,
    dv::on<left, dv::let<a, plus(x, x)>, dv::let<stage<0>, plus(d, f)>>,
    dv::on<middle, dv::let<b, times(x, x)>, dv::let<stage<1>, plus(plus(d, e), a)>>,
    dv::on<right, dv::let<c, step(x, x)>, dv::let<stage<2>, plus(plus(e, f), b)>>,
    dv::let<d, all_reduce<sum>(a, b)>,
    dv::let<e, all_reduce<maximum>(b, c)>,
    dv::let<f, all_reduce<minimum>(a, b, c)>,
    dv::let<g, broadcast<to<left, right>>(b)>,
    dv::let<h, gather<root<right>>(a, b)>,
    dv::on<left, dv::let<y, plus(g, a)>>,
    dv::output<stage<0>, stage<1>, stage<2>, y, h>> {};

// Roles with lanes.
template <int N>
struct lanes : dv::graph<
    dv::input<x, row<N>>,
    dv::mesh<dv::axis<dp>>,
    dv::on<left, dv::let<a, plus(x, x)>, dv::let<b, all_reduce<sum, dp>(a)>>,
    dv::on<right, dv::let<c, plus(a, b)>, dv::let<d, all_reduce<maximum, dp>(c)>>,
    dv::output<c, d>> {};

// Micro-batches through stages.
struct bias;
template <int S, int M>
using work = dv::let<w<S + 1, M>, plus(w<S, M>, bias)>;
template <int Micro, int N>
struct pipes {
    template <int M> using feed = dv::input<w<0, M>, row<N>>;
    template <int S> struct on_stage {
        template <int M> using body = work<S, M>;
    };
    template <int S> using stage_of = dv::on<stage<S>, dv::repeat<on_stage<S>::template body, Micro>>;
};
template <int Stages, int Micro, int N, class = std::make_integer_sequence<int, Micro>>
struct pipeline;
template <int Stages, int Micro, int N, int... M>
struct pipeline<Stages, Micro, N, std::integer_sequence<int, M...>> : dv::graph<
    dv::input<bias, row<N>>,
    dv::repeat<pipes<Micro, N>::template feed, Micro>,
    dv::repeat<pipes<Micro, N>::template stage_of, Stages>,
    dv::output<w<Stages, M>...>> {};

// A state that lanes add to, in place, by computation and by communication.
template <int N>
struct counting : dv::graph<
    dv::input<x, row<N>>,
    dv::mesh<dv::axis<dp>>,
    dv::state<count, row<N>, zeros>,
    dv::update<count, plus(count, x)>,
    dv::let<a, all_reduce<sum, dp>(count)>,
    dv::let<y, plus(a, a)>,
    dv::output<y>> {};

// Host memory on the way in and out.
template <int N>
struct through_host : dv::graph<
    dv::input<x, row<N>, dv::pinned>,
    dv::let<a, plus(from_host(x), b)>,
    dv::input<b, row<N>>,
    dv::let<y, to_host(a)>,
    dv::let<c, plus(a, from_host(y))>,
    dv::output<y, c>> {};

// Every communication along an axis, of one element type.
template <class T, int Lanes>
struct every : dv::graph<
    dv::input<x, dv::tensor<T, 4 * Lanes, 5>>,
    dv::mesh<dv::axis<dp, Lanes>>,
    dv::let<a, all_gather<dp>(x)>,
    dv::let<b, reduce_scatter<maximum, dp>(x)>,
    dv::let<c, all_to_all<dp>(x)>,
    dv::let<d, shift<dp, +1>(x)>,
    dv::let<e, shift<dp, -1, open>(x)>,
    dv::let<f, gather<dp, root_lane<Lanes - 1>>(x)>,
    dv::let<g, scatter<dp, root_lane<0>>(x)>,
    dv::let<h, all_reduce<sum, dp>(x)>,
    dv::let<y, all_reduce<minimum, dp>(x)>,
    dv::let<z, broadcast<dp, root_lane<Lanes - 1>>(reduce<product, dp, root_lane<Lanes - 1>>(x))>,
    dv::output<a, b, c, d, e, f, g, h, y, z>> {};

}  // namespace gpu
