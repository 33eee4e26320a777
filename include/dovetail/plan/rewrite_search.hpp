// The search over rewrites, outside of the pipeline: which list of rewrites to plan next, given what was predicted of the lists so far. It
// is called step by step at compile time (compile/decide.hpp) and at run time (make.hpp). Starting from the graph as asked for, it tries
// one change after the other and keeps those that gain:
//
//     2 blocks in automatic splits, while that gains 4 and 8;  repeated collectives kept, half as many while that does not gain;
//     all_reduces decomposed;  collectives of 1 MiB or more by copy engines, while that gains smaller ones,
//     and then, or where it nearly gains, more blocks;  small collectives in buckets
#pragma once

#include "../pass/rewrite/rewrite.hpp"

namespace dovetail::plan {

// The lists together have no more operations than this (after the first), which bounds the compile time.
inline constexpr int most_searched_operations = 1536;
inline constexpr int most_trials = 12;
// The sizes from which on it has copy engines move collectives.
inline constexpr std::int64_t largest_copied_from = std::int64_t{1} << 20, smallest_copied_from = std::int64_t{1} << 15;

// What was predicted of the graph under one list of rewrites.
struct rewrite_trial {
    rewrite_list list;
    std::int64_t length = 0;    // predicted, picoseconds
    bool within_limit = false;  // of memory
    bool as_stated = true;      // what statements and options say of transports is kept
    int operations = 0;
    int by_nccl = 0;  // collectives that NCCL moves

    constexpr bool is_allowed() const { return within_limit && as_stated; }
};
struct rewrite_trials {
    rewrite_trial of[most_trials] = {};
    int count = 0;
    int best = 0;

    constexpr rewrite_trials with(const rewrite_trial& next) const {
        rewrite_trials all = *this;
        all.of[all.count++] = next;
        if (faster(next, all.of[all.best])) all.best = all.count - 1;
        return all;
    }
    static constexpr bool faster(const rewrite_trial& a, const rewrite_trial& b) {
        return a.is_allowed() != b.is_allowed() ? a.is_allowed() : a.length < b.length;
    }
};

template <class Tasks>
constexpr int collectives_by_nccl(const Tasks& tasks) {
    int n = 0;
    for (const ir::task& t : tasks) n += is_collective(t.kind) && t.moved_by != transport::peer_copy ? 1 : 0;
    return n;
}

// The changes that a graph allows and its options ask for.
struct rewrite_changes {
    bool blocks = false;
    int kept = 0;  // collectives that can be left out, at most
    bool decomposed = false;
    std::int64_t copied = 0;  // operations that copy engines make of a collective, at most; 0: they move none
    bool buckets = false;

    constexpr bool any() const { return blocks || kept > 0 || decomposed || copied > 0 || buckets; }
};
namespace detail {

struct communication_counts {
    int collectives = 0, all_reduces = 0;
    std::int64_t most_copied = 0;
    bool any = false;  // channels are made by expansion: several roles may have some
};
// Copy engines are not tried for what statements and options say.
template <class Graph>
constexpr communication_counts communication_of(const Graph& g, const rewrite_list& asked) {
    const ir::graph seen = ir::view(g);
    communication_counts n;
    n.any = g.roles.size() > 1;
    for (const ir::node& x : g.nodes) {
        if (is_collective(x.kind)) ++n.collectives;
        if (x.kind == op_kind::all_reduce) ++n.all_reduces;
        if (is_communication(x.kind)) n.any = true;
        const std::int64_t copied =
            pass::detail::stated_of(seen, x, asked) == transport::automatic ? pass::most_copied_operations(seen, x) : 0;
        if (copied > n.most_copied) n.most_copied = copied;
    }
    return n;
}
template <class Graph>
constexpr bool splits_automatically(const Graph& g) {
    for (const ir::region& r : g.regions)
        if (r.kind == rewrite::split && r.number == automatic) return true;
    return false;
}

}  // namespace detail

// The rewrites that the search adds to a list.
inline constexpr rewrite searched_kinds[] = {rewrite::keep, rewrite::decompose, rewrite::bucket};

template <class Graph>
constexpr rewrite_changes changes_of(const Graph& g, const plan_options& s) {
    const rewrite_list& asked = s.rewrites;
    if (asked.decided) return {};
    const detail::communication_counts n = detail::communication_of(g, pass::rewrites_of(g, asked, s.axes));
    constexpr int most_added = sizeof searched_kinds / sizeof *searched_kinds;
    const auto can_add = [&](rewrite r) { return asked.automatic && !asked.has(r) && asked.count + most_added <= most_rewrites; };
    rewrite_changes c;
    c.blocks = (asked.automatic && n.any) || detail::splits_automatically(g);
    if (n.collectives > 1 && can_add(rewrite::keep)) c.kept = pass::repetitions(ir::view(g), pass::scope::graph).size();
    c.decomposed = n.all_reduces > 0 && can_add(rewrite::decompose);
    if (asked.automatic && asked.collectives == transport::automatic && s.machine.peer_bandwidth > 0) c.copied = n.most_copied;
    c.buckets = n.collectives > 1 && can_add(rewrite::bucket);
    return c;
}

// The next list to plan, or that the search has ended.
struct rewrite_request {
    bool ended = false;
    rewrite_list list = {};
};

namespace detail {

// How far the search has come. What has had its turn: a kind that the last list has, or that comes before such a kind.
class rewrite_turns {
public:
    constexpr rewrite_turns(const rewrite_trials& known, const rewrite_list& asked, const rewrite_changes& changes)
        : known_{known},
          asked_{asked},
          changes_{changes},
          last_{known.of[known.count - 1]},
          best_{known.of[known.best]},
          buckets_{had(rewrite::bucket)},
          copied_{buckets_ || last_.list.copied_from != asked.copied_from},
          decomposed_{copied_ || had(rewrite::decompose)},
          kept_{decomposed_ || had(rewrite::keep)} {}

    constexpr rewrite_request next() const {
        if (changes_.blocks && !kept_ && gained() && best_.list.blocks < 8 && affords(2)) return {false, with_more_blocks(best_)};
        if (changes_.kept > 0 && !kept_) return with(rewrite::keep, changes_.kept);
        if (kept_ && !decomposed_ && !gained() && last_.list.kept > 1) return with(rewrite::keep, last_.list.kept / 2);
        if (changes_.decomposed && !decomposed_ && affords(2)) return with(rewrite::decompose, best_.list.kept);
        if (changes_.copied > 0 && !buckets_)
            if (const rewrite_request copied = next_copied(); !copied.ended) return copied;
        if (changes_.buckets && !buckets_) return with(rewrite::bucket, best_.list.kept);
        return {true, best_.list};
    }

private:
    constexpr bool gained() const { return known_.best == known_.count - 1; }
    constexpr bool had(rewrite r) const { return last_.list.has(r) && !asked_.has(r); }
    constexpr bool tried(const rewrite_list& list) const {
        for (int k = 0; k < known_.count; ++k)
            if (known_.of[k].list == list) return true;
        return false;
    }
    constexpr rewrite_request with(rewrite r, int kept) const {
        rewrite_list list = best_.list;
        list.kind[list.count++] = r;
        list.kept = kept;
        return {!affords(1), list};
    }
    constexpr rewrite_list with_more_blocks(const rewrite_trial& than) const {
        rewrite_list list = than.list;
        list.blocks *= 2;
        list.everywhere = asked_.automatic;
        return list;
    }
    constexpr rewrite_request next_copied() const {
        if (!copied_) return affords(changes_.copied) ? copied_from(largest_copied_from) : rewrite_request{true};
        const bool smaller = gained() && last_.by_nccl > 0 && last_.list.copied_from > smallest_copied_from;
        if (smaller && affords(changes_.copied)) return copied_from(last_.list.copied_from / 32);
        const rewrite_trial& copied = best_.list.copied_from != asked_.copied_from ? best_ : last_;
        const bool more = copied.list.blocks < 8 && copied.list.blocks <= best_.list.blocks;
        if (!blocks_change() || !more || !nearly_best(copied) || !affords(2, copied)) return {true};
        return {tried(with_more_blocks(copied)), with_more_blocks(copied)};
    }
    // The best, or one that more blocks may make so: a sum of copied blocks waits until the product beside it ends.
    constexpr bool nearly_best(const rewrite_trial& t) const { return t.length - t.length / 8 <= best_.length; }
    // Whether there was something to split.
    constexpr bool blocks_change() const {
        for (int k = 1; k < known_.count; ++k)
            if (known_.of[k].list.blocks > 1 && known_.of[k].operations != known_.of[0].operations) return true;
        return false;
    }
    constexpr rewrite_request copied_from(std::int64_t bytes) const {
        rewrite_list list = best_.list;
        list.copied_from = bytes;
        return {false, list};
    }
    // Whether a list that makes so many times the operations of the best one, or of another, may be tried. (A decomposition adds an
    // operation for each all_reduce, and the bounds of its tables are counted by making it.)
    constexpr bool affords(std::int64_t times) const { return affords(times, best_); }
    constexpr bool affords(std::int64_t times, const rewrite_trial& of) const {
        std::int64_t operations = times * of.operations;
        for (int k = 1; k < known_.count; ++k) operations += known_.of[k].operations;
        return known_.count < most_trials && operations <= most_searched_operations;
    }

    const rewrite_trials& known_;
    const rewrite_list& asked_;
    const rewrite_changes& changes_;
    const rewrite_trial &last_, &best_;
    bool buckets_, copied_, decomposed_, kept_;
};

}  // namespace detail

constexpr rewrite_request next_rewrites(const rewrite_trials& known, const rewrite_list& asked, const rewrite_changes& changes) {
    if (known.count > 0) return detail::rewrite_turns{known, asked, changes}.next();
    rewrite_list list = asked;
    list.automatic = false;
    list.decided = true;
    return {false, list};
}

}  // namespace dovetail::plan
