// The data movement of each kind of communication as a matrix: one row per sender, one column per receiver, `x` where data moves.
#include <dovetail/collective/movement.hpp>

#include <doctest/doctest.h>

#include <climits>
#include <string>
#include <vector>

namespace dv = dovetail;
namespace collective = dv::collective;
using enum dv::op_kind;

namespace {

struct communication {
    dv::op_kind kind = compute;
    const dv::operation* op = nullptr;
    int root = -1;
    int offset = 0;
    bool zero_edge = false;
};

using matrix = std::vector<std::string>;
matrix of(const communication& c, int members) {
    matrix all;
    for (int from = 0; from < members; ++from) {
        all.emplace_back();
        for (int to = 0; to < members; ++to)
            all.back() += collective::reaches(c, from, to, members) && collective::receives_result(c, to) ? 'x' : '.';
    }
    return all;
}

}  // namespace

TEST_CASE("a shift by as much as an int holds") {
    for (const int offset : {INT_MAX, INT_MAX - 1, INT_MIN}) {
        const communication c{.kind = shift, .offset = offset};
        for (int from = 0; from < 3; ++from)
            CHECK(collective::target_of(c, from, 3) == static_cast<int>(((std::int64_t{from} + offset) % 3 + 3) % 3));
    }
    CHECK(collective::target_of(communication{.kind = shift, .offset = INT_MAX, .zero_edge = true}, 2, 3) == -1);
}

TEST_CASE("everyone, the root, one other, or itself") {
    for (const dv::op_kind k : {all_reduce, all_gather, reduce_scatter, all_to_all})
        CHECK(of({.kind = k}, 3) == matrix{"xxx", "xxx", "xxx"});
    for (const dv::op_kind k : {reduce, gather}) CHECK(of({.kind = k, .root = 2}, 3) == matrix{"..x", "..x", "..x"});
    for (const dv::op_kind k : {broadcast, scatter}) CHECK(of({.kind = k, .root = 1}, 3) == matrix{"...", "xxx", "..."});
    CHECK(of({.kind = transfer}, 2) == matrix{".x", ".."});
    CHECK(of({.kind = own_rows}, 3) == matrix{"x..", ".x.", "..x"});
    for (const dv::op_kind k : {compute, input, to_host, from_host}) CHECK(of({.kind = k}, 2) == matrix{"..", ".."});
}

TEST_CASE("a shift, periodic and with zeros at its edge") {
    CHECK(of({.kind = shift, .offset = 1}, 3) == matrix{".x.", "..x", "x.."});
    CHECK(of({.kind = shift, .offset = 1, .zero_edge = true}, 3) == matrix{".x.", "..x", "..."});
    CHECK(of({.kind = shift, .offset = -1}, 3) == matrix{"..x", "x..", ".x."});
    CHECK(of({.kind = shift, .offset = -2, .zero_edge = true}, 3) == matrix{"...", "...", "x.."});
    CHECK(of({.kind = shift, .offset = 7}, 3) == matrix{".x.", "..x", "x.."});
    CHECK(of({.kind = shift, .offset = -7}, 3) == matrix{"..x", "x..", ".x."});
    CHECK(of({.kind = shift, .offset = 3, .zero_edge = true}, 3) == matrix{"...", "...", "..."});
    CHECK(of({.kind = shift, .offset = 1}, 1) == matrix{"x"});
    CHECK(of({.kind = shift, .offset = 1, .zero_edge = true}, 1) == matrix{"."});
}

TEST_CASE("pairs of positions") {
    const dv::position_pair pairs[] = {{0, 2}, {2, 1}, {3, 3}};
    dv::operation op;
    op.pairs = pairs;
    op.pair_count = 3;
    CHECK(of({.kind = permute, .op = &op}, 4) == matrix{"..x.", "....", ".x..", "...x"});
    for (const std::int64_t members : {0, 3, 4})
        CHECK(collective::leaves_zeros(communication{.kind = permute, .op = &op}, members) == (members != 3));
}

TEST_CASE("which kinds tell members with equal arguments apart") {
    const auto apart = [](const communication& c, std::int64_t members = 4) { return collective::tells_members_apart(c, members); };
    for (const dv::op_kind k : {compute, to_host, transfer}) CHECK(!apart({.kind = k}));
    for (const dv::op_kind k : {reduce, reduce_scatter, all_to_all, gather, scatter, own_rows}) CHECK(apart({.kind = k}));
    CHECK(!apart({.kind = shift, .offset = 1}));
    CHECK(apart({.kind = shift, .offset = 1, .zero_edge = true}));
    const dv::position_pair pairs[] = {{0, 1}, {1, 0}};
    dv::operation op;
    op.pairs = pairs;
    op.pair_count = 2;
    CHECK(!apart({.kind = permute, .op = &op}, 2));
    CHECK(apart({.kind = permute, .op = &op}, 3));
}

TEST_CASE("where zeros are left") {
    for (const std::int64_t members : {0, 4}) {
        CHECK(collective::leaves_zeros(communication{.kind = shift, .offset = 1, .zero_edge = true}, members));
        CHECK(!collective::leaves_zeros(communication{.kind = shift, .offset = 1}, members));
        for (const dv::op_kind k : {compute, transfer, all_reduce, broadcast, scatter})
            CHECK(!collective::leaves_zeros(communication{.kind = k}, members));
    }
}
