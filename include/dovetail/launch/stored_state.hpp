// A state of a dv::store: its memory, whether its value is valid, and what graphs say of the ranks that have an equal one.
#pragma once

#include "../core/display.hpp"
#include "../core/vocabulary.hpp"
#include "engine/memory.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dovetail::detail {

// What a graph says of the ranks that have equal contents of a state, or all graphs together.
struct equality {
    int world_size = 0;                      // in ranks; in a world of another size the same numbers mean other ranks
    std::vector<const tag*> along = {};      // axes
    std::set<int> ranks = {};                // this one among them, where a graph says anything
    std::optional<std::set<int>> kept = {};  // those that still have them behind an update; none: the state is not updated

    bool is_along(const tag& axis) const {
        return std::any_of(along.begin(), along.end(), [&](const tag* known) { return same(known, &axis); });
    }
    void add(const equality& other) {
        for (const tag* axis : other.along)
            if (!is_along(*axis)) along.push_back(axis);
        ranks.insert(other.ranks.begin(), other.ranks.end());
        if (kept && other.kept) std::erase_if(*kept, [&](int rank) { return !other.kept->contains(rank); });
        if (!kept) kept = other.kept;
    }
};

struct stored_state {
    const tag* name = nullptr;
    tensor_type type = {};
    bool shard = false;  // of the state of this name, made by a shard_update; no user reads or writes it
    block where = {};
    bool initialised = false;
    std::string lost = {};  // why the contents are invalid
    equality equal = {};    // as all graphs say that have used it in worlds of the latest size
};

}  // namespace dovetail::detail
