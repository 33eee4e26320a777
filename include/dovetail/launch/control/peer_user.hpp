// The user at the other end of a connection within this machine. Without a job key all processes of the job belong to one user; this check
// rejects connections from other users, who can also reach a loopback address.
#pragma once

#include "socket.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/types.h>

#include <cstdio>
#include <fstream>
#include <istream>
#include <optional>
#include <sstream>

namespace dovetail::control::detail {

inline constexpr unsigned char established = 1;  // the kernel's number of this TCP state

// The owner of the established connection between these addresses, from the kernel by netlink.
inline std::optional<::uid_t> owner_by_netlink(const address& local, const address& remote) {
    struct {
        nlmsghdr head = {};
        inet_diag_req_v2 what = {};
    } ask;
    ask.head.nlmsg_len = sizeof ask;
    ask.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    ask.head.nlmsg_flags = NLM_F_REQUEST;
    ask.what.sdiag_family = static_cast<unsigned char>(local.family());
    ask.what.sdiag_protocol = IPPROTO_TCP;
    ask.what.idiag_states = 1u << established;
    inet_diag_sockid& id = ask.what.id;
    id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    id.idiag_sport = htons(static_cast<std::uint16_t>(local.port()));
    id.idiag_dport = htons(static_cast<std::uint16_t>(remote.port()));
    if (local.family() == AF_INET6) {
        std::memcpy(id.idiag_src, &local.v6().sin6_addr, sizeof id.idiag_src);
        std::memcpy(id.idiag_dst, &remote.v6().sin6_addr, sizeof id.idiag_dst);
    } else {
        id.idiag_src[0] = local.v4().sin_addr.s_addr;
        id.idiag_dst[0] = remote.v4().sin_addr.s_addr;
    }
    const descriptor kernel = descriptor::of([] { return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG); });
    alignas(nlmsghdr) char reply[1024];
    if (!kernel || ::send(kernel.get(), &ask, sizeof ask, 0) != static_cast<ssize_t>(sizeof ask)) return {};
    const auto n = ::recv(kernel.get(), reply, sizeof reply, MSG_DONTWAIT);  // the kernel answers within `send`
    if (n < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg)))) return {};
    nlmsghdr head;
    inet_diag_msg said;
    std::memcpy(&head, reply, sizeof head);
    std::memcpy(&said, reply + NLMSG_HDRLEN, sizeof said);
    if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || said.idiag_state != established || said.id.idiag_sport != id.idiag_sport) return {};
    return static_cast<::uid_t>(said.idiag_uid);
}

// An address as /proc/net/tcp and tcp6 write it: words of 32 bits in memory order, and the port.
inline std::string as_in_proc(const address& a) {
    char text[48] = {};
    const auto port = static_cast<unsigned>(a.port());
    if (a.family() == AF_INET6) {
        std::uint32_t w[4];
        std::memcpy(w, &a.v6().sin6_addr, sizeof w);
        std::snprintf(text, sizeof text, "%08X%08X%08X%08X:%04X", w[0], w[1], w[2], w[3], port);
    } else {
        std::snprintf(text, sizeof text, "%08X:%04X", static_cast<unsigned>(a.v4().sin_addr.s_addr), port);
    }
    return text;
}
// The same owner, from a table in the format of /proc/net/tcp: number, addresses, state, queues, timer, retransmissions, user.
inline std::optional<::uid_t> owner_in(std::istream& table, const std::string& local, const std::string& remote) {
    const std::string ends = " " + local + " " + remote + " 01 ";
    for (std::string line; std::getline(table, line);) {
        const auto at = line.find(ends);
        if (at == std::string::npos) continue;
        std::istringstream behind{line.substr(at + ends.size())};
        std::string queues, timer, retransmissions;
        unsigned long user = 0;
        if (behind >> queues >> timer >> retransmissions >> user) return static_cast<::uid_t>(user);
    }
    return {};
}

// Empty if the system does not tell. Netlink is tried first, because the table is slow with many connections; the table is needed because
// containers may forbid netlink.
inline std::optional<::uid_t> peer_user(int fd) {
    const address here = own_end(fd), there = other_end(fd);
    if (const auto user = owner_by_netlink(there, here)) return user;
    std::ifstream table{here.family() == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp"};
    return owner_in(table, as_in_proc(there), as_in_proc(here));
}
inline bool is_own_user(int fd) { return peer_user(fd) == ::geteuid(); }

}  // namespace dovetail::control::detail
