// A pipeline of 4 stages under each schedule: a model of 8 layers, of which each takes 10 ms forward and as long for each of its two
// gradients, 64 MB between layers, 1 GB of activations for each.
#include "workload.hpp"

namespace scheduled {
using namespace workloads::op;
constexpr int stages = 4, layers = 8, layer_us = 10'000;
template <int> struct stage;
template <int> struct w;
template <int, int> struct x;
template <int, int> struct kept;
template <int, int> struct dx;
template <int, int> struct sum;
struct embedding;
using wire = dv::tensor<dv::bfloat16, 4096, 8192>;
using weights = dv::tensor<dv::bfloat16, 8192, 8192>;
using table = dv::tensor<dv::bfloat16, 8192>;
template <int Layers> using activations = dv::tensor<dv::bfloat16, 16 * Layers, 4096, 8192>;

// The operations of a chunk of some layers.
template <int Layers> struct forward {
    static constexpr dv::results result(tt x, tt) { return {x, activations<Layers>::type}; }
    static constexpr dv::cost cost(tt x, tt) { return takes<Layers * layer_us>::cost(x); }
};
template <int Layers> struct input_gradient : takes<Layers * layer_us> {};
template <int Layers> struct weight_gradient {  // with the sum before it as the last argument, if there is one
    template <class... T> static constexpr tt result(tt, tt, T...) { return weights::type; }
    template <class... T> static constexpr dv::cost cost(tt dy, T...) { return takes<Layers * layer_us>::cost(dy); }
};
template <int Layers> struct both_gradients {
    template <class... T> static constexpr dv::results result(tt dy, tt, tt, T...) { return {dy, weights::type}; }
    template <class... T> static constexpr dv::cost cost(tt dy, T...) { return takes<2 * Layers * layer_us>::cost(dy); }
};
struct loss_gradient : takes<10> {};
struct correct : takes<10> {};
struct accumulate : takes<10> {};

template <class Schedule, int MicroBatches>
struct chunks {
    static constexpr int count = dv::pipeline_chunks<Schedule, stages>, size = layers / count;
    template <int C> using role = stage<dv::pipeline_stage<Schedule, stages, C>>;
    template <int M> using feed = dv::input<x<0, M>, wire>;
    template <int C> using before = dv::on<role<C>, dv::state<w<C>, weights, dv::from_store>>;
    template <int C> using after = dv::on<role<C>, dv::update<w<C>, correct(w<C>, sum<C, MicroBatches - 1>)>>;
    // The bodies: the last chunk begins its backward pass with the gradient of the loss, the first one ends it with that of the embedding.
    template <int C, int M> using loss = dv::when<C == count - 1, dv::let<dx<C + 1, M>, loss_gradient(x<C + 1, M>)>>;
    template <int C, int M> using last = dv::when<C == 0, dv::update<embedding, accumulate(embedding, dx<C, M>)>>;
    template <int C, int M> using run = dv::let<dv::values<x<C + 1, M>, kept<C, M>>, forward<size>(x<C, M>, w<C>)>;
    template <int C, int M> using whole = dv::group<
        loss<C, M>,
        dv::when<M == 0, dv::let<dv::values<dx<C, M>, sum<C, M>>, both_gradients<size>(dx<C + 1, M>, kept<C, M>, w<C>)>>,
        dv::when<(M > 0), dv::let<dv::values<dx<C, M>, sum<C, M>>, both_gradients<size>(dx<C + 1, M>, kept<C, M>, w<C>, sum<C, M - 1>)>>,
        last<C, M>>;
    template <int C, int M> using input = dv::group<
        loss<C, M>, dv::let<dx<C, M>, input_gradient<size>(dx<C + 1, M>, kept<C, M>, w<C>)>, last<C, M>>;
    template <int C, int M> using weight = dv::group<
        dv::when<M == 0, dv::let<sum<C, M>, weight_gradient<size>(dx<C + 1, M>, kept<C, M>)>>,
        dv::when<(M > 0), dv::let<sum<C, M>, weight_gradient<size>(dx<C + 1, M>, kept<C, M>, sum<C, M - 1>)>>>;
};
template <class Schedule, int M, class C = chunks<Schedule, M>>
struct whole : dv::graph<dv::repeat<C::template feed, M>, dv::on<stage<0>, dv::state<embedding, table, dv::from_store>>,
                         dv::repeat<C::template before, C::count>,
                         dv::pipeline<stages, M, Schedule, stage, C::template run, C::template whole>,
                         dv::repeat<C::template after, C::count>> {};
template <class Schedule, int M, class C = chunks<Schedule, M>>
struct split : dv::graph<dv::repeat<C::template feed, M>, dv::on<stage<0>, dv::state<embedding, table, dv::from_store>>,
                         dv::repeat<C::template before, C::count>,
                         dv::pipeline<stages, M, Schedule, stage, C::template run, C::template input, C::template weight>,
                         dv::repeat<C::template after, C::count>> {};

// Each schedule, with its bubble in units of a layer: of V-Half that of its order in unit time (dsl/pipeline_order).
template <int M>
void add(std::vector<workloads::scheduled_pipeline>& to) {
    using workloads::of;
    constexpr std::int64_t layer = std::int64_t{layer_us} * 1'000'000, work = 3 * layers / stages * M * layer;
    constexpr std::int64_t fill = 3 * (stages - 1) * layer;  // of chunks of one layer
    to.push_back({of<whole<dv::gpipe, M>>("GPipe"), M, work, 2 * fill});
    to.push_back({of<whole<dv::one_f_one_b, M>>("1F1B"), M, work, 2 * fill});
    to.push_back({of<whole<dv::interleaved<2>, M>>("interleaved, 2 chunks"), M, work, fill});
    to.push_back({of<split<dv::zero_bubble, M>>("ZB-H1"), M, work, 2 * fill / 3});
    to.push_back({of<split<dv::v_half, M>>("V-Half"), M, work, fill - layer});
}
}  // namespace scheduled
std::vector<workloads::scheduled_pipeline> workloads::schedules() {
    std::vector<scheduled_pipeline> all;
    scheduled::add<8>(all);
    scheduled::add<16>(all);
    return all;
}
