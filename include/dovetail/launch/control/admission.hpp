// Connections to rank 0 that have not yet proven that they belong to the job. Any process can open any number of them and send anything, so
// only a few are kept at a time. Each uses little memory, learns nothing but the protocol's number, and is closed after a few seconds.
#pragma once

#include "frame_connection.hpp"
#include "handshake.hpp"
#include "peer_user.hpp"

#include <algorithm>
#include <map>

namespace dovetail::control::detail {

// A waiting connection, and which of them is closed to admit one more from `network`; none: the new one is closed.
// Networks share the places evenly: the network with the most connections loses one to a network with fewer, so that a host which opens
// many connections displaces only its own. Within a network the oldest is closed, once it has had enough time for the handshake of a rank.
// A rank whose connection was closed tries again.
struct waiting {
    std::string network;
    instant since;
    bool proven = false;
};
inline std::optional<std::size_t> displaced_by(const std::string& network, const std::vector<waiting>& all, instant at) {
    constexpr std::chrono::milliseconds handshake_time{10};
    std::map<std::string_view, std::size_t> share;
    for (const waiting& w : all) share[w.network] += w.proven ? 0 : 1;
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].proven) continue;
        const std::size_t held = share[all[i].network], most = first ? share[all[*first].network] : 0;
        if (!first || held > most || (held == most && all[i].since < all[*first].since)) first = i;
    }
    if (!first) return {};
    const bool more_than_mine = share[all[*first].network] > share[network] + 1;
    return more_than_mine || at - all[*first].since > handshake_time ? first : std::nullopt;
}

class admission {
public:
    static constexpr std::size_t most_pending = 16;
    static constexpr std::chrono::seconds patience{5};  // for a handshake

    explicit admission(job_key key) : key_{std::move(key)} {}

    void listen(std::vector<descriptor> at) { listeners_ = std::move(at); }
    void close() {
        listeners_.clear();
        pending_.clear();
    }
    void add_to(std::vector<pollfd>& polled) const {
        if (now() >= accept_from_)
            for (const descriptor& d : listeners_) polled.push_back({d.get(), POLLIN, 0});
        for (const pending_connection& n : pending_)
            polled.push_back({n.link.fd(), static_cast<short>(POLLIN | (n.link.sending() ? POLLOUT : 0)), 0});
    }
    // One iteration of serving. `joined(link, message)` is called for each connection that has proven the key, with its rank's first
    // message; it takes over the connection, or returns the refusal to send.
    template <class Joined>
    void serve(Joined&& joined) {
        for (pending_connection& n : pending_) {
            if (n.refused)
                finish(n);
            else
                read_from(n, joined);
            n.link.flush();
        }
        std::erase_if(pending_, [](const pending_connection& n) { return !n.link.open(); });
        if (now() >= accept_from_)
            for (const descriptor& d : listeners_) accept(d);
    }
    // Whether a refusal is still being sent.
    bool refusing() const {
        for (const pending_connection& n : pending_)
            if (n.refused) return true;
        return false;
    }
    // Text that may explain missing ranks: "; ...", or empty.
    std::string notes() const {
        std::string text;
        if (rejected_ > 0)
            text += "; " + std::to_string(rejected_) + (rejected_ == 1 ? " connection" : " connections") +
                    " did not come from a rank of this job, the last from " + last_rejected_ + ": " + last_rejection_;
        if (!starved_.empty()) text += "; rank 0 could not accept every connection: " + starved_;
        return text;
    }

protected:
    void take(descriptor fd, const address& from) {
        if (pending_.size() >= most_pending && !make_room(from.network())) return;
        prepare_connection(fd.get());
        pending_.push_back({frame_connection{std::move(fd)}, from, now(), server_handshake{key_}});
    }
    std::size_t waiting_count() const { return pending_.size(); }

private:
    struct pending_connection {
        frame_connection link;
        address from;
        instant since;
        server_handshake handshake;
        bool refused = false;  // only the refusal is still sent; received bytes are dropped
    };

    template <class Joined>
    void read_from(pending_connection& n, Joined&& joined) {
        const bool more = n.link.fill(longest_unproven + frame_header + frame_tags::size);
        char kind = 0;
        std::string body;
        while (!n.refused && n.link.open() && n.link.next(kind, body, longest_unproven)) {
            if (n.handshake.state() == handshake_state::proven)
                join(n, kind, body, joined);
            else
                answer(n, n.handshake.receive(kind, body));
        }
        if (!n.refused && !n.link.fault().empty()) too_long(n, kind);
        if (n.refused || !n.link.open()) return;
        if (now() - n.since > patience) return drop(n, "it did not complete the handshake");
        if (!more) n.link.close();
    }
    void answer(pending_connection& n, const handshake_answer& a) {
        const bool proven = n.handshake.state() == handshake_state::proven;
        if (proven && !key_.given() && !is_own_user(n.link.fd()))
            return drop(n, "it is a process of another user, and there is no job key");
        if (a.kind != 0) n.link.push(a.kind, a.body);
        if (proven) n.link.seal(n.handshake.keys().frames_of_server, n.handshake.keys().frames_of_rank);
        if (n.handshake.state() != handshake_state::refused) return;
        if (a.kind != frame::refused) return drop(n, "it does not speak dovetail's protocol");
        note(n, refusal_message::unpack(a.body)->text);
        begin_refusal(n);
    }
    template <class Joined>
    void join(pending_connection& n, char kind, const std::string& body, Joined&& joined) {
        const auto said = kind == frame::join ? join_message::unpack(body) : std::nullopt;
        const std::optional<refusal_message> no =
            said ? joined(n.link, *said) : refusal_message{refusal::wrong, "rank 0 cannot read the first message of this process"};
        if (!no) return n.link.close();  // the connection was moved from
        n.link.push(frame::refused, no->pack());
        begin_refusal(n);
    }
    void too_long(pending_connection& n, char kind) {
        if (n.handshake.state() != handshake_state::proven) return answer(n, n.handshake.too_long(kind, n.link.fault()));
        n.link.push(frame::refused, refusal_message{refusal::wrong, "rank 0 was sent " + n.link.fault()}.pack());
        begin_refusal(n);
    }
    void note(const pending_connection& n, const std::string& why) {
        ++rejected_;
        last_rejected_ = n.from.host();
        last_rejection_ = why;
    }
    void drop(pending_connection& n, const std::string& why) {
        note(n, why);
        n.link.close();
    }
    // Received bytes are still read: closing a connection with unread bytes resets it, and the refusal might be lost.
    static void begin_refusal(pending_connection& n) {
        n.refused = true;
        n.since = now();
        n.link.flush();
    }
    static void finish(pending_connection& n) {
        n.link.flush();
        if (!n.link.sending()) n.link.end_sending();
        if (!n.link.discard(bytes_dropped_per_poll) || now() - n.since > std::chrono::seconds{1}) n.link.close();
    }

    void accept(const descriptor& listener) {
        for (std::size_t i = 0; i < most_pending; ++i) {
            address from;
            descriptor fd = descriptor::of([&] { return ::accept4(listener.get(), from.get(), &from.size, SOCK_CLOEXEC | SOCK_NONBLOCK); });
            if (fd) {
                take(std::move(fd), from);
                continue;
            }
            if (errno == EINTR || errno == ECONNABORTED) continue;
            if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
            starved_ = std::string{std::strerror(errno)} + " (ulimit -n)";
            // Otherwise poll would report at once again the connections that cannot be accepted.
            if (!make_room({})) accept_from_ = after(std::chrono::milliseconds{100});
            return;
        }
    }
    bool make_room(const std::string& network) {
        std::vector<waiting> all;
        for (const pending_connection& n : pending_)
            all.push_back({n.from.network(), n.since, n.handshake.state() == handshake_state::proven && !n.refused});
        const auto which = displaced_by(network, all, now());
        if (!which) return false;
        note(pending_[*which], "it was closed in favour of other connections before it had completed the handshake");
        pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(*which));
        return true;
    }

    static constexpr std::size_t bytes_dropped_per_poll = std::size_t{1} << 16;

    const job_key key_;
    std::vector<descriptor> listeners_;
    std::vector<pending_connection> pending_;
    instant accept_from_ = {};
    std::size_t rejected_ = 0;
    std::string last_rejected_, last_rejection_, starved_;
};

}  // namespace dovetail::control::detail
