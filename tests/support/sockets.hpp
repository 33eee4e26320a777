// Sockets for tests: a client that does not follow dovetail's protocol, which connects to a port, sends bytes and reads the answer.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace support {

inline sockaddr_in ipv4(const std::string& host, int port) {
    sockaddr_in a = {};
    a.sin_family = AF_INET;
    a.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, host.c_str(), &a.sin_addr);
    return a;
}
// A connection, or -1 with errno. Waits for nothing: a loopback address answers at once. `from`: the address that it comes from, any
// of 127.0.0.0/8.
inline int open_connection(int port, const std::string& host = "127.0.0.1", const std::string& from = "127.0.0.1") {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    const sockaddr_in a = ipv4(host, port), mine = ipv4(from, 0);
    timeval limit{2, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (from != "127.0.0.1") {
        ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        if (::bind(fd, reinterpret_cast<const sockaddr*>(&mine), sizeof mine) != 0) std::perror("bind");
    }
    if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0) return fd;
    const int why = errno;
    ::close(fd);
    errno = why;
    return -1;
}
// The same as soon as somebody listens; -1 after the limit.
inline int connect_soon(int port, const std::string& host = "127.0.0.1",
                        std::chrono::milliseconds limit = std::chrono::milliseconds{3000}) {
    for (const auto until = std::chrono::steady_clock::now() + limit; std::chrono::steady_clock::now() < until;) {
        if (const int fd = open_connection(port, host); fd >= 0) return fd;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return -1;
}
// A socket that listens there and accepts nobody.
inline int listen_on(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in a = {};
    a.sin_family = AF_INET;
    a.sin_port = htons(static_cast<std::uint16_t>(port));
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0 && ::listen(fd, 16) == 0) return fd;
    ::close(fd);
    return -1;
}
inline bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}
// What comes until the end of the connection, or of the time.
inline std::string received(int fd, std::chrono::milliseconds limit) {
    std::string all;
    const auto until = std::chrono::steady_clock::now() + limit;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
        pollfd p{fd, POLLIN, 0};
        char some[4096];
        if (left <= 0 || ::poll(&p, 1, static_cast<int>(left)) <= 0) return all;
        const auto n = ::recv(fd, some, sizeof some, 0);
        if (n <= 0) return all;
        all.append(some, static_cast<std::size_t>(n));
    }
}

// The bytes of the control channel's frames, put together by hand.
inline std::string number_bytes(std::int64_t n) {
    std::string b;
    for (int i = 0; i < 8; ++i) b += static_cast<char>(static_cast<std::uint64_t>(n) >> (8 * i) & 0xff);
    return b;
}
inline std::string text_bytes(std::string_view t) { return number_bytes(static_cast<std::int64_t>(t.size())) + std::string{t}; }
inline std::string frame_bytes(char kind, const std::string& body) {
    return number_bytes(static_cast<std::int64_t>(body.size() + 1)).substr(0, 4) + kind + body;
}
// What a rank said first in the protocol before this one.
inline std::string old_hello(int rank, int size, const std::string& job, const std::string& version = "0.1.0") {
    return frame_bytes('h', text_bytes("dovetail control 2") + text_bytes(version) + number_bytes(rank) + number_bytes(size) +
                                text_bytes(job) + text_bytes("stranger") + text_bytes("elsewhere") + number_bytes(4711));
}

// In a network of its own that has these addresses beside 127.0.0.1; false where the system does not permit it. For a process
// of one thread.
inline bool enter_own_network(const std::vector<std::string>& addresses) {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq r = {};
    std::strcpy(r.ifr_name, "lo");
    r.ifr_flags = IFF_UP;
    bool good = ::ioctl(fd, SIOCSIFFLAGS, &r) == 0;
    int n = 0;
    for (const std::string& address : addresses) {
        r = {};
        std::snprintf(r.ifr_name, sizeof r.ifr_name, "lo:%d", ++n);
        sockaddr_in a = {};
        a.sin_family = AF_INET;
        ::inet_pton(AF_INET, address.c_str(), &a.sin_addr);
        std::memcpy(&r.ifr_addr, &a, sizeof a);
        good = good && ::ioctl(fd, SIOCSIFADDR, &r) == 0;
    }
    ::close(fd);
    return good;
}

inline double cpu_seconds() {
    rusage u = {};
    ::getrusage(RUSAGE_SELF, &u);
    const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
    return seconds(u.ru_utime) + seconds(u.ru_stime);
}
// Resident memory of this process, in MiB.
inline double resident_mib(const char* which = "VmRSS:") {
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word;)
        if (double kib = 0; word == which && status >> kib) return kib / 1024;
    return 0;
}
inline int open_files() {
    int count = 0;
    for (int fd = 0; fd < 4096; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

}  // namespace support
