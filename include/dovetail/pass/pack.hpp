// Packing of lifetimes into an arena: takes items in the order of their definition, sets their offsets and gives the bytes
// needed. Two ways, of which `pack` keeps the better: best fit in the order of definition, near linear, and decreasing size,
// which looks at all pairs.
#pragma once

#include "waits.hpp"

#include <climits>
#include <cstdint>

namespace dovetail::pass::detail {

struct item {
    std::int64_t size = 0;       // aligned
    std::int64_t offset = -1;    // given before packing: stays
    int definition = 0;          // times: a step, or a position in the order
    int last = 0;                // ... behind which nobody touches it
    clock release = {};          // what one must know to take over its bytes; INT_MAX: never
    clock known = {};            // what its definition knows
    clock floor = {};            // ... and what everybody knows from there on
    int id = 0;
};

constexpr bool covers(const clock& known, const clock& release) {
    return release.known[0] <= known.known[0] && release.known[1] <= known.known[1] && release.known[2] <= known.known[2];
}

// Merge sort, ascending.
constexpr void sort(vec<std::int64_t>& keys) {
    const int n = keys.size();
    vec<std::int64_t> other(n);
    std::int64_t *from = keys.begin(), *to = other.begin();
    bool back = false;
    for (int width = 1; width < n; width *= 2) {
        for (int begin = 0; begin < n; begin += 2 * width) {
            int i = begin, j = begin + width < n ? begin + width : n, k = begin;
            const int middle = j, end = begin + 2 * width < n ? begin + 2 * width : n;
            while (k < end) to[k++] = j >= end || (i < middle && from[i] <= from[j]) ? from[i++] : from[j++];
        }
        std::int64_t* swapped = from;
        from = to;
        to = swapped;
        back = !back;
    }
    if (back) keys = static_cast<vec<std::int64_t>&&>(other);
}

// The arena as a list of blocks in the order of addresses. Free ones that everybody knows to be dead are merged; one that
// only some lanes know of keeps its release until the others know too.
class blocks {
public:
    constexpr explicit blocks(std::int64_t base, int items) : top_{base} {
        list_.reserve(items + 2);
        list_.push({base, base, 0, 0, false, {}});  // joins both ends of the list
    }

    constexpr std::int64_t top() const { return top_; }

    // A place for the item; gives its block.
    constexpr int take(const item& i) {
        settle(i.floor);
        const block* list = list_.begin();
        int best = -1;
        std::int64_t best_size = INT64_MAX;
        for (int side = 0; side < 2; ++side) {
            const vec<int>& candidates = side == 0 ? merged_ : waiting_;
            const int* candidate = candidates.begin();
            for (int k = 0, n = candidates.size(); k < n; ++k) {
                const int b = candidate[k];
                std::int64_t size = list[b].end - list[b].begin;
                if (waiting_.size() != 0) {
                    if (!usable(b, i.known) || usable(list[b].previous, i.known)) continue;
                    for (int next = list[b].next; usable(next, i.known); next = list[next].next) size = list[next].end - list[b].begin;
                }
                if (size >= i.size && (size < best_size || (size == best_size && list[b].begin < list[best].begin))) {
                    best = b;
                    best_size = size;
                }
            }
        }
        return best >= 0 ? cut(best, i) : grow(i);
    }

    constexpr void release(int b, const clock& release) {
        list_[b].free = true;
        list_[b].release = release;
        add(waiting_, b);
    }

    constexpr std::int64_t begin_of(int b) const { return list_[b].begin; }

private:
    struct block {
        std::int64_t begin = 0, end = 0;
        int previous = 0, next = 0;
        bool free = false;
        clock release = {};
        bool merged = false;
        int place = 0;           // in its list of free blocks
    };

    constexpr bool usable(int b, const clock& known) const {
        const block& x = list_[b];
        return x.free && (x.merged || covers(known, x.release));
    }
    constexpr void add(vec<int>& to, int b) {
        list_[b].place = to.size();
        to.push(b);
    }
    constexpr void drop(int b) {
        vec<int>& from = list_[b].merged ? merged_ : waiting_;
        const int moved = from.back();
        from[list_[b].place] = moved;
        list_[moved].place = list_[b].place;
        from.pop();
    }
    constexpr void unlink(int b) {
        drop(b);
        list_[list_[b].previous].next = list_[b].next;
        list_[list_[b].next].previous = list_[b].previous;
        spare_.push(b);
    }
    constexpr void settle(const clock& floor) {
        for (int k = waiting_.size() - 1; k >= 0; --k) {
            const int b = waiting_[k];
            if (!covers(floor, list_[b].release)) continue;
            drop(b);
            list_[b].merged = true;
            add(merged_, b);
            if (const int p = list_[b].previous; list_[p].free && list_[p].merged) {
                list_[b].begin = list_[p].begin;
                unlink(p);
            }
            if (const int n = list_[b].next; list_[n].free && list_[n].merged) {
                list_[b].end = list_[n].end;
                unlink(n);
            }
        }
    }
    // A used block in front of `next`.
    constexpr int insert(std::int64_t begin, std::int64_t end, int next) {
        const int previous = list_[next].previous;
        int b = list_.size();
        if (!spare_.empty()) {
            b = spare_.back();
            spare_.pop();
            list_[b] = {begin, end, previous, next, false, {}};
        } else {
            list_.push({begin, end, previous, next, false, {}});
        }
        list_[previous].next = b;
        list_[next].previous = b;
        return b;
    }
    // The low end of the free blocks from b on.
    constexpr int cut(int b, const item& i) {
        const std::int64_t begin = list_[b].begin, end = begin + i.size;
        while (list_[b].end <= end) {
            const int next = list_[b].next;
            const bool all = list_[b].end == end;
            unlink(b);
            b = next;
            if (all) return insert(begin, end, b);
        }
        list_[b].begin = end;
        return insert(begin, end, b);
    }
    // At the top, with what is free below it.
    constexpr int grow(const item& i) {
        std::int64_t begin = top_;
        for (int b = list_[0].previous; b != 0 && usable(b, i.known);) {
            const int previous = list_[b].previous;
            begin = list_[b].begin;
            unlink(b);
            b = previous;
        }
        top_ = begin + i.size;
        return insert(begin, top_, 0);
    }

    vec<block> list_;
    vec<int> merged_, waiting_, spare_;
    std::int64_t top_ = 0;
};

// Best fit for one item after the other. All times lie in [first_time, first_time + times).
constexpr std::int64_t pack_in_order(vec<item>& items, std::int64_t base, int first_time, int times) {
    const int n = items.size();
    item* item = items.begin();
    blocks arena{base, n};
    vec<int> ending(times, -1), next(n, -1), block(n, -1);
    int now = 0;
    for (int i = 0; i < n; ++i) {
        if (item[i].offset >= 0) continue;
        for (; now < item[i].definition - first_time; ++now)
            for (int k = ending[now]; k >= 0; k = next[k]) arena.release(block[k], item[k].release);
        if (item[i].size == 0) {
            item[i].offset = 0;
            continue;
        }
        block[i] = arena.take(item[i]);
        item[i].offset = arena.begin_of(block[i]);
        if (item[i].release.known[0] == INT_MAX) continue;
        next[i] = ending[item[i].last - first_time];
        ending[item[i].last - first_time] = i;
    }
    return arena.top();
}

// The largest first, each at the lowest place from `low` on that no conflicting one takes. Apart: whether two items, the earlier defined
// one first, may share bytes.
template <class Apart>
constexpr std::int64_t pack_by_size(vec<item>& items, std::int64_t low, std::int64_t base, Apart apart) {
    const int n = items.size();
    item* item = items.begin();
    vec<int> placed_list(n);
    int* placed = placed_list.begin();  // by offset
    int count = 0;
    std::int64_t top = base;
    vec<std::int64_t> keys(n);
    // Those that have their place already come first of all.
    for (int i = 0; i < n; ++i)
        keys[i] = item[i].offset >= 0 ? i : (((std::int64_t{1} << 42) - item[i].size / 256) << 20) + i;
    sort(keys);
    for (const std::int64_t key : keys) {
        const int i = static_cast<int>(key & 0xfffff);
        std::int64_t at = item[i].offset < 0 ? low : item[i].offset;
        const std::int64_t size = item[i].size;
        if (size == 0) {
            item[i].offset = at;
            continue;
        }
        if (item[i].offset < 0)
            for (int k = 0; k < count; ++k) {
                const detail::item& other = item[placed[k]];
                if (other.offset + other.size <= at) continue;
                if (i < placed[k] ? apart(item[i], other) : apart(other, item[i])) continue;
                if (other.offset >= at + size) break;
                at = other.offset + other.size;
            }
        item[i].offset = at;
        if (at + size > top) top = at + size;
        int k = count++;
        for (; k > 0 && item[placed[k - 1]].offset > at; --k) placed[k] = placed[k - 1];
        placed[k] = i;
    }
    return top;
}

// The better of both; by size only while its pairs are fewer than what is left of `pairs`. `fixed` items have their place in
// [low, base), where only packing by size finds gaps.
constexpr std::int64_t pack(vec<item>& items, int fixed, std::int64_t low, std::int64_t base, int first_time, int times, int& pairs) {
    const std::int64_t n = items.size();
    if (n == fixed) return base;
    const std::int64_t cost = n * n / 2;
    if (cost > pairs) return pack_in_order(items, base, first_time, times);
    pairs -= static_cast<int>(cost);
    vec<item> other = items;
    const std::int64_t in_order = pack_in_order(items, base, first_time, times);
    const std::int64_t by_size = pack_by_size(other, low, base, [](const item& x, const item& y) { return covers(y.known, x.release); });
    if (by_size >= in_order) return in_order;
    items = static_cast<vec<item>&&>(other);
    return by_size;
}

}  // namespace dovetail::pass::detail
