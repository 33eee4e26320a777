// Packs lifetimes into an arena: from items in the order of their definition to their offsets and the size of the arena. `pack` keeps the
// best of several methods. The first is best fit in the order of definition (best_fit.hpp). Only if that may have left a gap, first fit in
// the order of a key follows: largest first, largest product of size and time first, then several times with the items at the top of the
// previous result first.
#pragma once

#include "../sort.hpp"
#include "best_fit.hpp"

namespace dovetail::pass::detail {

// Whether no packing is smaller than `top`: the items that are alive together with the last one that raised the top need all its bytes, and
// no two of them may share one. To be called after pack_in_order from byte 0 on; compares at most `pairs`.
constexpr bool is_full(const items& list, std::int64_t top, int& pairs) {
    const int grown = list.grown;
    if (grown < 0) return true;
    const vector_clock* release = list.release.begin();
    const int *definition = list.definition.begin(), *last = list.last.begin();
    // Whether the last access of an item precedes the definition of `grown` in the order; the other items are alive at the same time.
    const auto is_over = [&](int i) { return last[i] < definition[grown] && release[i].known[0] != INT_MAX; };
    vec<int> beside;
    std::int64_t bytes = 0;
    int over = 0;
    for (int i = 0; i <= grown; ++i) {
        if (list.size[i] == 0 || (i < grown && covers(list.known_of(grown), release[i]))) continue;
        bytes += list.size[i];
        over += is_over(i) ? 1 : 0;
        beside.push(i);
    }
    if (bytes < top || over * beside.size() > pairs) return false;
    for (int j = 0; j < beside.size() && over > 0; ++j) {
        if (!is_over(beside[j])) continue;
        pairs -= beside.size() - j;
        for (int k = j + 1; k < beside.size(); ++k)
            if (covers(list.known_of(beside[k]), release[beside[j]])) return false;
    }
    return true;
}

// The data of an item for packing by key.
struct item {
    std::int64_t size = 0;
    std::int64_t offset = -1;
    vector_clock release = {};
    vector_clock known = {};
    int until = 0;
    std::uint64_t roles = 0;

    constexpr std::int64_t end() const { return offset + size; }
};

// An index of the items by time, so that only items that may conflict are compared. A stretch is the time in which `stretch` items are
// defined; an item is listed under each stretch in which it may be alive, or in list 0 if there are many.
struct stretches {
    static constexpr int stretch = 32, most = 4;
    struct range {
        int first = 0;
        int last = 0;  // included

        constexpr bool many() const { return last - first >= most; }
        // The lists that contain an item with this range.
        constexpr range lists() const { return many() ? range{} : *this; }
    };

    vec<int> start;           // by list: where it begins
    int total = 0;            // number of entries of all lists
    std::int64_t visits = 0;  // estimated number of comparisons

    constexpr explicit stretches(const vec<int>& until) : start((until.size() + stretch - 1) / stretch + 2) {
        const int n = until.size(), lists = start.size() - 1;
        int* at = start.begin();
        for (int i = 0; i < n; ++i) {
            const range in = of(i, until.begin()[i]).lists();
            for (int q = in.first; q <= in.last; ++q) ++at[q + 1];
        }
        for (int q = 0; q < lists; ++q) at[q + 1] += at[q];
        total = at[lists];
        for (int i = 0; i < n; ++i) {
            const range in = of(i, until.begin()[i]);
            visits += at[in.last + 1] - at[in.first] + at[1];
        }
        visits /= 2;
    }
    static constexpr range of(int i, int until) { return {1 + i / stretch, 1 + (until - 1) / stretch}; }
};

inline constexpr int item_bits = 20;  // the low bits of a key are the item

// First fit: each item in the order of the keys is placed at the lowest offset at which it overlaps no conflicting item.
class first_fit {
public:
    constexpr first_fit(vec<item>& items, const stretches& lists)
        : items_{items.begin()},
          start_{lists.start.begin()},
          entries_(lists.total, unset{}),
          count_(lists.start.size()),
          cursor_(lists.start.size()) {}

    // The size of the arena; at least `base`.
    constexpr std::int64_t run(vec<std::int64_t> keys, std::int64_t base) {
        std::int64_t top = base;
        sort(keys);
        for (const std::int64_t key : keys) {
            const int i = static_cast<int>(key & ((1 << item_bits) - 1));
            item& me = items_[i];
            if (me.offset < 0) me.offset = me.size > 0 ? lowest_place(i) : 0;
            if (me.end() > top) top = me.end();
            if (me.size > 0) enter(i);
        }
        return top;
    }

private:
    // Advances through all relevant lists until none has a conflict at the offset.
    constexpr std::int64_t lowest_place(int i) {
        const stretches::range in = stretches::of(i, items_[i].until);
        for (int q = in.first; q <= in.last; ++q) cursor_.first[q] = 0;
        cursor_.first[0] = 0;
        std::int64_t at = 0;
        for (std::int64_t before = -1; before != at;) {
            before = at;
            at = past_conflicts(0, i, at);
            for (int q = in.first; q <= in.last; ++q) at = past_conflicts(q, i, at);
        }
        return at;
    }
    // The lowest offset from `at` on that is free of conflicts in one list.
    constexpr std::int64_t past_conflicts(int q, int i, std::int64_t at) {
        const int* list = entries_.first + start_[q];
        const int end = count_.first[q];
        const item& me = items_[i];
        int k = cursor_.first[q];
        for (; k < end; ++k) {
            const int j = list[k];
            const item& other = items_[j];
            if (other.offset >= at + me.size) break;
            if (other.offset + other.size <= at) continue;
            // Whether both may be alive at the same time on a common role.
            const bool conflict = (other.roles & me.roles) != 0 && (j < i ? other.until > i && !covers(me.known, other.release)
                                                                          : me.until > j && !covers(other.known, me.release));
            if (conflict) at = other.offset + other.size;
        }
        cursor_.first[q] = k;
        return at;
    }

    // Inserts an item into its lists, which are sorted by offset.
    constexpr void enter(int i) {
        const stretches::range in = stretches::of(i, items_[i].until).lists();
        for (int q = in.first; q <= in.last; ++q) {
            int* list = entries_.first + start_[q];
            int k = count_.first[q]++;
            for (; k > 0 && items_[list[k - 1]].offset > items_[i].offset; --k) list[k] = list[k - 1];
            list[k] = i;
        }
    }

    item* items_;
    const int* start_;
    vec<int> entries_;  // items by list
    vec<int> count_;    // by list: entries so far
    vec<int> cursor_;   // by list: entries that the current item has passed
};

inline constexpr int rounds = 8;  // of packing by key

// The keys of the rounds: largest first, then largest product of size and time first, then the items at the top of the previous result
// first. Items with a given offset always come before all others.
struct packing_keys {
    vec<std::int64_t> list;

    constexpr void by_size(const vec<item>& all, int round) {
        for (int i = 0; i < all.size(); ++i) {
            const std::int64_t left = (std::int64_t{1} << 42) - all[i].size / ir::alignment * (round == 1 ? all[i].until - i : 1);
            // The smallest keys are reserved for items at the top.
            list[i] = all[i].offset >= 0 ? i : ((left > rounds ? left : rounds) << item_bits) + i;
        }
    }
    // False if only items with a given offset are at the top.
    constexpr bool on_top_first(const vec<item>& all, const vec<item>& packed, std::int64_t top, int round) {
        for (int i = 0; i < all.size(); ++i) {
            if (all[i].offset >= 0 || packed[i].end() < top) continue;
            list[i] = (std::int64_t{rounds - 1 - round} << item_bits) + i;
            return true;
        }
        return false;
    }
};

constexpr vec<item> items_by_key(const items& list, const vec<std::int64_t>& given) {
    vec<item> all(list.count, unset{});
    for (int i = 0; i < list.count; ++i) {
        const std::int64_t offset = given.empty() ? -1 : given[i];
        const std::uint64_t roles = list.roles != nullptr ? list.roles[list.id[i]] : 1;
        all[i] = {list.size[i], offset, list.release[i], list.known_of(i), list.until[i], roles};
    }
    return all;
}

// The best packing of all methods. Packing by key is bounded by the remaining `pairs`, and its later rounds by `share` too. `given` items
// have offsets below `base`, where only packing by key finds gaps.
constexpr std::int64_t pack(items& list, int given, std::int64_t base, int first_time, int times, int& pairs, int share) {
    if (list.count == given) return base;
    vec<std::int64_t> offset;
    for (int i = 0; i < list.count && given > 0; ++i) offset.push(list.offset[i]);
    std::int64_t best = pack_in_order(list, base, first_time, times);
    if (base == 0 && list.roles == nullptr && is_full(list, best, pairs)) return best;
    const stretches lists{list.until};
    if (lists.visits > pairs) return best;
    const vec<item> all = items_by_key(list, offset);
    packing_keys keys{vec<std::int64_t>(list.count, unset{})};
    for (int round = 0; round < rounds && best > base && lists.visits <= (round < 2 ? pairs : share); ++round) {
        share -= static_cast<int>(lists.visits);
        pairs -= static_cast<int>(lists.visits);
        if (round < 2) keys.by_size(all, round);
        vec<item> packed = all;
        const std::int64_t bytes = first_fit{packed, lists}.run(keys.list, base);
        if (bytes < best) {
            best = bytes;
            for (int i = 0; i < list.count; ++i) list.offset[i] = packed[i].offset;
        }
        if (round > 0 && !keys.on_top_first(all, packed, bytes, round)) break;
    }
    return best;
}

// A buffer whose leaves several steps write takes over only what all of them know to be dead.
template <class Program, class Clocks>
constexpr void know_by_all(const Program& program, const basic_lifetimes<Program>& lives, const Clocks& clocks, items& list) {
    list.known_by_all.resize(list.count);
    for (int i = 0; i < list.count; ++i) {
        const ir::buffer& x = program.buffers[list.id[i]];
        vector_clock& known = list.known_by_all[i] = clocks[list.definition[i]];
        for (int leaf = x.first_leaf; leaf < x.first_leaf + x.leaves; ++leaf) {
            if (lives.definition_of(leaf) < 0) continue;
            const vector_clock& writer = clocks[lives.definition_of(leaf)];
            for (int l = 0; l < stream_count; ++l)
                if (writer.known[l] < known.known[l]) known.known[l] = writer.known[l];
        }
    }
}

}  // namespace dovetail::pass::detail
