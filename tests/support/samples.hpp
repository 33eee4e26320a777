// The graphs with which every law and every backend is tested: graphs that users write first, small enough to check by hand.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>

namespace samples {

namespace dv = dovetail;
using namespace dv::ops;

struct left;
struct middle;
struct right;
struct dp;
struct tp;

struct x;
struct y;
struct a;
struct b;
struct c;
struct d;
struct e;
struct f;
struct own;
struct total;
template <int> struct stage;
template <int, int> struct hop;

using vector = dv::tensor<float, 8>;
using number = dv::scalar<float>;

// A machine with links so slow that overlap always pays, and no stated error: the planner overlaps wherever it can.
struct slow_links {
    static constexpr dv::machine_description description{.name = "slow_links",
                                                         .half_flops = 1'000'000'000,
                                                         .float_flops = 1'000'000'000,
                                                         .double_flops = 1'000'000'000,
                                                         .memory_bandwidth = 1'000'000'000,
                                                         .launch_latency = 1'000'000,
                                                         .edge_latency = 1,
                                                         .link_latency = 1'000'000,
                                                         .link_bandwidth = 10'000'000,
                                                         .bus_bandwidth = 10'000'000,
                                                         .host_bandwidth = 10'000'000};
};
using overlapped = dv::options<slow_links>;
using sequential = dv::options<slow_links, dv::overlap<false>>;
using several = dv::options<slow_links, dv::in_flight<3>, dv::channel_slots<2>>;
// The same with channels and collectives by copy engines.
template <class... Option>
using by_copy_engines = dv::options<slow_links, dv::channel_transport<dv::transport::peer_copy>,
                                    dv::collective_transport<dv::transport::peer_copy>, Option...>;
using copied = by_copy_engines<>;
using copied_in_turn = by_copy_engines<dv::overlap<false>>;
using several_copied = by_copy_engines<dv::in_flight<3>, dv::channel_slots<2>>;

// Collectives of equal slack in one NCCL group.
using bucketed = dv::options<slow_links, dv::rewritten_by<dv::rewrite::bucket>>;
// All_reduces as reduce_scatters and all_gathers, with row-wise operations on shards.
using decomposed = dv::options<slow_links, dv::rewritten_by<dv::rewrite::decompose>>;
// Booked within the memory of an order that needs little.
using booked = dv::options<slow_links, dv::force_candidate<dv::candidate::booked_100>>;
using several_booked = dv::options<slow_links, dv::force_candidate<dv::candidate::booked_100>, dv::in_flight<3>, dv::channel_slots<2>>;

// Two roles that send to each other.
struct crossing_pair : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<c, add(a, b)>>,
    dv::on<right, dv::let<b, multiply(x, x)>, dv::let<d, subtract(a, b)>>,
    dv::output<c, d>> {};

// left, right, left, right.
struct ping_pong : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<c, multiply(b, x)>>,
    dv::on<right, dv::let<b, add(a, x)>, dv::let<d, add(c, a)>>,
    dv::output<d>> {};

// A ring of three roles.
struct ring_of_three : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<d, add(c, x)>>,
    dv::on<middle, dv::let<b, add(a, x)>>,
    dv::on<right, dv::let<c, add(b, x)>>,
    dv::output<d>> {};

// From one role to two others and back.
struct there_and_back : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<d, add(b, c)>>,
    dv::on<middle, dv::let<b, multiply(a, x)>>,
    dv::on<right, dv::let<c, subtract(a, x)>>,
    dv::output<d>> {};

// A value read twice by one role, by two roles, by a role and the caller, sent and used at home.
struct read_twice : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<b, multiply(a, a)>>,
    dv::on<right, dv::let<c, add(a, b)>, dv::let<d, subtract(a, b)>>,
    dv::on<middle, dv::let<e, add(a, d)>>,
    dv::output<a, b, c, e>> {};

// A channel and a collective that share ranks, in either order of declaration.
struct channel_first : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>>,
    dv::on<right, dv::let<b, multiply(a, x)>, dv::let<c, subtract(total, b)>>,
    dv::let<total, all_reduce<sum>(a, b)>,
    dv::on<left, dv::let<d, add(total, a)>>,
    dv::output<c, d>> {};
struct collective_first : dv::graph<
    dv::input<x, vector>,
    dv::let<total, all_reduce<sum>(a, b)>,
    dv::on<left, dv::let<d, add(total, a)>>,
    dv::on<right, dv::let<c, subtract(total, b)>, dv::let<b, multiply(a, x)>>,
    dv::on<left, dv::let<a, add(x, x)>>,
    dv::output<c, d>> {};

// Collectives on overlapping sets of roles.
struct overlapping_collectives : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<stage<0>, add(d, f)>>,
    dv::on<middle, dv::let<b, multiply(x, x)>, dv::let<stage<1>, add(d, e)>>,
    dv::on<right, dv::let<c, subtract(x, x)>, dv::let<stage<2>, add(e, f)>>,
    dv::let<d, all_reduce<sum>(a, b)>,
    dv::let<e, all_reduce<maximum>(b, c)>,
    dv::let<f, all_reduce<minimum>(a, b, c)>,
    dv::output<stage<0>, stage<1>, stage<2>>> {};

// A value that two collectives take together with two others of one role: at most one of those lies where it does. It is an output,
// which has more copies than they would need.
struct taken_twice : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<stage<0>, add(d, e)>>,
    dv::on<right, dv::let<b, multiply(x, x)>, dv::let<c, subtract(x, x)>, dv::let<stage<1>, subtract(d, e)>>,
    dv::let<d, all_reduce<sum>(a, b)>,
    dv::let<e, all_reduce<sum>(a, c)>,
    dv::output<a, stage<0>, stage<1>>> {};

// Micro-batches through stages: stage s adds its number to micro-batch m.
struct bias_of_stage;
template <int S, int M>
using work = dv::let<hop<S + 1, M>, add(hop<S, M>, bias_of_stage)>;
template <int Micro>
struct pipeline_of {
    template <int M> using feed = dv::input<hop<0, M>, vector>;
    template <int S> struct on_stage {
        template <int M> using body = work<S, M>;
    };
    template <int S> using stage_of = dv::on<stage<S>, dv::repeat<on_stage<S>::template body, Micro>>;
};
template <int Stages, int Micro, class = std::make_integer_sequence<int, Micro>>
struct pipeline;
template <int Stages, int Micro, int... M>
struct pipeline<Stages, Micro, std::integer_sequence<int, M...>> : dv::graph<
    dv::input<bias_of_stage, vector>,
    dv::repeat<pipeline_of<Micro>::template feed, Micro>,
    dv::repeat<pipeline_of<Micro>::template stage_of, Stages>,
    dv::output<hop<Stages, M>...>> {};

// A state that counts the runs.
struct count;
struct counter : dv::graph<
    dv::input<x, number>,
    dv::state<count, number, zeros>,
    dv::update<count, add(count, x)>,
    dv::let<y, copy(count)>,
    dv::output<y>> {};

// The same sum three ways.
struct sums : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 4>>,
    dv::let<a, all_reduce<sum, dp>(x)>,
    dv::let<b, broadcast<dp, root_index<1>>(reduce<sum, dp, root_index<1>>(x))>,
    dv::let<c, all_gather<dp>(reduce_scatter<sum, dp>(x))>,
    dv::output<a, b, c>> {};

// Every communication along an axis.
struct along_an_axis : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::let<a, all_gather<dp>(x)>,
    dv::let<b, reduce_scatter<maximum, dp>(x)>,
    dv::let<c, all_to_all<dp>(x)>,
    dv::let<d, shift<dp, +1>(x)>,
    dv::let<e, shift<dp, -1, zero_edge>(x)>,
    dv::let<f, gather<dp, root_index<1>>(x)>,
    dv::let<y, scatter<dp, root_index<0>>(x)>,
    dv::let<own, own_rows<dp>(x)>,
    dv::let<total, add(c, add(d, e))>,
    dv::output<a, b, f, y, own, total>> {};

// Permutations of positions on four nodes: two of four receive a value and two zeros; all receive one; and two are exchanged in a state.
struct permuted : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 4, dv::link::network>>,
    dv::state<count, vector, zeros>,
    dv::let<a, permute<dp, pair<0, 2>, pair<2, 1>>(x)>,
    dv::let<b, permute<dp, pair<0, 3>, pair<1, 1>, pair<2, 0>, pair<3, 2>>(x)>,
    dv::update<count, add(count, add(a, b))>,
    dv::update<count, permute<dp, pair<1, 0>, pair<0, 1>, pair<3, 3>>(count)>,
    dv::let<y, copy(count)>,
    dv::output<a, b, y>> {};

// Roles with positions: a channel joins equal coordinates, a reduction joins the positions of one role.
struct roles_and_meshes : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp>>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<b, all_reduce<sum, dp>(a)>>,
    dv::on<right, dv::let<c, add(a, b)>, dv::let<d, all_reduce<maximum, dp>(c)>>,
    dv::output<c, d>> {};

// A gradient step on one weight: the forward pass, a mean over the positions, an update in place, momentum kept in a state.
struct weight;
struct speed;
struct rate;
struct descent : dv::graph<
    dv::input<x, vector>,
    dv::input<rate, number, dv::replicated<dp>>,
    dv::mesh<dv::axis<dp>>,
    dv::state<weight, vector, constant<1>, dv::replicated<dp>>,
    dv::state<speed, vector, zeros, dv::replicated<dp>>,
    dv::let<a, multiply(weight, x)>,
    dv::let<b, all_reduce<average, dp>(a)>,
    dv::update<dv::values<weight, speed>, sgd_momentum<1, 2>(weight, speed, b, rate)>,
    dv::let<y, copy(weight)>,
    dv::output<y>> {};

// A training step of four layers, each y = x w by element, in a pipeline of two stages under each schedule: gradients are summed over four
// micro-batches in states that nothing initialises, so that each sum has to begin with the first micro-batch.
template <int> struct weight_of;
template <int> struct gradient_of;
template <int> struct corrected;
template <int> struct goal;
template <int, int> struct slope;
template <class Schedule>
struct layers_of {
    static constexpr int layers = 4, size = layers / dv::pipeline_chunks<Schedule, 2>;
    template <int L> using role = stage<dv::pipeline_stage<Schedule, 2, L / size>>;
    template <int M> using feed = dv::group<dv::input<hop<0, M>, vector>, dv::input<goal<M>, vector>>;
    template <int L> using before = dv::on<role<L>, dv::state<weight_of<L>, vector, constant<1>>, dv::state<gradient_of<L>, vector>>;
    template <int L> using after = dv::on<role<L>, dv::update<weight_of<L>, sgd(weight_of<L>, gradient_of<L>, rate)>,
                                          dv::let<corrected<L>, copy(weight_of<L>)>>;
    template <int C, int M> struct chunk {
        template <int I> static constexpr int layer = C * size + I;
        template <int L> using output_slope = dv::when<L == layers - 1, dv::let<slope<L + 1, M>, subtract(hop<L + 1, M>, goal<M>)>>;
        template <int L> using input_slope = dv::when<(L > 0), dv::let<slope<L, M>, multiply(slope<L + 1, M>, weight_of<L>)>>;
        template <int L> using first = dv::when<M == 0, dv::update<gradient_of<L>, multiply(hop<L, M>, slope<L + 1, M>)>>;
        template <int L> using next =
            dv::when<(M > 0), dv::update<gradient_of<L>, add(gradient_of<L>, multiply(hop<L, M>, slope<L + 1, M>))>>;
        template <int I> using forward = dv::let<hop<layer<I> + 1, M>, multiply(hop<layer<I>, M>, weight_of<layer<I>>)>;
        template <int I> using input = dv::group<output_slope<layer<I>>, input_slope<layer<I>>>;
        template <int I> using weight = dv::group<first<layer<I>>, next<layer<I>>>;
    };
    template <int C, int M> using forward = dv::repeat<chunk<C, M>::template forward, size>;
    template <int C, int M> using input = dv::repeat<chunk<C, M>::template input, dv::down<size>>;
    template <int C, int M> using weight = dv::repeat<chunk<C, M>::template weight, dv::down<size>>;
    template <int C, int M> using both = dv::group<input<C, M>, weight<C, M>>;
};
template <class L, class Pipeline>
using training_step = dv::graph<dv::input<rate, number>, dv::repeat<L::template feed, 4>, dv::repeat<L::template before, L::layers>,
                                Pipeline, dv::repeat<L::template after, L::layers>, dv::output<dv::all<L::layers, corrected>>>;
template <class Schedule, class L = layers_of<Schedule>>
using whole_training =
    training_step<L, dv::pipeline<2, 4, Schedule, stage, L::template forward, L::template both>>;
template <class Schedule, class L = layers_of<Schedule>>
using split_training =
    training_step<L, dv::pipeline<2, 4, Schedule, stage, L::template forward, L::template input, L::template weight>>;
struct trained_by_gpipe : whole_training<dv::gpipe> {};
struct trained_by_one_f_one_b : whole_training<dv::one_f_one_b> {};
struct trained_by_interleaved : whole_training<dv::interleaved<2>> {};
struct trained_by_zero_bubble : split_training<dv::zero_bubble> {};
struct trained_by_v_half : split_training<dv::v_half> {};

// A weight in shards, gathered once for two readers, and again behind its update.
struct shards_kept : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::state<weight, dv::tensor<float, 4>, constant<1>>,
    dv::keep<
        dv::let<a, all_gather<dp>(weight)>,
        dv::let<b, multiply(a, x)>,
        dv::let<c, add(b, all_gather<dp>(weight))>,
        dv::update<weight, add(weight, reduce_scatter<sum, dp>(c))>,
        dv::let<y, all_gather<dp>(weight)>>,
    dv::output<b, y>> {};

// Host memory on the way in and out.
struct through_host : dv::graph<
    dv::input<x, vector, dv::pinned>,
    dv::let<a, add(from_host(x), b)>,
    dv::input<b, vector>,
    dv::let<y, to_host(a)>,
    dv::let<c, add(a, from_host(y))>,
    dv::output<y, c>> {};

// Two reductions issued as one NCCL group.
struct one_group : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp>>,
    dv::let<a, add(x, x)>,
    dv::nccl_group<dv::let<b, all_reduce<sum, dp>(x)>, dv::let<c, all_reduce<maximum, dp>(a)>>,
    dv::let<y, subtract(b, c)>,
    dv::output<y>> {};

// Collectives over roles in one group.
struct summed_together : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<stage<0>, add(c, d)>>,
    dv::on<right, dv::let<b, multiply(x, x)>, dv::let<stage<1>, subtract(c, d)>>,
    dv::nccl_group<dv::let<c, all_reduce<sum>(a, b)>, dv::let<d, all_reduce<maximum>(a, b)>>,
    dv::output<stage<0>, stage<1>>> {};

// Collectives over roles whose results are whole tensors or blocks; in the last one the root receives as well.
struct gathered : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, relu(x)>, dv::let<d, copy(c)>>,
    dv::on<right, dv::let<b, add(x, x)>, dv::let<e, copy(c)>>,
    dv::let<c, all_gather<>(a, b)>,
    dv::output<d, e>> {};
struct scattered : dv::graph<
    dv::input<x, vector>,
    dv::on<middle, dv::let<a, relu(x)>>,
    dv::on<left, dv::let<d, copy(c)>>,
    dv::on<right, dv::let<e, copy(c)>>,
    dv::let<c, scatter<to<left, right>>(a)>,
    dv::output<d, e>> {};
struct shared_out : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, relu(x)>, dv::let<d, copy(c)>>,
    dv::on<right, dv::let<e, copy(c)>>,
    dv::let<c, scatter<to<right, left>>(a)>,
    dv::output<c, d, e>> {};

// The equal results of a collective over roles, read by a role that is not a member; a gathered result, read at the root;
// inputs of roles as arguments.
struct passed_on : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, relu(x)>>,
    dv::on<right, dv::let<b, add(x, x)>>,
    dv::let<c, all_reduce<sum>(a, b)>,
    dv::let<d, all_gather<>(a, b)>,
    dv::let<e, broadcast<to<right>>(a)>,
    dv::on<middle, dv::let<f, add(c, e)>, dv::let<y, copy(d)>>,
    dv::output<f, y>> {};
struct collected : dv::graph<
    dv::on<left, dv::input<a, vector>, dv::let<e, copy(c)>>,
    dv::on<right, dv::input<b, vector>, dv::let<f, copy(d)>>,
    dv::let<c, reduce<sum, root<left>>(a, b)>,
    dv::let<d, gather<root<right>>(a, b)>,
    dv::output<e, f>> {};
struct summed_apart : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, relu(x)>, dv::let<d, copy(c)>>,
    dv::on<right, dv::let<b, add(x, x)>, dv::let<e, copy(c)>>,
    dv::let<c, reduce_scatter<sum>(a, b)>,
    dv::output<d, e>> {};
// Only the caller reads the result that all roles receive.
struct announced : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, relu(x)>>,
    dv::on<middle, dv::let<b, relu(x)>>,
    dv::on<right, dv::let<d, relu(x)>>,
    dv::let<c, broadcast<to<middle, right>>(a)>,
    dv::output<b, c, d>> {};

// An input of one role that another one reads as well.
struct input_elsewhere : dv::graph<
    dv::on<left, dv::let<a, relu(x)>>,
    dv::on<right, dv::input<x, vector>, dv::let<b, add(x, x)>>,
    dv::output<a, b>> {};
// A copy to the host beside a collective and what follows from it.
struct over_host : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, relu(x)>, dv::let<y, to_host(a)>, dv::let<d, add(c, a)>>,
    dv::on<right, dv::let<b, add(x, x)>, dv::let<e, multiply(c, b)>>,
    dv::let<c, all_reduce<sum>(a, b)>,
    dv::output<d, e, y>> {};

// The root of the broadcast receives too. Its result lies with what the reduce takes, and so in another set of equal offsets than the other
// results; what it sends is in none. States that nothing changes, on roles with a channel and with an input.
struct told;
struct changed;
struct told_and_reduced : dv::graph<
    dv::on<left, dv::let<a, copy(b)>>,
    dv::on<middle, dv::state<count, number, constant<1>>, dv::let<b, copy(count)>, dv::let<changed, relu(told)>>,
    dv::on<right, dv::input<x, number>, dv::state<total, number, constant<2>>, dv::let<e, add(x, total)>>,
    dv::let<y, reduce<minimum, root<left>>(a, changed, x)>,
    dv::let<told, broadcast<to<middle, right, left>>(b)>,
    dv::output<y, e>> {};

// Order without data: after a value of this role and of another one, an input, a state between two of its updates and values of a
// collective's roles; the reader of a value may start after it as well.
struct ordered : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::after<c, dv::let<b, multiply(x, x)>>,
           dv::after<a, dv::after<total, dv::let<f, subtract(x, a)>>>>,
    dv::on<right, dv::state<count, vector, zeros>, dv::update<count, add(count, x)>, dv::let<c, relu(x)>,
           dv::after<count, dv::let<d, subtract(x, x)>>, dv::after<d, dv::update<count, multiply(count, x)>>>,
    dv::after<x, dv::after<a, dv::after<c, dv::let<total, all_reduce<sum>(b, d)>>>>,
    dv::on<right, dv::let<e, copy(count)>>,
    dv::output<e, f, total>> {};
// Communication along an axis, after values of its own rank: all_reduces one after the other, one of them in an NCCL group.
struct in_turn : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::let<a, all_reduce<sum, dp>(x)>,
    dv::after<a, dv::let<b, add(x, x)>>,
    dv::let<c, all_reduce<maximum, dp>(a)>,
    dv::nccl_group<dv::after<b, dv::let<d, all_reduce<minimum, dp>(x)>>, dv::let<e, all_reduce<average, dp>(x)>>,
    dv::after<d, dv::let<y, shift<dp, +1>(x)>>,
    dv::output<a, c, e, y>> {};

// Roles of the world in an order that is not that of their statements, the second of them idle.
struct idle_between : dv::graph<
    dv::roles<right, middle, left>,
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::on<left, dv::let<a, all_reduce<sum, dp>(x)>>,
    dv::on<right, dv::let<b, add(a, x)>>,
    dv::output<b>> {};

// A role that computes beside its communication, and one that does not, so that it has one stream.
struct one_role_overlaps : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::on<left, dv::let<a, all_reduce<sum, dp>(x)>, dv::let<b, multiply(add(x, x), x)>, dv::let<c, add(a, b)>>,
    dv::on<right, dv::let<d, relu(x)>, dv::let<e, all_reduce<maximum, dp>(d)>, dv::let<f, subtract(e, x)>>,
    dv::output<c, f>> {};

// Rows of values: a chain in two blocks, each of which is communicated by itself, a state of which one block is read above its update,
// and what is made of parts read whole, in blocks that are no parts, and given on.
using blocks = dv::tensor<float, 8, 64>;
template <int I> using first_half_step = dv::let<hop<0, I>, add(rows<I, 2>(x), rows<1 - I, 2>(weight))>;
template <int I> using second_half_step = dv::let<hop<1, I>, all_reduce<sum, dp>(hop<0, I>)>;
struct in_blocks : dv::graph<
    dv::input<x, blocks>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::state<weight, blocks, constant<1>>,
    dv::repeat<first_half_step, 2>,
    dv::repeat<second_half_step, 2>,
    dv::let<y, concat<hop<1, 0>, hop<1, 1>>>,
    dv::update<weight, add(weight, y)>,
    dv::let<a, relu(y)>,
    dv::let<b, add(rows<1, 4>(y), rows<3, 4>(weight))>,
    dv::let<c, reduce_scatter<sum, dp>(rows<0, 2>(a))>,
    dv::output<a, b, c>> {};
// The same across roles: rows of a value are a channel of their own, a part is sent, and a collective over roles takes rows.
struct blocks_across : dv::graph<dv::input<x, blocks>,
                                 dv::on<left, dv::let<a, relu(x)>, dv::let<d, add(rows<1, 4>(y), rows<1, 2>(b))>,
                                        dv::let<stage<0>, subtract(total, rows<0, 2>(a))>>,
                                 dv::on<right, dv::let<b, add(rows<0, 2>(a), rows<1, 2>(x))>, dv::let<c, multiply(rows<0, 2>(a), b)>,
                                        dv::let<y, concat<b, c>>, dv::let<e, relu(y)>, dv::let<stage<1>, subtract(total, rows<1, 2>(e))>>,
                                 dv::let<total, all_reduce<sum>(rows<1, 2>(a), rows<0, 2>(e))>, dv::output<d, e, stage<0>, stage<1>>> {};

// Splits in Blocks blocks; with one block the graph as written, to compare with. A chain of blocks that are added up over the ranks, its
// layers a repeat in the split; the same with a split in the repeat.
struct bias;
template <int I>
using summing_layer = dv::group<dv::let<hop<0, I>, bias_add(hop<1, I>, bias)>, dv::let<hop<1, I + 1>, all_reduce<sum, dp>(hop<0, I>)>>;
template <int Blocks>
struct split_of {
    template <int I> using layer = dv::split<Blocks, summing_layer<I>>;
};
template <int Blocks>
struct split_chain : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<hop<1, 0>, blocks>, dv::input<bias, dv::tensor<float, 64>>,
                               dv::split<Blocks, dv::repeat<summing_layer, 3>>, dv::output<hop<1, 3>>> {};
template <int Blocks>
struct split_layers : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<hop<1, 0>, blocks>, dv::input<bias, dv::tensor<float, 64>>,
                                dv::repeat<split_of<Blocks>::template layer, 3>, dv::output<hop<1, 2>, hop<1, 3>>> {};
// Rows scattered and gathered again: between them lie other rows on each rank than without the split.
template <int Blocks>
struct split_pair : dv::graph<
    dv::mesh<dv::axis<dp, 4>>,
    dv::input<x, blocks>,
    dv::input<bias, dv::tensor<float, 64>, dv::replicated<dp>>,
    dv::split<Blocks, dv::let<a, add(x, x)>, dv::let<b, relu(bias_add(reduce_scatter<sum, dp>(a), bias))>, dv::let<c, all_gather<dp>(b)>>,
    dv::let<d, subtract(c, x)>,
    dv::output<c, d>> {};
// Rows to their experts and back. What an expert has received is also used as a whole.
template <int Blocks, int Ranks>
struct split_experts_of : dv::graph<
    dv::mesh<dv::axis<dp, Ranks>>,
    dv::input<x, blocks>,
    dv::input<bias, dv::tensor<float, 64>>,
    dv::split<Blocks, dv::let<a, all_to_all<dp>(add(x, x))>, dv::let<b, relu(bias_add(a, bias))>, dv::let<c, all_to_all<dp>(b)>>,
    dv::let<d, subtract(a, x)>,
    dv::output<c, d>> {};
template <int Blocks>
struct split_experts : split_experts_of<Blocks, 2> {};
// Blocks of a value of one role are sent to a second one, and theirs to a third.
template <int Blocks>
struct split_across : dv::graph<
    dv::input<x, blocks>,
    dv::on<left, dv::let<a, add(x, x)>>,
    dv::split<Blocks, dv::on<middle, dv::let<b, relu(a)>, dv::let<c, multiply(b, a)>>, dv::on<right, dv::let<d, add(c, x)>>>,
    dv::on<left, dv::let<e, add(c, a)>>,
    dv::output<d, e>> {};
// Collectives over roles in blocks; outside of the split their results are read as wholes, on roles that have them and on one that has not.
template <int Blocks>
struct split_over_roles : dv::graph<
    dv::input<x, blocks>,
    dv::on<left, dv::let<a, add(x, x)>>,
    dv::on<middle, dv::let<b, relu(x)>>,
    dv::split<Blocks,
              dv::let<c, all_reduce<sum>(a, b)>, dv::let<d, broadcast<to<middle, right>>(a)>, dv::let<e, reduce<sum, root<left>>(a, b)>>,
    dv::on<left, dv::let<f, add(c, e)>>,
    dv::on<right, dv::let<y, multiply(c, d)>>,
    dv::output<b, c, f, y>> {};
// A state is read in blocks and changed behind them; an operation with two results, and one whose second result is not wanted.
struct sum_and_difference {
    static constexpr dv::results result(dv::tensor_type u, dv::tensor_type v) {
        return u == v ? dv::results{u, u} : dv::results{dv::tensor_type{}};
    }
    static constexpr auto row_wise = dv::elementwise();
    template <class Stream, class X>
    static void launch(Stream s, dv::in<X> u, dv::in<X> v, dv::out<X> sum, dv::out<X> difference) {
        add::launch(s, u, v, sum);
        subtract::launch(s, u, v, difference);
    }
};
template <int Blocks>
struct split_state : dv::graph<
    dv::input<x, blocks>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::state<weight, blocks, constant<1>>,
    dv::split<Blocks, dv::let<dv::values<a, b>, sum_and_difference(x, weight)>, dv::let<c, all_reduce<sum, dp>(b)>,
                      dv::let<dv::values<d, dv::discard>, sum_and_difference(c, a)>>,
    dv::update<weight, add(weight, c)>,
    dv::let<y, copy(weight)>,
    dv::output<d, y>> {};
// NCCL groups in a split, one for each block, and a split in an NCCL group, whose blocks are one group.
template <int Blocks>
struct split_groups : dv::graph<
    dv::input<x, blocks>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::split<Blocks, dv::let<a, add(x, x)>, dv::nccl_group<dv::let<b, all_reduce<sum, dp>(a)>, dv::let<c, all_reduce<maximum, dp>(x)>>>,
    dv::nccl_group<dv::split<Blocks, dv::let<d, all_reduce<sum, dp>(c)>>, dv::let<e, shift<dp, 1>(b)>>,
    dv::let<y, subtract(d, e)>,
    dv::output<y>> {};

// What moves collectives, as statements say.
struct moved : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::moved_by<dv::transport::peer_copy, dv::let<a, all_reduce<sum, dp>(x)>,
                 dv::moved_by<dv::transport::nccl, dv::let<b, shift<dp, 1>(a)>>>,
    dv::let<c, all_reduce<maximum, dp>(add(a, b))>,
    dv::output<b, c>> {};

// ... and what sends values to another role: rows of one as well, and one that a statement leaves to the options.
struct sent_apart : dv::graph<
    dv::input<x, dv::tensor<float, 8, 32>>,
    dv::on<left, dv::moved_by<dv::transport::nccl, dv::let<a, add(x, x)>>,
                 dv::moved_by<dv::transport::peer_copy, dv::let<b, add(a, x)>,
                              dv::moved_by<dv::transport::automatic, dv::let<c, add(b, x)>>>>,
    dv::on<right, dv::let<d, add(rows<0, 2>(b), rows<1, 2>(b))>, dv::let<y, add(a, c)>>,
    dv::output<d, y>> {};

// Collectives across hosts, of which copy engines move the part within the hosts: where the network's axis stands first, an all_gather and
// a reduce_scatter in blocks.
template <class Mesh>
struct across_hosts : dv::graph<
    dv::input<x, dv::tensor<float, 8, 32>>,
    Mesh,
    dv::moved_by<dv::transport::peer_copy, dv::let<a, all_reduce<sum>(x)>, dv::let<b, all_gather<>(a)>,
                 dv::let<c, reduce_scatter<maximum>(b)>>,
    dv::let<y, add(c, x)>,
    dv::output<a, y>> {};
struct hosts_first : across_hosts<dv::mesh<dv::axis<dp, 2, dv::link::network>, dv::axis<tp, 2>>> {};
struct hosts_last : across_hosts<dv::mesh<dv::axis<tp, 2>, dv::axis<dp, 2, dv::link::network>>> {};
// ... and from a root.
struct from_a_host : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2, dv::link::network>, dv::axis<tp, 2>>,
    dv::moved_by<dv::transport::peer_copy, dv::let<a, broadcast<root_index<3>>(x)>>,
    dv::let<y, add(a, x)>,
    dv::output<y>> {};

// Shapes at the edge: nothing, one element, an odd number.
template <std::int64_t N>
struct shaped : dv::graph<
    dv::input<x, dv::tensor<float, N>>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<d, add(total, a)>>,
    dv::on<right, dv::let<b, add(a, x)>>,
    dv::let<total, all_reduce<sum>(a, b)>,
    dv::output<d>> {};

// All_reduces that a decompose makes reduce_scatters and all_gathers of, with row-wise operations on shards; in a group in its place, the
// graph as written. Ranks of two axes in their order, beside them one axis alone; a bias that is read whole, an input of which each rank
// takes its own block, and a value that is gathered.
struct bias;
template <template <class...> class Decompose>
struct sharded_stream : dv::graph<
    dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 2>>,
    dv::input<x, blocks>,
    dv::input<bias, dv::tensor<float, 64>, dv::replicated<dp, tp>>,
    dv::input<e, blocks, dv::replicated<dp, tp>>,
    Decompose<dv::let<a, all_reduce<sum>(x)>,
              dv::let<b, multiply(relu(bias_add(a, bias)), a)>,
              dv::let<c, add(add(b, e), all_reduce<maximum>(add(b, x)))>,
              dv::let<d, relu(all_reduce<average, tp>(x))>>,
    dv::let<y, subtract(c, multiply(d, x))>,
    dv::output<d, y>> {};
// The same of blocks of rows, and a state that a product of a shard reads whole.
template <template <class...> class Decompose>
struct sharded_blocks : dv::graph<
    dv::mesh<dv::axis<dp, 2>>,
    dv::input<x, blocks>,
    dv::state<weight, dv::tensor<float, 64, 64>, constant<1>, dv::replicated<dp>>,
    dv::split<2, Decompose<dv::let<a, all_reduce<sum, dp>(x)>, dv::let<b, matmul(relu(a), weight)>>, dv::let<c, all_reduce<sum, dp>(b)>>,
    dv::update<weight, scale(weight, total)>,
    dv::input<total, number, dv::replicated<dp>>,
    dv::let<d, subtract(c, x)>,
    dv::output<c, d>> {};

// Updates of replicated states that a shard_update computes on shards: with a gradient and with one that row-wise work has changed, of a
// target that is no argument, and of one that a later update reads by rows.
template <template <class...> class Shard>
struct sharded_update : dv::graph<
    dv::mesh<dv::axis<dp, 2>>,
    dv::input<x, vector>,
    dv::input<rate, number, dv::replicated<dp>>,
    dv::state<weight, vector, constant<1>, dv::replicated<dp>>,
    dv::state<speed, vector, zeros, dv::replicated<dp>>,
    dv::state<count, vector, zeros, dv::replicated<dp>>,
    Shard<dv::let<a, all_reduce<average, dp>(multiply(weight, x))>,
          dv::update<dv::values<weight, speed>, sgd_momentum<1, 2>(weight, speed, a, rate)>,
          dv::update<count, multiply(scale(a, rate), speed)>,
          dv::update<weight, sgd(weight, add(a, count), rate)>>,
    dv::let<b, copy(weight)>, dv::let<c, copy(speed)>, dv::let<d, copy(count)>,
    dv::output<b, c, d>> {};

}  // namespace samples
