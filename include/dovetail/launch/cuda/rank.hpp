// What a rank's thread works with: made by a world, and what executors are made on.
#pragma once

#include "../engine_options.hpp"
#include "../executable_plan.hpp"
#include "../rank_roles.hpp"
#include "../store.hpp"

#include <memory>

namespace dovetail {

class engine;
class memory;

}  // namespace dovetail

namespace dovetail::cuda {

class context;

// Streams and communicators are shared by the executors that are made on it.
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

    // Whether this rank plays a role of the graphs of its executors: usage_error where none has been made, or none has such a role. In
    // a single-rank graph it plays all of them.
    template <class Name>
        requires(dovetail::detail::name_asked<Name>)
    bool is(Name) const {
        return roles_.is_named<Name>(index());
    }

    // For the library: memory and engines of this rank.
    std::shared_ptr<memory> device_memory() const;
    const std::shared_ptr<context>& state() const { return on_; }
    std::shared_ptr<engine> make_engine(const executable_plan<stream>& from, engine_options options);

private:
    std::shared_ptr<context> on_;
    launch::rank_roles roles_;
};

}  // namespace dovetail::cuda

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "rank.ipp"
#endif
