// Leaves: what is read or written in part is cut there and nowhere else, dependencies are of leaves, and nothing is copied.
#include <doctest/doctest.h>

#include <dovetail/pass/program/cut.hpp>

#include "../../support/build.hpp"
#include "../../support/samples.hpp"

namespace {

using namespace samples;

// Two buffers of 1,024 bytes, the second in place of the first; tasks 0 and 1 write the first one's halves, task 2 reads its second
// quarter, task 3 replaces it, task 4 reads the last quarter of the result.
struct halves {
    support::build b;
    int whole, replaced;

    constexpr halves() : whole{b.buffer(0, 1024)}, replaced{b.buffer(0, 1024)} {
        b.p.buffers[replaced].alias = whole;
        dv::vec<dv::pass::touched_block> blocks;
        const auto task = [&](int buffer, dv::access_mode mode, std::int64_t begin, std::int64_t bytes) {
            b.task(dv::op_kind::compute, dv::stream_kind::compute, 1, b.p.tasks.size());
            b.participation(0);
            b.touch(buffer, mode);
            if (bytes < 1024) blocks.push({b.p.accesses.size() - 1, begin, bytes});
        };
        task(whole, dv::access_mode::write, 0, 512);
        task(whole, dv::access_mode::write, 512, 512);
        task(whole, dv::access_mode::read, 256, 256);
        task(whole, dv::access_mode::read, 0, 1024);
        b.touch(replaced, dv::access_mode::write);
        task(replaced, dv::access_mode::read, 768, 256);
        dv::pass::cut(blocks, b.p);
    }
};

}  // namespace

TEST_CASE("a buffer is cut where its blocks begin and end, and an in-place result where its argument is") {
    const halves made;
    const auto& p = made.b.p;
    REQUIRE(p.leaves.size() == 8);
    const std::int64_t begins[] = {0, 256, 512, 768};
    for (int i = 0; i < 8; ++i) {
        CHECK(p.leaves[i].begin == begins[i % 4]);
        CHECK(p.leaves[i].bytes == 256);
    }
    const int runs[][2] = {{0, 2}, {2, 2}, {1, 1}, {0, 4}, {4, 4}, {7, 1}};
    for (int a = 0; a < 6; ++a) {
        CHECK(p.accesses[a].leaf == runs[a][0]);
        CHECK(p.accesses[a].leaves == runs[a][1]);
    }
}

TEST_CASE("a leaf follows who writes it, and who replaces it all that read it") {
    const halves made;
    const dv::vec<dv::ir::edge> edges = dv::pass::edges(made.b.view());
    const auto has = [&](int from, int to) {
        int n = 0;
        for (const dv::ir::edge& e : edges) n += e.from == from && e.to == to ? 1 : 0;
        return n;
    };
    CHECK(has(0, 2) == 1);
    CHECK(has(1, 2) == 0);
    CHECK(has(0, 3) == 1);  // once, though it is two leaves
    CHECK(has(1, 3) == 1);
    CHECK(has(2, 3) == 1);
    CHECK(has(3, 4) == 1);
    CHECK(edges.size() == 5);
}

// Parts lie in what they are parts of, rows in their value, and elsewhere they are as large as they are.
using planned = dv::plan::planned<blocks_across, overlapped>;
template <class Name>
constexpr int buffers_of = [] {
    int n = 0;
    for (const dv::ir::buffer& b : planned::program.buffers) n += b.symbol == dv::plan::symbol_of<blocks_across, Name> ? 1 : 0;
    return n;
}();
static_assert(buffers_of<y> == 1 && buffers_of<b> == 0 && buffers_of<c> == 0 && buffers_of<a> == 1);
constexpr std::int64_t sent = [] {
    std::int64_t bytes = 0;
    for (const dv::ir::participation& x : planned::program.participations)
        if (planned::program.members[x.member].kind == dv::op_kind::transfer && x.group_index == 1)
            bytes += dv::ir::bytes_of(planned::program, planned::program.accesses[x.first_access]);
    return bytes;
}();
static_assert(sent == 1024 + 512);  // half of a, and a quarter of y, which two expressions name
