// Which tasks come before which, and which share bytes: on sample graphs, against all paths and against every byte.
#include "support/samples.hpp"

#include <dovetail/observe/precedence.hpp>

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

namespace {

using namespace samples;
namespace observe = dv::observe;
using observe::detail::along;

using reached = std::vector<std::vector<bool>>;

// All paths, by Warshall's algorithm.
reached closure(reached before) {
    for (std::size_t k = 0; k < before.size(); ++k)
        for (std::size_t i = 0; i < before.size(); ++i)
            for (std::size_t j = 0; j < before.size(); ++j)
                if (before[i][k] && before[k][j]) before[i][j] = true;
    return before;
}

reached by_paths(const observe::plan_view& of, along which) {
    const auto tasks = static_cast<std::size_t>(of.program.tasks.size());
    reached before(tasks, std::vector<bool>(tasks));
    const auto add = [&](int a, int b) { before[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = true; };
    for (const dv::ir::edge& e : of.edges)
        if (which == along::memory || e.kind == dv::ir::edge_kind::flow) add(e.from, e.to);
    for (int role = 0; which == along::streams && role < of.roles(); ++role)
        for (const dv::ir::step& a : of.steps(role))
            for (const dv::ir::step& b : of.steps(role)) {
                const bool both = of.communicates[static_cast<std::size_t>(a.task)] && of.communicates[static_cast<std::size_t>(b.task)];
                if (both && a.stream == b.stream && &a < &b) add(a.task, b.task);
            }
    return closure(before);
}

// The bytes of a role's memory that a task touches, by kind of memory: all of them, and those that it writes.
using bytes = std::set<std::pair<bool, std::int64_t>>;
std::pair<bytes, bytes> touched(const observe::plan_view& of, int role, int task) {
    std::pair<bytes, bytes> found;
    const dv::ir::task& v = of.program.tasks[task];
    for (const dv::ir::participation& x : of.program.participations.subspan(v.first_participation, v.participations))
        for (const dv::ir::access& a : of.program.accesses.subspan(x.first_access, x.role == role ? x.accesses : 0)) {
            const int owner = of.owner(a.buffer);
            const std::int64_t at = of.plan.placements[owner].offset;
            for (std::int64_t i = 0; at >= 0 && i < of.program.buffers[owner].bytes; ++i) {
                const std::pair byte{of.program.buffers[owner].where == dv::ir::storage::host, at + i};
                found.first.insert(byte);
                if (dv::writes(a.mode)) found.second.insert(byte);
            }
        }
    return found;
}

bool meet(const bytes& a, const bytes& b) {
    for (const auto& x : a)
        if (b.contains(x)) return true;
    return false;
}

template <class G, class O = dv::options<>>
void check() {
    const observe::plan_view of{observe::tables_of<G, O>()};
    const int tasks = of.program.tasks.size();
    for (const along which : {along::data, along::memory, along::streams}) {
        const observe::detail::order_of got{of, which};
        const reached expected = by_paths(of, which);
        for (int a = 0; a < tasks; ++a)
            for (int b = 0; b < tasks; ++b) {
                const bool before = expected[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
                CHECK(got.before(a, b) == before);
                CHECK(got.ordered(a, b) == (before || expected[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)]));
            }
    }
    for (int role = 0; role < of.roles(); ++role)
        for (int a = 0; a < tasks; ++a)
            for (int b = 0; b < tasks; ++b) {
                const auto x = touched(of, role, a), y = touched(of, role, b);
                CHECK(observe::detail::share_bytes(of, role, a, b) == (meet(x.first, y.second) || meet(x.second, y.first)));
            }
}

}  // namespace

TEST_CASE("tasks come before others along data, memory and streams as all paths say, and share bytes as every byte says") {
    check<there_and_back>();
    check<descent>();
    check<overlapping_collectives>();
    check<one_group>();
    check<through_host>();
}
