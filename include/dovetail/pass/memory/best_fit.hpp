// Best-fit allocation in the order of definition: from the lifetimes in one arena to their offsets and the size of the arena; near linear.
#pragma once

#include "../sync/synchronisation.hpp"

#include <climits>
#include <cstdint>
#include <initializer_list>

namespace dovetail::pass::detail {

// The items to pack, in the order of definition; arrays by item. Times are steps, or positions in the order.
struct items {
    int count = 0;
    vec<std::int64_t> size;     // aligned
    vec<std::int64_t> offset;   // -1 before packing; other offsets are kept
    vec<int> definition;        // time of the first access
    vec<int> last;              // time of the last access
    vec<vector_clock> release;  // a step whose clock covers this one may reuse the bytes; INT_MAX: none
    vec<int> id;
    const vector_clock* known = nullptr;  // by time: the clock of its step
    const vector_clock* floor = nullptr;  // by time: the minimum of the clocks of this and all later steps
    // By id: the set of roles, one bit each. Items without a common role do not conflict; only packing by key uses this. Null: all may.
    const std::uint64_t* roles = nullptr;

    // By item: the clock that all steps that write its bytes first have in common, if some items have several such steps; else empty, and
    // the clock is that of the definition.
    vec<vector_clock> known_by_all;

    vec<int> until;  // the first item after which all steps know the release; `count`: none. Filled by pack_in_order
    int grown = -1;  // the last item that did not fit below the top. Filled by pack_in_order

    constexpr explicit items(int most)
        : size(most, unset{}),
          offset(most, unset{}),
          definition(most, unset{}),
          last(most, unset{}),
          release(most, unset{}),
          id(most, unset{}) {}

    constexpr void add(std::int64_t bytes, std::int64_t at, int from, int to, const vector_clock& end, int name) {
        size.first[count] = bytes;
        offset.first[count] = at;
        definition.first[count] = from;
        last.first[count] = to;
        release.first[count] = end;
        id.first[count++] = name;
    }
    // What is known wherever the item's bytes are written first.
    constexpr const vector_clock& known_of(int i) const {
        return known_by_all.empty() ? known[definition.first[i]] : known_by_all.first[i];
    }
};

// The arena as a list of blocks in the order of addresses. A free block whose release all later steps cover is `merged` with its free
// neighbours. A free block whose release only some streams cover is `waiting`, and keeps its release until the others do too.
class best_fit {
public:
    constexpr best_fit(std::int64_t base, items& list)
        : size_{list.size.begin()},
          offset_{list.offset.begin()},
          release_{list.release.begin()},
          until_{list.until.begin()},
          all_(list.count + 2, unset{}),
          top_{base} {
        all_.first[0] = {};
    }

    constexpr std::int64_t top() const { return top_; }
    // The last item that did not fit below the top; -1: none.
    constexpr int grown() const { return grown_; }

    // Sets the offset of item i and returns its block.
    constexpr int take(int i, const vector_clock& known, const vector_clock& floor) {
        settle_known(floor, i);
        const int found = smallest_fit(size_[i], known);
        const int b = found >= 0 ? cut(found, i) : grow(i, known);
        offset_[i] = all_.first[b].begin;
        return b;
    }

    constexpr void release(int b) { add_free(b, waiting); }

private:
    enum status : int { waiting, merged, used };
    struct block {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        int previous = 0;  // in the order of addresses
        int next = 0;
        int item = -1;  // its current or last item
        status state = used;
        int place = -1;  // index in its list of free blocks

        constexpr std::int64_t bytes() const { return end - begin; }
    };

    // ---- search for a free block

    constexpr bool usable(int b, const vector_clock& known) const {
        const block& x = all_.first[b];
        return x.state == merged || (x.state == waiting && covers(known, release_[x.item]));
    }
    // A free block (or the first of several adjacent ones), and its bytes.
    struct place {
        int block = -1;
        std::int64_t bytes = INT64_MAX;
    };
    // Keeps the smallest sufficient one, the lowest among equals.
    constexpr void offer(place& best, int b, std::int64_t bytes, std::int64_t size) const {
        if (bytes < size || bytes > best.bytes) return;
        if (bytes == best.bytes && all_.first[best.block].begin < all_.first[b].begin) return;
        best = {b, bytes};
    }
    constexpr int smallest_fit(std::int64_t size, const vector_clock& known) const {
        place best;
        for (const int b : merged_) offer(best, b, all_.first[b].bytes(), size);
        for (const int b : waiting_)
            if (covers(known, release_[all_.first[b].item])) offer(best, b, all_.first[b].bytes(), size);
        return best.block < 0 && !waiting_.empty() ? tightest_run(size, known) : best.block;
    }
    // Several adjacent free blocks, if no single one is large enough.
    constexpr int tightest_run(std::int64_t size, const vector_clock& known) const {
        place best;
        for (const vec<int>* list : {&merged_, &waiting_})
            for (const int b : *list) {
                if (!usable(b, known) || usable(all_.first[b].previous, known)) continue;
                int last = b;
                while (usable(all_.first[last].next, known)) last = all_.first[last].next;
                offer(best, b, all_.first[last].end - all_.first[b].begin, size);
            }
        return best.block;
    }

    // ---- lists of blocks

    constexpr vec<int>& free(status state) { return state == merged ? merged_ : waiting_; }
    constexpr void add_free(int b, status state) {
        block& x = all_.first[b];
        x.state = state;
        x.place = free(state).size();
        free(state).push(b);
    }
    // Removes a block from its list of free blocks.
    constexpr void drop(int b) {
        vec<int>& list = free(all_.first[b].state);
        const int moved = list.back(), place = all_.first[b].place;
        list.first[place] = moved;
        all_.first[moved].place = place;
        list.cut(list.size() - 1);
    }
    // Removes a free block from the order of addresses too.
    constexpr void unlink(int b) {
        drop(b);
        const block& x = all_.first[b];
        all_.first[x.previous].next = x.next;
        all_.first[x.next].previous = x.previous;
        spare_.push(b);
    }
    constexpr int make_block() {
        if (spare_.empty()) return ++count_;
        const int b = spare_.back();
        spare_.cut(spare_.size() - 1);
        return b;
    }
    // Inserts a used block before `next`.
    constexpr int insert(std::int64_t begin, std::int64_t end, int next, int i) {
        const int b = make_block(), previous = all_.first[next].previous;
        all_.first[b] = {begin, end, previous, next, i, used, -1};
        all_.first[previous].next = all_.first[next].previous = b;
        return b;
    }

    // ---- changes

    // Merges the waiting blocks whose release all steps from the definition of item i on cover.
    constexpr void settle_known(const vector_clock& floor, int i) {
        for (int k = waiting_.size() - 1; k >= 0; --k) {
            const int b = waiting_.first[k];
            if (!covers(floor, release_[all_.first[b].item])) continue;
            until_[all_.first[b].item] = i;
            coalesce(b);
        }
    }
    // Merges a free block with its merged neighbours.
    constexpr void coalesce(int b) {
        drop(b);
        block& x = all_.first[b];
        const int before = x.previous, after = x.next;
        if (all_.first[before].state == merged) {
            x.begin = all_.first[before].begin;
            unlink(before);
        }
        if (all_.first[after].state == merged) {
            x.end = all_.first[after].end;
            unlink(after);
        }
        add_free(b, merged);
    }
    // Allocates item i at the low end of the free blocks from b on.
    constexpr int cut(int b, int i) {
        const std::int64_t begin = all_.first[b].begin, end = begin + size_[i];
        while (all_.first[b].end < end) {
            const int next = all_.first[b].next;
            unlink(b);
            b = next;
        }
        if (all_.first[b].end > end) {
            all_.first[b].begin = end;
            return insert(begin, end, b, i);
        }
        drop(b);
        all_.first[b].begin = begin;
        all_.first[b].item = i;
        all_.first[b].state = used;
        return b;
    }
    // Allocates item i at the top of the arena, including the free blocks directly below it.
    constexpr int grow(int i, const vector_clock& known) {
        std::int64_t begin = top_;
        for (int b = all_.first[0].previous; b != 0 && usable(b, known); b = all_.first[0].previous) {
            begin = all_.first[b].begin;
            unlink(b);
        }
        top_ = begin + size_[i];
        grown_ = i;
        return insert(begin, top_, 0, i);
    }

    // Arrays by item.
    const std::int64_t* size_;
    std::int64_t* offset_;
    const vector_clock* release_;
    int* until_;

    vec<block> all_;    // block 0 joins both ends of the list
    vec<int> merged_;   // free blocks with status merged
    vec<int> waiting_;  // free blocks with status waiting (two members, because nvcc's front end does not free an array of the two)
    vec<int> spare_;    // numbers of removed blocks, for reuse
    int count_ = 0;
    int grown_ = -1;
    std::int64_t top_ = 0;
};

// All times lie in [first_time, first_time + times).
constexpr std::int64_t pack_in_order(items& list, std::int64_t base, int first_time, int times) {
    const int n = list.count;
    list.until = vec<int>(n, n);
    // Linked lists of the items that end at each time: the first one by time, the next one by item.
    vec<int> ending(times, -1), next(n, unset{}), block(n, unset{});
    best_fit arena{base, list};
    int now = first_time;
    for (int i = 0; i < n; ++i) {
        const int from = list.definition.first[i], last = list.last.first[i] - first_time;
        for (; now < from; ++now)
            for (int k = ending.first[now - first_time]; k >= 0; k = next.first[k]) arena.release(block.first[k]);
        if (list.size.first[i] == 0 && list.offset.first[i] < 0) list.offset.first[i] = 0;
        if (list.offset.first[i] >= 0) continue;
        block.first[i] = arena.take(i, list.known_of(i), list.floor[from]);
        if (list.release.first[i].known[0] == INT_MAX) continue;
        next.first[i] = ending.first[last];
        ending.first[last] = i;
    }
    list.grown = arena.grown();
    return arena.top();
}

}  // namespace dovetail::pass::detail
