// What a rank's thread works with: made by a world, and what executors are made on.
#pragma once

#include "engine.hpp"

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

    // Whether this rank plays a role; known once an executor was made. In a folded graph it plays all of them.
    template <class Name>
    bool is(Name) const {
        if (!knows_roles_) throw usage_error{"rank " + std::to_string(index()) + " does not know its role before an executor is made on it"};
        for (const tag* played : roles_)
            if (same(played, &tag_of<typename Name::type>)) return true;
        return false;
    }

    // For the library: memory and engines of this rank.
    std::shared_ptr<memory> device_memory() const { return on_->memory; }
    const std::shared_ptr<context>& state() const { return on_; }
    std::shared_ptr<engine> make_engine(const image<stream>& from, engine_options options) {
        check(calls.set_device(on_->device), "cudaSetDevice");
        auto made = device_engine::make(from, on_, std::move(options));
        knows_roles_ = true;
        for (int r = 0; r < from.graph.roles.size(); ++r)
            if ((from.graph.folded || r == made->role) && named(from.graph.roles[r].name)) roles_.push_back(from.graph.roles[r].name);
        return made;
    }

private:
    std::shared_ptr<context> on_;
    std::vector<const tag*> roles_;
    bool knows_roles_ = false;
};

}  // namespace dovetail::cuda
