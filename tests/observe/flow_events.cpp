// Who sends to whom in traces: arrows go where data go, and both ends draw the same ones.
#include "support/samples.hpp"

#include <dovetail/observe/flow_events.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace samples;
namespace observe = dv::observe;
using dv::op_kind;
using arrows = std::set<std::pair<int, int>>;

// Between four members.
arrows drawn(const dv::ir::member& x) {
    arrows found;
    for (int i = 0; i < 4; ++i)
        if (const auto [from, to] = observe::ends_of_arrow(x, i, 4); from >= 0 && to >= 0 && from < 4 && to < 4) found.emplace(from, to);
    for (int i = 0; i < 4; ++i) found.erase({i, i});
    return found;
}
dv::ir::member member(op_kind kind, int root = -1, int offset = 0, bool zero_edge = false) {
    dv::ir::member x;
    x.kind = kind;
    x.root = root;
    x.offset = offset;
    x.zero_edge = zero_edge;
    return x;
}

// All arrows of a graph's run, as every rank draws its own: by number, with the ranks that have drawn it.
template <class G, class O = dv::options<>>
std::map<std::tuple<int, int, std::int64_t>, std::set<int>> of_all_ranks(int ranks) {
    const observe::plan_view of{observe::tables_of<G, O>()};
    const dv::geometry where{of.graph, ranks, {}};
    std::map<std::tuple<int, int, std::int64_t>, std::set<int>> found;
    for (int rank = 0; rank < ranks; ++rank)
        for (int v = 0; v < of.program.tasks.size(); ++v)
            if (of.communicates[static_cast<std::size_t>(v)])
                for (const observe::flow_event& a : observe::flow_events(of, where, v, rank))
                    CHECK(found[{a.from, a.to, a.number}].insert(rank).second);
    return found;
}

}  // namespace

TEST_CASE("arrows go from and to the root, along shifts and pairs, and from the lowest where all give to all") {
    CHECK(drawn(member(op_kind::compute)).empty());
    const arrows from_first{{0, 1}, {0, 2}, {0, 3}};
    for (const op_kind kind : {op_kind::all_reduce, op_kind::all_gather, op_kind::reduce_scatter, op_kind::all_to_all})
        CHECK(drawn(member(kind)) == from_first);
    for (const op_kind kind : {op_kind::broadcast, op_kind::scatter}) CHECK(drawn(member(kind, 2)) == arrows{{2, 0}, {2, 1}, {2, 3}});
    for (const op_kind kind : {op_kind::reduce, op_kind::gather}) CHECK(drawn(member(kind, 2)) == arrows{{0, 2}, {1, 2}, {3, 2}});
    CHECK(drawn(member(op_kind::shift, -1, 1)) == arrows{{0, 1}, {1, 2}, {2, 3}, {3, 0}});
    CHECK(drawn(member(op_kind::shift, -1, -1, true)) == arrows{{1, 0}, {2, 1}, {3, 2}});

    const dv::position_pair pairs[] = {{0, 3}, {3, 1}, {2, 2}};
    dv::operation permute;
    permute.pairs = pairs;
    permute.pair_count = 3;
    dv::ir::member x = member(op_kind::permute);
    x.op = &permute;
    CHECK(drawn(x) == arrows{{0, 3}, {3, 1}});
}

TEST_CASE("an arrow is drawn by the ranks at its two ends and by no other, alike") {
    std::size_t all = 0;
    const auto check = [&](const auto& found) {
        std::set<std::int64_t> numbers;
        for (const auto& [arrow, ranks] : found) {
            const auto [from, to, number] = arrow;
            CHECK(from != to);
            CHECK(ranks == std::set<int>{from, to});
            CHECK(numbers.insert(number).second);
        }
        all += found.size();
    };
    check(of_all_ranks<there_and_back>(3));
    check(of_all_ranks<overlapping_collectives>(3));
    check(of_all_ranks<permuted>(4));
    check(of_all_ranks<along_an_axis>(2));
    check(of_all_ranks<roles_and_meshes>(8));
    CHECK(all > 20);
}
