// The bytes over the slowest link for each kind of communication, with a payload of 1,200 bytes.
#include <dovetail/collective/traffic.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
namespace collective = dv::collective;
using enum dv::op_kind;

TEST_CASE("the textbook's terms") {
    const auto passing = [](dv::op_kind k, std::int64_t members) { return collective::passing(collective::of(k).passes, 1200, members); };
    for (const std::int64_t n : {2, 3, 4, 8}) {
        for (const dv::op_kind k : {compute, input, to_host, from_host}) CHECK(passing(k, n) == 0);
        for (const dv::op_kind k : {transfer, shift, permute, broadcast, reduce}) CHECK(passing(k, n) == 1200);
        for (const dv::op_kind k : {all_gather, reduce_scatter, all_to_all, gather, scatter}) CHECK(passing(k, n) == 1200 * (n - 1) / n);
        CHECK(passing(all_reduce, n) == 2 * 1200 * (n - 1) / n);
    }
    CHECK(passing(all_reduce, 1) == 0);
}
