// The first thing that went wrong in a world: it ends the runs of all ranks, and each throws it as its own or as another's.
#pragma once

#include "error.hpp"

namespace dovetail::launch {

struct cause {
    int rank = -1;
    std::string text;  // "operation `f` of `y` failed on rank 1: ..."
    std::string operation, statement;
    std::exception_ptr what;
    bool by_leaving = false;
    bool timed_out = false;

    // A rank that leaves may say afterwards what made it.
    bool gives_way_to(const cause& later) const { return by_leaving && later.by_leaving && rank == later.rank && later.what != nullptr; }
    // As rank `seen_by` is to see it.
    [[noreturn]] void raise(int seen_by) const {
        if (rank == seen_by && !by_leaving) throw operation_error{text, operation, statement, rank, what};
        throw peer_error{"rank " + std::to_string(seen_by) + " stops, because " + text, operation, statement, rank, what};
    }
    // As the caller of world.run is to see it, where no rank was told of it.
    [[noreturn]] void raise() const {
        if (timed_out) throw timeout{text, rank};
        throw operation_error{text, operation, statement, rank, what};
    }
};

// Calls it; `reported()` is called where the program learns from an exception what ended the runs, so that world.run need not
// throw it.
template <class Call, class Reported>
auto reporting(Call call, Reported reported) {
    try {
        return call();
    } catch (const operation_error&) {
        reported();
        throw;
    }
}

}  // namespace dovetail::launch
