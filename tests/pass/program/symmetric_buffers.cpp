// The sets of buffers with equal offsets: those that the members of collectives over roles pass, also of several collectives together.
#include "support/samples.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace samples;

// The buffers of a graph by name and role.
template <class G>
struct expanded {
    dv::ir::program_data p;

    explicit expanded(const dv::plan_options& s = {}) : p{dv::pass::expand(dv::plan::typed<G>::value, s)} {}
    template <class Name, class Role>
    const dv::ir::buffer& at() const {
        for (int b = 0; b < p.buffers.size(); ++b)
            if (p.buffers[b].symbol == dv::plan::symbol_of<G, Name> && p.buffers[b].role == dv::plan::role_of<G, Role>)
                return p.buffers[dv::ir::owner_of(p, b)];
        throw std::string{"no such buffer"};
    }
    template <class Name, class Role>
    int number() const {
        return at<Name, Role>().symmetric_set;
    }
    // Numbers from 0 on, each of at least two buffers, no two of one role.
    bool call_order_mismatch() const {
        std::vector<std::vector<int>> roles(static_cast<std::size_t>(p.symmetric_sets));
        for (const dv::ir::buffer& b : p.buffers) {
            if (b.symmetric_set < 0) continue;
            if (b.symmetric_set >= p.symmetric_sets || b.alias >= 0) return false;
            for (const int r : roles[b.symmetric_set])
                if (r == b.role) return false;
            roles[b.symmetric_set].push_back(b.role);
        }
        for (const auto& of : roles)
            if (of.size() < 2) return false;
        return true;
    }
};

dv::plan_options in_flight(int runs) {
    dv::plan_options s;
    s.in_flight = runs;
    return s;
}

struct g;
struct h;

// a and b meet once, b and c, then c and h: the first and the last are of one collective only.
struct in_a_row
    : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<a, add(x, x)>, dv::let<stage<0>, copy(d)>>,
                dv::on<middle, dv::let<b, add(x, x)>, dv::let<stage<1>, add(d, e)>>,
                dv::on<right, dv::let<c, add(x, x)>, dv::let<stage<2>, add(e, g)>>,
                dv::on<stage<3>, dv::let<h, add(x, x)>, dv::let<y, copy(g)>>, dv::let<d, all_reduce<sum>(a, b)>,
                dv::let<g, all_reduce<sum>(c, h)>, dv::let<e, all_reduce<sum>(b, c)>, dv::output<stage<0>, stage<1>, stage<2>, y>> {};

// What a collective gives is worked on in place on one role, and given again.
struct halve {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
    static constexpr int in_place = 0;
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<X>) {}
};
struct in_place
    : dv::graph<dv::input<x, vector>, dv::let<e, all_reduce<sum>(b, c)>, dv::let<d, all_reduce<sum>(a, f)>,
                dv::on<left, dv::let<b, halve(d)>, dv::let<a, add(x, x)>, dv::let<stage<0>, copy(e)>>,
                dv::on<right, dv::let<c, halve(x)>, dv::let<f, add(x, x)>, dv::let<stage<1>, copy(e)>>, dv::output<stage<0>, stage<1>>> {};

// Two collectives over roles in one NCCL group, and a value that is an output.
struct grouped_over_roles
    : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<a, add(x, x)>, dv::let<b, add(x, x)>, dv::let<stage<0>, add(d, e)>>,
                dv::on<right, dv::let<c, add(x, x)>, dv::let<f, add(x, x)>, dv::let<stage<1>, add(d, e)>>,
                dv::nccl_group<dv::let<d, all_reduce<sum>(a, c)>, dv::let<e, all_reduce<maximum>(b, f)>>,
                dv::output<a, d, stage<0>, stage<1>>> {};

struct of_an_input : dv::graph<dv::input<x, vector>, dv::on<left, dv::input<a, vector>, dv::let<stage<0>, copy(d)>>,
                               dv::on<right, dv::let<b, add(x, x)>, dv::let<stage<1>, copy(d)>>, dv::let<d, all_reduce<sum>(a, b)>,
                               dv::output<stage<0>, stage<1>>> {};

}  // namespace

TEST_CASE("what a collective over roles gets and what it gives lies at equal offsets on all of them") {
    const expanded<overlapping_collectives> of;
    CHECK(of.call_order_mismatch());
    CHECK(of.number<d, left>() >= 0);
    CHECK(of.number<d, left>() == of.number<d, middle>());
    CHECK(of.number<e, middle>() == of.number<e, right>());
    CHECK(of.number<f, left>() == of.number<f, right>());
    CHECK(of.number<d, left>() != of.number<f, left>());
}

TEST_CASE("a value of several collectives joins what they pass") {
    const expanded<in_a_row> of;
    CHECK(of.call_order_mismatch());
    const int all = of.number<a, left>();
    CHECK(all >= 0);
    CHECK(of.number<b, middle>() == all);
    CHECK(of.number<c, right>() == all);
    CHECK(of.number<h, stage<3>>() == all);
}

TEST_CASE("two buffers of one role are not joined: the first collective has it") {
    const expanded<taken_twice> of;
    CHECK(of.call_order_mismatch());
    CHECK(of.number<a, left>() == of.number<b, right>());
    CHECK(of.number<a, left>() >= 0);
    CHECK(of.number<c, right>() == -1);
}

TEST_CASE("what takes over the bytes of another is where that one is") {
    const expanded<in_place> of;
    CHECK(of.call_order_mismatch());
    CHECK(&of.at<b, left>() == &of.at<d, left>());
    CHECK(of.number<b, left>() >= 0);
    CHECK(of.number<c, right>() == of.number<b, left>());
    CHECK(of.number<d, right>() == -1);  // or it would lie where c does
}

TEST_CASE("copies for several runs are as many on all roles") {
    const expanded<taken_twice> of{in_flight(3)};
    CHECK(of.call_order_mismatch());
    CHECK(of.at<a, left>().slots == 3);
    CHECK(of.at<b, right>().slots == 3);  // for a's sake
    CHECK(of.at<c, right>().slots == 1);
    const expanded<grouped_over_roles> group{in_flight(2)};
    CHECK(group.call_order_mismatch());
    CHECK(group.number<a, left>() == group.number<c, right>());
    CHECK(group.number<a, left>() >= 0);
    CHECK(group.at<c, right>().slots == 2);
    CHECK(group.number<b, left>() == group.number<f, right>());
    CHECK(group.at<f, right>().slots == 1);
    CHECK(group.number<d, left>() == group.number<d, right>());
    CHECK(group.at<d, right>().slots == 2);
}

TEST_CASE("only memory of the arena agrees") {
    const expanded<of_an_input> of;
    CHECK(of.call_order_mismatch());
    CHECK(of.number<b, right>() == -1);
    CHECK(of.number<d, left>() == of.number<d, right>());
    CHECK(expanded<dv::single_rank<overlapping_collectives>>{}.p.symmetric_sets == 0);
}

TEST_CASE("a root that receives may send from anywhere") {
    static_assert(dv::predicted_time<told_and_reduced, overlapped> > 0);
    const expanded<told_and_reduced> e;
    CHECK(e.number<told, middle>() == e.number<a, left>());
    CHECK(e.number<told, left>() == e.number<told, right>());
    CHECK(e.number<told, left>() != e.number<told, middle>());
    CHECK(e.number<b, middle>() == -1);
}
