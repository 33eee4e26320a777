// The store of an executor: the one that its maker gave, or a new one.
#pragma once

#include "engine_options.hpp"
#include "error.hpp"
#include "executable/geometry.hpp"
#include "store_core.hpp"

#include <memory>
#include <string>

namespace dovetail::launch {

// Throws unless an executor of the graph on this rank can have the store of these options. Called before anything of the executor is made.
inline void check_store(const engine_options& given, const tag* graph, int rank) {
    if (given.store && given.store->rank != rank)
        throw usage_error{"the store given to the executor of " + display_or(graph, "the graph") + " on rank " + std::to_string(rank) +
                          " is that of rank " + std::to_string(given.store->rank) + ": each rank has its own"};
}
inline std::shared_ptr<detail::store_core> store_for(const engine_options& given, const std::shared_ptr<memory>& place, int rank) {
    if (!given.store) return std::make_shared<detail::store_core>(place, rank);
    given.store->check_place(*place);
    return given.store;
}

}  // namespace dovetail::launch
