// What carries the control channel: rank 0 listens (hub), every other rank is connected to it (spoke). Each end first meets,
// on the thread that makes it, and then serves on its watchdog's thread, by the same turns. Only the thread that turns
// touches the connections; others post letters to it.
#pragma once

#include "control.hpp"
#include "wire.hpp"

#include <array>
#include <fstream>

namespace dovetail::cuda::detail {

// Kinds of frames.
namespace frame {
inline constexpr char hello = 'h', present = 'p', welcome = 'w', refused = 'r';  // at the meeting
inline constexpr char part = 'c', whole = 'g', beat = 'b', ask = 'q', table = 't', stop = 'a', left = 'l', bye = 'e';
}  // namespace frame

// Why rank 0 sends somebody away: a mistake, too late, or another start of the program.
enum class refusal { wrong, late, stale };

inline constexpr const char* protocol = "dovetail control 2";
inline constexpr std::size_t longest_frame = std::size_t{1} << 28;

inline std::string library_version() {
    return std::to_string(DOVETAIL_VERSION_MAJOR) + "." + std::to_string(DOVETAIL_VERSION_MINOR) + "." + std::to_string(DOVETAIL_VERSION_PATCH);
}
inline member this_process() {
    member m;
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    m.host = name;
    std::string boot;
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
    m.machine = m.host + " " + boot;
    m.process = static_cast<long>(::getpid());
    return m;
}
inline std::string described(int rank, const member& m) {
    return "rank " + std::to_string(rank) + " (process " + std::to_string(m.process) + " on " + m.host + ")";
}

inline std::string packed(const stop_cause& c) { return writer{}.number(c.rank).text(c.text).text(c.operation).text(c.statement).number(c.by_leaving).take(); }
inline stop_cause unpacked_cause(reader r) {
    stop_cause c;
    c.rank = static_cast<int>(r.number());
    c.text = r.text();
    c.operation = r.text();
    c.statement = r.text();
    c.by_leaving = r.number() != 0;
    return c;
}

// What a rank does.
inline void put(writer& to, const mark& at, const activity& doing) {
    to.number(at.run).number(at.step).text(doing.text).text(doing.operation).text(doing.statement);
}
inline void take_doing(reader& from, member& of) {
    of.at.run = from.number();
    of.at.step = from.number();
    of.doing.text = from.text();
    of.doing.operation = from.text();
    of.doing.statement = from.text();
}
// A rank whose connection has ended: nobody can ask it any more, so it is said what it did last.
inline stop_cause lost_rank(int rank, const member& m, const std::string& how) {
    const std::string last = m.doing.text.empty() ? "" : "; as far as it was heard of, it " + m.doing.text;
    return {rank, described(rank, m) + " is gone: " + how + last, m.doing.operation, m.doing.statement, false};
}

inline std::string packed(std::int64_t number, const outcome& o) {
    writer w;
    w.number(number).text(o.fault);
    for (const std::string& t : o.texts) w.text(t);
    return w.take();
}

class wired : public control, public std::enable_shared_from_this<wired> {
public:
    using control::control;

    // The owner's handle: its end ends the watchdog, within a bound. A callback that does not return is left to itself.
    std::shared_ptr<control> serve_from_now() {
        auto self = shared_from_this();
        thread_ = std::thread{[self] { self->serve(); }};
        return {self.get(), [self](control*) mutable {
                    self->close();
                    self.reset();
                }};
    }

protected:
    struct letter {
        char kind;
        std::string body;
    };

    // Sends, waits for what comes until then at the latest, and takes it.
    virtual void turn(instant until) = 0;
    virtual void farewell() = 0;
    virtual void beat() = 0;

    void post(char kind, std::string body) {
        {
            const std::lock_guard lock{outbox_mutex_};
            outbox_.push_back({kind, std::move(body)});
        }
        wake();
    }
    std::vector<letter> letters() {
        char some[64];
        while (::read(pipe_[0].get(), some, sizeof some) > 0) {}
        const std::lock_guard lock{outbox_mutex_};
        return std::exchange(outbox_, {});
    }
    int wake_fd() const { return pipe_[0].get(); }
    bool closing() const { return closing_.load(std::memory_order_acquire); }
    std::string pulse() {
        const call_list calls = recent_calls();
        const activity doing = words();  // which may announce a mark
        const mark at = mine();
        writer w;
        put(w, at, doing);
        w.number(calls.first).number(static_cast<std::int64_t>(calls.executors.size()));
        for (const auto c : calls.executors) w.number(c);
        return w.take();
    }
    void contribute(std::int64_t number, const std::string& what, std::string bytes) override {
        post(frame::part, writer{}.number(number).text(what).text(bytes).take());
    }
    void spread(const stop_cause& why) override { post(frame::stop, packed(why)); }
    void ask() override { post(frame::ask, {}); }
    void tell_leaves(std::int64_t leaves) override { post(frame::left, writer{}.number(leaves).take()); }
    void wake() noexcept override {
        const char one = 1;
        static_cast<void>(!::write(pipe_[1].get(), &one, 1));
    }
    // Sends what is left to a connection, within the bound.
    static void drain(framed& link, instant until) {
        for (link.flush(); link.sending() && now() < until; link.flush()) {
            pollfd p{link.fd(), POLLOUT, 0};
            ::poll(&p, 1, milliseconds_until(until));
        }
    }
    bool silent(const framed& link) const { return timing_.silence.count() > 0 && now() - link.heard() > timing_.silence; }

private:
    void serve() {
        auto next = now();
        while (!closing()) {
            turn(next);
            const bool due = now() >= next;
            if (due) {
                beat();
                next = after(timing_.period);
            }
            const bool stopped = aborted();
            if (stopped) turn(now());
            if (!closing()) attend(stopped, due);
        }
        farewell();
        {
            const std::lock_guard lock{outbox_mutex_};
            over_ = true;
        }
        ended_.notify_all();
    }
    void close() noexcept {
        closing_.store(true, std::memory_order_release);
        wake();
        if (thread_.get_id() == std::this_thread::get_id()) return thread_.detach();  // a callback held the last handle
        std::unique_lock lock{outbox_mutex_};
        const bool in_time = ended_.wait_until(lock, after(timing_.linger + std::chrono::milliseconds{1500}), [&] { return over_; });
        lock.unlock();
        if (in_time)
            thread_.join();
        else
            thread_.detach();
    }
    static std::array<descriptor, 2> make_pipe() {
        int fds[2] = {-1, -1};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0)
            throw world_error{std::string{"no pipe can be made for the control channel: "} + std::strerror(errno)};
        return {descriptor{fds[0]}, descriptor{fds[1]}};
    }

    std::array<descriptor, 2> pipe_ = make_pipe();
    std::mutex outbox_mutex_;
    std::condition_variable ended_;
    std::vector<letter> outbox_;
    bool over_ = false;
    std::atomic<bool> closing_ = false;
    std::thread thread_;
};

}  // namespace dovetail::cuda::detail
