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
template <class Make>
std::shared_ptr<engine> rank::made_by(const executable_plan<stream>& from, engine_options options, Make make) {
    const launch::one_thread::use one{&on_->making, [this] { return launch::making_executors(index()); }};
    try {
        check(calls.set_device(on_->device), "cudaSetDevice");
    } catch (const call_error& e) {
        throw call_error{"rank " + std::to_string(index()) + " cannot make an executor of " + display_or(from.name, "the graph"), e};
    }
    const geometry where{from.graph, size(), options.widths, from.plan.roles};
    options.role_conflict = roles_.conflict(from.graph, from.name, where, index(), options.store);
    const std::shared_ptr<engine> made = launch::reporting([&] { return make(options); }, [this] { on_->world->report(); });
    roles_.add(made);
    return made;
}
DOVETAIL_INLINE std::shared_ptr<engine> rank::make_engine(const executable_plan<stream>& from, engine_options options) {
    return made_by(from, std::move(options), [&, this](const engine_options& o) { return device_engine::make(from, on_, o); });
}
DOVETAIL_INLINE std::shared_ptr<engine> rank::make_engine(const executable_plan<stream>& first, const executable_plan<stream>& second,
                                                          engine_options options) {
    return made_by(first, std::move(options), [&, this](const engine_options& o) {
        try {
            return device_engine::make(first, on_, o);
        } catch (const transport_unavailable& e) {
            static_cast<void>(calls.get_last_error());
            auto made = device_engine::make(second, on_, o);
            made->fall_back(e.reason);
            return made;
        }
    });
}

}  // namespace dovetail::cuda
