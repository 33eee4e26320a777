// The reason for which the runs of all ranks were aborted: the first failure in a world. On the rank that failed it is thrown as an
// operation_error, on the others as a peer_error.
#pragma once

#include "../error.hpp"

namespace dovetail::launch {

// What a rank is doing, as text of its engine; empty if it has no engine.
struct activity {
    std::string text;                  // "has not ended operation `f` of `y` (run 3 of `g`)"
    std::string operation, statement;  // empty if no operation is open
};

struct abort_reason {
    int rank = -1;
    std::string text;  // "operation `f` of `y` failed on rank 1: ..."
    std::string operation, statement;
    bool by_leaving = false;
    std::exception_ptr what = nullptr;
    bool timed_out = false;

    // A rank that leaves may replace its reason by the cause.
    bool is_replaced_by(const abort_reason& later) const {
        return by_leaving && later.by_leaving && rank == later.rank && later.what != nullptr;
    }
    // Throws the exception for rank `seen_by`; `here` is what that rank was doing.
    [[noreturn]] void raise(int seen_by, const activity& here = {}) const {
        if (rank == seen_by && !by_leaving) throw operation_error{text, operation, statement, rank, what};
        const std::string who = "rank " + std::to_string(seen_by);
        const bool named = !operation.empty();
        throw peer_error{who + " stops, because " + text + (here.text.empty() ? "" : "; " + who + " " + here.text),
                         named ? operation : here.operation, named ? statement : here.statement, rank, what};
    }
    // Throws the exception for the caller of world.run, if no rank has thrown one.
    [[noreturn]] void raise() const {
        if (timed_out) throw timeout{text, rank};
        throw operation_error{text, operation, statement, rank, what};
    }
};

// Calls `call`. If it throws the error that ended the runs, `reported()` is called, so that world.run need not throw it again.
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
