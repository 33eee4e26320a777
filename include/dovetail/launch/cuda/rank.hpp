// A rank on a GPU: made by a world; executors are made on it.
#pragma once

#include "../engine_options.hpp"
#include "../executable/executable_plan.hpp"
#include "../store.hpp"
#include "../world/rank_roles.hpp"

#include <memory>

namespace dovetail {

class engine;
class memory;

}  // namespace dovetail

namespace dovetail::cuda {

class context;

// Executors made on it share its streams and communicators.
class rank {
public:
    using stream = cuda::stream;

    explicit rank(std::shared_ptr<context> on);
    rank(const rank&) = delete;
    rank& operator=(const rank&) = delete;
    ~rank();

    int index() const;
    int size() const;
    int device() const;

    // Whether this rank has a role of the graphs of its executors. usage_error if no executor was made, or none of a graph with such a
    // role. In a single-rank graph the rank has all of them.
    template <class Name>
        requires(dovetail::detail::name_asked<Name>)
    bool is(Name) const {
        return roles_.is_named<Name>(index());
    }

    // For the library: memory and engines of this rank.
    std::shared_ptr<memory> device_memory() const;
    const std::shared_ptr<context>& state() const { return on_; }
    std::shared_ptr<engine> make_engine(const executable_plan<stream>& from, engine_options options);
    // Of the second plan if the copy engines of a rank cannot reach the memory of another, on all ranks alike; rank 0 prints why.
    std::shared_ptr<engine> make_engine(const executable_plan<stream>& first, const executable_plan<stream>& second,
                                        engine_options options);

private:
    // Calls make(options). `from`: the plan, or one of two that have the roles on the same ranks.
    template <class Make>
    std::shared_ptr<engine> made_by(const executable_plan<stream>& from, engine_options options, Make make);

    std::shared_ptr<context> on_;
    launch::rank_roles roles_;
};

}  // namespace dovetail::cuda

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "rank.ipp"
#endif
