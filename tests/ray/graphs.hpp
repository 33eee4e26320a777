// Those graphs of Ray's actors that also run on GPUs (tests/gpu/roles.cu) and simulated ones (tests/launch/cuda/simulated.cpp).
#pragma once

#include "names.hpp"

#include <utility>

namespace ray {

template <int, int> struct g;  // the gradient behind a stage, by micro-batch

// A worker doubles what comes forward, and adds to what comes backward the value that it doubled.
template <int Stages>
struct passes {
    template <int M> using feed = dv::input<w<0, M>, number>;
    template <int S, int M> using forward = dv::let<w<S + 1, M>, add(w<S, M>, w<S, M>)>;
    template <int S, int M> using backward = dv::group<
        dv::when<S == Stages - 1, dv::let<g<S, M>, multiply(w<S + 1, M>, w<S, M>)>>,
        dv::when<S != Stages - 1, dv::let<g<S, M>, multiply(g<S + 1, M>, w<S, M>)>>>;
};
template <int Stages, class Schedule, class Micro>
struct pipelined;
template <int Stages, class Schedule, int... M>
struct pipelined<Stages, Schedule, std::integer_sequence<int, M...>> : dv::graph<
    typename passes<Stages>::template feed<M>...,
    dv::pipeline<Stages, sizeof...(M), Schedule, actor, passes<Stages>::template forward, passes<Stages>::template backward>,
    dv::output<g<0, M>...>> {};
template <int Stages, int Micro, class Schedule = dv::one_f_one_b>
using pipeline = pipelined<Stages, Schedule, std::make_integer_sequence<int, Micro>>;

// Two micro-batches forward from the first worker to the second, two backward the other way, all by arguments of the graph.
template <int Size> using row = dv::tensor<float, 1, Size>;
struct by_arguments : dv::graph<
    dv::input<in<0>, row<1>>,
    dv::input<in<1>, row<2>>,
    dv::input<in<2>, row<3>>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>, dv::let<v<1>, copy(in<1>)>, dv::let<out<2>, copy(v<2>)>, dv::let<out<3>, copy(v<3>)>>,
    dv::on<actor<1>, dv::let<out<0>, copy(v<0>)>, dv::let<out<1>, copy(v<1>)>, dv::let<v<2>, copy(in<2>)>, dv::let<v<3>, copy(in<2>)>>,
    dv::output<out<0>, out<1>, out<2>, out<3>>> {};

// Two tasks of one actor with an edge between them, of which the second also receives; and a third that sends meanwhile.
template <class Task, class Tensor>
struct edge_of_one_actor : dv::graph<
    dv::input<in<0>, Tensor>,
    dv::input<in<1>, Tensor>,
    dv::on<actor<0>, dv::let<v<0>, Task(in<0>)>, dv::let<v<1>, Task(v<0>)>, dv::let<out<0>, add(v<1>, v<2>)>>,
    dv::on<actor<1>, dv::let<v<2>, Task(in<1>)>, dv::let<out<1>, subtract(v<0>, v<2>)>>,
    dv::output<out<0>, out<1>>> {};

// Several values under way from one sender to one receiver at a time, each with a task in front and behind.
template <class Task, class Tensor>
struct sending {
    template <int I> using given = dv::input<in<I>, Tensor>;
    template <int I> using made = dv::let<v<I>, Task(in<I>)>;
    template <int I> using used = dv::let<out<I>, Task(v<I>)>;
};
template <class Task, class Tensor>
struct many_sends : dv::graph<
    dv::repeat<sending<Task, Tensor>::template given, 4>,
    dv::on<actor<0>, dv::repeat<sending<Task, Tensor>::template made, 4>>,
    dv::on<actor<1>, dv::repeat<sending<Task, Tensor>::template used, 4>>,
    dv::output<dv::all<4, out>>> {};

}  // namespace ray
