// The table of communication: the properties that are computed from each row are those of the language.
#include <dovetail/collective/movement.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace dv = dovetail;
namespace collective = dv::collective;
using enum dv::op_kind;

namespace {

template <class F>
std::vector<dv::op_kind> those(F is) {
    std::vector<dv::op_kind> list;
    for (const collective::row& r : collective::table)
        if (is(r.kind)) list.push_back(r.kind);
    return list;
}
using kinds = std::vector<dv::op_kind>;

}  // namespace

TEST_CASE("every kind has its name") {
    CHECK(std::string{dv::name_of(compute)} == "compute");
    CHECK(std::string{dv::name_of(transfer)} == "transfer");
    CHECK(std::string{dv::name_of(reduce_scatter)} == "reduce_scatter");
    CHECK(std::string{dv::name_of(scatter)} == "scatter");
    CHECK(std::string{dv::name_of(permute)} == "permute");
    CHECK(std::string{dv::name_of(own_rows)} == "own_rows");
    for (const collective::row& r : collective::table) CHECK(&collective::of(r.kind) == &r);
}

TEST_CASE("which kinds communicate, and how") {
    CHECK(those([](auto k) { return !dv::is_communication(k); }) == kinds{compute, input, to_host, from_host, local_reduce});
    CHECK(those(dv::is_collective) == kinds{all_reduce, reduce, broadcast, all_gather, reduce_scatter, all_to_all, gather, scatter});
    CHECK(those(dv::is_rooted) == kinds{reduce, broadcast, gather, scatter});
    CHECK(those(dv::is_reducing) == kinds{all_reduce, reduce, reduce_scatter});
}

TEST_CASE("what follows from a row") {
    CHECK(those(collective::has_equal_results) == kinds{all_reduce, broadcast, all_gather});
    CHECK(those([](auto k) { return !collective::passes_between_members(k); }) ==
          kinds{compute, input, to_host, from_host, own_rows, local_reduce});
    CHECK(those(collective::ends_at_root) == kinds{reduce, gather});
    CHECK(those(collective::begins_at_root) == kinds{broadcast, scatter});
    CHECK(those(collective::by_one_call) == kinds{all_reduce, reduce, broadcast, all_gather, reduce_scatter});
    CHECK(those(collective::passes_argument_as_result) == kinds{broadcast});
    CHECK(those([](auto k) { return collective::of(k).in_place; }) == kinds{all_reduce});
}
