// Base of the two ends of the control channel: rank 0 listens (server), every other rank is connected to it (client). Each end first
// performs the rendezvous on the thread that makes it; then its watchdog thread serves the connection with the same loop. Only the serving
// thread touches the connections; other threads post messages to it.
#pragma once

#include "control_channel.hpp"
#include "frame_connection.hpp"
#include "handshake.hpp"

#include <array>
#include <cstddef>
#include <fstream>
#include <new>

namespace dovetail::control::detail {

inline peer_status this_process() {
    peer_status m;
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    m.host = name;
    std::string boot;
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
    m.machine = m.host + " " + boot;
    m.process = static_cast<long>(::getpid());
    return m;
}
// A text that distinguishes this process from all others, including its forked children and later processes with the same process id.
inline std::string this_instance() {
    static std::mutex mutex;
    static std::string drawn;
    static ::pid_t of = 0;
    const std::lock_guard lock{mutex};
    if (std::exchange(of, ::getpid()) != ::getpid()) drawn = random_bytes(nonce_size);
    return drawn;
}
// The abort reason for a rank whose connection has ended, with the last activity that it reported.
inline abort_reason lost_rank(int rank, const peer_status& m, const std::string& how) {
    const std::string last = m.doing.text.empty() ? "" : "; its last report: it " + m.doing.text;
    return {rank, described(rank, m) + " is gone: " + how + last, m.doing.operation, m.doing.statement, false};
}

inline constexpr std::size_t bytes_per_poll = std::size_t{1} << 18;  // read from one connection before others are polled

class channel_endpoint : public control_channel, public std::enable_shared_from_this<channel_endpoint> {
public:
    using control_channel::control_channel;

    // The owner's handle: destroying it ends the watchdog thread, within a bound. A callback that does not return is left running on the
    // detached thread.
    std::shared_ptr<control_channel> serve_from_now() {
        auto self = shared_from_this();
        thread_ = std::thread{[self] { self->serve(); }};
        return {self.get(), [self](control_channel*) mutable {
                    self->close();
                    self.reset();
                }};
    }

protected:
    struct message {
        char kind;
        std::string body;
    };

    // Sends, waits for incoming bytes until `until` at the latest, and handles them.
    virtual void poll_once(instant until) = 0;
    virtual void close_connections() = 0;
    virtual void send_heartbeat() = 0;

    void post(char kind, std::string body) {
        {
            const std::lock_guard lock{outbox_mutex_};
            outbox_.push_back({kind, std::move(body)});
        }
        wake();
    }
    std::vector<message> take_messages() {
        char some[64];
        while (::read(pipe_[0].get(), some, sizeof some) > 0) {}
        const std::lock_guard lock{outbox_mutex_};
        return std::exchange(outbox_, {});
    }
    int wake_fd() const { return pipe_[0].get(); }
    bool closing() const { return closing_.load(std::memory_order_acquire); }
    std::string heartbeat() {
        heartbeat_message b;
        b.calls = recent_calls();
        b.of.doing = current_activity();  // which may announce a position
        b.of.at = mine();
        return b.pack();
    }
    void send_contribution(contribution mine) override { post(frame::contribution, mine.pack()); }
    void broadcast_abort(const abort_reason& why) override { post(frame::abort, packed(why)); }
    void request_status() override { post(frame::status_request, {}); }
    void send_leave(std::int64_t leaves) override { post(frame::leave, leave_message{rank(), leaves, 0}.pack()); }
    void wake() noexcept override {
        const char one = 1;
        static_cast<void>(!::write(pipe_[1].get(), &one, 1));
    }
    // Sends the remaining output of a connection, within the bound.
    static void drain(frame_connection& link, instant until) {
        for (link.flush(); link.sending() && now() < until; link.flush()) {
            pollfd p{link.fd(), POLLOUT, 0};
            ::poll(&p, 1, milliseconds_until(until));
        }
    }
    bool silent(const frame_connection& link) const {
        return timing_.silence.count() > 0 && now() - link.last_received() > timing_.silence;
    }

private:
    void serve() {
        auto next = now();
        while (!closing()) {
            poll_once(next);
            const bool due = now() >= next;
            if (due) {
                send_heartbeat();
                next = after(timing_.period);
            }
            const bool stopped = aborted();
            if (stopped) poll_once(now());
            if (!closing()) attend(stopped, due);
        }
        close_connections();
        {
            const std::lock_guard lock{outbox_mutex_};
            over_ = true;
        }
        ended_.notify_all();
    }
    void close() noexcept {
        if (in_forked_child()) {
            // A child has no such thread: what would end the process is that its handle is destroyed, so that it never is.
            alignas(std::thread) std::byte storage[sizeof(std::thread)];
            new (storage) std::thread{std::move(thread_)};
            return;
        }
        closing_.store(true, std::memory_order_release);
        wake();
        if (thread_.get_id() == std::this_thread::get_id()) return thread_.detach();  // a callback destroyed the last handle
        std::unique_lock lock{outbox_mutex_};
        const bool in_time = ended_.wait_until(lock, after(timing_.linger + std::chrono::milliseconds{1500}), [&, this] { return over_; });
        lock.unlock();
        if (in_time)
            thread_.join();
        else
            thread_.detach();
    }
    static std::array<descriptor, 2> make_pipe() {
        std::array<descriptor, 2> ends;
        int fds[2] = {-1, -1};
        ends[0] =
            descriptor::of([&] { return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0 ? fds[0] : -1; });
        if (!ends[0]) throw world_error{std::string{"no pipe can be made for the control channel: "} + std::strerror(errno)};
        ends[1] = descriptor::of([&] { return fds[1]; });
        return ends;
    }

    std::array<descriptor, 2> pipe_ = make_pipe();
    std::mutex outbox_mutex_;
    std::condition_variable ended_;
    std::vector<message> outbox_;
    bool over_ = false;
    std::atomic<bool> closing_ = false;
    std::thread thread_;
};

}  // namespace dovetail::control::detail
