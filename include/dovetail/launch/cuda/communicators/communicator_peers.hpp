// The interface `peers` implemented by NCCL itself, for a world that has no other connection between its ranks: an adopted communicator.
#pragma once

#include "../../control/printable.hpp"
#include "../../world/local_peers.hpp"
#include "../engine/context.hpp"

namespace dovetail::cuda {

namespace detail {

// An exchange is an all_gather of short texts.
class communicator_peers final : public launch::peers {
public:
    communicator_peers(int rank, int size) : mine_{rank}, local_{1}, size_{size} {}
    void use(context* on) { on_ = on; }

    int size() const override { return size_; }
    std::vector<std::string> exchange(int, const std::string& what, const std::string& mine, std::chrono::nanoseconds limit) override {
        constexpr std::size_t length = 1024;
        std::vector<char> texts(length * static_cast<std::size_t>(size_));
        mine.copy(texts.data() + length * static_cast<std::size_t>(mine_), length - 1);
        const block on_device{on_->memory, static_cast<std::int64_t>(texts.size())};
        char* const own = on_device.data() + length * static_cast<std::size_t>(mine_);
        on_->memory->from_host(own, texts.data() + length * static_cast<std::size_t>(mine_), length);
        {
            const auto nccl_held = on_->nccl.lock_calls();
            check(calls.all_gather(own, on_device.data(), length, ncclInt8, on_->nccl.all(), on_->streams[0]), "ncclAllGather");
        }
        const auto until = launch::after(limit);
        while (calls.stream_query(on_->streams[0]) == cudaErrorNotReady) {
            static_cast<void>(calls.get_last_error());
            on_->nccl.check_async_errors();
            if (std::chrono::steady_clock::now() > until) {
                const std::string late = "timeout: rank " + std::to_string(mine_) + " waits for all ranks at " + what +
                                         "; NCCL does not tell which have not come";
                abort({mine_, late, {}, {}, true, nullptr, true});  // also the runs in flight of this rank
                on_->abort_communication();
                throw timeout{late, mine_};
            }
            std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
        check(calls.stream_query(on_->streams[0]), "cudaStreamQuery");
        if (aborted()) raise(mine_);  // which has also ended the work of the stream
        on_->memory->to_host(texts.data(), on_device.data(), static_cast<std::int64_t>(texts.size()));
        std::vector<std::string> all;
        for (int r = 0; r < size_; ++r) all.push_back(control::printable(texts.data() + length * static_cast<std::size_t>(r)));
        return all;
    }
    void abort(const launch::abort_reason& why) override { local_.abort(why); }
    bool aborted() const noexcept override { return local_.aborted(); }
    launch::abort_reason why() const override { return local_.why(); }
    void attend(int, std::function<void()> at_stop, std::function<void()> each_period) override {
        local_.attend(0, std::move(at_stop), std::move(each_period));
    }
    void unattend(int) noexcept override { local_.unattend(0); }
    void leave(int) noexcept override {}
    bool gone(int) const noexcept override { return false; }
    void watch(int, std::shared_ptr<const launch::progress> p) override { local_.watch(0, std::move(p)); }
    std::string describe() const override {
        auto text = local_.describe();
        return text.replace(0, 6, "rank " + std::to_string(mine_));
    }
    std::string call_order_mismatch(int, std::int64_t, int) override { return {}; }

private:
    const int mine_;
    launch::local_peers local_;
    const int size_;
    context* on_ = nullptr;
};

}  // namespace detail

}  // namespace dovetail::cuda
