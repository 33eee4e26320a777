// The search over rewrites: what it tries, what it takes, and that it ends at the same plan while compiling and at run time.
#include "support/as_at_run_time.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/observe/text.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/tuning.hpp>

#include <doctest/doctest.h>

#include <sstream>

namespace dv = dovetail;
namespace plan = dovetail::plan;

namespace app {
using namespace dv::ops;
struct x;
struct tp;
struct node;
template <int> struct w;
template <int> struct product;
template <int> struct summed;

using matrix = dv::tensor<dv::half, 8192, 8192>;
template <int I> using weight = dv::state<w<I>, matrix, zeros>;
template <int I> struct input_of { using type = summed<I - 1>; };
template <> struct input_of<0> { using type = x; };
template <int I>
using layer = dv::group<dv::let<product<I>, matmul(typename input_of<I>::type, w<I>)>,
                        dv::let<summed<I>, all_reduce<sum, tp>(product<I>)>>;
using four_ranks = dv::mesh<dv::axis<tp, 4>>;
struct chain : dv::graph<four_ranks, dv::input<x, matrix>, dv::repeat<weight, 2>, dv::repeat<layer, 2>, dv::output<summed<1>>> {};
template <int Blocks>
struct split_chain : dv::graph<four_ranks, dv::input<x, matrix>, dv::repeat<weight, 2>, dv::split<Blocks, dv::repeat<layer, 2>>,
                               dv::output<summed<1>>> {};
// Gradients summed over two hosts of eight ranks.
using large = dv::tensor<dv::half, 16384, 16384>;
template <int I> using large_weight = dv::state<w<I>, large, zeros>;
template <int I> using sum_over_hosts = dv::let<summed<I>, all_reduce<sum, node, tp>(matmul(x, w<I>))>;
struct over_hosts : dv::graph<dv::mesh<dv::axis<node, 2, dv::link::network>, dv::axis<tp, 8>>, dv::input<x, large>,
                              dv::repeat<large_weight, 4>, dv::repeat<sum_over_hosts, 4>, dv::output<dv::all<4, summed>>> {};
struct over_hosts_alone : dv::graph<dv::mesh<dv::axis<node, 2, dv::link::network>>, dv::input<x, matrix>,
                                    dv::let<summed<0>, all_reduce<sum, node>(x)>, dv::output<summed<0>>> {};
struct hosts_last : dv::graph<dv::mesh<dv::axis<tp, 8>, dv::axis<node, 4, dv::link::network>>, dv::input<x, matrix>,
                              dv::let<summed<0>, all_reduce<sum>(x)>, dv::output<summed<0>>> {};
// So small that blocks cost more than they hide.
using row = dv::tensor<float, 64, 64>;
struct small : dv::graph<four_ranks, dv::input<x, row>, dv::input<w<0>, row>, dv::let<product<0>, matmul(x, w<0>)>,
                         dv::let<summed<0>, all_reduce<sum, tp>(product<0>)>, dv::output<summed<0>>> {};
// Many small collectives beside each other, and nothing to split.
template <int I> using sum_of = dv::let<summed<I>, all_reduce<sum, tp>(x)>;
struct many_small : dv::graph<four_ranks, dv::input<x, row>, dv::repeat<sum_of, 8>, dv::output<dv::all<8, summed>>> {};

using h200 = dv::options<dv::machine::h200_nvlink>;
using searched = dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::automatic>>;
using searched_by_nccl =
    dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::automatic>, dv::collective_transport<dv::transport::nccl>>;
using limited = dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::automatic>, dv::memory_limit<650'000'000>>;
}  // namespace app

namespace {

template <class G, class O>
const dv::rewrite_list& taken() {
    return plan::planned<G, O>::options.rewrites;
}

template <class G>
std::int64_t most_copied() {
    return plan::changes_of(plan::typed<G>::value, app::searched::value).copied;
}

plan::rewrite_trial trial(int blocks, std::int64_t length, bool fits = true) {
    plan::rewrite_trial t;
    t.list.blocks = blocks;
    t.list.everywhere = blocks > 1;
    t.length = length;
    t.within_limit = fits;
    t.operations = 10 * blocks;
    return t;
}

}  // namespace

TEST_CASE("a number of blocks that is automatic is the best of those by hand") {
    constexpr std::int64_t found = dv::predicted_time<app::split_chain<dv::automatic>, app::h200>;
    static_assert(found <= dv::predicted_time<app::split_chain<1>, app::h200>);
    static_assert(found <= dv::predicted_time<app::split_chain<2>, app::h200>);
    static_assert(found <= dv::predicted_time<app::split_chain<4>, app::h200>);
    static_assert(found <= dv::predicted_time<app::split_chain<8>, app::h200>);
    CHECK(taken<app::split_chain<dv::automatic>, app::h200>().blocks > 1);
}

TEST_CASE("automatic rewrites find the split of a graph that asks for none") {
    static_assert(dv::predicted_time<app::chain, app::searched_by_nccl> ==
                  dv::predicted_time<app::split_chain<dv::automatic>, app::h200>);
    static_assert(dv::predicted_time<app::chain, app::searched> < dv::predicted_time<app::chain, app::h200>);
    CHECK(taken<app::chain, app::searched>().everywhere);
}

TEST_CASE("... and then that copy engines move its blocks, of which there may be more") {
    static_assert(dv::predicted_time<app::chain, app::searched> < dv::predicted_time<app::chain, app::searched_by_nccl>);
    CHECK(taken<app::chain, app::searched>().copied_from <= 1 << 20);
    CHECK(taken<app::chain, app::searched_by_nccl>().copied_from == INT64_MAX);
}

TEST_CASE("... or the part within hosts of what crosses the network") {
    static_assert(dv::predicted_time<app::over_hosts, app::searched> < dv::predicted_time<app::over_hosts, app::searched_by_nccl>);
    CHECK(taken<app::over_hosts, app::searched>().copied_from <= 1 << 20);
}

TEST_CASE("what does not gain is not taken") {
    CHECK(taken<app::small, app::searched>().blocks == 1);
    static_assert(dv::predicted_time<app::small, app::searched> == dv::predicted_time<app::small, app::h200>);
    CHECK(taken<app::many_small, app::searched>().blocks == 1);
    CHECK(taken<app::many_small, app::searched>().has(dv::rewrite::bucket));
    static_assert(dv::predicted_time<app::many_small, app::searched> < dv::predicted_time<app::many_small, app::h200> / 4);
}

TEST_CASE("rewrites that gain are found without overlap and for a forced candidate too") {
    using one_stream = dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::automatic>, dv::overlap<false>>;
    using forced =
        dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::automatic>, dv::force_candidate<dv::candidate::listed>>;
    CHECK(taken<app::many_small, one_stream>().has(dv::rewrite::bucket));
    CHECK(taken<app::many_small, forced>().has(dv::rewrite::bucket));
    support::as_at_run_time<app::many_small, one_stream>();
    support::as_at_run_time<app::many_small, forced>();
}

TEST_CASE("the plan while compiling is that of run time") {
    support::as_at_run_time<app::chain, app::searched>();
    support::as_at_run_time<app::chain, app::limited>();
    support::as_at_run_time<app::split_chain<dv::automatic>, app::h200>();
    support::as_at_run_time<app::many_small, app::searched>();
}

TEST_CASE("blocks are doubled while that gains, then all_reduces are decomposed, then buckets are tried") {
    dv::rewrite_list asked;
    asked.automatic = true;
    const plan::rewrite_changes all{true, 0, true, 0, true};
    plan::rewrite_trials known;
    CHECK(plan::next_rewrites(known, asked, all).list.blocks == 1);
    known = known.with(trial(1, 100));
    CHECK(plan::next_rewrites(known, asked, all).list.blocks == 2);
    known = known.with(trial(2, 90));
    CHECK(plan::next_rewrites(known, asked, all).list.blocks == 4);
    known = known.with(trial(4, 95));
    plan::rewrite_request next = plan::next_rewrites(known, asked, all);
    CHECK(next.list.blocks == 2);
    CHECK(next.list.has(dv::rewrite::decompose));
    plan::rewrite_trial decomposed = trial(2, 91);  // which does not gain
    decomposed.list = next.list;
    known = known.with(decomposed);
    next = plan::next_rewrites(known, asked, all);
    CHECK(next.list.blocks == 2);
    CHECK(next.list.has(dv::rewrite::bucket));
    CHECK(!next.list.has(dv::rewrite::decompose));
    plan::rewrite_trial last = trial(2, 80);
    last.list = next.list;
    known = known.with(last);
    CHECK(plan::next_rewrites(known, asked, all).ended);
    CHECK(known.best == 4);
}

TEST_CASE("half as many collectives are kept while that does not gain or does not fit") {
    dv::rewrite_list asked;
    asked.automatic = true;
    const plan::rewrite_changes eight{false, 8, false, 0, false};
    plan::rewrite_trials known = plan::rewrite_trials{}.with(trial(1, 100));
    for (const int kept : {8, 4, 2}) {
        const plan::rewrite_request next = plan::next_rewrites(known, asked, eight);
        REQUIRE(!next.ended);
        CHECK(next.list.has(dv::rewrite::keep));
        CHECK(next.list.kept == kept);
        plan::rewrite_trial t = trial(1, kept == 4 ? 110 : 60, kept != 8);
        t.list = next.list;
        known = known.with(t);
    }
    CHECK(plan::next_rewrites(known, asked, eight).ended);
    CHECK(known.of[known.best].list.kept == 2);
}

TEST_CASE("what fits comes before what is fast, and a large graph is not tried further") {
    dv::rewrite_list asked;
    asked.automatic = true;
    plan::rewrite_trials known;
    known = known.with(trial(1, 100, false)).with(trial(2, 120, true));
    CHECK(known.best == 1);
    known = known.with(trial(4, 50, false));
    CHECK(known.best == 1);
    plan::rewrite_trial large = trial(1, 100);
    large.operations = plan::most_searched_operations + 1;
    CHECK(plan::next_rewrites(plan::rewrite_trials{}.with(large), asked, {true, 0, true, 3, true}).ended);
}

TEST_CASE("the operations that copy engines make of a collective: over hosts, of each host's part two") {
    CHECK(most_copied<app::chain>() == 3);
    CHECK(most_copied<app::over_hosts>() == 5);
    CHECK(most_copied<app::hosts_last>() == 4);
    CHECK(most_copied<app::over_hosts_alone>() == 0);
}

TEST_CASE("copy engines are tried where the operations that they make are few enough") {
    dv::rewrite_list asked;
    asked.automatic = true;
    const plan::rewrite_trials known = plan::rewrite_trials{}.with(trial(1, 100));  // of ten operations
    const auto ends_with = [&](std::int64_t copied) { return plan::next_rewrites(known, asked, {false, 0, false, copied, false}).ended; };
    CHECK(!ends_with(plan::most_searched_operations / 10));
    CHECK(ends_with(plan::most_searched_operations / 10 + 1));
    CHECK(ends_with(0));
}

TEST_CASE("copy engines are tried for smaller collectives while some are left to NCCL") {
    dv::rewrite_list asked;
    asked.automatic = true;
    const plan::rewrite_changes copied{false, 0, false, 3, false};
    plan::rewrite_trials known = plan::rewrite_trials{}.with(trial(1, 100));
    plan::rewrite_trial large = trial(1, 90);
    large.list = plan::next_rewrites(known, asked, copied).list;
    CHECK(large.list.copied_from == plan::largest_copied_from);
    for (const int left : {0, 1}) {
        large.by_nccl = left;
        const plan::rewrite_request next = plan::next_rewrites(known.with(large), asked, copied);
        CHECK(next.ended == (left == 0));
        CHECK(next.list.copied_from == (left == 0 ? plan::largest_copied_from : plan::smallest_copied_from));
    }
    const plan::rewrite_trials& tried = plan::planned<app::chain, app::searched>::rewrites;
    for (int k = 0; k < tried.count; ++k) {
        const dv::rewrite_list& list = tried.of[k].list;
        const int all = 2 * list.blocks * (list.has(dv::rewrite::decompose) ? 2 : 1);
        CHECK(tried.of[k].by_nccl == (list.copied_from == INT64_MAX ? all : 0));
    }
}

TEST_CASE("more blocks are tried with copy engines where there was something to split") {
    dv::rewrite_list asked;
    asked.automatic = true;
    const plan::rewrite_changes changes{true, 0, false, 3, false};
    for (const int operations : {10, 20}) {
        plan::rewrite_trial in_two = trial(2, 100);
        in_two.operations = operations;
        plan::rewrite_trials known = plan::rewrite_trials{}.with(trial(1, 100)).with(in_two);
        plan::rewrite_trial copied = trial(1, 90);
        copied.list = plan::next_rewrites(known, asked, changes).list;
        REQUIRE(copied.list.copied_from == plan::largest_copied_from);
        const plan::rewrite_request next = plan::next_rewrites(known.with(copied), asked, changes);
        CHECK(next.ended == (operations == 10));
        CHECK(next.list.blocks == (operations == 10 ? 1 : 2));
    }
}

TEST_CASE("... also where copies of few blocks nearly gain, once") {
    dv::rewrite_list asked;
    asked.automatic = true;
    const plan::rewrite_changes changes{true, 0, false, 3, false};
    plan::rewrite_trial in_two = trial(2, 80), in_four = trial(4, 90);
    in_two.operations = 20;
    in_four.operations = 40;
    const plan::rewrite_trials known = plan::rewrite_trials{}.with(trial(1, 100)).with(in_two).with(in_four);
    for (const int length : {85, 100}) {
        plan::rewrite_trial copied = trial(2, length);
        copied.operations = 40;
        copied.list = plan::next_rewrites(known, asked, changes).list;
        REQUIRE(copied.list.copied_from == plan::largest_copied_from);
        CHECK(copied.list.blocks == 2);
        const plan::rewrite_request more = plan::next_rewrites(known.with(copied), asked, changes);
        CHECK(more.ended == (length == 100));
        if (more.ended) continue;
        CHECK(more.list.blocks == 4);
        CHECK(more.list.copied_from == plan::largest_copied_from);
        for (const int with_four : {70, 82}) {
            plan::rewrite_trial four = trial(4, with_four);
            four.list = more.list;
            const plan::rewrite_request next = plan::next_rewrites(known.with(copied).with(four), asked, changes);
            CHECK(next.ended == (with_four == 82));
            CHECK(next.list.blocks == (with_four == 82 ? 2 : 8));
        }
    }
}

TEST_CASE("the runner-up is another plan than the best one") {
    plan::rewrite_trials known = plan::rewrite_trials{}.with(trial(1, 100)).with(trial(4, 80)).with(trial(2, 90));
    plan::rewrite_trial same = trial(4, 80);
    same.list.copied_from = plan::smallest_copied_from;
    known = known.with(same);
    CHECK(plan::detail::runner_up(known).blocks == 2);
    CHECK(plan::detail::runner_up(plan::rewrite_trials{}.with(trial(4, 80)).with(same)).blocks == 4);
    plan::rewrite_trial as_fast = trial(8, 80);
    CHECK(plan::detail::runner_up(known.with(as_fast)).blocks == 8);
}

TEST_CASE("explain lists what was tried") {
    std::ostringstream text;
    dv::explain<app::chain, app::searched>(text);
    CAPTURE(text.str());
    CHECK(text.str().find("rewritten by") != std::string::npos);
    CHECK(text.str().find("... as written") != std::string::npos);
    CHECK(text.str().find("... split in 2 blocks") != std::string::npos);
}
