// The wide search over rewrites, at run time, for dovetail_plan --search: coordinate descent. Each round tries every value of one decision
// after the other, with the others as they are, and keeps what is predicted to be faster; it ends with a round that gains nothing. Unlike
// the search while compiling it gives each split a number of its own, tries every number of kept collectives, and has no bound of work.
#pragma once

#include "make.hpp"

namespace dovetail::plan {

class wide_search {
public:
    // Takes a graph without mistakes. `look(trial)` sees each trial that is better than those before.
    template <class Look>
    wide_search(const ir::graph& g, const plan_options& s, Look look)
        : g_{g}, s_{s}, repeated_{pass::repetitions(g, pass::scope::graph).size()} {
        s_.rewrites.automatic = false;
        s_.rewrites.decided = true;
        best_ = detail::tried(g, s_);
        written_ = best_;
        for (bool gained = true; gained;) {
            gained = false;
            for_each_change([&, this](const rewrite_list& list) {
                if (!is_better(list)) return;
                gained = true;
                look(best_);
            });
        }
    }

    const rewrite_trial& best() const { return best_; }
    const rewrite_trial& as_written() const { return written_; }

private:
    bool is_better(const rewrite_list& list) {
        s_.rewrites = list;
        const rewrite_trial trial = detail::tried(g_, s_);
        if (!rewrite_trials::faster(trial, best_)) return false;
        best_ = trial;
        return true;
    }

    // The automatic splits of the graph, with those that a list finds.
    int splits() const {
        ir::graph_data found = pass::detail::copy_of(g_);
        if (best_.list.everywhere) pass::find_split_regions(found, best_.list.blocks);
        int n = 0;
        for (const ir::region& r : found.regions) n += r.kind == rewrite::split && r.number == automatic ? 1 : 0;
        return n < rewrite_list::most_halved ? n : rewrite_list::most_halved;
    }
    template <class Try>
    void for_each_change(Try attempt) {
        for (const int blocks : {1, 2, 4, 8}) {
            rewrite_list list = best_.list;
            list.everywhere = blocks > 1;
            list.blocks = blocks;
            list.halved = 0;
            attempt(list);
        }
        for (int split = 0, count = splits(); split < count; ++split)
            for (std::uint64_t halvings = 0; halvings < 4; ++halvings) {
                rewrite_list list = best_.list;
                list.halved = (list.halved & ~(std::uint64_t{3} << 2 * split)) | halvings << 2 * split;
                attempt(list);
            }
        for (int kept = 1; kept <= repeated_; ++kept) {
            rewrite_list list = with(best_.list, rewrite::keep);
            list.kept = kept;
            attempt(list);
        }
        for (const rewrite r : searched_kinds) attempt(best_.list.has(r) ? without(best_.list, r) : with(best_.list, r));
        if (best_.list.collectives != transport::automatic) return;
        for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1} << 15, std::int64_t{1} << 20, std::int64_t{1} << 23, INT64_MAX}) {
            rewrite_list list = best_.list;
            list.copied_from = bytes;
            attempt(list);
        }
    }
    static rewrite_list with(rewrite_list list, rewrite r) {
        if (!list.has(r) && list.count < most_rewrites) list.kind[list.count++] = r;
        return list;
    }
    static rewrite_list without(rewrite_list list, rewrite r) {
        int count = 0;
        for (int i = 0; i < list.count; ++i)
            if (list.kind[i] != r) list.kind[count++] = list.kind[i];
        list.count = count;
        return list;
    }

    const ir::graph& g_;
    plan_options s_;
    int repeated_;  // collectives that can be left out
    rewrite_trial best_, written_;
};

}  // namespace dovetail::plan
