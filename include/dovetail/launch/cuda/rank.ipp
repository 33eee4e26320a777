// Ranks on a GPU: their calls of the context.
#pragma once

#include "engine/engine.hpp"
#include "rank.hpp"

namespace dovetail::cuda {

DOVETAIL_INLINE rank::rank(std::shared_ptr<context> on) : on_{std::move(on)} { on_->attend(); }
DOVETAIL_INLINE rank::~rank() { on_->end(); }
DOVETAIL_INLINE int rank::index() const { return on_->index; }
DOVETAIL_INLINE int rank::size() const { return on_->size; }
DOVETAIL_INLINE int rank::device() const { return on_->device; }
DOVETAIL_INLINE std::shared_ptr<memory> rank::device_memory() const { return on_->memory; }
DOVETAIL_INLINE std::shared_ptr<engine> rank::make_engine(const executable_plan<stream>& from, engine_options options) {
    check(calls.set_device(on_->device), "cudaSetDevice");
    const auto made =
        launch::reporting([&, this] { return device_engine::make(from, on_, std::move(options)); }, [this] { on_->world->report(); });
    roles_.add_graph(from.graph, made->role);
    return made;
}

}  // namespace dovetail::cuda
