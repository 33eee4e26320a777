// Worlds on the host: the threads of their ranks, and the engines on them.
#pragma once

#include "../world/rank_threads.hpp"
#include "engine.hpp"
#include "world.hpp"

#include <cstdio>

namespace dovetail::host {

DOVETAIL_INLINE std::string describe(const link& l) {
    if (!l.timed()) return "host threads; communication is a copy in memory";
    char text[160];
    const int used = std::snprintf(text, sizeof text, "host threads; links are simulated: communication sleeps %g us",
                                   std::chrono::duration<double, std::micro>(l.latency).count());
    if (l.bandwidth > 0) std::snprintf(text + used, sizeof text - static_cast<std::size_t>(used), " + bytes / %g GB/s", l.bandwidth / 1e9);
    return text;
}

DOVETAIL_INLINE rank::rank(std::shared_ptr<world_state> world, int index) : state_{std::make_shared<rank_state>()} {
    state_->world = std::move(world);
    state_->index = index;
    for (int l = 0; l < stream_count; ++l) state_->streams[l] = std::make_shared<stream_worker>(l);
    state_->world->join(index, state_->signal, state_->streams);
}
DOVETAIL_INLINE rank::~rank() {
    try {
        if (end(std::chrono::seconds{5})) return;
        state_->world->peers.abort(
            {index(),
             "timeout: rank " + std::to_string(index()) + " ended with work in flight: " + state_->world->stuck(index()),
             {},
             {},
             true,
             nullptr,
             true});
        end(std::chrono::seconds{5});
    } catch (...) {}
    for (const auto& l : state_->streams) l->abandon();
}
DOVETAIL_INLINE int rank::index() const { return state_->index; }
DOVETAIL_INLINE int rank::size() const { return state_->world->peers.size(); }
DOVETAIL_INLINE std::string rank::links() const { return describe(state_->world->links); }
DOVETAIL_INLINE std::shared_ptr<memory> rank::device_memory() const { return state_->device; }
DOVETAIL_INLINE std::shared_ptr<engine> rank::make_engine(const executable_plan<stream>& from, engine_options options) {
    const launch::one_thread::use one{&state_->making, [this] { return launch::making_executors(index()); }};
    const geometry where{from.graph, size(), options.widths, from.plan.roles};
    options.role_conflict = roles_.conflict(from.graph, from.name, where, index(), options.store);
    const auto made = launch::reporting([&, this] { return host_engine::make(from, state_, std::move(options)); },
                                        [this] { state_->world->peers.report(); });
    roles_.add(made);
    return made;
}
DOVETAIL_INLINE bool rank::end(std::chrono::nanoseconds bound) {
    bool all = true;
    for (const auto& l : state_->streams) all = l->stop(bound) && all;
    return all;
}

DOVETAIL_INLINE world::world(int ranks, link l) : size_{ranks}, link_{l} {
    if (ranks < 1) throw world_error{"a world has at least one rank, not " + std::to_string(ranks)};
}
DOVETAIL_INLINE std::string world::links() const { return describe(link_); }
DOVETAIL_INLINE void world::run_on_ranks(launch::rank_body<rank> body) {
    const auto shared = std::make_shared<world_state>(size_, link_);
    launch::rank_exceptions exceptions;
    const auto abort = [&](const launch::abort_reason& why) { shared->peers.abort(why); };
    launch::on_threads(
        size_,
        [&](int index) {
            exceptions.run_rank(index, [&] { return host::rank{shared, index}; }, body, abort);
            shared->peers.leave(index);
        },
        [&](int index, const std::exception_ptr& why) {
            abort(exceptions.record(index, why));
            shared->peers.leave(index);
        });
    exceptions.rethrow(shared->peers);
    shared->peers.raise_unreported(0);
}

}  // namespace dovetail::host
