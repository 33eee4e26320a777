// A world of ranks as threads of this process, the default. Takes the number of ranks, and optionally a simulated link; `run` calls a
// function once on every rank, each on its own thread.
#pragma once

#include "../engine_options.hpp"
#include "../executable/executable_plan.hpp"
#include "../store.hpp"
#include "../world/rank_body.hpp"
#include "../world/rank_roles.hpp"
#include "link.hpp"

#include <concepts>
#include <memory>
#include <string>

namespace dovetail {

class engine;
class memory;

}  // namespace dovetail

namespace dovetail::host {

class world_state;
struct rank_state;

// A rank, as its thread uses it. Executors made on it share its streams.
class rank {
public:
    using stream = host::stream;

    rank(std::shared_ptr<world_state> world, int index);
    rank(const rank&) = delete;
    rank& operator=(const rank&) = delete;
    // Waits until the streams have finished their work; a stream whose operation does not return is detached.
    ~rank();

    int index() const;
    int size() const;
    std::string links() const;

    // Whether this rank has a role of the graphs of its executors. usage_error if no executor was made, or none of a graph with such a
    // role. In a single-rank graph the rank has all of them.
    template <class Name>
        requires(dovetail::detail::name_asked<Name>)
    bool is(Name) const {
        return roles_.is_named<Name>(index());
    }

    // For the library: memory and engines of this rank.
    std::shared_ptr<memory> device_memory() const;
    std::shared_ptr<engine> make_engine(const executable_plan<stream>& from, engine_options options);

private:
    bool end(std::chrono::nanoseconds bound);

    std::shared_ptr<rank_state> state_;
    launch::rank_roles roles_;
};

// Ranks as threads of this process.
class world {
public:
    explicit world(int ranks, link l = {});

    int size() const { return size_; }
    // Describes how communication is timed, for output beside measured times.
    std::string links() const;

    // Calls body(rank) on every rank's thread and waits for all of them. Throws the first exception that left body on a rank; exceptions of
    // ranks that only noticed that failure are dropped. If there is no other, or none left body, throws the error of a run that no
    // exception has reported because its ticket was dropped.
    template <class Body>
        requires std::invocable<Body&, rank&>
    void run(Body&& body) {
        const auto call = [&body](rank& on) { body(on); };
        run_on_ranks(launch::rank_body<rank>{call});
    }

private:
    void run_on_ranks(launch::rank_body<rank> body);

    int size_;
    link link_;
};

}  // namespace dovetail::host

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "world.ipp"
#endif
