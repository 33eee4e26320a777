// A binary heap of (key, id) pairs: the smallest key on top, the smaller id among equals. Events in time, ready vertices by
// priority and the written order are all of this form, so that one heap serves every pass.
#pragma once

#include "../core/vec.hpp"

#include <cstdint>

namespace dovetail::pass {

struct heap_item {
    std::int64_t key = 0;
    int id = 0;
};

// Raw storage and few statements: constant evaluation counts both calls and statements, and the passes live in here.
class heap {
public:
    constexpr heap() = default;
    heap(const heap&) = delete;
    heap& operator=(const heap&) = delete;
    constexpr ~heap() { delete[] at; }

    int count = 0;
    heap_item* at = nullptr;  // at[0] is the top

    constexpr void push(std::int64_t key, int id) {
        if (count == capacity) grow();
        int i = count++;
        for (int up = (i - 1) / 2; i > 0 && (at[up].key > key || (at[up].key == key && at[up].id > id)); i = up, up = (i - 1) / 2) at[i] = at[up];
        at[i] = {key, id};
    }
    // Removes the top and returns it.
    constexpr heap_item pop() {
        const heap_item top = at[0], last = at[--count];
        int i = 0;
        for (int c = 1; c < count; i = c, c = 2 * c + 1) {
            c += c + 1 < count && (at[c + 1].key < at[c].key || (at[c + 1].key == at[c].key && at[c + 1].id < at[c].id));
            if (last.key < at[c].key || (last.key == at[c].key && last.id < at[c].id)) break;
            at[i] = at[c];
        }
        at[i] = last;
        return top;
    }

private:
    int capacity = 0;

    constexpr void grow() {
        capacity = capacity > 0 ? 2 * capacity : 8;
        heap_item* wider = new heap_item[static_cast<unsigned>(capacity)]{};
        for (int i = 0; i < count; ++i) wider[i] = at[i];
        delete[] at;
        at = wider;
    }
};

}  // namespace dovetail::pass
