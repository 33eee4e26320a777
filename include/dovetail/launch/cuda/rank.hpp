// What a rank's thread works with: made by a world, and what executors are made on.
#pragma once

#include "../rank_roles.hpp"
#include "engine/engine.hpp"

namespace dovetail::cuda {

// Streams and communicators are shared by the executors that are made on it.
class rank {
public:
    using stream = cuda::stream;

    explicit rank(std::shared_ptr<context> on) : on_{std::move(on)} { on_->attend(); }
    rank(const rank&) = delete;
    rank& operator=(const rank&) = delete;
    ~rank() { on_->end(); }

    int index() const { return on_->index; }
    int size() const { return on_->size; }
    int device() const { return on_->device; }

    // Whether this rank plays a role of the graphs of its executors: usage_error where none has been made, or none has such a role. In
    // a single-rank graph it plays all of them.
    template <class Name>
        requires(dovetail::detail::name_asked<Name>)
    bool is(Name) const {
        return roles_.is_named<Name>(index());
    }

    // For the library: memory and engines of this rank.
    std::shared_ptr<memory> device_memory() const { return on_->memory; }
    const std::shared_ptr<context>& state() const { return on_; }
    std::shared_ptr<engine> make_engine(const executable_plan<stream>& from, engine_options options) {
        check(calls.set_device(on_->device), "cudaSetDevice");
        const auto made = launch::reporting([&] { return device_engine::make(from, on_, std::move(options)); }, [this] { on_->world->report(); });
        roles_.add_graph(from.graph, made->role);
        return made;
    }

private:
    std::shared_ptr<context> on_;
    launch::rank_roles roles_;
};

}  // namespace dovetail::cuda
