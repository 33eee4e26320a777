// The reason for which the runs of all ranks were aborted: the first failure in a world. Each rank throws it, as its own failure or as a
// peer's.
#pragma once

#include "../error.hpp"

namespace dovetail::launch {

// What a rank works on, in the words of its engine; empty where it has none.
struct activity {
    std::string text;                  // "has not ended operation `f` of `y` (run 3 of `g`)"
    std::string operation, statement;  // empty where none is open
};

struct abort_reason {
    int rank = -1;
    std::string text;  // "operation `f` of `y` failed on rank 1: ..."
    std::string operation, statement;
    bool by_leaving = false;
    std::exception_ptr what = nullptr;
    bool timed_out = false;

    // A rank that leaves may say afterwards what made it.
    bool is_replaced_by(const abort_reason& later) const { return by_leaving && later.by_leaving && rank == later.rank && later.what != nullptr; }
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
