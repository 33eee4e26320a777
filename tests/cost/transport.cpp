// What moves a channel's value: the cheaper one by the machine's description, from one size on; or whatever the options say.
#include <doctest/doctest.h>

#include <dovetail/cost/transport.hpp>

namespace dv = dovetail;
using namespace dv::cost_model;

TEST_CASE("a transfer takes its latency and its bytes at the bandwidth of what moves them") {
    dv::machine_description m;
    m.link_latency = 10;
    m.link_bandwidth = 1'000'000'000'000;  // a byte each picosecond
    m.peer_latency = 20;
    m.peer_bandwidth = 500'000'000'000;
    CHECK(transfer_time(m, 0, false) == 10);
    CHECK(transfer_time(m, 1000, false) == 1010);
    CHECK(transfer_time(m, 1000, true) == 2020);
}

TEST_CASE("options decide before the machine, and a machine without peer copies has none") {
    dv::plan_options s;
    s.channels = dv::transport::peer_copy;
    CHECK(peer_copies_from(s) == 0);
    s.channels = dv::transport::nccl;
    CHECK(peer_copies_from(s) == never);
    s.channels = dv::transport::automatic;
    CHECK(peer_copies_from(s) < never);
    s.between_roles = dv::link::network;  // out of reach of copy engines
    CHECK(peer_copies_from(s) == never);
    s.between_roles = dv::link::local;
    s.machine.peer_bandwidth = 0;
    CHECK(peer_copies_from(s) == never);
}

TEST_CASE("from the size on that is chosen a copy costs its rank less, below it more") {
    // Cost: the time where nothing runs beside it, times what it slows the computation beside it to, in thousandths.
    const auto copy_is_cheaper = [](const dv::machine_description& m, std::int64_t bytes) {
        return transfer_time(m, bytes, true) / 1000 * m.with_copy.of_compute[0] <
               transfer_time(m, bytes, false) / 1000 * m.with_communication.of_compute[0];
    };
    for (const int slowdown : {1100, 1500, 3000})
        for (const std::int64_t peer_latency : {12'000'000, 20'000'000, 200'000'000}) {
            dv::plan_options s;
            s.machine.with_communication.of_compute[0] = slowdown;
            s.machine.peer_latency = peer_latency;
            const std::int64_t from = peer_copies_from(s);
            CAPTURE(slowdown);
            CAPTURE(peer_latency);
            for (int power = 0; power < 40; ++power) {
                const std::int64_t bytes = std::int64_t{1} << power;
                CHECK(copy_is_cheaper(s.machine, bytes) == (bytes >= from));
            }
        }
}

TEST_CASE("an expansion takes from the options what it depends on") {
    dv::plan_options s;
    s.in_flight = 3;
    s.channel_slots = 2;
    s.channels = dv::transport::nccl;
    const expansion_options e{s};
    CHECK(e.in_flight == 3);
    CHECK(e.channel_slots == 2);
    CHECK(e.peer_copies_from == never);
}
