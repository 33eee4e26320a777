// The graph of the README, parametrised by the size of its blocks: three roles make a block each, a receiver multiplies each with itself.
// In `three_senders` a block takes as long to send as to multiply on GPUs; its transfers are peer copies.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>

namespace senders {

namespace dv = dovetail;
using namespace dv::ops;

struct value;
struct receiver;
template <int> struct sender;
template <int> struct block;
template <int> struct product;

template <int N>
struct of_size {
    using matrix = dv::tensor<dv::half, N, N>;
    template <int I> using make = dv::on<sender<I>, dv::let<block<I>, fill<matrix>(value)>>;
    template <int I> using use  = dv::let<product<I>, matmul(block<I>, block<I>)>;
    using graph = dv::graph<
        dv::input<value, dv::scalar<float>>,
        dv::repeat<make, 3>,
        dv::on<receiver, dv::repeat<use, 3>>,
        dv::output<dv::all<3, product>>>;
};

struct three_small_senders : of_size<128>::graph {};
struct three_senders : of_size<10000>::graph {};

}  // namespace senders
