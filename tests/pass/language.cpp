// infer, check and expand on graphs written in the language: types, rules, and the tasks of each rank.
#include "support/samples.hpp"

#include <doctest/doctest.h>

namespace {

using namespace samples;

template <class G>
dv::ir::program_data expanded(dv::plan_options s = {}) {
    return dv::pass::expand(dv::plan::typed<G>::value, s);
}

int tasks_of(const dv::ir::program_data& p, dv::op_kind k) {
    int n = 0;
    for (const dv::ir::task& v : p.tasks) n += v.kind == k ? 1 : 0;
    return n;
}

template <class G, class Name>
inline constexpr dv::tensor_type type_of = dv::plan::typed<G>::value.symbols[dv::plan::symbol_of<G, Name>].type;

template <int I> struct link_of_chain;
template <int I> using chained = dv::let<link_of_chain<I + 1>, relu(link_of_chain<I>)>;
using chain = dv::graph<dv::input<x, vector>, dv::let<link_of_chain<0>, add(x, x)>, dv::repeat<chained, 4>, dv::output<link_of_chain<4>>>;

template <int> struct block;
template <int> struct summed;
template <int> struct so_far;
template <int I> using add_block = dv::group<dv::let<block<I>, add(x, x)>, dv::let<summed<I>, all_reduce<sum, dp>(block<I>)>,
                                             dv::let<so_far<I + 1>, add(so_far<I>, summed<I>)>>;
struct six_blocks : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 2>>, dv::let<so_far<0>, copy(x)>, dv::repeat<add_block, 6>,
                              dv::output<so_far<6>>> {};

template <int> struct wide;
template <int> struct narrow;
struct widen {
    static constexpr dv::tensor_type result(dv::tensor_type of) { return of.with_extents(1000); }
};
struct add_up {
    static constexpr dv::tensor_type result(dv::tensor_type of) { return of.with_extents(1); }
};
template <int I> using widened = dv::let<wide<I>, widen(x)>;
template <int I> using added_up = dv::let<narrow<I>, add_up(wide<I>)>;
struct widened_first : dv::graph<dv::input<x, vector>, dv::repeat<widened, 6>, dv::repeat<added_up, 6>, dv::output<dv::all<6, narrow>>> {};

}  // namespace

TEST_CASE("shapes follow the widths of axes") {
    static_assert(type_of<along_an_axis, a> == dv::tensor<float, 16>::type);
    static_assert(type_of<along_an_axis, b> == dv::tensor<float, 4>::type);
    static_assert(type_of<along_an_axis, f> == dv::tensor<float, 16>::type);
    static_assert(type_of<along_an_axis, y> == dv::tensor<float, 4>::type);
    static_assert(std::is_same_v<dv::plan::tensor_of<along_an_axis, y>, dv::tensor<float, 4>>);
    CHECK(true);
}

TEST_CASE("a channel for each role that reads, made once") {
    const auto p = expanded<read_twice>();
    CHECK(tasks_of(p, dv::op_kind::transfer) == 4);  // a to right and middle, b to right, d to middle
    CHECK(tasks_of(p, dv::op_kind::input) == 1);     // left alone uses x
    for (const dv::ir::task& v : p.tasks)
        if (v.kind == dv::op_kind::transfer) {
            CHECK(v.participations == 2);
            CHECK(v.stream == dv::stream_kind::communication);
        }
}

TEST_CASE("single_rank: one rank, no communication between roles") {
    const auto p = expanded<dv::single_rank<collective_first>>();
    CHECK(p.roles == 1);
    for (const dv::ir::member& m : p.members)
        if (dv::is_communication(m.kind)) CHECK(m.local);
    CHECK(tasks_of(p, dv::op_kind::input) == 1);
}

TEST_CASE("an operation that can work in place takes over the buffer of its only reader's argument") {
    const auto p = expanded<chain>();
    int aliases = 0;
    for (const dv::ir::buffer& b : p.buffers)
        if (b.alias >= 0) {
            ++aliases;
            CHECK(p.buffers[b.alias].alias < 0);
        }
    CHECK(aliases == 4);
}

TEST_CASE("slots follow the options") {
    dv::plan_options s;
    s.in_flight = 3;
    s.channel_slots = 2;
    const auto p = expanded<crossing_pair>(s);
    for (const dv::ir::buffer& b : p.buffers) {
        if (b.where == dv::ir::storage::input || b.output) CHECK(b.slots == 3);
    }
    for (const dv::ir::task& v : p.tasks)
        if (v.kind == dv::op_kind::transfer)
            for (int i = v.first_participation; i < v.first_participation + v.participations; ++i)
                if (p.participations[i].group_index == 1) CHECK(p.buffers[p.accesses[p.participations[i].first_access].buffer].slots == 2);
}

TEST_CASE("the buffers of a collective over roles are alike on all of them") {
    const auto p = expanded<overlapping_collectives>();
    int symmetric_set = 0;
    for (const dv::ir::buffer& b : p.buffers) symmetric_set += b.symmetric_set >= 0 ? 1 : 0;
    CHECK(symmetric_set >= 4);
    CHECK(p.symmetric_sets >= 2);
}

TEST_CASE("a group is one task with several members") {
    const auto p = expanded<one_group>();
    int members = 0;
    for (const dv::ir::task& v : p.tasks)
        if (v.members > 1) members = v.members;
    CHECK(members == 2);
}

TEST_CASE("facts of the plan") {
    static_assert(dv::valid<sums>);
    static_assert(!std::is_same_v<dv::plan::diagnose<dv::graph<dv::input<x, vector>>>, dv::error::none>);
    static_assert(dv::hidden_fraction<crossing_pair, sequential> == 0.0);
    static_assert(dv::predicted_time<crossing_pair, overlapped> <= dv::predicted_time<crossing_pair, sequential>);
    static_assert(dv::wait_count<ping_pong, left, sequential> == 0);
    static_assert(dv::wait_count<pipeline<2, 2>, stage<1>, overlapped> > 0);
    static_assert(dv::peak_bytes<shaped<1023>, left, sequential> >= 2 * 4092);
    static_assert(dv::peak_bytes<counter, dv::unnamed_role, sequential> >= 2 * 4);
    CHECK(true);
}

TEST_CASE("a memory limit chooses a schedule that keeps it") {
    // Six blocks are made and summed one by one: overlap makes the next one while this one is reduced, the limit forbids it.
    constexpr auto one_at_a_time = dv::peak_bytes<six_blocks, dv::unnamed_role, sequential>;
    using limited = dv::options<slow_links, dv::memory_limit<one_at_a_time>>;
    using roomy = dv::options<slow_links, dv::memory_limit<dv::peak_bytes<six_blocks, dv::unnamed_role, overlapped>>>;
    static_assert(dv::peak_bytes<six_blocks, dv::unnamed_role, overlapped> > one_at_a_time);
    static_assert(dv::peak_bytes<six_blocks, dv::unnamed_role, limited> == one_at_a_time);
    static_assert(dv::predicted_time<six_blocks, limited> > dv::predicted_time<six_blocks, overlapped>);
    static_assert(dv::predicted_time<six_blocks, roomy> == dv::predicted_time<six_blocks, overlapped>);
    CHECK(true);
}

TEST_CASE("a memory limit chooses an order that keeps it, whatever order is written") {
    // Six blocks are made, then summed: the limit has each summed before the next one is made.
    static_assert(dv::peak_bytes<widened_first> > 6 * 4000);
    static_assert(dv::peak_bytes<widened_first, dv::unnamed_role, dv::options<dv::memory_limit<8000>>> <= 8000);
    CHECK(true);
}
