// Best fit in the order of definition: takes lifetimes of one arena, sets their offsets and gives the bytes needed; near
// linear.
#pragma once

#include "../sync/synchronisation.hpp"

#include <climits>
#include <cstdint>

namespace dovetail::pass::detail {

// What is packed, in the order of definition; arrays by item. Times are steps, or positions in the order.
struct items {
    int count = 0;
    vec<std::int64_t> size;     // aligned
    vec<std::int64_t> offset;   // -1 before packing; one given already stays
    vec<int> definition;        // a time
    vec<int> last;              // ... behind which nobody touches it
    vec<vector_clock> release;  // what one must know to take over its bytes; INT_MAX: never
    vec<int> id;
    const vector_clock* known = nullptr;  // by time: what it knows
    const vector_clock* floor = nullptr;  // ... and what everybody knows from there on
    // By id, one bit each: items without a common role never meet, which only packing by key knows. Null: all meet.
    const std::uint64_t* roles = nullptr;

    vec<int> until;  // the first item from which on everybody knows the release; `count`: none. Filled by pack_in_order
    int grown = -1;  // the last item that did not fit below the top. Filled by pack_in_order

    constexpr explicit items(int most)
        : size(most, unset{}), offset(most, unset{}), definition(most, unset{}), last(most, unset{}), release(most, unset{}), id(most, unset{}) {}

    constexpr void add(std::int64_t bytes, std::int64_t at, int from, int to, const vector_clock& end, int name) {
        size.first[count] = bytes;
        offset.first[count] = at;
        definition.first[count] = from;
        last.first[count] = to;
        release.first[count] = end;
        id.first[count++] = name;
    }
};

// The arena as a list of blocks in the order of addresses. Free ones that everybody knows to be dead are merged; one that
// only some streams know of waits, and keeps its release, until the others know too.
class best_fit {
public:
    constexpr best_fit(std::int64_t base, items& list)
        : size_{list.size.begin()},
          offset_{list.offset.begin()},
          release_{list.release.begin()},
          until_{list.until.begin()},
          addresses_(2 * (list.count + 2), unset{}),
          numbers_(8 * (list.count + 2), unset{}),
          top_{base} {
        const int room = list.count + 2;
        begin_ = addresses_.begin();
        end_ = begin_ + room;
        previous_ = numbers_.begin();
        next_ = previous_ + room;
        item_ = next_ + room;
        state_ = item_ + room;
        place_ = state_ + room;
        merged_ = place_ + room;
        waiting_ = merged_ + room;
        spare_ = waiting_ + room;
        begin_[0] = end_[0] = 0;
        previous_[0] = next_[0] = state_[0] = 0;
    }
    best_fit(const best_fit&) = delete;  // it keeps pointers into itself

    constexpr std::int64_t top() const { return top_; }
    // The last item that did not fit below the top; -1: none.
    constexpr int grown() const { return grown_; }

    // Sets the offset of item i; gives its block.
    constexpr int take(int i, const vector_clock& known, const vector_clock& floor) {
        settle_known(floor, i);
        const int found = smallest_fit(size_[i], known);
        const int b = found >= 0 ? cut(found, i) : grow(i, known);
        offset_[i] = begin_[b];
        return b;
    }

    constexpr void release(int b) {
        state_[b] = waiting;
        place_[b] = waiting_count_;
        waiting_[waiting_count_++] = b;
    }

private:
    enum : int { used, waiting, merged };

    constexpr bool usable(int b, const vector_clock& known) const { return state_[b] == merged || (state_[b] == waiting && covers(known, release_[item_[b]])); }
    // A free place, and its bytes.
    struct place {
        int block = -1;
        std::int64_t bytes = INT64_MAX;
    };
    // The tightest, among equals the lowest.
    constexpr void offer(place& best, int b, std::int64_t bytes, std::int64_t size) const {
        if (bytes < size || bytes > best.bytes || (bytes == best.bytes && begin_[best.block] < begin_[b])) return;
        best = {b, bytes};
    }
    constexpr int smallest_fit(std::int64_t size, const vector_clock& known) const {
        place best;
        for (int k = 0; k < merged_count_; ++k) offer(best, merged_[k], end_[merged_[k]] - begin_[merged_[k]], size);
        for (int k = 0; k < waiting_count_; ++k)
            if (const int b = waiting_[k]; covers(known, release_[item_[b]])) offer(best, b, end_[b] - begin_[b], size);
        return best.block < 0 && waiting_count_ > 0 ? tightest_run(size, known) : best.block;
    }
    // Where no block is large enough, several next to each other may be.
    constexpr int tightest_run(std::int64_t size, const vector_clock& known) const {
        place best;
        for (int k = 0; k < merged_count_ + waiting_count_; ++k) {
            const int b = k < merged_count_ ? merged_[k] : waiting_[k - merged_count_];
            if (!usable(b, known) || usable(previous_[b], known)) continue;
            int last = b;
            while (usable(next_[last], known)) last = next_[last];
            offer(best, b, end_[last] - begin_[b], size);
        }
        return best.block;
    }
    // What everybody knows to be free need not wait any longer.
    constexpr void settle_known(const vector_clock& floor, int i) {
        for (int k = waiting_count_ - 1; k >= 0; --k)
            if (const int b = waiting_[k]; covers(floor, release_[item_[b]])) settle(b, i);
    }
    // Takes a free block out of its list of free ones.
    constexpr void drop(int b) {
        int* list = state_[b] == merged ? merged_ : waiting_;
        const int moved = list[state_[b] == merged ? --merged_count_ : --waiting_count_];
        list[place_[b]] = moved;
        place_[moved] = place_[b];
    }
    constexpr void unlink(int b) {
        drop(b);
        next_[previous_[b]] = next_[b];
        previous_[next_[b]] = previous_[b];
        spare_[spare_count_++] = b;
    }
    // From item i on everybody knows that the block is free.
    constexpr void settle(int b, int i) {
        until_[item_[b]] = i;
        drop(b);
        const int before = previous_[b], after = next_[b];
        if (state_[before] == merged) {
            begin_[b] = begin_[before];
            unlink(before);
        }
        if (state_[after] == merged) {
            end_[b] = end_[after];
            unlink(after);
        }
        state_[b] = merged;
        place_[b] = merged_count_;
        merged_[merged_count_++] = b;
    }
    // A used block in front of `next`.
    constexpr int insert(std::int64_t begin, std::int64_t end, int next, int i) {
        const int previous = previous_[next];
        const int b = spare_count_ > 0 ? spare_[--spare_count_] : ++count_;
        begin_[b] = begin;
        end_[b] = end;
        previous_[b] = previous;
        next_[b] = next;
        item_[b] = i;
        state_[b] = used;
        next_[previous] = previous_[next] = b;
        return b;
    }
    // The low end of the free blocks from b on.
    constexpr int cut(int b, int i) {
        const std::int64_t begin = begin_[b], end = begin + size_[i];
        if (end_[b] == end) {
            drop(b);
            item_[b] = i;
            state_[b] = used;
            return b;
        }
        while (end_[b] <= end) {
            const int next = next_[b];
            const bool all = end_[b] == end;
            unlink(b);
            b = next;
            if (all) return insert(begin, end, b, i);
        }
        begin_[b] = end;
        return insert(begin, end, b, i);
    }
    // At the top, with what is free below it.
    constexpr int grow(int i, const vector_clock& known) {
        std::int64_t begin = top_;
        for (int b = previous_[0]; b != 0 && usable(b, known); b = previous_[0]) {
            begin = begin_[b];
            unlink(b);
        }
        top_ = begin + size_[i];
        grown_ = i;
        return insert(begin, top_, 0, i);
    }

    const std::int64_t* size_;
    std::int64_t* offset_;
    const vector_clock* release_;
    int* until_;
    vec<std::int64_t> addresses_;
    vec<int> numbers_;
    // By block; block 0 joins both ends of the list.
    std::int64_t *begin_ = nullptr, *end_ = nullptr;
    int *previous_ = nullptr, *next_ = nullptr;
    int *item_ = nullptr, *state_ = nullptr;  // who has it, or had it last
    int* place_ = nullptr;                    // in its list of free blocks
    int *merged_ = nullptr, *waiting_ = nullptr, *spare_ = nullptr;
    int count_ = 0, merged_count_ = 0, waiting_count_ = 0, spare_count_ = 0;
    int grown_ = -1;
    std::int64_t top_ = 0;
};

// All times lie in [first_time, first_time + times).
constexpr std::int64_t pack_in_order(items& list, std::int64_t base, int first_time, int times) {
    const int n = list.count;
    list.until = vec<int>(n, n);
    // The items that end at a time, as a list: the first one by time, the next one by item.
    vec<int> ending(times, -1), next(n, unset{}), block(n, unset{});
    best_fit arena{base, list};
    int now = first_time;
    for (int i = 0; i < n; ++i) {
        const int from = list.definition.first[i], last = list.last.first[i] - first_time;
        for (; now < from; ++now)
            for (int k = ending.first[now - first_time]; k >= 0; k = next.first[k]) arena.release(block.first[k]);
        if (list.size.first[i] == 0 && list.offset.first[i] < 0) list.offset.first[i] = 0;
        if (list.offset.first[i] >= 0) continue;
        block.first[i] = arena.take(i, list.known[from], list.floor[from]);
        if (list.release.first[i].known[0] == INT_MAX) continue;
        next.first[i] = ending.first[last];
        ending.first[last] = i;
    }
    list.grown = arena.grown();
    return arena.top();
}

}  // namespace dovetail::pass::detail
