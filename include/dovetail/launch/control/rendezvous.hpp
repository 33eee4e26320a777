// The rendezvous of the processes of a world: each becomes an end of the control channel, and all get the same NCCL id. Takes the identity
// of a process (environment.hpp) and, from programs with a channel of their own such as MPI, a callable that broadcasts. The broadcast is
// trusted and carries a job key that rank 0 makes if none was given.
#pragma once

#include "../world/world_options.hpp"
#include "client.hpp"
#include "server.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <map>

namespace dovetail::control {

namespace detail {

// The addresses of rank 0, as it knows them, and the key if it has made one.
struct server_address {
    static constexpr std::size_t bytes = 2048;

    std::string fault, job, machine, secret;
    std::vector<endpoint> at;

    std::string pack() const {
        writer w;
        w.text(fault.substr(0, 1000)).text(job).text(machine).text(secret);
        for (std::size_t i = 0; i < at.size() && i < 8; ++i) w.text(at[i].host).number(at[i].port);
        std::string packed = w.take();
        packed.resize(bytes);
        return packed;
    }
    static server_address unpack(std::string_view from) {
        server_address c;
        reader r{from};
        c.fault = r.words();
        c.job = r.text();
        c.machine = r.text();
        c.secret = r.text();
        for (std::string host; !(host = r.text()).empty();) {
            const auto port = static_cast<int>(r.number(1, 65535));
            if (r.good()) c.at.push_back({host, port});
        }
        return c;
    }
};

inline std::vector<endpoint> own_addresses(const std::string& host, int port) {
    std::vector<endpoint> all{{host, port}};
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) return all;
    for (const ifaddrs* a = found; a != nullptr; a = a->ifa_next) {
        if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET || (a->ifa_flags & IFF_UP) == 0 ||
            (a->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        char text[INET_ADDRSTRLEN] = {};
        ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(a->ifa_addr)->sin_addr, text, sizeof text);
        all.push_back({text, port});
    }
    ::freeifaddrs(found);
    return all;
}

inline std::vector<endpoint> candidates(const resolved_identity& me) {
    std::vector<endpoint> at;
    at.reserve(static_cast<std::size_t>(me.ports));
    for (int i = 0; i < me.ports; ++i) at.push_back({me.at.host, me.at.port + i});
    return at;
}

}  // namespace detail

namespace detail {

inline std::shared_ptr<channel_endpoint> rendezvous_as_server(resolved_identity& me, const rendezvous_options& options, instant until,
                                                              std::chrono::nanoseconds limit) {
    const bool made_up = !me.has_address() || me.ports != 1;  // then the address is only needed without a broadcast
    server_address mine;
    if (options.broadcast && me.job.empty()) me.job = std::to_string(std::hash<std::string>{}(random_bytes(nonce_size)));
    if (options.broadcast && !me.key.given()) {
        me.key = job_key::random();
        mine.secret = me.key.secret();
    }
    const auto made = std::make_shared<server>(me, options.timing);
    int port = options.broadcast && made_up ? 0 : me.at.port;
    try {
        const std::string host = !me.listen.empty() ? me.listen : options.broadcast && made_up ? "" : me.at.host;
        if (me.size > 1) port = made->listen(host, port, port == 0 ? 1 : me.ports, limit);
    } catch (const failure& e) {
        mine.fault = e.text();
    }
    if (options.broadcast && me.size > 1) {
        const peer_status self = this_process();
        mine.job = me.job;
        mine.machine = self.machine;
        mine.at = made_up ? own_addresses(self.host, port) : std::vector<endpoint>{{me.at.host, port}};
        std::string packed = mine.pack();
        options.broadcast(packed.data(), packed.size(), 0);
    }
    if (!mine.fault.empty()) throw world_error{mine.fault};
    made->accept_all(until, limit);
    return made;
}
inline std::shared_ptr<channel_endpoint> rendezvous_as_client(resolved_identity& me, const rendezvous_options& options, instant until,
                                                              std::chrono::nanoseconds limit) {
    std::vector<endpoint> at = candidates(me);
    if (options.broadcast) {
        std::string packed(server_address::bytes, '\0');
        options.broadcast(packed.data(), packed.size(), 0);
        server_address theirs = server_address::unpack(packed);
        const std::string who = "rank " + std::to_string(me.rank);
        if (!theirs.fault.empty()) throw world_error{who + " stops, because " + theirs.fault};
        if (theirs.at.empty()) throw world_error{who + ": the given broadcast has transferred nothing from rank 0"};
        if (theirs.secret.empty() && !me.key.given())
            throw world_error{who + " has no job key, and rank 0 was given one: give it to all ranks, or to none"};
        if (!theirs.secret.empty()) me.key = job_key::from_secret(theirs.secret);
        me.job = theirs.job;
        at = std::move(theirs.at);
        if (theirs.machine == this_process().machine && at.size() > 1) at.insert(at.begin(), {"127.0.0.1", at.front().port});
    }
    const auto made = std::make_shared<client>(me, options.timing);
    made->connect(at, until, limit);
    return made;
}

}  // namespace detail

// Waits until all ranks of the world have joined, and determines the local rank if none was given. Throws timeout, which names the missing
// ranks, and world_error for ranks that join twice, disagree on the size, were built with another version, or belong to another start of
// the program, and for a rendezvous beyond this machine without a job key.
inline std::shared_ptr<control_channel> rendezvous(resolved_identity& me, const rendezvous_options& options = {}) {
    const auto limit = options.limit.value_or(me.limit);
    if (me.size < 1 || me.size > most_ranks || me.rank < 0 || me.rank >= me.size)
        throw world_error{"rank " + std::to_string(me.rank) + " of a world of " + std::to_string(me.size) + ": a world has 1 to " +
                          std::to_string(most_ranks) + " ranks, numbered from 0"};
    if (me.size > 1 && !me.has_address() && !options.broadcast)
        throw world_error{"rank " + std::to_string(me.rank) + " does not know the address of rank 0 (" + me.describe() +
                          "): set DOVETAIL_RENDEZVOUS=host:port, the same on all ranks"};
    const auto until = detail::after(limit);
    const std::shared_ptr<detail::channel_endpoint> end =
        me.rank == 0 ? detail::rendezvous_as_server(me, options, until, limit) : detail::rendezvous_as_client(me, options, until, limit);
    if (me.local_rank < 0) {
        me.local_rank = 0;
        const std::vector<peer_status> all = end->statuses();
        for (int r = 0; r < me.rank; ++r)
            me.local_rank += all[static_cast<std::size_t>(r)].machine == all[static_cast<std::size_t>(me.rank)].machine ? 1 : 0;
        me.local_rank_from = "counted by host";
    }
    return end->serve_from_now();
}

// Has the layout of ncclUniqueId, so that `share_id` needs no NCCL header.
using id_bytes = std::array<char, 128>;

// Returns the same id on all ranks: `make(id)` is called on rank 0. If it throws, the other ranks get the reason.
template <class Make>
id_bytes share_id(control_channel& among, Make&& make, std::chrono::nanoseconds limit) {
    std::string text;
    if (among.rank() == 0) {
        id_bytes made = {};
        try {
            make(made);
        } catch (const std::exception& e) {
            among.abort({0, "rank 0 cannot make an id: " + text_of(e), {}, {}, false});
            throw;
        }
        text.assign(made.data(), made.size());
    }
    const std::string got = among.exchange("the id of a communicator", std::move(text), limit).front();
    id_bytes id = {};
    got.copy(id.data(), id.size());
    return id;
}

// Throws on all ranks if two ranks of one host use the same device, or if a rank has none. `device` identifies it on its host; `fault`
// tells why there is none.
inline void check_devices(control_channel& among, const std::string& device, const std::string& fault, std::chrono::nanoseconds limit) {
    const std::vector<std::string> all = among.exchange("the choice of devices", detail::writer{}.text(device).text(fault).take(), limit);
    const std::vector<peer_status> statuses = among.statuses();
    std::map<std::pair<std::string, std::string>, int> users;
    for (int r = 0; r < among.size(); ++r) {
        detail::reader read{all[static_cast<std::size_t>(r)]};
        const std::string used = read.words(), wrong = read.words();
        const peer_status& m = statuses[static_cast<std::size_t>(r)];
        if (!wrong.empty()) throw world_error{detail::described(r, m) + ": " + wrong};
        const auto [first, fresh] = users.try_emplace({m.machine, used}, r);
        if (!fresh)
            throw world_error{"ranks " + std::to_string(first->second) + " and " + std::to_string(r) + " on " + m.host +
                              " are both to use device " + used};
    }
}

}  // namespace dovetail::control
