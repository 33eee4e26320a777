// Held ranks: how they leave their world.
#pragma once

#include "../log.hpp"
#include "../world/peers.hpp"
#include "held_rank.hpp"
#include "rank.ipp"

#include <exception>

namespace dovetail::cuda {

DOVETAIL_INLINE held_rank::held_rank(std::shared_ptr<launch::peers> among, std::unique_ptr<rank> on, std::shared_ptr<void> use)
    : among_{std::move(among)}, on_{std::move(on)}, use_{std::move(use)}, index_{on_->index()}, unwinding_{std::uncaught_exceptions()} {}
DOVETAIL_INLINE held_rank::held_rank(held_rank&& other) noexcept
    : among_{std::move(other.among_)},
      on_{std::move(other.on_)},
      use_{std::move(other.use_)},
      index_{other.index_},
      unwinding_{std::uncaught_exceptions()} {}
DOVETAIL_INLINE held_rank::~held_rank() {
    if (!on_) return;
    const std::string who = "rank " + std::to_string(index_);
    try {
        if (std::uncaught_exceptions() > unwinding_) {
            among_->abort({index_, who + " left with an exception", {}, {}, true});
            leave();
        } else {
            end();
        }
    } catch (const std::exception& e) {
        launch::log(log_level::warning, who + " ended with an error: " + e.what());
    }
}
DOVETAIL_INLINE rank& held_rank::operator*() const {
    if (!on_) throw usage_error{"rank " + std::to_string(index_) + " has left its world"};
    return *on_;
}
DOVETAIL_INLINE void held_rank::end() {
    if (!on_) return;
    leave();
    among_->raise_unreported(index_);
}
DOVETAIL_INLINE void held_rank::leave() noexcept {
    on_.reset();
    among_->leave(index_);
    use_.reset();
}

}  // namespace dovetail::cuda
