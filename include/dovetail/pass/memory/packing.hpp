// Packing of lifetimes into an arena: takes items in the order of their definition, sets their offsets and gives the bytes
// needed. Several ways, of which `pack` keeps the best: best fit in the order of definition (blocks.hpp); and, tried only where
// that may have wasted something, one item after the other at the lowest free place, compared with all that may be alive beside it:
// the largest first, then those of the largest product of size and time, then, a few times, whoever lay on top the time before.
#pragma once

#include "../sort.hpp"
#include "best_fit.hpp"

namespace dovetail::pass::detail {

// Whether the bytes up to `top` are needed: the items alive beside the last one that did not fit below it, of which no two
// may share a byte, fill them. After pack_in_order from byte 0 on; compares at most `pairs`.
constexpr bool is_full(const items& list, std::int64_t top, int& pairs) {
    const int i = list.grown;
    if (i < 0) return true;
    const vector_clock *release = list.release.begin(), &known = list.known[list.definition[i]];
    const int *definition = list.definition.begin(), *last = list.last.begin();
    vec<int> beside;
    std::int64_t bytes = 0;
    int over = 0;  // of them, those that are over in the order; the others are all alive at once
    for (int j = 0; j <= i; ++j) {
        if (list.size[j] == 0 || (j < i && covers(known, release[j]))) continue;
        bytes += list.size[j];
        over += last[j] < definition[i] && release[j].known[0] != INT_MAX ? 1 : 0;
        beside.push(j);
    }
    if (bytes < top || over * beside.size() > pairs) return false;
    if (over == 0) return true;
    for (int j = 0; j < beside.size(); ++j) {
        const vector_clock& end = release[beside[j]];
        if (last[beside[j]] >= definition[i] || end.known[0] == INT_MAX) continue;
        pairs -= beside.size() - j;
        for (int k = j + 1; k < beside.size(); ++k)
            if (covers(list.known[definition[beside[k]]], end)) return false;
    }
    return true;
}

// What packing by key looks at, for each item.
struct item {
    std::int64_t size = 0;
    std::int64_t offset = -1;
    vector_clock release = {};
    vector_clock known = {};
    int until = 0;
    std::uint64_t roles = 0;
};

// Items by the stretches of `stretch` items in whose time they may be alive, those of many stretches in list 0, so that
// only what may conflict is compared.
struct stretches {
    static constexpr int stretch = 32, most = 4;

    vec<int> start;           // by list: where it begins
    int total = 0;            // entries of all lists
    std::int64_t visits = 0;  // about so many comparisons

    constexpr explicit stretches(const vec<int>& until) : start((until.size() + stretch - 1) / stretch + 2) {
        const int n = until.size(), lists = start.size() - 1;
        int* at = start.begin();
        for (int i = 0; i < n; ++i) {
            const int first = 1 + i / stretch, last = last_of(until.begin()[i]);
            if (last - first >= most)
                ++at[1];
            else
                for (int q = first; q <= last; ++q) ++at[q + 1];
        }
        for (int q = 0; q < lists; ++q) at[q + 1] += at[q];
        total = at[lists];
        for (int i = 0; i < n; ++i) visits += at[last_of(until.begin()[i]) + 1] - at[1 + i / stretch] + at[1];
        visits /= 2;
    }
    static constexpr int last_of(int until) { return 1 + (until - 1) / stretch; }
};

// In the order of the keys, whose low bits are the item, each at the lowest place that no conflicting one takes.
inline constexpr int item_bits = 20;
constexpr std::int64_t pack_by_key(vec<item>& items, const stretches& lists, vec<std::int64_t> keys, std::int64_t base) {
    item* const item = items.begin();
    vec<int> counts(2 * lists.start.size()), entries(lists.total, unset{});
    int *count = counts.begin(), *cursor = count + lists.start.size();
    const int* start = lists.start.begin();
    std::int64_t top = base;
    sort(keys);
    for (const std::int64_t key : keys) {
        const int i = static_cast<int>(key & ((1 << item_bits) - 1));
        const detail::item* const me = item + i;
        const detail::item* other = nullptr;
        const std::int64_t size = me->size;
        std::int64_t at = me->offset < 0 ? 0 : me->offset;
        const int first = 1 + i / stretches::stretch, last = stretches::last_of(me->until);
        if (size > 0 && me->offset < 0) {
            for (int q = first; q <= last; ++q) cursor[q] = 0;
            cursor[0] = 0;
            // Down every list that matters, until none has anything in the way.
            std::int64_t before = -1;
            while (before != at) {
                before = at;
                for (int q = 0; q <= last; q = q == 0 ? first : q + 1) {
                    const int* list = entries.begin() + start[q];
                    int k = cursor[q];
                    for (const int end = count[q]; k < end && (other = item + list[k])->offset < at + size; ++k)
                        at = other->offset + other->size <= at ||
                                     (other < me ? other->until <= i ||
                                                       (other->release.known[0] <= me->known.known[0] && other->release.known[1] <= me->known.known[1] &&
                                                        other->release.known[2] <= me->known.known[2])
                                                 : me->until <= list[k] ||
                                                       (me->release.known[0] <= other->known.known[0] && me->release.known[1] <= other->known.known[1] &&
                                                        me->release.known[2] <= other->known.known[2])) ||
                                     (other->roles & me->roles) == 0
                                 ? at
                                 : other->offset + other->size;
                    cursor[q] = k;
                }
            }
        }
        item[i].offset = at;
        if (at + size > top) top = at + size;
        if (size == 0) continue;
        const bool everywhere = last - first >= stretches::most;
        for (int q = everywhere ? 0 : first; q <= (everywhere ? 0 : last); ++q) {
            int* list = entries.begin() + start[q];
            int k = count[q]++;
            for (; k > 0 && item[list[k - 1]].offset > at; --k) list[k] = list[k - 1];
            list[k] = i;
        }
    }
    return top;
}

inline constexpr int rounds = 8;  // of packing by key

// The best of these; all but the first only while they compare fewer than what is left of `pairs`, and no more than `share` where
// that is spent on whoever lay on top. Items that are `given` have their place below `base`, where only packing by key finds gaps.
constexpr std::int64_t pack(items& list, int given, std::int64_t base, int first_time, int times, int& pairs, int share) {
    if (list.count == given) return base;
    vec<std::int64_t> offset;
    for (int i = 0; i < list.count && given > 0; ++i) offset.push(list.offset[i]);
    std::int64_t best = pack_in_order(list, base, first_time, times);
    if (base == 0 && list.roles == nullptr && is_full(list, best, pairs)) return best;
    const stretches lists{list.until};
    if (lists.visits > pairs) return best;
    vec<item> all(list.count, unset{});
    for (int i = 0; i < list.count; ++i)
        all[i] = {list.size[i],    given > 0 ? offset[i] : -1,
                  list.release[i], list.known[list.definition[i]],
                  list.until[i],   list.roles != nullptr ? list.roles[list.id[i]] : 1};
    vec<std::int64_t> keys(list.count, unset{});
    for (int round = 0; round < rounds && best > base && lists.visits <= (round < 2 ? pairs : share); ++round) {
        share -= static_cast<int>(lists.visits);
        pairs -= static_cast<int>(lists.visits);
        for (int i = 0; i < list.count && round < 2; ++i) {
            const std::int64_t left = (std::int64_t{1} << 42) - all[i].size / ir::alignment * (round == 1 ? all[i].until - i : 1);
            // Those that have their place already come first of all, and room is left for those that lie on top.
            keys[i] = all[i].offset >= 0 ? i : ((left > rounds ? left : rounds) << item_bits) + i;
        }
        vec<item> packed = all;
        const std::int64_t bytes = pack_by_key(packed, lists, keys, base);
        if (bytes < best) {
            best = bytes;
            for (int i = 0; i < list.count; ++i) list.offset[i] = packed[i].offset;
        }
        if (round == 0) continue;  // the keys of the next are others
        int top = 0;
        while (top < list.count && (all[top].offset >= 0 || packed[top].offset + packed[top].size < bytes)) ++top;
        if (top == list.count) break;  // only those that have their place
        keys[top] = (std::int64_t{rounds - 1 - round} << item_bits) + top;
    }
    return best;
}

}  // namespace dovetail::pass::detail
