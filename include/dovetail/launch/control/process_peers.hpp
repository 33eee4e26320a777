// The interface `peers` of engines, implemented by the control channel of a world of processes.
#pragma once

#include "../world/peers.hpp"
#include "control_channel.hpp"

namespace dovetail::control {

// What ranks in several processes share, over the control channel.
class process_peers final : public launch::peers {
public:
    explicit process_peers(std::shared_ptr<control_channel> channel) : channel_{std::move(channel)} {}
    ~process_peers() override { channel_->unwatch(std::chrono::seconds{5}); }

    const std::shared_ptr<control_channel>& channel() const { return channel_; }

    int size() const override { return channel_->size(); }
    std::vector<std::string> exchange(int, const std::string& what, const std::string& mine, std::chrono::nanoseconds limit) override {
        // Engines exchange texts, many of which appear in messages.
        std::vector<std::string> all = channel_->exchange(what, mine, limit);
        for (std::string& text : all) text = printable(text);
        return all;
    }
    void abort(const abort_reason& why) override {
        {
            const std::lock_guard lock{mutex_};
            if (why.what && !own_) own_ = why.what;
        }
        channel_->abort({why.rank, why.text, why.operation, why.statement, why.by_leaving, nullptr, why.timed_out});
    }
    bool aborted() const noexcept override { return channel_->aborted(); }
    abort_reason why() const override {
        const auto c = channel_->why();
        if (!c) return {};
        const std::lock_guard lock{mutex_};
        return {c->rank, c->text, c->operation, c->statement, c->by_leaving, c->rank == channel_->rank() ? own_ : nullptr, c->timed_out};
    }
    void attend(int, std::function<void()> at_stop, std::function<void()> each_period) override {
        channel_->watch([at_stop = std::move(at_stop)](const abort_reason&) { at_stop(); }, std::move(each_period));
    }
    void unattend(int) noexcept override { channel_->unwatch(std::chrono::seconds{20}); }
    void leave(int) noexcept override { channel_->leave(); }
    bool gone(int rank) const noexcept override { return channel_->left(rank); }
    void watch(int, std::shared_ptr<const launch::progress> p) override {
        if (!p) return channel_->announce(std::function<activity()>{});
        // Steps of different roles cannot be compared; runs can.
        channel_->announce([p, to = channel_.get()] {
            to->announce(run_position{p->at().run, -1});
            return p->doing();
        });
    }
    std::string describe() const override { return channel_->progress(); }
    // Rank 0 compares asynchronously; a difference arrives as an abort.
    std::string call_order_mismatch(int, std::int64_t, int executor) override {
        channel_->called(executor);
        return {};
    }

private:
    const std::shared_ptr<control_channel> channel_;
    mutable std::mutex mutex_;
    std::exception_ptr own_;  // the exception with which this rank ended
};

}  // namespace dovetail::control
