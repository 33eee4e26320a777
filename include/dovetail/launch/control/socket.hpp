// Sockets of the control channel: listening and connecting. Nothing here blocks past a given instant; failures return nothing and a reason.
#pragma once

#include "addresses.hpp"
#include "descriptor.hpp"

#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>

namespace dovetail::control::detail {

// Rounded up for poll, so that a wait of less than a millisecond does not spin.
inline int milliseconds_until(instant until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now()).count();
    return left < 0 ? 0 : left > 60'000 ? 60'000 : static_cast<int>(left);
}
inline instant earlier(instant a, instant b) { return a < b ? a : b; }

inline void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

inline void prepare_connection(int fd) {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
}
inline descriptor new_socket(const address& to) {
    return descriptor::of([&] { return ::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); });
}
inline address own_end(int fd) {
    address a;
    ::getsockname(fd, a.get(), &a.size);
    return a;
}
inline address other_end(int fd) {
    address a;
    ::getpeername(fd, a.get(), &a.size);
    return a;
}

inline world_error no_job_key(const std::string& who, const std::string& at) {
    return world_error{
        who + " has no job key, and " + at +
        " is beyond this machine: give all ranks one key. As a variable: export DOVETAIL_JOB_KEY=$(openssl rand -hex 32), once, before "
        "torchrun or srun, which pass it on, or mpirun -x DOVETAIL_JOB_KEY; in the program: from_environment({.job_key = ...})"};
}

// The addresses of this machine at which rank 0 listens for peers that connect to `host`. Empty on failure, with a reason. Throws if it
// would listen beyond this machine without a key.
inline std::vector<address> listening_addresses(const std::string& host, bool keyed, instant until, std::string& why) {
    std::vector<address> all = host.empty() ? look_up({}, 0, AI_PASSIVE, why) : look_up_until({host, 0}, until, why);
    if (!keyed && !all_loopback(all)) throw no_job_key("rank 0", host.empty() ? "every address of it" : host);
    // The name of this machine may resolve to a loopback address here, as on Debian, while other machines resolve it to another address:
    // then rank 0 listens at every address.
    const bool a_name = host.find_first_not_of("0123456789.") != std::string::npos && host.find(':') == std::string::npos;
    if (keyed && a_name && host != "localhost" && all_loopback(all) && !all.empty()) all = look_up({}, 0, AI_PASSIVE, why);
    return all;
}

inline std::string why_not_connected(int error) {
    const std::string text = std::strerror(error);
    return error == ECONNREFUSED ? text + ": rank 0 does not listen yet, or all ranks have joined already" : text;
}
inline std::string why_not_bound(int error) {
    std::string text = std::strerror(error);
    if (error == EADDRINUSE)
        return text +
               ". Another program has the port, or an earlier start of this one is not at its end; set DOVETAIL_RENDEZVOUS to another";
    if (error == EADDRNOTAVAIL)
        return text +
               ": this machine does not have that address. Rank 0 must run on the host of the rendezvous; if the others reach this "
               "machine at an address that is not its own (a container, NAT), DOVETAIL_LISTEN=address sets where rank 0 listens, "
               "0.0.0.0 for every address";
    return text;
}

// Listens at those of the addresses that belong to this machine. Empty on failure, with a reason. `port` 0 is replaced by a free port.
inline std::vector<descriptor> listen_at(const std::vector<address>& at, int& port, std::string& why) {
    std::vector<descriptor> all;
    for (address a : at) {
        a.set_port(port);
        descriptor fd = new_socket(a);
        if (!fd) continue;
        set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
        if (a.family() == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
        if (::bind(fd.get(), a.get(), a.size) != 0 || ::listen(fd.get(), 1024) != 0) {
            // Addresses that cannot be bound, as on a machine without IPv6, are skipped; a port that is in use is an error.
            const int error = errno;
            if (error == EADDRINUSE || all.empty()) why = why_not_bound(error);
            if (error == EADDRINUSE) return {};
            continue;
        }
        port = own_end(fd.get()).port();
        all.push_back(std::move(fd));
    }
    return all;
}

// One attempt to connect, over all addresses of the host. Throws if they are beyond this machine and there is no key; `who` is this rank.
inline descriptor connect_to(const endpoint& at, const std::string& who, bool keyed, instant until, std::string& why) {
    const std::vector<address> found = look_up_until(at, until, why);
    if (!keyed && !all_loopback(found)) throw no_job_key(who, "rank 0 at " + at.text());
    for (const address& a : found) {
        descriptor fd = new_socket(a);
        if (!fd) {
            why = std::strerror(errno);
            continue;
        }
        if (::connect(fd.get(), a.get(), a.size) != 0) {
            if (errno != EINPROGRESS) {
                why = why_not_connected(errno);
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
                why = why_not_connected(status);
                continue;
            }
        }
        // The system may choose the destination's own port as the source port: the socket is then connected to itself.
        if (own_end(fd.get()) == other_end(fd.get())) {
            why = why_not_connected(ECONNREFUSED);
            continue;
        }
        prepare_connection(fd.get());
        return fd;
    }
    return descriptor{};
}

}  // namespace dovetail::control::detail
