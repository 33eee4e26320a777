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

    // A rank that leaves may say afterwards what made it.
    bool gives_way_to(const cause& later) const { return by_leaving && later.by_leaving && rank == later.rank; }
    // As rank `seen_by` is to see it.
    [[noreturn]] void raise(int seen_by) const {
        if (rank == seen_by && !by_leaving) throw operation_error{text, operation, statement, rank, what};
        throw peer_error{"rank " + std::to_string(seen_by) + " stops, because " + text, operation, statement, rank, what};
    }
};

}  // namespace dovetail::launch
