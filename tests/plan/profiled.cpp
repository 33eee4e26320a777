// Plans with a profile: every operation that it has takes exactly its times, and the planner finds another order where they ask for one.
#include <doctest/doctest.h>

#include <dovetail/observe/text.hpp>
#include <dovetail/ops/ops.hpp>

#include "../support/planned_samples.hpp"

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace dv = dovetail;
namespace observe = dovetail::observe;

namespace {

using namespace dv::ops;

struct x;
struct z;
template <int>
struct made;
template <int>
struct reduced;
struct dp;

constexpr std::int64_t us = 1'000'000;

struct machine {
    static constexpr dv::machine_description description{
        .name = "a machine",
        .float_flops = 1'000'000'000'000,
        .memory_bandwidth = 1'000'000'000'000,
        .launch_latency = 1 * us,
        .edge_latency = 1,
        .link_latency = 10 * us,
        .link_bandwidth = 1'000'000'000,
        .bus_bandwidth = 1'000'000'000,
        .host_bandwidth = 160'000'000,
        .with_communication = {.of_compute = {1500, 1500, 1500}, .of_other = {1500, 1500, 1500}},
        .with_copy = {.of_compute = {1300, 1300, 1300}, .of_other = {1000, 1000, 1000}}};
};

// Two jobs of a computation and a reduction. The first one is larger.
using large = dv::tensor<float, 1024, 256>;
using small = dv::tensor<float, 16, 256>;
struct jobs : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<x, large>, dv::input<z, small>, dv::let<made<0>, relu(x)>,
                        dv::let<reduced<0>, all_reduce<sum, dp>(made<0>)>, dv::let<made<1>, relu(z)>,
                        dv::let<reduced<1>, all_reduce<sum, dp>(made<1>)>, dv::output<dv::all<2, reduced>>> {};

using estimated = dv::options<machine>;

using planned = dv::plan::planned<jobs, estimated>;
constexpr int task_of(dv::op_kind kind, int job) {
    int v = 0;
    while (planned::program.tasks[v].kind != kind || job-- > 0) ++v;
    return v;
}
constexpr int relu_0 = task_of(dv::op_kind::compute, 0), reduce_0 = task_of(dv::op_kind::all_reduce, 0),
              relu_1 = task_of(dv::op_kind::compute, 1), reduce_1 = task_of(dv::op_kind::all_reduce, 1);
constexpr dv::fixed<std::uint64_t, 4> keys = [] {
    dv::fixed<std::uint64_t, 4> list{};
    dv::cost_model::work_keys each{planned::graph, planned::program, planned::options};
    int at = 0;
    for (const int task : {relu_0, reduce_0, relu_1, reduce_1}) list[at++] = each.of(planned::program.tasks[task]);
    return list;
}();

// A profile with the times of the first jobs alone and beside others: computations beside what `By` executes, reductions beside kernels.
template <dv::hardware By, std::int64_t... Time>
struct times_of_jobs {
    static constexpr int format = dv::profile_format;
    static constexpr dv::fixed<dv::profile_row, 4> list = [] {
        dv::fixed<dv::profile_row, 4> rows{};
        rows.count = 0;
        const std::int64_t times[] = {Time...};
        for (int i = 0; i < static_cast<int>(sizeof...(Time)) / 2; ++i) {
            int at = rows.count++;
            for (; at > 0 && rows[at - 1].key > keys[i]; --at) rows[at] = rows[at - 1];
            rows[at] = {keys[i], times[2 * i], {}, 1};
            rows[at].beside[static_cast<int>(i % 2 == 0 ? By : dv::hardware::multiprocessors)] = times[2 * i + 1];
        }
        return rows;
    }();
    static constexpr dv::profile_table table{
        "jobs", "a machine", dv::cost_model::graph_key(dv::plan::typed<jobs>::value), {3000, 2000, 1000}, list.view(), "",
        dv::machine_key(machine::description)};
};
template <std::int64_t... Time>
using with = dv::options<machine, dv::profile<times_of_jobs<dv::hardware::nccl, Time...>>>;
template <std::int64_t... Time>
using with_copied = dv::options<machine, dv::host_inputs<z>, dv::profile<times_of_jobs<dv::hardware::copy_engine, Time...>>>;

template <class O>
observe::plan_view view() {
    return observe::plan_view{observe::tables_of<jobs, O>()};
}
// The labels of the steps on a stream, in order.
template <class O>
std::vector<std::string> order_on(dv::stream_kind stream) {
    const observe::plan_view of = view<O>();
    std::vector<std::string> labels;
    for (const dv::ir::step& s : of.steps(0))
        if (s.stream == static_cast<int>(stream)) labels.push_back(of.label(s.task));
    return labels;
}

}  // namespace

TEST_CASE("an operation with a row takes the time of its row; the others take scaled estimates") {
    using profiled = with<70 * us, 0, 30 * us, 0>;  // of the first job
    const observe::plan_view plain = view<estimated>(), of = view<profiled>();
    CHECK(of.costs[0].time == plain.costs[0].time);
    CHECK(of.costs[relu_0].time == 70 * us);
    CHECK(of.costs[reduce_0].time == 30 * us);
    CHECK(of.costs[relu_1].time == 3 * plain.costs[relu_1].time);
    CHECK(of.costs[reduce_1].time == 2 * plain.costs[reduce_1].time);
    for (const dv::ir::step& s : of.steps(0))
        if (of.label(s.task) == "relu made<0>" && s.start == 0) CHECK(s.end >= 70 * us);
}

TEST_CASE("an operation that has a row in another size differs from its estimate as that row does") {
    dv::plan_options s = estimated::value;
    const auto plain = dv::cost_model::costs(planned::graph, planned::program, s);
    const std::int64_t time = plain[relu_0].time;
    const dv::profile_row row{keys[0], 5 * time, {6 * time, 10 * time}, 1, time};
    s.profile = {"", s.machine.name, 0, {1, 1, 1}, {&row, 1}};
    const auto costs = dv::cost_model::costs(planned::graph, planned::program, s);
    CHECK(costs[relu_0].time == 5 * time);
    CHECK(costs[relu_1].time == 5 * plain[relu_1].time);
    CHECK(costs[relu_1].slowdown[0] == 1200);
    CHECK(costs[relu_1].slowdown[1] == 2000);
    CHECK(costs[reduce_1].time == plain[reduce_1].time / 1000);  // scaled: no row, of any size
}

namespace {

// Two operations without a declared cost, on the same bytes.
struct undeclared {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
};
struct also_undeclared : undeclared {};
struct alike : dv::graph<
    dv::input<x, small>,
    dv::let<made<0>, undeclared(x)>, dv::let<made<1>, also_undeclared(made<0>)>, dv::let<made<2>, undeclared(made<1>)>,
    dv::output<made<2>>> {};

// Costs under a profile in which each kind of work has a time of its own, against those times.
void check_times_of(const dv::ir::graph& g, const dv::ir::program& p, dv::plan_options s) {
    dv::cost_model::work_keys keys{g, p, s};
    std::map<std::uint64_t, std::int64_t> times;
    for (const dv::ir::task& v : p.tasks)
        if (v.kind != dv::op_kind::input) times.try_emplace(keys.of(v), 1000 + static_cast<std::int64_t>(times.size()));
    std::vector<dv::profile_row> rows;
    for (const auto& [key, time] : times) rows.push_back({key, time, {2 * time, 3 * time, 4 * time}, 1});
    s.profile = {"", s.machine.name, 0, {1, 1, 1}, {rows.data(), static_cast<int>(rows.size())}};
    const auto costs = dv::cost_model::costs(g, p, s);
    for (int v = 0; v < p.tasks.size(); ++v) {
        if (p.tasks[v].kind == dv::op_kind::input) continue;
        CHECK(costs[v].time == times[keys.of(p.tasks[v])]);
        const bool by_nccl = costs[v].by == dv::hardware::nccl;  // what slows these, and what they slow, the machine says
        CHECK(costs[v].slowdown[0] == (by_nccl ? 0 : 2000));
        CHECK(costs[v].slowdown[1] == (by_nccl ? 0 : 3000));
        CHECK(costs[v].slowdown[2] == 0);
    }
}

}  // namespace

TEST_CASE("every operation takes the time of its key: alone, in groups, by copy engines, on one rank") {
    using namespace samples;
    for (const auto& of : support::plans_of<true>(support::list<alike, there_and_back, overlapping_collectives>{}))
        check_times_of(of.rewritten, of.program, of.s);
    const auto check = [](auto of) { check_times_of(decltype(of)::graph, decltype(of)::program, decltype(of)::options); };
    check(dv::plan::planned<there_and_back, copied>{});
    check(dv::plan::planned<jobs, dv::options<machine, dv::rewritten_by<dv::rewrite::bucket>>>{});
}

TEST_CASE("other times, another order") {
    // By estimates the small job's reduction is short, by this profile it is the long one.
    using turned = with<40 * us, 0, 5 * us, 0, 2 * us, 0, 80 * us, 0>;
    using straight = with<2 * us, 0, 80 * us, 0, 40 * us, 0, 5 * us, 0>;
    CHECK(order_on<straight>(dv::stream_kind::compute) == std::vector<std::string>{"relu made<0>", "relu made<1>"});
    CHECK(order_on<turned>(dv::stream_kind::compute) == std::vector<std::string>{"relu made<1>", "relu made<0>"});
    CHECK(order_on<turned>(dv::stream_kind::communication) == std::vector<std::string>{"all_reduce reduced<1>", "all_reduce reduced<0>"});
    CHECK(order_on<estimated>(dv::stream_kind::compute) == order_on<straight>(dv::stream_kind::compute));
    // The computation of 40 us and the reduction of 80 us take half as long again beside each other: 60 us, in which 40 us are reduced.
    constexpr std::int64_t edge = 1;
    CHECK(dv::predicted_time<jobs, turned> == edge + 2 * us + edge + 60 * us + 40 * us + 5 * us);
}

TEST_CASE("a measured slow-down beside a copy counts in place of the machine's; beside NCCL the machine's counts") {
    const auto time_of = [](const observe::plan_view& of, const std::string& label) {
        for (const dv::ir::step& s : of.steps(0))
            if (of.label(s.task) == label) return s.end - s.start;
        return std::int64_t{-1};
    };
    // The first reduction runs beside the second computation: from 2 on, until 42 and longer. It begins one picosecond after it.
    using beside_nccl = with<2 * us, 0, 80 * us, 0, 40 * us, 50 * us, 5 * us, 0>;
    CHECK(time_of(view<beside_nccl>(), "relu made<1>") == 60 * us);
    // The second input is copied for 100 us, beside which the first computation runs.
    using slow = with_copied<40 * us, 0>;
    using fast = with_copied<40 * us, 48 * us>;
    CHECK(time_of(view<slow>(), "relu made<0>") == 52 * us);
    CHECK(time_of(view<fast>(), "relu made<0>") == 48 * us);
}

namespace {

// The time of the first computation, with its estimate.
struct time_of_one_size {
    static constexpr int format = dv::profile_format;
    static constexpr dv::profile_row rows[] = {{keys[0], 70 * us, {}, 1, 35 * us}};
    static constexpr dv::profile_table table{
        "jobs", "a machine", dv::cost_model::graph_key(dv::plan::typed<jobs>::value), {1000, 1000, 1000}, {rows, 1}, "",
        dv::machine_key(machine::description)};
};

}  // namespace

TEST_CASE("explain says how many times come from a profile") {
    const auto text = [](auto options) {
        std::ostringstream to;
        dv::explain<jobs, decltype(options)>(to);
        return to.str();
    };
    CHECK(text(estimated{}).find("profile") == std::string::npos);
    const std::string all = text(with<2 * us, 0, 80 * us, 0, 40 * us, 0, 5 * us, 0>{}), some = text(with<2 * us, 0>{});
    CHECK(all.find("4 of 4 operations") != std::string::npos);
    CHECK(all.find("scaled estimates") == std::string::npos);
    CHECK(some.find("1 of 4 operations") != std::string::npos);
    CHECK(some.find("3 of 4 operations") != std::string::npos);
    CHECK(some.find("other sizes") == std::string::npos);
    const std::string sized = text(dv::options<machine, dv::profile<time_of_one_size>>{});
    CHECK(sized.find("... and with those of other sizes") != std::string::npos);
    CHECK(sized.find("1 of 4 operations") != sized.rfind("1 of 4 operations"));
    CHECK(sized.find("2 of 4 operations") != std::string::npos);
}
