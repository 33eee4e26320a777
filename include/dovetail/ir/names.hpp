// A hash table from tags to ids, and the nearest name to a misspelled one.
#pragma once

#include "../core/tag.hpp"
#include "../core/vec.hpp"

namespace dovetail::ir {

// Room for `capacity` names. Open addressing: at each place the name's number among those stored, one more, or 0.
class name_table {
public:
    constexpr explicit name_table(int capacity) {
        int size = 16;
        while (2 * size < 3 * capacity) size *= 2;
        mask_ = static_cast<unsigned>(size - 1);
        places_ = vec<int>(size);
        names_.reserve(capacity);
        ids_.reserve(capacity);
        place_ = places_.begin();
    }
    name_table(const name_table&) = delete;
    name_table& operator=(const name_table&) = delete;

    // The id stored for `name`, or -1.
    constexpr int find(const tag* name) const {
        const int at = place_[place_of(name)];
        return at == 0 ? -1 : ids_[at - 1];
    }
    // Stores `id` unless the name is there already; returns what is stored.
    constexpr int insert(const tag* name, int id) {
        const unsigned i = place_of(name);
        if (place_[i] != 0) return ids_[place_[i] - 1];
        names_.push(name);
        ids_.push(id);
        place_[i] = ids_.size();
        return id;
    }

private:
    constexpr unsigned place_of(const tag* name) const {
        unsigned i = static_cast<unsigned>(name->hash ^ (name->hash >> 29)) & mask_;
        while (place_[i] != 0 && !same(names_[place_[i] - 1], name)) i = (i + 1) & mask_;
        return i;
    }

    unsigned mask_ = 0;
    vec<int> places_;
    vec<const tag*> names_;
    vec<int> ids_;
    int* place_ = nullptr;
};

// The name itself, without the namespaces before it.
constexpr letters unqualified(letters spelling) {
    constexpr char unnamed[] = "<unnamed>:";  // a namespace, as nvcc's front end prints it
    int begin = 0;
    for (int i = 0; i < spelling.size; ++i) {
        if (spelling.first[i] == '<') {
            int k = 0;
            while (unnamed[k] != 0 && i + k < spelling.size && spelling.first[i + k] == unnamed[k]) ++k;
            if (unnamed[k] != 0) break;
            i += k;
        }
        if (spelling.first[i] == ':') begin = i + 1;
    }
    return {spelling.first + begin, spelling.size - begin};
}

// Number of single-letter edits from a to b, or `limit` where there are as many or more. Names of up to 63 letters.
constexpr int edit_distance(letters a, letters b, int limit) {
    const int n = a.size;
    const int m = b.size;
    if (n > 63 || m > 63 || n - m >= limit || m - n >= limit) return limit;
    int row[64] = {};
    for (int j = 0; j <= m; ++j) row[j] = j;
    for (int i = 1; i <= n; ++i) {
        int diagonal = row[0];
        int best = row[0] = i;
        for (int j = 1; j <= m; ++j) {
            const int swap = diagonal + (a.first[i - 1] != b.first[j - 1] ? 1 : 0);
            diagonal = row[j];
            row[j] = swap < row[j] + 1 ? swap : row[j] + 1;
            if (row[j - 1] + 1 < row[j]) row[j] = row[j - 1] + 1;
            if (row[j] < best) best = row[j];
        }
        if (best >= limit) return limit;
    }
    return row[m];
}

}  // namespace dovetail::ir
