// Sockets for the control channel: how names become addresses, who listens and who connects. Nothing here blocks past the
// instant that it is given; what fails gives nothing and a reason.
#pragma once

#include "../deadline.hpp"
#include "environment.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace dovetail::cuda::detail {

using instant = deadline;
using launch::after;
using launch::in_seconds;

inline instant now() { return std::chrono::steady_clock::now(); }
// For poll: rounded up, so that a wait of less than a millisecond does not spin.
inline int milliseconds_until(instant until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now()).count();
    return left < 0 ? 0 : left > 60'000 ? 60'000 : static_cast<int>(left);
}
inline instant earlier(instant a, instant b) { return a < b ? a : b; }

class descriptor {
public:
    explicit descriptor(int fd = -1) : fd_{fd} {}
    descriptor(descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_;
};

struct address {
    sockaddr_storage bytes = {};
    socklen_t size = 0;
    int family = 0;

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
    bool loopback() const {
        if (family == AF_INET) return (ntohl(reinterpret_cast<const sockaddr_in&>(bytes).sin_addr.s_addr) >> 24) == 127;
        return family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(bytes).sin6_addr);
    }
    int port() const {
        return ntohs(family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bytes).sin6_port : reinterpret_cast<const sockaddr_in&>(bytes).sin_port);
    }
};

// Empty with a reason in `why`. An empty host stands for every address of this machine.
inline std::vector<address> look_up(const std::string& host, int port, int flags, std::string& why) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int status = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (status != 0) {
        why = "its address is unknown: " + std::string{::gai_strerror(status)};
        return {};
    }
    std::vector<address> all;
    for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
        if (a->ai_family != AF_INET && a->ai_family != AF_INET6) continue;
        address one;
        std::memcpy(&one.bytes, a->ai_addr, a->ai_addrlen);
        one.size = a->ai_addrlen;
        one.family = a->ai_family;
        all.push_back(one);
    }
    ::freeaddrinfo(found);
    return all;
}
// A name server that does not answer can hold getaddrinfo for half a minute, and nothing can call it back: a name is looked
// up on a thread that may be left to itself.
inline std::vector<address> look_up_until(const endpoint& at, instant until, std::string& why) {
    std::string ignored;
    if (auto plain = look_up(at.host, at.port, AI_NUMERICHOST, ignored); !plain.empty()) return plain;
    struct answer {
        std::mutex mutex;
        std::condition_variable came;
        bool here = false;
        std::vector<address> addresses;
        std::string why;
    };
    const auto a = std::make_shared<answer>();
    std::thread{[a, at] {
        std::string reason;
        auto found = look_up(at.host, at.port, 0, reason);
        const std::lock_guard lock{a->mutex};
        a->addresses = std::move(found);
        a->why = std::move(reason);
        a->here = true;
        a->came.notify_all();
    }}.detach();
    std::unique_lock lock{a->mutex};
    if (!a->came.wait_until(lock, until, [&] { return a->here; })) {
        why = "the name server did not answer";
        return {};
    }
    why = a->why;
    return std::move(a->addresses);
}

inline void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

inline void prepare_connection(int fd) {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

// Listens where others are told to come: on the loopback addresses alone if that is what the host is, otherwise on all of
// this machine. Empty with a reason. `port` 0 takes a free one and says which.
inline std::vector<descriptor> listen_at(const std::string& host, int& port, instant until, std::string& why) {
    std::vector<address> places;
    if (!host.empty()) {
        places = look_up_until({host, port}, until, why);
        for (const address& a : places)
            if (!a.loopback()) {
                places.clear();
                break;
            }
        // The name of this machine may be bound to a loopback address: others use the same name and mean another address.
        if (host != "localhost" && host.find_first_not_of("0123456789.:") != std::string::npos) places.clear();
    }
    if (places.empty()) places = look_up({}, port, AI_PASSIVE, why);
    std::vector<descriptor> all;
    for (address a : places) {
        if (!all.empty()) {
            if (a.family == AF_INET6)
                reinterpret_cast<sockaddr_in6&>(a.bytes).sin6_port = htons(static_cast<std::uint16_t>(port));
            else
                reinterpret_cast<sockaddr_in&>(a.bytes).sin_port = htons(static_cast<std::uint16_t>(port));
        }
        descriptor fd{::socket(a.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        if (!fd) continue;
        set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
        if (a.family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
        if (::bind(fd.get(), a.get(), a.size) != 0 || ::listen(fd.get(), 1024) != 0) {
            // A machine without IPv6 has addresses that cannot be bound; a port that is in use is another's.
            if (errno == EADDRINUSE || all.empty()) why = std::strerror(errno);
            if (errno == EADDRINUSE) return {};
            continue;
        }
        address bound;
        bound.size = sizeof bound.bytes;
        ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound.bytes), &bound.size);
        bound.family = a.family;
        port = bound.port();
        all.push_back(std::move(fd));
    }
    return all;
}

// One attempt, over all addresses of the host.
inline descriptor connect_to(const endpoint& at, instant until, std::string& why) {
    for (const address& a : look_up_until(at, until, why)) {
        descriptor fd{::socket(a.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        if (!fd) {
            why = std::strerror(errno);
            continue;
        }
        if (::connect(fd.get(), a.get(), a.size) != 0) {
            if (errno != EINPROGRESS) {
                why = std::strerror(errno);
                continue;
            }
            pollfd p{fd.get(), POLLOUT, 0};
            if (::poll(&p, 1, milliseconds_until(earlier(until, now() + std::chrono::seconds{3}))) <= 0) {
                why = "it does not answer";
                continue;
            }
            int status = 0;
            socklen_t size = sizeof status;
            ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &status, &size);
            if (status != 0) {
                why = std::strerror(status);
                continue;
            }
        }
        // A port that a client was given by chance can be this one: then it is connected to itself.
        address mine, other;
        mine.size = other.size = sizeof mine.bytes;
        ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&mine.bytes), &mine.size);
        ::getpeername(fd.get(), reinterpret_cast<sockaddr*>(&other.bytes), &other.size);
        if (mine.size == other.size && std::memcmp(&mine.bytes, &other.bytes, mine.size) == 0) {
            why = std::strerror(ECONNREFUSED);
            continue;
        }
        prepare_connection(fd.get());
        return fd;
    }
    return descriptor{};
}

}  // namespace dovetail::cuda::detail
