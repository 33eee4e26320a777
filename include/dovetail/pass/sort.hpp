// Sorting of keys, ascending: what is sorted packs its order and its index into one number, so that no comparison is passed
// in and a step of the merge is one statement.
#pragma once

#include "../core/vec.hpp"

#include <cstdint>

namespace dovetail::pass::detail {

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

}  // namespace dovetail::pass::detail
