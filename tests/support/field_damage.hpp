// Damages of single fields, one or two at a time: the values that each field may be changed to, the choice among all pairs, and the name of
// a change.
#pragma once

#include "fields.hpp"
#include "hash_ops.hpp"

#include <algorithm>
#include <limits>

namespace support {

struct change {
    int field = 0;
    int row = 0;
    std::int64_t value = 0;
};
using changes = std::vector<change>;  // made one after the other

inline void apply(subject& s, const changes& all) {
    for (const change& c : all) fields[c.field].set(s, c.row, c.value);
}
inline std::int64_t value_of(const subject& s, const change& c) { return fields[c.field].get(s, c.row); }

inline std::string name_of(const subject& s, const changes& all) {
    std::string text;
    for (const change& c : all) {
        const bool pointer = std::string_view(fields[c.field].name) == "member.op";
        text += (text.empty() ? "" : ", ") + std::string(fields[c.field].name) + " of row " + std::to_string(c.row) +
                (pointer ? " another" : " from " + std::to_string(value_of(s, c)) + " to " + std::to_string(c.value));
    }
    return text;
}

// What a field may be changed to: its neighbours, what marks nothing, the first rows of all, what other rows have, one more than they
// have, the ends of its type; every other value of an enumeration, and one that it has not; of sizes and offsets a few steps.
inline std::vector<std::int64_t> other_values(const subject& s, int at, int row) {
    const field& f = fields[at];
    const std::int64_t now = f.get(s, row);
    const int rows = f.rows(s);
    std::vector<std::int64_t> list;
    const bool pointer = std::string_view(f.name) == "member.op";
    if (f.kinds > 0) {
        for (int k = 0; k < f.kinds + (f.kinds > 2 ? 1 : 0); ++k) list.push_back(k);
    } else {
        std::int64_t largest = now;
        for (int r = 0; r < rows; ++r) {
            const std::int64_t other = f.get(s, r);
            largest = std::max(largest, other);
            if (rows <= 16 || std::abs(r - row) <= 3) list.push_back(other);
        }
        list.push_back(0);
        if (!pointer) {
            if (largest < std::numeric_limits<int>::max()) list.push_back(largest + 1);
            for (const std::int64_t step : {1, 2}) list.push_back(now - step), list.push_back(now + step);
            list.push_back(-1);
            for (int i = 1; i < (f.wide ? 2 : 8); ++i) list.push_back(i);
            list.push_back(f.wide ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<int>::max());
            list.push_back(f.wide ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<int>::min());
        }
        if (f.wide)
            for (const std::int64_t step : {8, 256, 512}) list.push_back(now - step), list.push_back(now + step);
        if (f.wide) list.push_back(now / 2), list.push_back(now * 2);
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    list.erase(std::remove(list.begin(), list.end(), now), list.end());
    return list;
}

// Calls f(changes) with each change of one field.
template <class F>
void each_change(const subject& s, F f) {
    for (int at = 0; at < static_cast<int>(std::size(fields)); ++at)
        for (int row = 0; row < fields[at].rows(s); ++row)
            for (const std::int64_t value : other_values(s, at, row)) f(changes{{at, row, value}});
}

inline change any_change(const subject& s, chooser& r) {
    for (;;) {
        const int at = r.below(static_cast<int>(std::size(fields))), rows = fields[at].rows(s);
        if (rows == 0) continue;
        const int row = r.below(rows);
        const std::vector<std::int64_t> values = other_values(s, at, row);
        if (!values.empty()) return {at, row, values[static_cast<std::size_t>(r.below(static_cast<int>(values.size())))]};
    }
}

// Two changes that belong together, or any two: the same change of another row that has the same value, two rows that exchange a
// value, the same change of another field that has the same value.
inline changes any_pair(const subject& s, chooser& r) {
    const change first = any_change(s, r);
    const std::int64_t was = value_of(s, first);
    const int kind = r.below(4);
    if (kind == 3) return {first, any_change(s, r)};
    if (kind == 1) {
        const int other = r.below(fields[first.field].rows(s));
        return {{first.field, first.row, fields[first.field].get(s, other)}, {first.field, other, was}};
    }
    changes alike;
    for (int at = 0; at < static_cast<int>(std::size(fields)); ++at) {
        const field &one = fields[first.field], &other = fields[at];
        if (kind == 0 ? at != first.field : one.wide != other.wide || one.kinds != other.kinds) continue;
        for (int row = 0; row < fields[at].rows(s); ++row)
            if ((at != first.field || row != first.row) && fields[at].get(s, row) == was) alike.push_back({at, row, first.value});
    }
    if (alike.empty()) return {first, any_change(s, r)};
    return {first, alike[static_cast<std::size_t>(r.below(static_cast<int>(alike.size())))]};
}

}  // namespace support
