// Times of operations measured in runs: the table of a profile, which DOVETAIL_PROFILE=file.hpp writes as a header, and the lookup in it.
// The option is dv::profile<written> (options.hpp), the keys of rows are in work_key.hpp.
#pragma once

#include "../core/vec.hpp"
#include "../core/vocabulary.hpp"
#include "hardware.hpp"
#include "machine.hpp"

namespace dovetail {

// The version of keys and tables; profiles of another one are refused.
inline constexpr int profile_format = 5;

// The work of operations of equal key, which take equal times. Keys of such work in other sizes have the same upper half. Times are
// picoseconds.
struct profile_row {
    std::uint64_t key = 0;
    std::int64_t alone = 0;  // nothing else on the streams of the rank; 0: not measured
    // By hardware: with something that this executes on another stream from its start to its end; 0: not measured.
    std::int64_t beside[hardware_count] = {};
    int samples = 0;
    std::int64_t estimate = 0;  // by the machine's model; 0: not known

    // The time alone; without one, the shortest beside something. 0: nothing was measured.
    constexpr std::int64_t alone_or_shortest() const {
        if (alone > 0) return alone;
        std::int64_t time = 0;
        for (const std::int64_t each : beside)
            if (each > 0 && (time == 0 || each < time)) time = each;
        return time;
    }
};

struct profile_table {
    const char* graph = "";    // its name, for messages
    const char* machine = "";  // the name of the description for which the runs were planned
    std::uint64_t graph_key = 0;
    // By stream: what the rows take, in thousandths of their estimates. Estimates of work that has no row, of any size,
    // are multiplied by it.
    int scale[stream_count] = {1000, 1000, 1000};
    span<const profile_row> rows = {};  // in ascending order of keys
    const char* measured_on = "";       // the hardware, as an engine names it; empty: not known
    std::uint64_t machine_key = 0;      // of the description, whose figures may change while its name stays

    constexpr const profile_row* find(std::uint64_t key) const {
        int low = 0, high = rows.count;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (rows.first[middle].key < key)
                low = middle + 1;
            else
                high = middle;
        }
        return low < rows.count && rows.first[low].key == key ? rows.first + low : nullptr;
    }
    // Of the rows of such work in other sizes, which stand together, the one whose estimate is nearest by ratio. Looks at some of them, so
    // that a thousand operations with as many rows are planned within the limits of compilers.
    constexpr const profile_row* find_like(std::uint64_t key, std::int64_t estimate) const {
        const profile_row* nearest = nullptr;
        std::int64_t shortest = 0;
        for (int i = first_of(kind_of(key)), last = i + most_sizes; i < rows.count && i < last; ++i) {
            const profile_row& r = rows.first[i];
            if (kind_of(r.key) != kind_of(key)) break;
            if (r.estimate == 0) continue;
            const std::int64_t distance = ratio(r.estimate, estimate);
            if (nearest != nullptr && distance >= shortest) continue;
            nearest = &r;
            shortest = distance;
        }
        return nearest;
    }

private:
    static constexpr int most_sizes = 16;

    // The part of a key that is the same for all sizes.
    static constexpr std::uint64_t kind_of(std::uint64_t key) { return key >> 32; }
    constexpr int first_of(std::uint64_t kind) const {
        int low = 0, high = rows.count;
        while (low < high) {
            const int middle = (low + high) / 2;
            kind_of(rows.first[middle].key) < kind ? low = middle + 1 : high = middle;
        }
        return low;
    }
    // Of the longer to the shorter one of two times, in thousandths.
    static constexpr std::int64_t ratio(std::int64_t a, std::int64_t b) {
        const std::int64_t shorter = a < b ? a : b, longer = a < b ? b : a;
        return shorter > 0 ? longer * 1000 / shorter : INT64_MAX;
    }
};

// Whether a table is one that observers write.
constexpr bool is_well_formed(const profile_table& t) {
    for (const int scale : t.scale)
        if (scale < 1) return false;
    for (int i = 0; i < t.rows.count; ++i) {
        const profile_row& r = t.rows.first[i];
        if (r.alone < 0 || r.alone_or_shortest() == 0 || r.estimate < 0 || r.estimate > INT64_MAX / 1000) return false;
        for (const std::int64_t time : r.beside)
            if (time < 0) return false;
        if (i > 0 && r.key <= t.rows.first[i - 1].key) return false;
    }
    return t.rows.count > 0;
}

// Whether a table was measured for a machine of this name and these figures, or has no times at all.
constexpr bool is_for_machine(const profile_table& t, const machine_description& m) {
    if (t.rows.count == 0) return true;
    if (t.machine_key != machine_key(m)) return false;
    const char* measured = t.machine;
    const char* name = m.name;
    while (*measured != 0 && *measured == *name) ++measured, ++name;
    return *measured == *name;
}

}  // namespace dovetail
