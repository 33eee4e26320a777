// Measuring a machine: paces and rates by hand; ranks that are threads, joined by a link that sleeps, whose latency and bandwidth must be
// found; and what is written of a machine whose links differ.
#include "support/says.hpp"

#include <dovetail/launch/host/world.hpp>
#include <dovetail/observe/machine/program.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace dv = dovetail;
namespace observe = dovetail::observe;
using namespace std::chrono_literals;
using support::says;

namespace {

struct few_runs {
    static constexpr std::int64_t half_product = 8, float_product = 8, double_product = 8;
    static constexpr std::int64_t vector = 1 << 10, message = 1 << 14, long_message = 1 << 16;
    static constexpr int runs = 3;
};

observe::measured_machine measured(int ranks, dv::host::link link) {
    return observe::detail::machine_measurement<few_runs, dv::host::world>{dv::host::world{ranks, link}, {ranks, 0, "threads"}}.measure();
}
// A rank that cannot make what copy engines move between ranks, as GPUs without access to each other's memory.
struct unreachable_rank {
    using stream = dv::host::stream;
    dv::host::rank& on;

    int index() const { return on.index(); }
    int size() const { return on.size(); }
    auto device_memory() const { return on.device_memory(); }
    std::shared_ptr<dv::engine> make_engine(const dv::executable_plan<stream>& from, dv::engine_options o) {
        for (const dv::ir::task& v : from.program.tasks)
            if (v.moved_by == dv::transport::peer_copy) throw dv::transport_unavailable{"no access\nto rank 1", ". Use NCCL"};
        return on.make_engine(from, std::move(o));
    }
};
struct unreachable_world {
    dv::host::world all;

    std::string links() const { return all.links(); }
    template <class Body>
    void run(Body&& body) {
        all.run([&](dv::host::rank& on) {
            unreachable_rank rank{on};
            body(rank);
        });
    }
};
bool is_measured(const observe::measured_machine& m, const std::string& name) {
    for (const observe::machine_figure& f : m.figures)
        if (f.name.find(name) != std::string::npos) return f.value != "not measured";
    return false;
}

}  // namespace

TEST_CASE("amounts a second, and paces of work that was beside something for a part of its time") {
    using namespace observe::detail;
    CHECK(per_second(1000, 1000) == 1'000'000'000);
    CHECK(per_second(3, 2'000'000'000) == 1);
    CHECK(per_second(1'000'000'000'000'000, 1'000'000) == 1'000'000'000'000'000'000);
    CHECK(per_second(7, 0) == 7'000'000'000);
    // 5000 ns and a byte a ns; no latency; one that took no longer.
    CHECK(line_through(1000, 6000, 9000, 14000).bandwidth == 1'000'000'000);
    CHECK(line_through(1000, 6000, 9000, 14000).latency == 5'000'000);
    CHECK(line_through(1000, 900, 9000, 8900).latency == 0);
    CHECK(line_through(1000, 900, 9000, 900).bandwidth == 0);
    CHECK(line_through(1000, 900, 9000, 900).latency == 900'000);
    // Alone 100; it took 120, of which 60 beside something: 40 were done in those 60.
    CHECK(pace(100, 120, 60) == 1500);
    CHECK(pace(100, 100, 60) == 1000);
    CHECK(pace(100, 90, 60) == 1000);   // faster than alone: noise
    CHECK(pace(100, 200, 100) == 8000);  // nothing was done beside it: the most that is believed
    CHECK(pace(100, 150, 100) == 2000);
}

TEST_CASE("latency and bandwidth of a link that sleeps are found") {
    constexpr double bandwidth = 2e6;
    const observe::measured_machine m = measured(2, {5ms, bandwidth});
    const dv::machine_description& d = m.description;
    // A sleep is never too short; on a busy machine it may be long.
    CHECK(d.link_latency >= 5'000'000'000);
    CHECK(d.peer_latency >= 1'000'000'000);  // of two long sleeps, one may be longer
    CHECK(d.link_bandwidth < 4'000'000);
    CHECK(d.link_bandwidth > 200'000);
    CHECK(d.peer_bandwidth < 4'000'000);
    CHECK(d.peer_bandwidth > 200'000);
    CHECK(dv::is_possible(d));
    for (const char* figure : {"half_flops", "double_flops", "launch_latency", "edge_latency", "memory_bandwidth", "host_bandwidth",
                               "link_latency", "bus_bandwidth", "peer_bandwidth"})
        CHECK_MESSAGE(is_measured(m, figure), figure);
    CHECK_FALSE(is_measured(m, "network_bandwidth"));
}

TEST_CASE("one rank has no links, and three have six") {
    const observe::measured_machine one = measured(1, {});
    CHECK_FALSE(is_measured(one, "bus_bandwidth"));
    CHECK(one.description.bus_bandwidth == dv::machine::h200_nvlink::description.bus_bandwidth);
    CHECK(says(observe::machine_table(one), "that takes two GPUs"));
    CHECK(says(observe::machine_table(measured(3, {200us, 20e6})), "6 pairs by copy engines"));
}

TEST_CASE("where GPUs do not reach each other's memory, there are no peer copies, and all else is measured") {
    const observe::measured_machine m =
        observe::detail::machine_measurement<few_runs, unreachable_world>{{dv::host::world{2}}, {2, 0, "threads"}}.measure();
    CHECK(m.description.peer_bandwidth == 0);
    CHECK(m.links.empty());
    CHECK(dv::is_possible(m.description));
    CHECK(is_measured(m, "memory_bandwidth"));
    CHECK_FALSE(is_measured(m, "products beside copies"));
    CHECK(m.description.with_copy.of_compute[0] == dv::machine::h200_nvlink::description.with_copy.of_compute[0]);
    CHECK(says(observe::machine_table(m), "0, not measured"));
    const std::string header = observe::machine_header(m, "two_gpus", "GPU");
    CHECK(says(header, "// Not measured, and 0, so that there are no peer copies: peer_bandwidth (no access to rank 1).\n"));
    CHECK(says(header, ".peer_bandwidth = 0,"));
}

TEST_CASE("what a measurement throws is said, and is no end of the program by terminate") {
    char program[] = "machine", good[] = "a_b";
    char* named[] = {program, good};
    const auto broken = [](int) -> dv::host::world { throw dv::usage_error{"no such world"}; };
    CHECK(observe::machine_tool<few_runs>(2, named, {2, 0, "threads"}, broken) == 1);
}

TEST_CASE("a header says what was measured, what was not, and where links differ") {
    observe::measured_machine m;
    m.ranks = 2;
    m.description.memory_bandwidth = 123'456'789;
    m.figures = {{"memory_bandwidth", "123456789 bytes per second", "sums"}, {"network_latency", "not measured", "that takes two hosts"}};
    const std::string alike = observe::machine_header(m, "two_gpus", "GPU");
    CHECK(says(alike, ".memory_bandwidth = 123456789,"));
    CHECK(says(alike, "struct two_gpus {"));
    CHECK(says(alike, "2 x GPU"));
    CHECK(says(alike, "// Not measured, and as in machine::h200_nvlink: network_latency (that takes two hosts)."));
    CHECK_FALSE(says(alike, "links"));
    m.links = {{0, 0}, {300, 1}, {200, 2}, {0, 0}};
    const std::string uneven = observe::machine_header(m, "two_gpus", "GPU");
    CHECK(says(uneven, "static constexpr dovetail::gpu_pair links[4] = {\n        {0, 0}, {300, 1},\n        {200, 2}, {0, 0},};"));
    CHECK(says(uneven, ".links = links}"));
}

TEST_CASE("a name that is no name of a type, and a machine without GPUs, are said") {
    char program[] = "machine", good[] = "a_b", dash[] = "a-b", digit[] = "8xh100", empty[] = "";
    const auto world = [](int ranks) { return dv::host::world{ranks}; };
    char keyword[] = "class", word[] = "not_eq", member[] = "description", list[] = "links", space[] = "dovetail";
    for (char* const bad : {dash, digit, empty, keyword, word, member, list, space}) {
        char* named[] = {program, bad};
        CHECK(observe::machine_tool<few_runs>(2, named, {1, 0, "threads"}, world) == 1);
    }
    char* two[] = {program, good, good};
    CHECK(observe::machine_tool<few_runs>(3, two, {1, 0, "threads"}, world) == 1);
    char* none[] = {program, good};
    CHECK(observe::machine_tool<few_runs>(2, none, {0, 0, "GPUs"}, world) == 1);
}
