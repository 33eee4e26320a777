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
// The same with channels by peer copy.
using copied = dv::options<slow_links, dv::channel_transport<dv::transport::peer_copy>>;
using copied_in_turn = dv::options<slow_links, dv::channel_transport<dv::transport::peer_copy>, dv::overlap<false>>;
using several_copied = dv::options<slow_links, dv::channel_transport<dv::transport::peer_copy>, dv::in_flight<3>, dv::channel_slots<2>>;

// Collectives of equal slack in one NCCL group.
using bucketed = dv::options<slow_links, dv::rewritten_by<dv::rewrite::bucket>>;
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
    dv::let<total, add(c, add(d, e))>,
    dv::output<a, b, f, y, total>> {};

// Permutations of positions: two of four receive a value and two zeros; all receive one; and two are exchanged in a state.
struct permuted : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 4>>,
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

// Shapes at the edge: nothing, one element, an odd number.
template <std::int64_t N>
struct shaped : dv::graph<
    dv::input<x, dv::tensor<float, N>>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<d, add(total, a)>>,
    dv::on<right, dv::let<b, add(a, x)>>,
    dv::let<total, all_reduce<sum>(a, b)>,
    dv::output<d>> {};

}  // namespace samples
