// A refused plan is reported with stage, role, operation, buffer and run: as types at compile time, as text at run time. Each plan is
// damaged in one place.
#include "support/damage.hpp"
#include "support/damaged_plan.hpp"
#include "support/samples.hpp"
#include "support/subjects.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace {

namespace error = dovetail::error;
namespace flaws = dovetail::error::flaws;
namespace plan = dovetail::plan;
namespace pipe = dovetail::plan::stage;
using namespace samples;
using dv::plan::flaw;
using support::buffer_of;
using support::damaged;
using support::step_of;

using G = there_and_back;
using O = overlapped;

// A step that waits for nothing.
struct without_wait {
    static constexpr void plan(const dv::ir::program& p, auto& made) { made.steps[step_of<G, d, left>(p, made)].waits = 0; }
};
struct not_aligned {
    static constexpr void plan(const dv::ir::program& p, auto& made) { ++made.placements[buffer_of<G, b, middle>(p)].offset; }
};
struct outside {
    static constexpr void plan(const dv::ir::program& p, auto& made) { made.placements[buffer_of<G, c, right>(p)].offset = 1 << 20; }
};
struct on_another_stream {
    static constexpr void plan(const dv::ir::program& p, auto& made) {
        int& stream = made.steps[step_of<G, b, middle>(p, made)].stream;
        stream = stream == 0 ? 1 : 0;
    }
};
struct waits_for_another {
    static constexpr void plan(const dv::ir::program& p, auto& made) {
        made.waits[made.steps[step_of<G, d, left>(p, made)].first_wait].event = 1 << 20;
    }
};
struct over_another {
    static constexpr void plan(const dv::ir::program& p, auto& made) {
        made.placements[buffer_of<G, b, left>(p)].offset = made.placements[buffer_of<G, c, left>(p)].offset;
    }
};
struct step_left_out {
    static constexpr void plan(const dv::ir::program& p, auto& made) {
        const int i = step_of<G, b, middle>(p, made);
        made.steps[i].task = made.steps[i - 1].task;
    }
};
struct order_turned {
    static constexpr void plan(const dv::ir::program&, auto& made) {
        const int first = made.order[0];
        made.order[0] = made.order[made.order.size() - 1];
        made.order[made.order.size() - 1] = first;
    }
};
struct order_twice {
    static constexpr void plan(const dv::ir::program&, auto& made) { made.order[1] = made.order[0]; }
};
template <int Bytes>
struct of_other_size {
    static constexpr void program(auto& p) {
        for (auto& x : p.buffers)
            if (x.symbol == plan::symbol_of<G, c>) x.bytes = p.leaves[x.first_leaf].bytes = Bytes;
    }
};
struct statement_left_out {
    static constexpr void program(auto& p) {
        for (int v = 0; v < p.tasks.size(); ++v)
            if (p.members[p.tasks[v].first_member].symbol == plan::symbol_of<G, c> && p.tasks[v].kind == dv::op_kind::compute)
                p.members[p.tasks[v].first_member].node = -1;
    }
};

template <class Damage>
using error_of = typename damaged<G, O, Damage>::error;
template <class Damage>
std::string text_of() {
    return damaged<G, O, Damage>::text();
}

}  // namespace

TEST_CASE("flaws have the names of their types, and blame a stage of the pipeline") {
    constexpr int count = static_cast<int>(flaw::too_few_slots) + 1;
    const auto each = [&]<int... F>(std::integer_sequence<int, F...>) {
        return std::vector<std::string>{dv::display(dv::tag_of<plan::detail::flaw_name<static_cast<flaw>(F)>>)...};
    };
    const std::vector<std::string> types = each(std::make_integer_sequence<int, count>{});
    for (int f = 0; f < count; ++f) CHECK(types[static_cast<std::size_t>(f)] == name_of(static_cast<flaw>(f)));
    const std::vector<std::string> names = []<class... S>(plan::stages<S...>) {
        return std::vector<std::string>{S::name...};
    }(plan::detail::all_stages<dv::candidate::listed>{});
    for (int f = 1; f < count; ++f) CHECK(std::count(names.begin(), names.end(), stage_of(static_cast<flaw>(f))) == 1);
}

TEST_CASE("errors name flaw, stage, role, operation, buffer and run, each where it is known") {
    using plan_of = plan::detail::found_plan<G, O>;
    constexpr dv::candidate C = plan_of::taken;
    static_assert(
        std::is_same_v<error_of<without_wait>, error::unproven<G, flaws::race, error::in_stage<pipe::synchronise<C>>, error::in_role<left>,
                                                               error::operation<add, d>, error::with<error::operation<error::transfer, b>>,
                                                               error::buffer<b>, error::run<0>>>);
    static_assert(
        std::is_same_v<error_of<not_aligned>, error::unproven<G, flaws::misaligned, error::in_stage<pipe::assign_memory<C>>,
                                                              error::in_role<middle>, error::operation<multiply, b>, error::buffer<b>>>);
    static_assert(
        std::is_same_v<error_of<outside>, error::unproven<G, flaws::out_of_arena, error::in_stage<pipe::assign_memory<C>>,
                                                          error::in_role<right>, error::operation<subtract, c>, error::buffer<c>>>);
    static_assert(std::is_same_v<error_of<on_another_stream>, error::unproven<G, flaws::stream_wrong, error::in_stage<pipe::issue<C>>,
                                                                              error::in_role<middle>, error::operation<multiply, b>>>);
    static_assert(
        std::is_same_v<error_of<waits_for_another>, error::unproven<G, flaws::wait_unknown_event, error::in_stage<pipe::emit<C>>,
                                                                    error::in_role<left>, error::operation<add, d>, error::run<0>>>);
    static_assert(std::is_same_v<error_of<step_left_out>, error::unproven<G, flaws::step_missing, error::in_stage<pipe::issue<C>>,
                                                                          error::in_role<middle>, error::operation<multiply, b>>>);
    static_assert(std::is_same_v<error_of<order_turned>,
                                 error::unproven<G, flaws::step_order, error::in_stage<pipe::issue<C>>, error::in_role<left>,
                                                 error::operation<add, d>, error::with<error::operation<error::input_copy, x>>>>);
    static_assert(std::is_same_v<error_of<of_other_size<64>>,
                                 error::unproven<G, flaws::wrong_storage, error::in_stage<pipe::expand>, error::in_role<right>,
                                                 error::operation<subtract, c>, error::buffer<c>>>);
    static_assert(
        std::is_same_v<error_of<statement_left_out>, error::unproven<G, flaws::node_mismatch, error::in_stage<pipe::expand>,
                                                                     error::in_role<right>, error::operation<error::no_statement, c>>>);
}

TEST_CASE("texts name the same") {
    CHECK(text_of<without_wait>() ==
          "race, in what the stage `synchronise` makes: role `left`, operation `add` of `d` and `transfer` of `b`, buffer of `b`, run 0");
    CHECK(text_of<not_aligned>() ==
          "misaligned, in what the stage `assign memory` makes: role `middle`, operation `multiply` of `b`, buffer of `b`");
    CHECK(text_of<outside>() ==
          "out_of_arena, in what the stage `assign memory` makes: role `right`, operation `subtract` of `c`, buffer of `c`");
    CHECK(text_of<on_another_stream>() == "stream_wrong, in what the stage `issue` makes: role `middle`, operation `multiply` of `b`");
    CHECK(text_of<waits_for_another>() == "wait_unknown_event, in what the stage `emit` makes: role `left`, operation `add` of `d`, run 0");
    CHECK(text_of<step_left_out>() == "step_missing, in what the stage `issue` makes: role `middle`, operation `multiply` of `b`");
    CHECK(text_of<order_turned>() == "step_order, in what the stage `issue` makes: role `left`, operation `add` of `d` and `input` of `x`");
    CHECK(text_of<of_other_size<64>>() ==
          "wrong_storage, in what the stage `expand` makes: role `right`, operation `subtract` of `c`, buffer of `c`");
}

TEST_CASE("every kind of flaw names what is known of it") {
    struct known {
        int found = 0, roles = 0, operations = 0, buffers = 0, runs = 0;
    };
    std::map<std::string, known> by_flaw;
    const auto look = [&](const support::subject& s, const dv::plan::verdict& verdict) {
        if (verdict) return;
        const dv::ir::graph g = dv::ir::view(s.graph);
        const dv::ir::program p = dv::ir::view(s.program);
        const dv::plan::verdict bad = plan::completed(verdict, p);
        known& k = by_flaw[name_of(bad.what)];
        ++k.found;
        k.roles += bad.role >= 0;
        k.operations += plan::operation_of(g, p, bad).known();
        k.buffers += bad.buffer >= 0;
        k.runs += bad.run >= 0;
        const std::string text = plan::text_of(verdict, g, p);
        CHECK((text.find("operation") != std::string::npos) == plan::operation_of(g, p, bad).known());
        CHECK((text.find("buffer of") != std::string::npos) == (bad.buffer >= 0));
        CHECK((text.find("run ") != std::string::npos) == (bad.run >= 0));
        CHECK(text.find(std::string("`") + stage_of(bad.what) + "`") != std::string::npos);
    };
    std::vector<support::named_subject> all = support::hand_subjects();
    all.push_back({"descent", support::subject_of(plan::typed<descent>::value, several::value)});
    all.push_back({"counter", support::subject_of(plan::typed<counter>::value, several::value)});
    all.push_back({"two stages", support::subject_of(plan::typed<two_stages>::value, several::value)});
    for (const support::named_subject& x : all)
        for (const support::damage& d : support::damages)
            for (int site = 0; site < 64; ++site) {
                support::subject s = x.whole;
                if (!d.apply(s, site)) break;
                look(s, s.all());
                for (int r = 0; r < s.program.roles; ++r) look(s, s.role(r));  // as the compiler proves it, order and all
            }
    for (support::named_subject& x : all) {
        ++x.whole.options.in_flight;
        look(x.whole, x.whole.all());
    }

    // Not always: of several roles at odds none is the one, rows that do not fit together may belong to nobody.
    const std::vector<std::string> no_role{"bad_table",        "node_mismatch",   "node_missing",       "order_not_permutation",
                                           "partner_mismatch", "partner_missing", "wrong_communicator", "wrong_access",
                                           "symmetric_offset"};
    const std::vector<std::string> no_operation{"bad_table", "order_not_permutation", "out_of_arena", "wrong_storage"};
    const std::vector<std::string> buffer{
        "alias_wrong",      "symmetric_offset",   "edge_backward",         "misaligned", "overlap_of_live_bytes", "race",
        "race_across_runs", "slot_not_dedicated", "slot_shared_too_early", "stale_read", "too_few_slots",         "wrong_storage",
        "wrong_value",      "written_twice"};
    const std::vector<std::string> run{"event_recorded_twice", "overlap_of_live_bytes", "race",
                                       "race_across_runs",     "slot_shared_too_early", "stale_read",
                                       "wait_unknown_event",   "wait_wrong_record",     "wrong_value"};
    const auto in = [](const std::vector<std::string>& list, const std::string& name) {
        return std::count(list.begin(), list.end(), name) > 0;
    };
    for (const auto& of : by_flaw) {
        const std::string& name = of.first;
        const known& k = of.second;
        CAPTURE(name);
        if (!in(no_role, name)) CHECK(k.roles == k.found);
        if (!in(no_operation, name)) CHECK(k.operations == k.found);
        if (in(buffer, name)) CHECK(k.buffers == k.found);
        if (in(run, name)) CHECK(k.runs == k.found);
    }
    for (int f = 1; f <= static_cast<int>(flaw::too_few_slots); ++f)
        CHECK_MESSAGE(by_flaw.contains(name_of(static_cast<flaw>(f))), std::string(name_of(static_cast<flaw>(f))));
}
