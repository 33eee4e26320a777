// A hash table from tags to ids, and the nearest name to a misspelled one.
#pragma once

#include "../core/tag.hpp"
#include "../core/vec.hpp"

namespace dovetail::ir {

// Room for `capacity` names. Open addressing.
class name_table {
public:
    constexpr explicit name_table(int capacity) : size_{16} {
        while (size_ < 2 * capacity) size_ *= 2;
        keys_ = vec<const tag*>(size_);
        ids_ = vec<int>(size_, -1);
    }
    // The id stored for `name`, or -1.
    constexpr int find(const tag* name) const {
        for (int i = home(name);; i = (i + 1) & (size_ - 1)) {
            if (ids_[i] < 0 || same(keys_[i], name)) return ids_[i];
        }
    }
    // Stores `id` unless the name is there already; returns what is stored.
    constexpr int insert(const tag* name, int id) {
        int i = home(name);
        for (; ids_[i] >= 0; i = (i + 1) & (size_ - 1))
            if (same(keys_[i], name)) return ids_[i];
        keys_[i] = name;
        return ids_[i] = id;
    }

private:
    constexpr int home(const tag* name) const { return static_cast<int>((name->hash ^ (name->hash >> 29)) & static_cast<unsigned long long>(size_ - 1)); }

    int size_;
    vec<const tag*> keys_;
    vec<int> ids_;
};

// The name itself, without the namespaces before it.
constexpr std::string_view unqualified(std::string_view spelling) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < spelling.size() && spelling[i] != '<'; ++i)
        if (spelling[i] == ':') begin = i + 1;
    return spelling.substr(begin);
}

// Number of single-letter edits from a to b, or `limit` where there are as many or more. Names of up to 63 letters.
constexpr int edit_distance(std::string_view a, std::string_view b, int limit) {
    const int n = static_cast<int>(a.size());
    const int m = static_cast<int>(b.size());
    if (n > 63 || m > 63 || n - m >= limit || m - n >= limit) return limit;
    int row[64] = {};
    for (int j = 0; j <= m; ++j) row[j] = j;
    for (int i = 1; i <= n; ++i) {
        int diagonal = row[0];
        int best = row[0] = i;
        for (int j = 1; j <= m; ++j) {
            const int swap = diagonal + (a[static_cast<std::size_t>(i - 1)] != b[static_cast<std::size_t>(j - 1)] ? 1 : 0);
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
