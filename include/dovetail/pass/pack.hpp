// Packing of lifetimes into an arena: takes items in the order of their definition, sets their offsets and gives the bytes
// needed. Two ways, of which `pack` keeps the better: best fit in the order of definition, near linear, and decreasing size,
// which compares an item with all that may be alive beside it. Written for constant evaluation: statements are what costs.
#pragma once

#include "sort.hpp"
#include "waits.hpp"

#include <climits>
#include <cstdint>

namespace dovetail::pass::detail {

struct item {
    std::int64_t size = 0;     // aligned
    std::int64_t offset = -1;  // given before packing: stays
    int definition = 0;        // times: a step, or a position in the order
    int last = 0;              // ... behind which nobody touches it
    clock release = {};        // what one must know to take over its bytes; INT_MAX: never
    clock known = {};          // what its definition knows
    clock floor = {};          // ... and what everybody knows from there on
    int id = 0;
    int until = INT_MAX;  // the first item whose floor covers the release: filled by pack_in_order
};

constexpr bool covers(const clock& known, const clock& release) {
    return release.known[0] <= known.known[0] && release.known[1] <= known.known[1] && release.known[2] <= known.known[2];
}

// The arena as a list of blocks in the order of addresses. Free ones that everybody knows to be dead are merged; one that
// only some lanes know of keeps its release until the others know too.
class blocks {
public:
    constexpr blocks(std::int64_t base, vec<item>& items)
        : items_{items.begin()},
          store_(items.size() + 2),
          index_(3 * store_.size()),
          list_{store_.begin()},
          merged_{index_.begin()},
          waiting_{merged_ + store_.size()},
          spare_{waiting_ + store_.size()},
          top_{base} {}

    constexpr std::int64_t top() const { return top_; }

    // A place for item i; gives its block.
    constexpr int take(int i) {
        const clock& floor = items_[i].floor;
        for (int k = waiting_count_ - 1; k >= 0; --k)
            if (covers(floor, items_[list_[waiting_[k]].item].release)) settle(waiting_[k], i);
        const clock& known = items_[i].known;
        const std::int64_t size = items_[i].size;
        int best = -1;
        std::int64_t room = INT64_MAX;
        for (int k = 0; k < merged_count_; ++k) better(merged_[k], list_[merged_[k]].end - list_[merged_[k]].begin, size, best, room);
        for (int k = 0; k < waiting_count_; ++k)
            if (usable(waiting_[k], known)) better(waiting_[k], list_[waiting_[k]].end - list_[waiting_[k]].begin, size, best, room);
        // Where no block is large enough, several next to each other may be.
        if (best < 0 && waiting_count_ > 0) {
            for (int k = 0; k < merged_count_; ++k) better(merged_[k], run(merged_[k], known), size, best, room);
            for (int k = 0; k < waiting_count_; ++k)
                if (usable(waiting_[k], known)) better(waiting_[k], run(waiting_[k], known), size, best, room);
        }
        return best >= 0 ? cut(best, i) : grow(i);
    }

    constexpr void release(int b) {
        list_[b].free = true;
        waiting_[list_[b].place = waiting_count_++] = b;
    }

    constexpr std::int64_t begin_of(int b) const { return list_[b].begin; }

private:
    struct block {
        std::int64_t begin = 0, end = 0;
        int previous = 0, next = 0;  // block 0 joins both ends of the list
        int item = 0;                // that had it last
        bool free = false, merged = false;
        int place = 0;  // in its list of free blocks
    };

    // Takes block b, of `bytes`, for the best so far where it fits more tightly, or as tightly at a lower address.
    constexpr void better(int b, std::int64_t bytes, std::int64_t size, int& best, std::int64_t& room) const {
        if (bytes < size || bytes > room || (bytes == room && list_[best].begin < list_[b].begin)) return;
        best = b;
        room = bytes;
    }
    constexpr bool usable(int b, const clock& known) const { return list_[b].free && (list_[b].merged || covers(known, items_[list_[b].item].release)); }
    // The free bytes from b on, or 0 where they begin before it.
    constexpr std::int64_t run(int b, const clock& known) const {
        if (usable(list_[b].previous, known)) return 0;
        int end = b;
        while (usable(list_[end].next, known)) end = list_[end].next;
        return list_[end].end - list_[b].begin;
    }
    constexpr void drop(int b) {
        const bool merged = list_[b].merged;
        const int moved = merged ? merged_[--merged_count_] : waiting_[--waiting_count_];
        (merged ? merged_ : waiting_)[list_[moved].place = list_[b].place] = moved;
    }
    constexpr void unlink(int b) {
        drop(b);
        list_[list_[b].previous].next = list_[b].next;
        list_[list_[b].next].previous = list_[b].previous;
        spare_[spare_count_++] = b;
    }
    // From item i on everybody knows that the block is free.
    constexpr void settle(int b, int i) {
        block& x = list_[b];
        if (items_[x.item].until > i) items_[x.item].until = i;
        drop(b);
        x.merged = true;
        merged_[x.place = merged_count_++] = b;
        if (const int p = x.previous; list_[p].merged) {
            x.begin = list_[p].begin;
            unlink(p);
        }
        if (const int n = x.next; list_[n].merged) {
            x.end = list_[n].end;
            unlink(n);
        }
    }
    // A used block in front of `next`.
    constexpr int insert(std::int64_t begin, std::int64_t end, int next, int i) {
        const int previous = list_[next].previous;
        const int b = spare_count_ > 0 ? spare_[--spare_count_] : ++count_;
        list_[b] = {begin, end, previous, next, i, false, false, 0};
        list_[previous].next = list_[next].previous = b;
        return b;
    }
    // The low end of the free blocks from b on.
    constexpr int cut(int b, int i) {
        const std::int64_t begin = list_[b].begin, end = begin + items_[i].size;
        while (list_[b].end <= end) {
            const int next = list_[b].next;
            const bool all = list_[b].end == end;
            unlink(b);
            b = next;
            if (all) return insert(begin, end, b, i);
        }
        list_[b].begin = end;
        return insert(begin, end, b, i);
    }
    // At the top, with what is free below it.
    constexpr int grow(int i) {
        std::int64_t begin = top_;
        for (int b = list_[0].previous; b != 0 && usable(b, items_[i].known); b = list_[0].previous) {
            begin = list_[b].begin;
            unlink(b);
        }
        top_ = begin + items_[i].size;
        return insert(begin, top_, 0, i);
    }

    item* items_;
    vec<block> store_;
    vec<int> index_;
    block* list_;
    int *merged_, *waiting_, *spare_;
    int count_ = 0, merged_count_ = 0, waiting_count_ = 0, spare_count_ = 0;
    std::int64_t top_ = 0;
};

// Best fit for one item after the other. All times lie in [first_time, first_time + times).
constexpr std::int64_t pack_in_order(vec<item>& items, std::int64_t base, int first_time, int times) {
    const int n = items.size();
    item* item = items.begin();
    blocks arena{base, items};
    vec<int> ends(times, -1), links(2 * n, -1);
    int *ending = ends.begin(), *next = links.begin(), *block = next + n;
    int now = 0;
    for (int i = 0; i < n; ++i) {
        for (; now < item[i].definition - first_time; ++now)
            for (int k = ending[now]; k >= 0; k = next[k]) arena.release(block[k]);
        if (item[i].size == 0 && item[i].offset < 0) item[i].offset = 0;
        if (item[i].offset >= 0) continue;
        block[i] = arena.take(i);
        item[i].offset = arena.begin_of(block[i]);
        if (item[i].release.known[0] == INT_MAX) continue;
        next[i] = ending[item[i].last - first_time];
        ending[item[i].last - first_time] = i;
    }
    return arena.top();
}

// Items by the stretches of `stretch` items in whose time they may be alive, those of many stretches in list 0, so that
// only what may conflict is compared.
struct stretches {
    static constexpr int stretch = 32, most = 4;

    vec<int> start;           // by list: where it begins
    int total = 0;            // entries of all lists
    std::int64_t visits = 0;  // about so many comparisons

    constexpr explicit stretches(const vec<item>& items) : start((items.size() + stretch - 1) / stretch + 2) {
        const int n = items.size(), lists = start.size() - 1;
        int* at = start.begin();
        for (int i = 0; i < n; ++i) {
            const int first = 1 + i / stretch, last = last_of(items.begin()[i], n);
            if (last - first >= most)
                ++at[1];
            else
                for (int q = first; q <= last; ++q) ++at[q + 1];
        }
        for (int q = 0; q < lists; ++q) at[q + 1] += at[q];
        total = at[lists];
        for (int i = 0; i < n; ++i) visits += at[last_of(items.begin()[i], n) + 1] - at[1 + i / stretch] + at[1];
        visits /= 2;
    }
    static constexpr int last_of(const item& i, int items) { return 1 + ((i.until < items ? i.until : items) - 1) / stretch; }
};

// The largest first, or those of the largest product of size and time, each at the lowest place from `low` on that no
// conflicting one takes. Expects `until`.
constexpr std::int64_t pack_by_size(vec<item>& items, const stretches& lists, bool times_time, std::int64_t low, std::int64_t base) {
    const int n = items.size();
    item* const item = items.begin();
    vec<int> counts(2 * lists.start.size()), entries(lists.total);
    int *count = counts.begin(), *cursor = count + lists.start.size();
    const int* start = lists.start.begin();
    std::int64_t top = base;
    vec<std::int64_t> keys(n);
    // Those that have their place already come first of all.
    std::int64_t* key_of = keys.begin();
    for (int i = 0; i < n; ++i)
        key_of[i] = item[i].offset >= 0
                        ? i
                        : (((std::int64_t{1} << 42) - item[i].size / ir::alignment * (times_time ? (item[i].until < n ? item[i].until : n) - i : 1)) << 20) + i;
    sort(keys);
    for (const std::int64_t key : keys) {
        const int i = static_cast<int>(key & 0xfffff);
        const detail::item* const me = item + i;
        const detail::item* other = nullptr;
        const std::int64_t size = me->size;
        std::int64_t at = me->offset < 0 ? low : me->offset;
        const int first = 1 + i / stretches::stretch, last = stretches::last_of(*me, n);
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
                        at = other->offset + other->size <= at || (other < me ? other->until <= i || (other->release.known[0] <= me->known.known[0] &&
                                                                                                      other->release.known[1] <= me->known.known[1] &&
                                                                                                      other->release.known[2] <= me->known.known[2])
                                                                              : me->until <= list[k] || (me->release.known[0] <= other->known.known[0] &&
                                                                                                         me->release.known[1] <= other->known.known[1] &&
                                                                                                         me->release.known[2] <= other->known.known[2]))
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

// The best of these; by size only while it compares fewer than what is left of `pairs`. `fixed` items have their place in
// [low, base), where only packing by size finds gaps.
constexpr std::int64_t pack(vec<item>& items, int fixed, std::int64_t low, std::int64_t base, int first_time, int times, int& pairs) {
    if (items.size() == fixed) return base;
    vec<item> other = items;
    const std::int64_t in_order = pack_in_order(items, base, first_time, times);
    for (int i = 0, n = items.size(); i < n; ++i) other.begin()[i].until = items.begin()[i].until;
    const stretches lists{other};
    std::int64_t best = in_order;
    for (int times_time = 0; times_time < 2 && lists.visits <= pairs; ++times_time) {
        pairs -= static_cast<int>(lists.visits);
        vec<item> packed = other;
        const std::int64_t bytes = pack_by_size(packed, lists, times_time == 1, low, base);
        if (bytes >= best) continue;
        best = bytes;
        items = static_cast<vec<item>&&>(packed);
    }
    return best;
}

}  // namespace dovetail::pass::detail
