// Pipelines of 4 stages and 8 micro-batches, forward, backward and update; F = 1, B = 1, W = 1 ms and 64 MB between stages. Order is that
// of the statements: GPipe, 1F1B, interleaved 1F1B (2 chunks a rank), and W split off.
#include "workload.hpp"

namespace pipe {
using namespace workloads::op;
using namespace dv::ops;
using real = dv::bfloat16;
constexpr int stages = 4;
using wire = dv::tensor<real, 4096, 8192>;     // 64 MB
using kept = dv::tensor<real, 4, 4096, 8192>;  // 256 MB of activations that backward needs
using params = dv::tensor<real, 8192, 8192>;
template <int> struct stage;
template <int> struct w;  // of a (virtual) stage
template <int, int> struct x;
template <int, int> struct act_;
template <int, int> struct dx;
template <int, int> struct acc;
struct data;
struct fwd {
    static constexpr dv::results result(tt x, tt) { return {x, kept::type}; }
    static constexpr dv::cost cost(tt, tt) { return takes<1000>::cost(tt{}); }
};
struct bwd_x {
    static constexpr tt result(tt dy, tt, tt) { return dy; }
    static constexpr dv::cost cost(tt, tt, tt) { return takes<1000>::cost(tt{}); }
};
struct bwd_w {
    static constexpr tt result(tt, tt, tt w) { return w; }
    static constexpr dv::cost cost(tt, tt, tt) { return takes<1000>::cost(tt{}); }
    static constexpr int in_place = 2;
};
struct bwd_w0 {
    static constexpr tt result(tt, tt) { return params::type; }
    static constexpr dv::cost cost(tt, tt) { return takes<1000>::cost(tt{}); }
};
struct bwd {
    static constexpr dv::results result(tt dy, tt, tt, tt a) { return {dy, a}; }
    static constexpr dv::cost cost(tt, tt, tt, tt) { return takes<2000>::cost(tt{}); }
};
struct bwd0 {
    static constexpr dv::results result(tt dy, tt, tt w) { return {dy, w}; }
    static constexpr dv::cost cost(tt, tt, tt) { return takes<2000>::cost(tt{}); }
};
struct bwd_last {
    static constexpr tt result(tt, tt, tt, tt a) { return a; }
    static constexpr dv::cost cost(tt, tt, tt, tt) { return takes<2000>::cost(tt{}); }
};
struct bwd_last0 {
    static constexpr tt result(tt, tt, tt w) { return w; }
    static constexpr dv::cost cost(tt, tt, tt) { return takes<2000>::cost(tt{}); }
};
struct sgd {
    static constexpr tt result(tt w, tt) { return w; }
    static constexpr dv::cost cost(tt w, tt) { return dv::bytes_moved(3 * w.bytes()); }
};
struct start {
    static constexpr tt result(tt x) { return x; }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(2 * x.bytes()); }
};
// S counts virtual stages, V of them; stage S lives on rank S % stages. First and last differ: conditionals over two indices are
// specialisations.
template <int V, int S, int M> struct F_ {
    using type = dv::let<dv::values<x<S + 1, M>, act_<S, M>>, fwd(x<S, M>, w<S>)>;
};
template <int V, int S, int M> using F = dv::on<stage<S % stages>, typename F_<V, S, M>::type>;
// Whole backward. Gradients are accumulated in a chain over micro-batches.
template <int V, int S, int M> struct B_ {
    using type = dv::let<dv::values<dx<S, M>, acc<S, M>>, bwd(dx<S + 1, M>, act_<S, M>, w<S>, acc<S, M - 1>)>;
};
template <int V, int S> struct B_<V, S, 0> {
    using type = dv::let<dv::values<dx<S, 0>, acc<S, 0>>, bwd0(dx<S + 1, 0>, act_<S, 0>, w<S>)>;
};
template <int V, int M> struct B_<V, 0, M> {
    using type = dv::let<acc<0, M>, bwd_last(dx<1, M>, act_<0, M>, w<0>, acc<0, M - 1>)>;
};
template <int V> struct B_<V, 0, 0> {
    using type = dv::let<acc<0, 0>, bwd_last0(dx<1, 0>, act_<0, 0>, w<0>)>;
};
template <int V, int S, int M> using B1 = dv::on<stage<S % stages>, typename B_<V, S, M>::type>;
// The last stage begins its backward pass from its own output.
template <int V, int M> using turn = dv::on<stage<stages - 1>, dv::let<dx<V, M>, start(x<V, M>)>>;
template <int V, int S, int M> struct B2_ {
    using type = B1<V, S, M>;
};
template <int V, int M> struct B2_<V, V - 1, M> {
    using type = dv::group<turn<V, M>, B1<V, V - 1, M>>;
};
template <int V, int S, int M> using B = typename B2_<V, S, M>::type;
// Split backward: dx and W.
template <int V, int S, int M> struct X_ {
    using type = dv::on<stage<S % stages>, dv::let<dx<S, M>, bwd_x(dx<S + 1, M>, act_<S, M>, w<S>)>>;
};
template <int V, int M> struct X_<V, 0, M> {
    using type = dv::group<>;
};
template <int V, int M> struct X_<V, V - 1, M> {
    using type = dv::group<turn<V, M>, dv::on<stage<stages - 1>, dv::let<dx<V - 1, M>, bwd_x(dx<V, M>, act_<V - 1, M>, w<V - 1>)>>>;
};
template <int V, int S, int M> using X = typename X_<V, S, M>::type;
template <int S, int M> struct W_ {
    using type = dv::let<acc<S, M>, bwd_w(dx<S + 1, M>, act_<S, M>, acc<S, M - 1>)>;
};
template <int S> struct W_<S, 0> {
    using type = dv::let<acc<S, 0>, bwd_w0(dx<S + 1, 0>, act_<S, 0>)>;
};
template <int S, int M> using W = dv::on<stage<S % stages>, typename W_<S, M>::type>;
template <int V, int Micro> struct head {
    template <int M> using feed = dv::input<x<0, M>, wire>;
    template <int S> using weights = dv::on<stage<S % stages>, dv::state<w<S>, params, dv::from_store>>;
    template <int S> using learn = dv::on<stage<S % stages>, dv::update<w<S>, sgd(w<S>, acc<S, Micro - 1>)>>;
    template <int S, int M> using forward = F<V, S, M>;
    template <int S, int M> using backward = B<V, V - 1 - S, M>;
    template <int S, int M> using slope = X<V, V - 1 - S, M>;
    template <int S, int M> using weight_slope = W<V - 1 - S, M>;
};
// GPipe: all forward, then all backward.
template <int V, int Micro> struct gpipe
    : dv::graph<dv::repeat<head<V, Micro>::template feed, Micro>, dv::repeat<head<V, Micro>::template weights, V>,
                dv::repeat<head<V, Micro>::template forward, V, Micro>, dv::repeat<head<V, Micro>::template backward, V, Micro>,
                dv::repeat<head<V, Micro>::template learn, V>> {};
// 1F1B as an order of statements: T is a step of the well-known table, laid out by diagonals. Stage S forwards micro-batch M at tick S + M
// while it warms up, then alternates: forward M at tick 2 M + S (M > stages - 1 - S), backward M at tick 2 stages - 1 - S + 2 M.
template <int V, int S, int M, bool Is> struct maybe_F {
    using type = dv::group<>;
};
template <int V, int S, int M> struct maybe_F<V, S, M, true> {
    using type = F<V, S, M>;
};
template <int V, int S, int M, bool Is> struct maybe_B {
    using type = dv::group<>;
};
template <int V, int S, int M> struct maybe_B<V, S, M, true> {
    using type = B<V, S, M>;
};
constexpr int when_F(int s, int m) { return m < stages - s ? s + m : 2 * m + s; }
constexpr int when_B(int s, int m) { return 2 * stages - 1 - s + 2 * m; }
template <int T, int S, int M> using cell =
    dv::group<typename maybe_B<stages, S, M, when_B(S, M) == T>::type, typename maybe_F<stages, S, M, when_F(S, M) == T>::type>;
template <int Micro> struct one_f_one_b
    : dv::graph<dv::repeat<head<stages, Micro>::template feed, Micro>, dv::repeat<head<stages, Micro>::template weights, stages>,
                dv::repeat<cell, 2 * (stages + Micro), stages, Micro>, dv::repeat<head<stages, Micro>::template learn, stages>> {};
// GPipe, a micro-batch after the other: what a stage may do while another works is then also what is written.
template <int V> struct head_m {
    template <int M, int S> using forward = F<V, S, M>;
    template <int M, int S> using backward = B<V, V - 1 - S, M>;
};
template <int Micro> struct gpipe_by_batch
    : dv::graph<dv::repeat<head<4, Micro>::template feed, Micro>, dv::repeat<head<4, Micro>::template weights, 4>,
                dv::repeat<head_m<4>::template forward, Micro, 4>, dv::repeat<head_m<4>::template backward, Micro, 4>,
                dv::repeat<head<4, Micro>::template learn, 4>> {};
// Zero bubble: W apart, written behind all.
template <int Micro> struct zero_bubble
    : dv::graph<
          dv::repeat<head<stages, Micro>::template feed, Micro>, dv::repeat<head<stages, Micro>::template weights, stages>,
          dv::repeat<head<stages, Micro>::template forward, stages, Micro>, dv::repeat<head<stages, Micro>::template slope, stages, Micro>,
          dv::repeat<head<stages, Micro>::template weight_slope, stages, Micro>, dv::repeat<head<stages, Micro>::template learn, stages>> {
};
}  // namespace pipe
std::vector<workloads::workload> workloads::pipelines() {
    using namespace pipe;
    constexpr std::int64_t megabyte = 1'000'000;
    return {workloads::of<gpipe<4, 8>>("pipeline 4x8, GPipe"),
            workloads::of<gpipe_by_batch<8>>("pipeline 4x8, GPipe by batch"),
            workloads::of<gpipe<4, 8>, workloads::limited<2600 * megabyte>>("pipeline 4x8, GPipe, limit 2.6 GB"),
            workloads::of<gpipe_by_batch<8>, workloads::limited<2600 * megabyte>>("pipeline 4x8, GPipe by batch, limit 2.6 GB"),
            workloads::of<one_f_one_b<8>>("pipeline 4x8, 1F1B"),
            workloads::of<one_f_one_b<8>, workloads::limited<2600 * megabyte>>("pipeline 4x8, 1F1B, limit 2.6 GB"),
            workloads::of<gpipe<8, 8>>("pipeline 4x8, interleaved, GPipe"),
            workloads::of<zero_bubble<8>>("pipeline 4x8, zero bubble"),
            workloads::of<zero_bubble<8>, workloads::limited<3200 * megabyte>>("pipeline 4x8, zero bubble, limit 3.2 GB"),
            workloads::of<zero_bubble<8>, workloads::limited<2000 * megabyte>>("pipeline 4x8, zero bubble, limit 2.0 GB"),
            workloads::of<one_f_one_b<16>>("pipeline 4x16, 1F1B"),
            workloads::of<one_f_one_b<16>, workloads::limited<2600 * megabyte>>("pipeline 4x16, 1F1B, limit 2.6 GB")};
}
