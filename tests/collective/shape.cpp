// The shape rule of each kind of communication, on four members.
#include <dovetail/collective/shape.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
namespace collective = dv::collective;
using enum dv::op_kind;

namespace {

constexpr dv::tensor_type scalar{dv::element::float32, 0, {}};
constexpr dv::tensor_type vector = scalar.with_extents(8), matrix = scalar.with_extents(8, 3);

constexpr dv::tensor_type made(dv::op_kind k, dv::tensor_type t, std::int64_t members = 4) {
    return collective::result_of(collective::of(k), t, members);
}
constexpr bool divisible(dv::op_kind k, dv::tensor_type t, std::int64_t members = 4) {
    return collective::is_divisible(collective::of(k), t, members);
}

}  // namespace

TEST_CASE("the shape that a member gets") {
    for (const dv::op_kind k : {transfer, shift, permute, all_reduce, reduce, broadcast, all_to_all}) CHECK(made(k, matrix) == matrix);
    for (const dv::op_kind k : {all_gather, gather}) {
        CHECK(made(k, matrix) == scalar.with_extents(32, 3));
        CHECK(made(k, scalar) == scalar.with_extents(4));
    }
    for (const dv::op_kind k : {reduce_scatter, scatter, own_rows}) CHECK(made(k, matrix) == scalar.with_extents(2, 3));
}

TEST_CASE("where the width must be known, and must divide") {
    for (const dv::op_kind k : {transfer, shift, permute, all_reduce, reduce, broadcast}) {
        CHECK(!collective::needs_width(collective::of(k)));
        CHECK(divisible(k, scalar));
    }
    for (const dv::op_kind k : {all_gather, gather, reduce_scatter, scatter, all_to_all, own_rows})
        CHECK(collective::needs_width(collective::of(k)));
    for (const dv::op_kind k : {all_gather, gather}) CHECK(divisible(k, scalar));
    for (const dv::op_kind k : {reduce_scatter, scatter, all_to_all, own_rows}) {
        CHECK(divisible(k, vector));
        CHECK(!divisible(k, vector, 3));
        CHECK(!divisible(k, scalar));
    }
}

TEST_CASE("more than fits is found as an overflow") {
    const dv::tensor_type large = scalar.with_extents(dv::most_bytes / 2);
    CHECK(made(all_gather, large).bytes() < 0);
    CHECK(made(all_gather, large, dv::most_bytes).bytes() < 0);
}
