// A hash table from names to symbols, and the edit distance of two names.
#pragma once

#include "graph.hpp"

namespace dovetail::ir {

// Room for `capacity` symbols, found by name. Open addressing: at each place a symbol's id, one more, or 0.
class name_table {
public:
    constexpr name_table(int capacity, const symbol* symbols) : symbols_{symbols} {
        int size = 16;
        while (2 * size < 3 * capacity) size *= 2;
        mask_ = static_cast<unsigned>(size - 1);
        places_ = vec<int>(size);
        place_ = places_.begin();
    }
    name_table(const name_table&) = delete;
    name_table& operator=(const name_table&) = delete;

    // The symbol of that name, or -1.
    constexpr int find(const tag* name) const { return *place_of(name) - 1; }
    // Enters symbol `id` unless another has its name; returns the one that has it.
    constexpr int insert(int id) {
        int* const place = place_of(symbols_[id].name);
        if (*place == 0) *place = id + 1;
        return *place - 1;
    }

private:
    constexpr int* place_of(const tag* name) const {
        for (unsigned i = static_cast<unsigned>(name->hash);; ++i) {
            int* const place = place_ + (i & mask_);
            if (*place == 0 || same(symbols_[*place - 1].name, name)) return place;
        }
    }

    const symbol* symbols_;
    unsigned mask_ = 0;
    vec<int> places_;
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

// A name as it is compared with others: unqualified, with the number of a member of a family. Longer ones are near to none.
class short_name {
public:
    constexpr explicit short_name(const tag& t) {
        const letters name = unqualified(t.spelling);
        size_ = name.size;
        for (int i = 0; i < size_ && i < most; ++i) list_[i] = name.first[i];
        if (t.number == tag::none || size_ >= most) return;
        char digits[24] = {};
        int count = 0;
        long long rest = t.number < 0 ? -t.number : t.number;
        do digits[count++] = static_cast<char>('0' + rest % 10);
        while ((rest /= 10) != 0);
        list_[size_++] = '<';
        if (t.number < 0) list_[size_++] = '-';
        while (count > 0) list_[size_++] = digits[--count];
        list_[size_++] = '>';
    }
    constexpr letters text() const { return {list_, size_}; }

private:
    static constexpr int most = 64;
    char list_[most + 24] = {};
    int size_ = 0;
};

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
    return row[m] < limit ? row[m] : limit;
}

}  // namespace dovetail::ir
