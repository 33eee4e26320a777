// The bytes over the slowest link for each kind of communication, with a payload of 1,200 bytes.
#include <dovetail/collective/traffic.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
namespace collective = dv::collective;
using enum dv::op_kind;

TEST_CASE("the textbook's terms") {
    const auto passing = [](dv::op_kind k, std::int64_t members) { return collective::passing(collective::of(k).passes, 1200, members); };
    for (const std::int64_t n : {2, 3, 4, 8}) {
        for (const dv::op_kind k : {compute, input, to_host, from_host, own_rows, local_reduce}) CHECK(passing(k, n) == 0);
        for (const dv::op_kind k : {transfer, shift, permute, broadcast, reduce}) CHECK(passing(k, n) == 1200);
        for (const dv::op_kind k : {all_gather, reduce_scatter, all_to_all, gather, scatter}) CHECK(passing(k, n) == 1200 * (n - 1) / n);
        CHECK(passing(all_reduce, n) == 2 * 1200 * (n - 1) / n);
    }
    CHECK(passing(all_reduce, 1) == 0);
}

TEST_CASE("ranks of a node share what NCCL's collectives send over the network; a message goes over one link") {
    const auto payload = [](dv::op_kind k, int local, int nodes) { return collective::payload_on(collective::of(k), 1200, local, nodes); };
    for (const dv::op_kind k : {all_reduce, reduce, broadcast, all_gather, reduce_scatter}) {
        CHECK(payload(k, 4, 3).local == 1200);
        CHECK(payload(k, 4, 3).network == 300);
    }
    // A member keeps 1 of 12 blocks, sends 3 within its node and 8 to the others: (1 - 1/4) of a third, (1 - 1/3) of all.
    for (const dv::op_kind k : {all_to_all, gather, scatter}) {
        CHECK(payload(k, 4, 3).local == 400);
        CHECK(payload(k, 4, 3).network == 1200);
    }
    for (const dv::op_kind k : {transfer, shift, permute}) {
        CHECK(payload(k, 1, 3).network == 1200);
        CHECK(payload(k, 4, 1).local == 1200);
    }
}

TEST_CASE("what copy engines move: the root of a broadcast puts its data to every other member") {
    const auto copied = [](dv::op_kind k, std::int64_t members) { return collective::copied(collective::of(k), 1200, members); };
    for (const std::int64_t n : {2, 3, 4, 8}) {
        CHECK(copied(broadcast, n) == (n - 1) * 1200);
        for (const dv::op_kind k : {transfer, shift, permute}) CHECK(copied(k, n) == 1200);
        for (const dv::op_kind k : {all_gather, all_to_all, gather, scatter}) CHECK(copied(k, n) == 1200 * (n - 1) / n);
        for (const dv::op_kind k : {transfer, shift, permute}) CHECK(collective::copied_blocks(collective::of(k), n) == 1);
        for (const dv::op_kind k : {broadcast, all_gather, all_to_all, gather, scatter})
            CHECK(collective::copied_blocks(collective::of(k), n) == n - 1);
    }
}
