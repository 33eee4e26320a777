// Graphs for GPUs beyond the samples: every communication along an axis for each element type, collectives over roles, states that
// communication updates in place, and operations that fail.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>

#include <stdexcept>

namespace gpu {

namespace dv = dovetail;
using namespace dv::ops;

struct dp;
struct node;
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
struct count;

template <class T, int Lanes>
struct every : dv::graph<
    dv::input<x, dv::tensor<T, 4 * Lanes, 5>>,
    dv::mesh<dv::axis<dp, Lanes>>,
    dv::let<a, all_gather<dp>(x)>,
    dv::let<b, reduce_scatter<maximum, dp>(x)>,
    dv::let<c, all_to_all<dp>(x)>,
    dv::let<d, shift<dp, +1>(x)>,
    dv::let<e, shift<dp, -1, zero_edge>(x)>,
    dv::let<f, broadcast<dp, root_index<Lanes - 1>>(gather<dp, root_index<Lanes - 1>>(x))>,
    dv::let<g, scatter<dp, root_index<0>>(x)>,
    dv::let<h, all_reduce<sum, dp>(x)>,
    dv::let<y, all_reduce<minimum, dp>(x)>,
    dv::let<z, broadcast<dp, root_index<Lanes - 1>>(reduce<product, dp, root_index<Lanes - 1>>(x))>,
    dv::let<count, permute<dp, pair<Lanes - 1, 0>>(x)>,
    dv::output<a, b, c, d, e, f, g, h, y, z, count>> {};

// States that communication changes in place.
struct in_place : dv::graph<
    dv::input<x, dv::tensor<float, 12>>,
    dv::mesh<dv::axis<dp>>,
    dv::state<a, dv::tensor<float, 12>, zeros>,
    dv::state<b, dv::tensor<float, 12>, zeros>,
    dv::update<a, copy(x)>,
    dv::update<a, all_reduce<sum, dp>(a)>,
    dv::update<b, copy(x)>,
    dv::update<b, shift<dp, +1>(b)>,
    dv::let<y, add(a, b)>,
    dv::output<y>> {};

// Two positions change places in a state; the others, where there are any, get zeros.
struct exchanged : dv::graph<
    dv::input<x, dv::tensor<float, 12>>,
    dv::mesh<dv::axis<dp>>,
    dv::state<b, dv::tensor<float, 12>, zeros>,
    dv::update<b, copy(x)>,
    dv::update<b, permute<dp, pair<0, 1>, pair<1, 0>>(b)>,
    dv::let<y, add(b, x)>,
    dv::output<y>> {};

struct over_roles : dv::graph<
    dv::input<x, dv::tensor<float, 6>>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<y, add(d, a)>>,
    dv::on<middle, dv::let<b, multiply(x, x)>>,
    dv::on<right, dv::let<z, add(d, f)>>,
    dv::let<d, broadcast<to<left, right>>(b)>,
    dv::let<e, gather<root<right>>(a, c)>,
    dv::let<f, reduce<maximum, root<right>>(a, b, c)>,
    dv::on<right, dv::let<c, subtract(x, d)>>,
    dv::let<g, scatter<to<middle, right>>(a)>,
    dv::output<y, z, e, g>> {};

// Operations that go wrong on a GPU.
#if defined(__CUDACC__)
template <class T>
__global__ void nothing(T*) {}
#endif
struct refused {  // no such launch configuration
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
#if defined(__CUDACC__)
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X>, dv::out<X> to) {
        nothing<<<1, 5000, 0, static_cast<cudaStream_t>(s.handle)>>>(to.data());
    }
#endif
};
struct waits {  // synchronises: not to be captured
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
#if defined(__CUDACC__)
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        const auto on = static_cast<cudaStream_t>(s.handle);
        cudaMemcpyAsync(to.data(), from.data(), X::bytes, cudaMemcpyDefault, on);
        cudaStreamSynchronize(on);
    }
#endif
};
struct throws {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream, dv::in<X>, dv::out<X>) { throw std::runtime_error{"on purpose"}; }
};
template <class Operation>
struct one_operation : dv::graph<
    dv::input<x, dv::tensor<float, 6>>,
    dv::mesh<dv::axis<dp>>,
    dv::let<a, all_reduce<sum, dp>(x)>,
    dv::let<y, Operation(a)>,
    dv::let<z, all_reduce<sum, dp>(y)>,
    dv::output<z>> {};

}  // namespace gpu
