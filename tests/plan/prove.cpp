// The prover on plans made by hand, on each of them damaged in all ways of damage.hpp, and against brute force on small random plans.
#include <doctest/doctest.h>

#include "../support/damage.hpp"
#include "../support/hand_plans.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

using namespace support;
using dv::plan::flaw;

namespace {

std::string found(const subject& s) {
    const dv::plan::verdict v = s.all();
    CHECK(static_cast<bool>(v) == s.compiles());
    return name_of(v.what);
}
std::string found_by(const subject& s, int role) { return name_of(s.role(role).what); }

// The first flaw after one damage.
std::string after(subject (*make)(), bool (*harm)(subject&, int), int site = 0) {
    subject s = make();
    REQUIRE(harm(s, site));
    return found(s);
}

// ---- brute force: happens-before as a matrix over the unrolled runs, values byte by byte

struct touched {
    int step;      // counted over all runs
    int buffer;
    int space;
    std::int64_t begin, end;
    bool reading, writing;
    int access;
};

bool holds_by_brute_force(const subject& s, int role) {
    const auto& p = s.program;
    const auto& mine = s.plan.roles[role];
    int runs = s.plan.event_slots;
    for (const auto& w : s.plan.waits) runs = w.distance > runs ? w.distance : runs;
    for (const auto& b : p.buffers) runs = b.role == role && b.slots > runs ? b.slots : runs;
    ++runs;
    const int steps = mine.steps, count = steps * runs;
    std::vector<std::vector<char>> before(count, std::vector<char>(count, 0));
    std::map<std::pair<int, int>, int> ring;
    int last[dv::stream_count] = {-1, -1, -1};
    std::vector<touched> all;
    const auto inherit = [&](int from, int to) {
        before[from][to] = 1;
        for (int i = 0; i < count; ++i) before[i][to] = before[i][to] || before[i][from];
    };
    for (int i = 0; i < count; ++i) {
        const int run = i / steps;
        const auto& x = s.plan.steps[mine.first_step + i % steps];
        if (last[x.stream] >= 0) inherit(last[x.stream], i);
        last[x.stream] = i;
        for (const auto& w : s.plan.waits.view().subspan(x.first_wait, x.waits)) {
            if (w.distance > run) continue;
            const auto at = ring.find({w.event, (run - w.distance) % s.plan.event_slots});
            if (w.distance < 0 || at == ring.end() || at->second != (run - w.distance) * steps + w.step) return false;
            inherit(at->second, i);
        }
        if (x.event >= 0) ring[{x.event, run % s.plan.event_slots}] = i;
        for (const auto& y : p.participations.view().subspan(x.first_participation, x.participations))
            for (int a = y.first_access; a < y.first_access + y.accesses; ++a) {
                const int b = p.accesses[a].buffer;
                const auto& z = p.buffers[b];
                const bool arena = z.where == dv::ir::storage::arena, host = z.where == dv::ir::storage::host;
                const std::int64_t begin = arena || host ? s.plan.placements[b].offset + run % z.slots * s.plan.placements[b].stride
                                                         : run % z.slots * std::int64_t{1 << 20};
                all.push_back({i, b,
                               arena  ? 0
                               : host ? 1
                                      : 2 + b,
                               begin, begin + z.bytes, dv::reads(p.accesses[a].mode), dv::writes(p.accesses[a].mode), a});
            }
    }
    const auto root = [&](int b) { return p.buffers[b].alias < 0 ? b : p.buffers[b].alias; };
    for (const auto& a : all)
        for (const auto& b : all) {
            if (a.access == b.access && a.step == b.step) continue;
            const auto &x = p.buffers[a.buffer], &y = p.buffers[b.buffer];
            if (a.space == b.space && a.space < 2 && root(a.buffer) != root(b.buffer) && (x.slots > 1 || y.slots > 1)) {
                const auto &m = s.plan.placements[a.buffer], &n = s.plan.placements[b.buffer];
                if (m.offset < n.offset + (y.slots - 1) * n.stride + y.bytes && n.offset < m.offset + (x.slots - 1) * m.stride + x.bytes)
                    return false;
            }
            if (a.space != b.space || a.begin >= b.end || b.begin >= a.end || !(a.writing || b.writing)) continue;
            if (a.step < b.step && !before[a.step][b.step]) return false;
            // within one launch only an in-place result meets its argument
            if (a.step == b.step && a.access < b.access && !(p.buffers[b.buffer].alias >= 0 && root(a.buffer) == root(b.buffer)))
                return false;
        }
    std::map<std::pair<int, std::int64_t>, std::pair<int, int>> memory;   // 256 bytes each: buffer, and run or version
    std::map<int, int> version;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const touched& a = all[i];
        const int run = a.step / steps;
        const bool state = p.buffers[a.buffer].where == dv::ir::storage::state;
        if (state) {
            // written order: how many updates stand above this access's statement
            const auto node_of = [&](int access) {
                for (const auto& y : p.participations)
                    if (access >= y.first_access && access < y.first_access + y.accesses) return p.members[y.member].node;
                return -1;
            };
            int above = 0, each = 0;
            for (int k = 0; k < p.accesses.size(); ++k)
                if (p.accesses[k].buffer == a.buffer && dv::writes(p.accesses[k].mode)) {
                    ++each;
                    above += node_of(k) < node_of(a.access) ? 1 : 0;
                }
            if (version[a.buffer] != run * each + above) return false;
            if (a.writing) ++version[a.buffer];
            continue;
        }
        for (std::int64_t at = a.begin; at < a.end; at += 256) {
            const auto here = std::pair<int, std::int64_t>{a.space, at};
            if (a.reading && (memory.count(here) == 0 || memory[here] != std::pair<int, int>{a.buffer, run})) return false;
            if (a.writing) memory[here] = {a.buffer, run};
        }
        if (i + 1 < all.size() && all[i + 1].step / steps == run) continue;
        for (int b = 0; b < p.buffers.size(); ++b) {
            const auto& z = p.buffers[b];
            if (!z.output || z.role != role) continue;
            const std::int64_t begin = s.plan.placements[b].offset + run % z.slots * s.plan.placements[b].stride;
            for (std::int64_t at = begin; at < begin + z.bytes; at += 256)
                if (memory[{z.where == dv::ir::storage::host ? 1 : 0, at}] != std::pair<int, int>{b, run}) return false;
        }
    }
    return true;
}

subject draw(unsigned seed) {
    std::mt19937 random{seed};
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    maker m{1};
    const int waits = 60 + below(41), places = below(4);
    std::vector<int> values, tasks;
    const int w = m.state(0);
    const auto pick = [&] {
        return values[values.size() - 1 - static_cast<std::size_t>(below(values.size() < 3 ? static_cast<int>(values.size()) : 3))];
    };
    std::vector<std::pair<int, bool>> made;   // symbol or node
    values.push_back(m.compute(0, {}));
    made.push_back({values[0], true});
    for (int i = 2 + below(6); i > 0; --i) {
        const int what = below(10);
        if (what < 3) values.push_back(m.compute(0, {pick(), pick()}));
        else if (what < 5) values.push_back(m.reduce(0, pick()));
        else if (what == 5) values.push_back(m.compute(0, {w}));
        else if (what == 6) values.push_back(m.reduce(0, w));
        else if (what == 7) {
            made.push_back({m.update(0, w, {w, pick()}), false});
            continue;
        } else if (what == 8) {
            const int x = pick(), y = m.compute(0, {x}, &in_place_operation);
            values.push_back(y);
            if (m.buffer(x, 0).alias < 0) m.buffer(y, 0).alias = m.at(x, 0);
        } else {
            const int h = m.value(dv::op_kind::to_host, 0, {pick()});
            if (below(2) == 0) m.output(h, 0, 1 + below(2));
            made.push_back({h, true});
            continue;
        }
        made.push_back({values.back(), true});
    }
    if (below(2) == 0 && m.buffer(values.back(), 0).alias < 0) m.output(values.back(), 0, 1 + below(2));
    for (const auto& [id, symbol] : made) {
        tasks.push_back(symbol ? m.run(id) : m.run_node(id));
        if (!symbol) continue;
        dv::ir::buffer& b = m.buffer(id, 0);
        if (b.alias < 0 && b.where == dv::ir::storage::arena) {
            bool held = false;
            for (const auto& other : m.s.program.buffers) held = held || other.alias == m.at(id, 0);
            if (!held) {
                b.type.extent[0] = m.s.graph.symbols[id].type.extent[0] *= 1 + below(3);
                b.bytes = m.s.program.leaves[b.first_leaf].bytes = b.type.bytes();
            }
            if (places > 0 && (b.slots == 1 || below(8) == 0) && below(100) < 70)
                m.place(id, 0, 512 * below(places * static_cast<int>(made.size())));
        }
    }
    for (std::size_t i = 0; i < tasks.size(); ++i)
        for (std::size_t j = 0; j < tasks.size(); ++j) {
            if (m.s.program.tasks[tasks[i]].stream == m.s.program.tasks[tasks[j]].stream) continue;
            if (j < i && below(100) < waits) m.wait(0, tasks[i], tasks[j]);
            if (j > i && below(100) < waits) m.wait(0, tasks[i], tasks[j], 1 + (below(12) == 0));
        }
    subject s = m.finish();
    if (below(12) == 0 && s.plan.event_slots > 1) --s.plan.event_slots;
    return s;
}

}  // namespace

TEST_CASE("correct plans are proven") {
    for (const hand_made& x : by_hand) {
        CAPTURE(std::string(x.name));
        CHECK(found(x.make()) == "none");
    }
    CHECK(found(layered(64)) == "none");
}

TEST_CASE("no certain damage survives, at any site of any plan") {
    int kinds = 0;
    for (const damage& d : damages) {
        int sites = 0, refused = 0;
        for (const hand_made& x : by_hand)
            for (int site = 0;; ++site, ++sites) {
                subject s = x.make();
                if (!d.apply(s, site)) break;
                const bool good = static_cast<bool>(s.all());
                refused += good ? 0 : 1;
                CAPTURE(std::string(d.name));
                CAPTURE(std::string(x.name));
                CAPTURE(site);
                if (d.certain) CHECK(!good);
                CHECK(good == s.compiles());
            }
        CAPTURE(std::string(d.name));
        CHECK((sites == 0 || refused > 0));
        kinds += refused > 0 ? 1 : 0;
    }
    CHECK(kinds >= 60);
}

TEST_CASE("the samples have no wait to spare") {
    for (const hand_made& x : by_hand)
        for (int site = 0;; ++site) {
            subject s = x.make();
            if (!drop_wait(s, site)) break;
            CAPTURE(std::string(x.name));
            CAPTURE(site);
            CHECK(!s.all());
        }
}

TEST_CASE("each damage has its name") {
    CHECK(after(three_streams, drop_wait, 0) == "race");
    CHECK(after(three_streams, wait_for_another_event) == "wait_wrong_record");
    CHECK(after(sharing, wait_for_an_earlier_step) == "race_across_runs");
    CHECK(after(exchange, swap_steps_of_one_role, 1) == "step_order");
    CHECK(after(exchange, swap_steps_of_one_role, 4) == "step_order");   // the two transfers, on role 1 only
    CHECK(after(in_place, swap_dependent_tasks) == "edge_backward");
    CHECK(after(exchange, repeat_in_order) == "order_not_permutation");
    CHECK(after(three_streams, result_over_argument, 1) == "overlap_of_live_bytes");
    CHECK(after(three_roles, leave_out_partner) == "partner_missing");
    CHECK(after(exchange, leave_out_partner) == "partner_missing");
    CHECK(after(three_roles, leave_out_step, 1) == "step_missing");
    CHECK(after(three_roles, partner_with_another_count) == "partner_mismatch");
    CHECK(after(three_roles, partner_with_another_element) == "partner_mismatch");
    CHECK(after(three_roles, reduce_in_another_way) == "node_mismatch");
    CHECK(after(rooted, another_root) == "node_mismatch");
    CHECK(after(three_roles, exchange_group_indices) == "wrong_access");
    CHECK(after(rooted, exchange_group_indices) == "wrong_access");
    CHECK(after(exchange, forget_output) == "wrong_access");
    CHECK(after(three_roles, forget_symmetric_set) == "symmetric_offset");
    CHECK(after(three_roles, join_other_roles) == "wrong_communicator");
    CHECK(after(exchange, receive_another_type) == "wrong_storage");
    CHECK(after(sharing, drop_wrap_wait, 0) == "race_across_runs");
    CHECK(after(two_slots, drop_wrap_wait) == "race_across_runs");
    CHECK(after(in_place, drop_wrap_wait) == "race_across_runs");
    CHECK(after(sharing, wait_one_run_further_back) == "wait_wrong_record");
    CHECK(after(sharing, wait_one_run_further_back_in_more_slots) == "race_across_runs");
    CHECK(after(sharing, wait_for_this_run_instead) == "wait_wrong_record");
    CHECK(after(sharing, leave_event_unrecorded) == "wait_unknown_event");
    CHECK(after(sharing, record_event_elsewhere) == "wait_wrong_record");
    CHECK(after(sharing, record_event_twice) == "event_recorded_twice");
    CHECK(after(sharing, shrink_arena) == "out_of_arena");
    CHECK(after(sharing, misalign) == "misaligned");
    CHECK(after(three_roles, move_one_of_a_collective) == "symmetric_offset");
    CHECK(after(three_roles, move_one_of_a_collective_away) == "symmetric_offset");
    CHECK(after(sharing, another_stream_for_a_step) == "stream_wrong");
    CHECK(after(three_streams, another_stream_for_a_task) == "race");
    CHECK(after(exchange, duplicate_step) == "step_order");
    CHECK(after(two_slots, one_slot_for_all_runs) == "slot_not_dedicated");
    CHECK(after(two_slots, share_with_output) == "slot_not_dedicated");
    CHECK(after(in_place, participation_from_argument) == "alias_wrong");
    CHECK(after(sharing, take_over_unoffered) == "alias_wrong");
}

TEST_CASE("workspace and results that nobody wants are what the operation asks for") {
    const subject whole = with_scratch();
    const auto first = [&](bool typed) {
        return support::detail::nth(whole.program.buffers, 0,
                                    [&](const dv::ir::buffer& b) { return b.symbol < 0 && b.type.valid() == typed; });
    };
    const int workspace = first(false), unwanted = first(true);
    const auto with = [&](int b, auto change) {
        subject s = whole;
        change(s.program.buffers[b]);
        s.program.leaves[s.program.buffers[b].first_leaf].bytes = s.program.buffers[b].bytes;
        return found(s);
    };
    for (const int b : {workspace, unwanted}) {
        CAPTURE(b);
        CHECK(with(b, [](dv::ir::buffer& x) { --x.bytes; }) == "wrong_storage");
        CHECK(with(b, [](dv::ir::buffer& x) { x.bytes += 8; }) == "wrong_storage");
        CHECK(with(b, [](dv::ir::buffer& x) { x.bytes = 0; }) == "wrong_storage");
        CHECK(with(b, [](dv::ir::buffer& x) { x.type.type = x.type.valid() ? dv::element::none : dv::element::float32; }) ==
              "wrong_storage");
        CHECK(with(b, [](dv::ir::buffer& x) { x.where = dv::ir::storage::arena; }) == "wrong_storage");
        // Forgotten: what stands behind a result takes its place.
        subject s = whole;
        const int site = support::detail::nth(s.program.accesses, 0, [&](const dv::ir::access& a) { return a.buffer == b; });
        REQUIRE(forget_access(s, site));
        CHECK(found(s) == (b == workspace ? "wrong_access" : "wrong_storage"));
    }
    CHECK(with(unwanted, [](dv::ir::buffer& x) { x.type.extent[0] /= 2; }) == "wrong_storage");
}

TEST_CASE("blocks of rows") {
    // Of y, which the second and third tasks write: a quarter and another quarter, which are parted by a reader, and a half.
    const subject s = in_rows();
    int y = 0;
    while (s.program.buffers[y].leaves != 3 || s.program.buffers[y].alias >= 0) ++y;
    const int first = s.program.buffers[y].first_leaf;
    const auto with = [&](auto change) {
        subject damaged = s;
        change(damaged);
        return found(damaged);
    };
    CHECK(s.program.leaves[first + 1].begin == 256);
    CHECK(s.program.leaves[first + 2].begin == 512);
    // A cut is moved, for the in-place result too; it is taken away, is made where no block begins, or lies outside.
    CHECK(with([&](subject& x) {
              for (const dv::ir::buffer& b : x.program.buffers)
                  if (b.leaves == 3) x.program.leaves[b.first_leaf].bytes -= 256, x.program.leaves[b.first_leaf + 1] = {0, 512};
          }) == "bad_table");
    CHECK(with([&](subject& x) { x.program.leaves[first + 1].begin = 0; }) == "bad_table");
    CHECK(with([&](subject& x) { x.program.leaves[first].bytes = 248, x.program.leaves[first + 1] = {248, 264}; }) == "bad_table");
    CHECK(with([&](subject& x) { x.program.leaves[first + 2].bytes += 256; }) == "bad_table");
    CHECK(with([&](subject& x) { ++x.program.buffers[y].leaves; }) == "bad_table");
    CHECK(with([&](subject& x) {
              const int z = support::detail::nth(x.program.buffers, 0, [&](const dv::ir::buffer& b) { return b.alias == y; });
              x.program.leaves[x.program.buffers[z].first_leaf] = {0, 512},
              x.program.leaves[x.program.buffers[z].first_leaf + 1] = {512, 256};
              x.program.leaves[x.program.buffers[z].first_leaf + 2] = {768, 256};
          }) == "wrong_access");
    // Another block of the same value, more of it, or less.
    for (int a = 0; a < s.program.accesses.size(); ++a) {
        if (s.program.accesses[a].buffer != y) continue;
        for (int leaf = 0; leaf < 3; ++leaf)
            for (int leaves = 1; leaf + leaves <= 3; ++leaves) {
                subject damaged = s;
                damaged.program.accesses[a].leaf = first + leaf;
                damaged.program.accesses[a].leaves = leaves;
                const bool same = s.program.accesses[a].leaf == first + leaf && s.program.accesses[a].leaves == leaves;
                if (damaged.program.accesses[a].mode == dv::access_mode::read) CHECK(found(damaged) == (same ? "none" : "wrong_access"));
                else CHECK(static_cast<bool>(damaged.all()) == same);
            }
        for (const int beyond : {first - 1, first + 3, -1, 1000})
            CHECK(with([&](subject& x) { x.program.accesses[a].leaf = beyond; }) == "wrong_access");
        for (const int leaves : {0, -1, 4}) CHECK(with([&](subject& x) { x.program.accesses[a].leaves = leaves; }) == "wrong_access");
    }
    // Graph and program say alike that a block is read which is not there yet, on the stream that has its first half: only the wait is missing.
    const auto step_of = [&](const subject& x, int node) {
        return support::detail::nth(
            x.plan.steps, 0, [&](const dv::ir::step& i) { return x.program.members[x.program.tasks[i.task].first_member].node == node; });
    };
    const auto reader_of = [&](const subject& x, const dv::operation& which) {
        const int rows = support::detail::nth(x.graph.nodes, 0, [&](const dv::ir::node& n) {
            return n.op == &which && x.graph.symbols[x.graph.operands[n.first_argument]].kind == dv::ir::symbol_kind::value;
        });
        const int block = x.graph.operands[x.graph.nodes[rows].first_result];
        return support::detail::nth(x.graph.nodes, 0, [&](const dv::ir::node& n) {
            return x.graph.operands[n.first_argument] == block && n.op->view == dv::view_kind::none;
        });
    };
    CHECK(with([&](subject& x) {  // the quarter, of the half that the collective makes
              dv::ir::step& reads = x.plan.steps[step_of(x, reader_of(x, second_quarter))];
              dv::ir::access& a = x.program.accesses[x.program.participations[reads.first_participation].first_access];
              const int rows = support::detail::nth(x.graph.nodes, 0, [](const dv::ir::node& n) { return n.op == &second_quarter; });
              x.graph.nodes[rows].part = 2;
              for (dv::ir::buffer& b : x.program.buffers)  // cut so that there is such a leaf
                  if (b.leaves == 3)
                      x.program.leaves[b.first_leaf] = {0, 512}, x.program.leaves[b.first_leaf + 1] = {512, 256},
                      x.program.leaves[b.first_leaf + 2] = {768, 256};
              a.leaf = first + 1;
              for (dv::ir::access& other : x.program.accesses) {
                  if (&other == &a || other.leaves == 3 || x.program.buffers[other.buffer].leaves != 3) continue;
                  const bool second = other.leaf - x.program.buffers[other.buffer].first_leaf == 2;
                  other.leaf = x.program.buffers[other.buffer].first_leaf + (second ? 1 : 0);
                  other.leaves = second ? 2 : 1;
              }
          }) == "race");
    // An in-place result of which a part is still to be read, by whatever way.
    CHECK(with([&](subject& x) {
              const int w = step_of(x, reader_of(x, second_half));
              support::detail::swap_steps(x, w);
              std::swap(x.plan.order[w], x.plan.order[w + 1]);
          }) == "edge_backward");
    // What is sent is the block that the receiver expects.
    const subject across = rows_across();
    CHECK(found(across) == "none");
    for (int a = 0; a < across.program.accesses.size(); ++a) {
        if (across.program.buffers[across.program.accesses[a].buffer].leaves == 1) continue;
        for (const int step : {-1, 1}) {
            subject damaged = across;
            damaged.program.accesses[a].leaf += step;
            CHECK(!damaged.all());
        }
    }
}

TEST_CASE("the part of a statement of one role has the first group_index") {
    for (const hand_made& x : by_hand) {
        const subject whole = x.make();
        for (int i = 0; i < whole.program.participations.size(); ++i) {
            const int node = whole.program.members[whole.program.participations[i].member].node;
            if (node < 0 || whole.graph.nodes[node].role < 0) continue;
            for (const int group_index : {-1, 1, 2}) {
                subject s = whole;
                s.program.participations[i].group_index = group_index;
                CHECK(found(s) == "node_mismatch");
            }
        }
    }
}

TEST_CASE("as many copies as the options ask for") {
    for (subject (*make)() : {three_streams, two_slots}) {  // inputs and outputs in two slots
        subject s = make();
        s.options.in_flight = 2;
        CHECK(found(s) == "none");
        s.options.in_flight = 3;
        CHECK(found(s) == "too_few_slots");
    }
    subject s = exchange();
    s.options.channel_slots = 2;
    CHECK(found(s) == "too_few_slots");
}

TEST_CASE("a state read moved behind its update") {
    // w is read by a statement and by a collective, then updated: the update goes first
    subject s = in_place();
    int update = -1;
    for (int i = 0; i < s.plan.order.size(); ++i)
        if (s.graph.nodes[s.program.members[s.program.tasks[s.plan.order[i]].first_member].node].update) update = i;
    const int v = s.plan.order[update];
    for (int i = update; i > 0; --i) {
        s.plan.order[i] = s.plan.order[i - 1];
        support::detail::swap_steps(s, i - 1);
    }
    s.plan.order[0] = v;
    CHECK(std::string{name_of(s.order().what)} == "edge_backward");
    CHECK(found_by(s, 0) != "none");
}

TEST_CASE("updates of a state in another order than written") {
    subject s = states_in_turn();
    std::swap(s.plan.order[10], s.plan.order[11]);
    support::detail::swap_steps(s, 10);
    CHECK(std::string{name_of(s.order().what)} == "edge_backward");
    CHECK(found_by(s, 0) == "wrong_value");
}

TEST_CASE("an in-place result whose argument has another reader") {
    for (const int step : {2, 3}) {
        subject s = in_place();
        // statement r or z reads x instead of what it should
        const auto& v = s.program.tasks[s.plan.order[step]];
        const auto& y = s.program.participations[v.first_participation];
        const int n = s.program.members[v.first_member].node,
                  x = s.program.accesses[s.program.participations[s.program.tasks[s.plan.order[0]].first_participation].first_access]
                          .buffer;
        s.program.accesses[y.first_access] = whole(s.program, x, dv::access_mode::read);
        s.graph.operands[s.graph.nodes[n].first_argument] = s.program.buffers[x].symbol;
        CHECK(found(s) == "edge_backward");
        CHECK(found_by(s, 0) == "alias_wrong");
    }
}

TEST_CASE("bytes given away by position in the order, not by what has happened") {
    // c goes where a lies, which the collective may still be reading
    subject s = sharing();
    s.plan.placements[2].offset = 0;
    for (int b = 0; b < s.program.buffers.size(); ++b)
        if (s.program.buffers[b].symbol == 2) s.plan.placements[b].offset = 0;
    CHECK(found_by(s, 0) == "slot_shared_too_early");
}

TEST_CASE("members of a group that depend on each other") {
    // two updates of one state
    CHECK(after(states_in_turn, join_tasks, 10) == "race");
    // the second of two collectives in a group takes its argument's bytes, which the first one reads
    subject s = effects_and_group();
    const int second = support::detail::nth(s.program.members, 0, [](const dv::ir::member& m) { return m.op == &in_place_operation; });
    for (int site = 0;; ++site) {
        subject taken = s;
        REQUIRE(take_over_argument(taken, site));
        const dv::ir::participation& x = taken.program.participations[support::detail::nth(
            taken.program.participations, 0, [&](const dv::ir::participation& y) { return y.member == second; })];
        if (taken.program.buffers[taken.program.accesses[x.first_access + 1].buffer].alias < 0) continue;
        CHECK(found(taken) == "alias_wrong");
        break;
    }
}

TEST_CASE("programs that are wrong in themselves") {
    for (const hand_made& x : wrong_by_hand) {
        CAPTURE(std::string(x.name));
        CHECK(found(x.make()) != "none");
    }
}

TEST_CASE("damaged tables give a verdict") {
    std::mt19937 random{7};
    int refused = 0;
    for (int i = 0; i < 4000; ++i) {
        subject s = by_hand[random() % std::size(by_hand)].make();
        const int junk = static_cast<int>(random() % 40) - 4;
        const auto any = [&](auto& list) -> auto& { return list[static_cast<int>(random() % static_cast<unsigned>(list.size()))]; };
        switch (random() % 12) {
            case 0: any(s.plan.steps).task = junk; break;
            case 1: any(s.plan.steps).first_participation = junk; break;
            case 2: any(s.plan.steps).waits = junk; break;
            case 3: any(s.plan.steps).event = junk; break;
            case 4: any(s.plan.waits).event = junk; break;
            case 5: any(s.program.accesses).buffer = junk; break;
            case 6: any(s.program.participations).member = junk; break;
            case 7: any(s.program.tasks).participations = junk; break;
            case 8: any(s.program.buffers).alias = junk; break;
            case 9: any(s.program.members).node = junk; break;
            case 10: any(s.plan.roles).steps = junk; break;
            case 11: any(s.plan.order) = junk; break;
        }
        refused += s.all() ? 0 : 1;
        CHECK(static_cast<bool>(s.all()) == s.compiles());
    }
    CHECK(refused > 3000);
}

TEST_CASE("the prover and brute force agree") {
    int proven = 0, refused = 0;
    for (unsigned seed = 1; seed <= 6000; ++seed) {
        const subject s = draw(seed);
        const bool good = holds_by_brute_force(s, 0);
        CAPTURE(seed);
        CAPTURE(found_by(s, 0));
        CHECK(static_cast<bool>(s.role(0)) == good);
        ++(good ? proven : refused);
    }
    MESSAGE("proven " << proven << ", refused " << refused);
    CHECK(proven > 500);
    CHECK(refused > 500);
}

TEST_CASE("roles are proven together up to a number of steps, and each once") {
    dv::ir::role_plan roles[5];
    const int steps[] = {600, 400, 100, 2000, 10};
    for (int r = 0; r < 5; ++r) roles[r].steps = steps[r];
    dv::ir::program p{};
    dv::plan::plan plan{};
    p.roles = 5;
    plan.roles = {roles, 5};
    const auto groups = [&] {
        std::vector<int> ends;
        for (int first = 0; first < p.roles; first = ends.back()) ends.push_back(dv::plan::proven_until(p, plan, first));
        return ends;
    };
    CHECK(groups() == std::vector{2, 3, 4, 5});
    // A role costs something without any step, in proportion to the buffers of all.
    p.buffers.count = 16 * 200;
    CHECK(groups() == std::vector{1, 3, 4, 5});
    p.buffers.count = 16 * 5000;
    CHECK(groups() == std::vector{1, 2, 3, 4, 5});
}

// In constant expressions, with default limits.
static_assert(three_streams().all().what == flaw::none);
static_assert(exchange().all().what == flaw::none);
static_assert(three_roles().all().what == flaw::none);
static_assert(rooted().all().what == flaw::none);
static_assert(sharing().all().what == flaw::none);
static_assert(in_place().all().what == flaw::none);
static_assert(two_slots().all().what == flaw::none);
static_assert(layered(16).all().what == flaw::none);
static_assert(on_a_mesh().all().what == flaw::none);
static_assert(with_scratch().all().what == flaw::none);
static_assert(through_host_memory().all().what == flaw::none);
static_assert(in_place_only().all().what == flaw::none);
static_assert(peer_copy().all().what == flaw::none);
static_assert(states_in_turn().all().what == flaw::none);
static_assert(no_arena().all().what == flaw::none);
static_assert(in_pieces().all().what == flaw::none);
static_assert(many_types().all().what == flaw::none);
static_assert(effects_and_group().all().what == flaw::none);
static_assert(piece_of_another().all().what == flaw::wrong_access);
static_assert(scratch_sent().all().what == flaw::node_mismatch);
static_assert(sent_to_itself().all().what == flaw::wrong_communicator);
static_assert(done_elsewhere().all().what == flaw::node_mismatch);
