// Network addresses: resolution of host names, and properties of an address.
#pragma once

#include "../world/deadline.hpp"
#include "environment.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace dovetail::control::detail {

using instant = deadline;
using launch::after;
using launch::in_seconds;

inline instant now() { return std::chrono::steady_clock::now(); }

struct address {
    sockaddr_storage bytes = {};
    socklen_t size = sizeof bytes;

    int family() const { return bytes.ss_family; }
    sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
    const sockaddr_in& v4() const { return reinterpret_cast<const sockaddr_in&>(bytes); }
    const sockaddr_in6& v6() const { return reinterpret_cast<const sockaddr_in6&>(bytes); }

    bool loopback() const {
        return family() == AF_INET ? ntohl(v4().sin_addr.s_addr) >> 24 == 127
                                   : family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6().sin6_addr);
    }
    int port() const { return ntohs(family() == AF_INET6 ? v6().sin6_port : v4().sin_port); }
    void set_port(int port) {
        const auto n = htons(static_cast<std::uint16_t>(port));
        if (family() == AF_INET6)
            reinterpret_cast<sockaddr_in6&>(bytes).sin6_port = n;
        else
            reinterpret_cast<sockaddr_in&>(bytes).sin_port = n;
    }
    // Without the port: "10.0.0.7".
    std::string host() const {
        char text[NI_MAXHOST] = {};
        return ::getnameinfo(get(), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0 ? text : "?";
    }
    // The part of an address that identifies a host: the whole IPv4 address, or the first 64 bits of an IPv6 address.
    std::string network() const {
        if (family() == AF_INET6) return {reinterpret_cast<const char*>(&v6().sin6_addr), 8};
        return {reinterpret_cast<const char*>(&v4().sin_addr), 4};
    }
    friend bool operator==(const address& a, const address& b) { return a.size == b.size && std::memcmp(&a.bytes, &b.bytes, a.size) == 0; }
};
inline bool all_loopback(const std::vector<address>& all) {
    for (const address& a : all)
        if (!a.loopback()) return false;
    return true;
}

// Resolves a host name. Empty on failure, with a reason in `why`. An empty host means every address of this machine.
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
        all.push_back(one);
    }
    ::freeaddrinfo(found);
    return all;
}
// getaddrinfo may block for half a minute if a name server does not answer, and it cannot be cancelled. It therefore runs on a thread that
// is detached at the deadline.
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

}  // namespace dovetail::control::detail
