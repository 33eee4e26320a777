// Options of a plan as types: each sets its own member, in any order, and none leaves the defaults. What they refuse is in tests/fail.
#include <doctest/doctest.h>

#include <dovetail/cost/options.hpp>

#include <string>

namespace dv = dovetail;

namespace {

struct first;
struct last;
struct my_machine {
    static constexpr dv::machine_description description{.name = "mine", .launch_latency = 7};
};

struct times {
    static constexpr int format = dv::profile_format;
    static constexpr dv::profile_row rows[] = {{1, 10, {}, 1}};
    static constexpr dv::profile_table table{
        "model", "mine", 1, {1000, 1000, 1000}, {rows, 1}, "", dv::machine_key(my_machine::description)};
};

}  // namespace

TEST_CASE("without options everything is as plan_options has it") {
    constexpr dv::plan_options s = dv::options<>::value;
    CHECK(s.machine.name == std::string{"h200_nvlink"});
    CHECK(s.overlap);
    CHECK(s.memory_limit == 0);
    CHECK(s.in_flight == 1);
    CHECK(s.forced == dv::candidate::automatic);
    CHECK(s.rewrites.count == 0);
    CHECK(s.objective == dv::objective_kind::makespan);
    CHECK(s.profile.rows.empty());
}

TEST_CASE("each option sets its member and no other, in any order") {
    constexpr auto check = [](const dv::plan_options& s) {
        CHECK(s.machine.name == std::string{"mine"});
        CHECK(s.machine.launch_latency == 7);
        CHECK(!s.overlap);
        CHECK(s.memory_limit == 80'000'000'000);
        CHECK(s.in_flight == 2);
        CHECK(s.channel_slots == 3);
        CHECK(s.assumed_width == 8);
        CHECK(s.channels == dv::transport::nccl);
        CHECK(s.axes.count == 2);
        CHECK(s.axes.of(&dv::tag_of<last>) == dv::transport::peer_copy);
        CHECK(s.axes.of(&dv::tag_of<my_machine>) == dv::transport::automatic);
        CHECK(s.between_roles == dv::link::network);
        CHECK(s.objective == dv::objective_kind::finish);
        CHECK(dv::same(s.finished, &dv::tag_of<last>));
        CHECK(s.forced == dv::candidate::written);
        CHECK(s.rewrites.count == 2);
        CHECK(s.host_inputs.count == 2);
        CHECK(s.host_inputs.has(&dv::tag_of<first>));
        CHECK(!s.host_inputs.has(&dv::tag_of<my_machine>));
        CHECK(s.profile.rows.first == times::rows);
    };
    using dv::rewrite;
    using forward = dv::options<my_machine, dv::overlap<false>, dv::memory_limit<80'000'000'000>, dv::in_flight<2>, dv::channel_slots<3>,
                                dv::assumed_width<8>, dv::channel_transport<dv::transport::nccl>, dv::link_between_roles<dv::link::network>,
                                dv::axis_transport<dv::transport::peer_copy, first, last>,
                                dv::objective<dv::finish<last>>, dv::host_inputs<first, last>, dv::force_candidate<dv::candidate::written>,
                                dv::profile<times>, dv::rewritten_by<rewrite::identity, rewrite::identity>>;
    using backward =
        dv::options<dv::profile<times>, dv::rewritten_by<rewrite::identity, rewrite::identity>, dv::force_candidate<dv::candidate::written>,
                    dv::channel_transport<dv::transport::nccl>, dv::assumed_width<8>, dv::channel_slots<3>, dv::in_flight<2>,
                    dv::axis_transport<dv::transport::peer_copy, first, last>,
                    dv::link_between_roles<dv::link::network>, dv::objective<dv::finish<last>>, dv::host_inputs<first, last>,
                    dv::memory_limit<80'000'000'000>, dv::overlap<false>, my_machine>;
    check(forward::value);
    check(backward::value);
    static_assert(forward::right && backward::right);

    constexpr dv::plan_options one = dv::options<dv::channel_slots<3>>::value;
    CHECK(one.in_flight == 1);
    CHECK(one.overlap);
    CHECK(one.assumed_width == dv::plan_options{}.assumed_width);
}

TEST_CASE("of two options of one kind the last holds") {
    using outputs = dv::options<dv::objective<dv::finish<first>>, dv::objective<dv::finish<last>>>;
    static_assert(std::is_same_v<outputs::finished, last>);
    CHECK(dv::same(outputs::value.finished, &dv::tag_of<last>));
    static_assert(std::is_void_v<dv::options<dv::objective<dv::makespan>>::finished>);
    static_assert(dv::options<dv::objective<dv::interval>>::value.objective == dv::objective_kind::interval);
    static_assert(dv::options<dv::objective<dv::interval>, dv::objective<dv::makespan>>::value.objective == dv::objective_kind::makespan);
    static_assert(dv::options<dv::in_flight<2>, dv::in_flight<5>>::value.in_flight == 5);
    using axes = dv::options<dv::axis_transport<dv::transport::nccl, first, last>, dv::axis_transport<dv::transport::automatic, last>>;
    static_assert(axes::value.axes.of(&dv::tag_of<first>) == dv::transport::nccl && axes::value.axes.count == 2);
    static_assert(axes::value.axes.of(&dv::tag_of<last>) == dv::transport::automatic);
    static_assert(dv::options<dv::rewritten_by<dv::rewrite::identity>, dv::rewritten_by<>>::value.rewrites.count == 0);
}

TEST_CASE("the most runs and slots that are allowed are") {
    static_assert(dv::options<dv::in_flight<dv::most_slots>, dv::channel_slots<dv::most_slots>>::right);
    static_assert(dv::wrapped_in_options<dv::options<>> && !dv::wrapped_in_options<dv::in_flight<2>>);
}
