// A world of ranks as threads of this process: the embedded default. Takes the number of ranks, and a link if
// communication is to take time; `run` calls a function once on every rank, each on a thread of its own.
#pragma once

#include "../rank_roles.hpp"
#include "../world/rank_threads.hpp"
#include "engine.hpp"

#include <concepts>
#include <cstdio>

namespace dovetail::host {

// What a rank's thread works with. Lanes are shared by the executors that are made on it.
class rank {
public:
    using stream = host::stream;

    rank(std::shared_ptr<world_state> world, int index) : state_{std::make_shared<rank_state>()} {
        state_->world = std::move(world);
        state_->index = index;
        for (int l = 0; l < stream_count; ++l) state_->streams[l] = std::make_shared<stream_worker>(l);
        state_->world->join(index, state_->signal, state_->streams);
    }
    rank(const rank&) = delete;
    rank& operator=(const rank&) = delete;
    // Lets the streams end what they hold; a stream whose operation does not return is left to itself.
    ~rank() {
        try {
            if (end(std::chrono::seconds{5})) return;
            state_->world->abort({index(),
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

    int index() const { return state_->index; }
    int size() const { return state_->world->size(); }
    std::string links() const;

    // Whether this rank plays a role of the graphs of its executors: usage_error where none has been made, or none has such a role. In
    // a single-rank graph it plays all of them.
    template <class Name>
        requires(dovetail::detail::name_asked<Name>)
    bool is(Name) const {
        return roles_.is_named<Name>(index());
    }

    // For the library: memory and engines of this rank.
    std::shared_ptr<memory> device_memory() const { return state_->device; }
    std::shared_ptr<engine> make_engine(const executable_plan<stream>& from, engine_options options) {
        const auto made = launch::reporting([&] { return host_engine::make(from, state_, std::move(options)); }, [this] { state_->world->report(); });
        roles_.add_graph(from.graph, made->role);
        return made;
    }

private:
    bool end(std::chrono::nanoseconds bound) {
        bool all = true;
        for (const auto& l : state_->streams) all = l->stop(bound) && all;
        return all;
    }

    std::shared_ptr<rank_state> state_;
    launch::rank_roles roles_;
};

inline std::string describe(const link& l) {
    if (!l.timed()) return "host threads; communication is a copy in memory";
    char text[160];
    const int used = std::snprintf(text, sizeof text, "host threads; links are simulated: communication sleeps %g us",
                                   std::chrono::duration<double, std::micro>(l.latency).count());
    if (l.bandwidth > 0) std::snprintf(text + used, sizeof text - static_cast<std::size_t>(used), " + bytes / %g GB/s", l.bandwidth / 1e9);
    return text;
}

inline std::string rank::links() const { return describe(state_->world->links); }

class world {
public:
    explicit world(int ranks, link l = {}) : size_{ranks}, link_{l} {
        if (ranks < 1) throw world_error{"a world has at least one rank, not " + std::to_string(ranks)};
    }

    int size() const { return size_; }
    // How communication takes its time, for those who print timings.
    std::string links() const { return describe(link_); }

    // Calls body(rank) on every rank's thread and waits for all of them. Throws the first exception that a rank left with;
    // the ranks that fail only because of it end with an exception of their own, which is not shown. Where no rank left with one,
    // throws what ended a run of which the program was not told: its ticket was dropped.
    template <class Body>
        requires std::invocable<Body&, rank&>
    void run(Body&& body) {
        const auto shared = std::make_shared<world_state>(size_, link_);
        launch::rank_exceptions exceptions;
        const auto abort = [&](const abort_reason& why) { shared->abort(why); };
        launch::on_threads(
            size_,
            [&](int index) {
                exceptions.run_rank(index, [&] { return host::rank{shared, index}; }, body, abort);
                shared->leave(index);
            },
            [&](int index, const std::exception_ptr& why) {
                abort(exceptions.record(index, why));
                shared->leave(index);
            });
        exceptions.rethrow();
        shared->raise_unreported();
    }

private:
    int size_;
    link link_;
};

}  // namespace dovetail::host
