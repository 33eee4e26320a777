// File descriptors that belong to one process. Programs that it executes do not inherit them (O_CLOEXEC), and forked children close theirs
// at once: otherwise a killed rank would seem alive as long as one of its children lives.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace dovetail::control::detail {

// The open descriptors of this process, each with a number that, unlike a file descriptor, is never reused.
class open_descriptors {
public:
    static open_descriptors& all() {
        static open_descriptors* const one = new open_descriptors;  // never destroyed: threads may outlive static objects
        return *one;
    }
    // `open` returns a file descriptor, or a negative number. No child is forked between that and the registration here.
    template <class Open>
    std::pair<int, std::uint64_t> add(Open&& open) {
        const std::lock_guard lock{mutex_};
        const int fd = open();
        if (fd >= 0) fds_.emplace(++last_, fd);
        return {fd, last_};
    }
    // A forked child has closed it already; its number may belong to another file by now.
    void close(std::uint64_t number) noexcept {
        const std::lock_guard lock{mutex_};
        const auto found = fds_.find(number);
        if (found == fds_.end()) return;
        ::close(found->second);
        fds_.erase(found);
    }

    bool has(std::uint64_t number) {
        const std::lock_guard lock{mutex_};
        return fds_.contains(number);
    }

private:
    open_descriptors() {
        ::pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); },
                         [] {
                             for (const auto& [number, fd] : all().fds_) ::close(fd);
                             all().fds_.clear();
                             all().mutex_.unlock();
                         });
    }

    std::mutex mutex_;
    std::map<std::uint64_t, int> fds_;
    std::uint64_t last_ = 0;
};

class descriptor {
public:
    descriptor() = default;
    // Owns the descriptor that `open` returns, as ::socket does; keeps errno.
    template <class Open>
    static descriptor of(Open&& open) {
        descriptor d;
        std::tie(d.fd_, d.number_) = open_descriptors::all().add(open);
        return d;
    }
    descriptor(descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)}, number_{other.number_} {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(number_, other.number_);
        return *this;
    }
    ~descriptor() {
        if (fd_ >= 0) open_descriptors::all().close(number_);
    }
    // False in a forked child, which has no descriptors of its parent.
    bool here() const { return fd_ >= 0 && open_descriptors::all().has(number_); }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_ = -1;
    std::uint64_t number_ = 0;
};

}  // namespace dovetail::control::detail
