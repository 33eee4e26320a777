// The control channel's end on rank 0: it listens, has a connection to every rank, and collects what the ranks send.
#pragma once

#include "admission.hpp"
#include "channel_endpoint.hpp"
#include "pending_exchanges.hpp"

namespace dovetail::control::detail {

class server : public channel_endpoint {
public:
    server(const resolved_identity& me, control_timing timing)
        : channel_endpoint{0, me.size, timing},
          job_{me.job},
          keyed_{me.key.given()},
          admission_{me.key},
          ranks_(static_cast<std::size_t>(me.size)) {}

    // Listens at `host`, or at every address if `host` is empty, on the first free one of `ports` ports from `port` on; port 0: any.
    // Returns the port.
    int listen(const std::string& host, int port, int ports, std::chrono::nanoseconds limit) {
        std::string why;
        const std::vector<address> at = listening_addresses(host, keyed_, after(limit), why);
        for (int i = 0; i < ports && !at.empty(); ++i) {
            int taken = port + i;
            std::vector<descriptor> listeners = listen_at(at, taken, why);
            if (listeners.empty()) continue;
            admission_.listen(std::move(listeners));
            return taken;
        }
        throw world_error{"rank 0 cannot listen at " + endpoint{host, port}.text() +
                          (ports > 1 ? " and the next " + std::to_string(ports - 1) + " ports" : "") + ": " + why};
    }
    // Waits until all ranks have joined; later connections are refused. `limit` is the time limit as named in messages.
    void accept_all(instant until, std::chrono::nanoseconds limit) {
        update_statuses([&](std::vector<peer_status>& all) { all[0] = this_process(); });
        auto next = now();
        while (arrived_ < size() && fatal_.empty()) {
            if (now() >= until) {
                const std::string text = "timeout after " + in_seconds(limit) + ": rank 0 of " + std::to_string(size()) +
                                         " waits for all ranks, and these have not come: " + list_of_ranks(missing()) + notes_ +
                                         admission_.notes();
                refuse_all({refusal::late, text});
                throw timeout{text, 0};
            }
            poll_once(earlier(until, next));
            if (now() >= next) {
                send_heartbeat();
                next = after(timing_.period);
            }
        }
        if (!fatal_.empty()) {
            refuse_all({refusal::wrong, fatal_});
            throw world_error{fatal_};
        }
        to_all(frame::welcome, packed_welcome(statuses()));
        complete_ = true;
        admission_.close();
        flush();
    }

protected:
    // What rank 0 knows of another rank.
    struct client_state {
        frame_connection link;
        std::string instance;  // identifies its process
        call_list calls;
        bool informed = false;  // it was sent the reason for which rank 0 ends
    };

    // Handles a message of a rank; false if no rank of this program can have sent it.
    bool receive(int rank, char kind, const std::string& body) {
        switch (kind) {
            case frame::contribution: return receive_contribution(contribution::unpack(body, rank));
            case frame::heartbeat: return note(rank, heartbeat_message::unpack(body));
            case frame::status_request: return answer(rank);
            case frame::abort: return stop(rank, unpacked_abort_reason(body, size()));
            case frame::leave: return leave(rank, leave_message::unpack(body, size()));
            case frame::close: return leave(rank, leave_message{rank, left_for_good, 0});
            default: return false;
        }
    }
    // Admits a rank, or returns the refusal.
    std::optional<refusal_message> admit(frame_connection& link, const join_message& said) {
        const std::string who = described(said.rank, said.who);
        if (said.job != job_) {
            note_of("; " + who + " of another start of the program was refused");
            return refusal_message{refusal::stale, "this is another start of the program, of job `" + printable(job_) + "`, and " + who +
                                                       " is of job `" + printable(said.job) + "`"};
        }
        const std::string wrong = mistake(said, who);
        if (failure_ || !wrong.empty()) {
            if (said.rank > 0 && said.rank < size()) at(said.rank).informed = true;
            if (fatal_.empty()) fatal_ = wrong;
            return failure_ ? failure_ : refusal_message{refusal::wrong, wrong};
        }
        client_state& r = at(said.rank);
        arrived_ += r.link.open() ? 0 : 1;  // otherwise the same process joins again after its former connection broke
        r.link = std::move(link);
        r.instance = said.instance;
        r.calls = {};
        present_changed_ = true;
        update_statuses([&](std::vector<peer_status>& all) { all[static_cast<std::size_t>(said.rank)] = said.who; });
        return {};
    }
    client_state& at(std::int64_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }

private:
    std::string mistake(const join_message& said, const std::string& who) {
        if (said.version != library_version())
            return who + " was built with dovetail " + said.version + ", rank 0 with " + library_version();
        if (said.size != size())
            return who + " says that the world has " + std::to_string(said.size) + " ranks, rank 0 says " + std::to_string(size());
        if (said.rank < 0 || said.rank >= size()) return who + " is not in a world of " + std::to_string(size());
        const bool twice = said.rank == 0 || (at(said.rank).link.open() && at(said.rank).instance != said.instance);
        if (twice)
            return "rank " + std::to_string(said.rank) +
                   " came twice: " + described(said.rank, statuses()[static_cast<std::size_t>(said.rank)]) + ", then " + who;
        return {};
    }
    std::vector<int> missing() {
        std::vector<int> who;
        for (int r = 1; r < size(); ++r)
            if (!at(r).link.open()) who.push_back(r);
        return who;
    }
    void note_of(const std::string& what) {
        constexpr std::size_t most = 500;
        if (notes_.size() + what.size() <= most) notes_ += what;
    }
    void to_all(char kind, const std::string& body) {
        for (client_state& r : ranks_) r.link.push(kind, body);
    }
    void flush() {
        for (client_state& r : ranks_) r.link.flush();
    }
    // Sends the reason for which rank 0 ends to the connected ranks, which then close, and to ranks that connect while rank 0 lingers.
    void refuse_all(const refusal_message& why) {
        failure_ = why;
        for (client_state& r : ranks_) {
            r.informed = r.informed || r.link.open();
            r.link.push(frame::refused, why.pack());
        }
        const auto untold = [&, this] {
            for (int r = 1; r < size(); ++r)
                if (!at(r).informed || at(r).link.open()) return true;
            return admission_.refusing();
        };
        for (const auto until = after(timing_.linger); untold() && now() < until;) poll_once(earlier(until, after(timing_.period)));
        admission_.close();
    }

    void poll_once(instant until) override {
        for (const message& l : take_messages()) receive(0, l.kind, l.body);
        flush();
        std::vector<pollfd> fds = {{wake_fd(), POLLIN, 0}};
        admission_.add_to(fds);
        for (const client_state& r : ranks_)
            if (r.link.open()) fds.push_back({r.link.fd(), static_cast<short>(POLLIN | (r.link.sending() ? POLLOUT : 0)), 0});
        ::poll(fds.data(), static_cast<nfds_t>(fds.size()), milliseconds_until(until));
        // Ranks before pending connections: a restarted rank connects after its former connection has ended.
        for (int r = 1; r < size(); ++r) listen_to(r);
        if (!complete_) admission_.serve([&, this](frame_connection& link, const join_message& said) { return admit(link, said); });
        if (!complete_ && !failure_ && std::exchange(present_changed_, false)) {
            std::string present = "1";
            for (int r = 1; r < size(); ++r) present += at(r).link.open() ? '1' : '0';
            to_all(frame::present, present);
        }
        flush();
    }
    void listen_to(int r) {
        frame_connection& link = at(r).link;
        if (!link.open()) return;
        const bool more = link.fill(bytes_per_poll);
        char kind = 0;
        std::string body;
        while (link.open() && link.next(kind, body, longest_frame_of_rank))
            if (!receive(r, kind, body)) return lost(r, "it sent a message that cannot be read");
        if (!link.fault().empty())
            lost(r, "it sent " + link.fault());
        else if (!more || !link.open())
            lost(r, "its connection closed without notice");
        else if (complete_ && silent(link))
            lost(r, "it has sent nothing for " + in_seconds(timing_.silence));
    }
    void lost(int r, const std::string& how) {
        at(r).link.close();
        if (!complete_) {
            --arrived_;
            present_changed_ = true;
            if (!failure_) note_of("; rank " + std::to_string(r) + " connected and disconnected");
            return;
        }
        const peer_status m = statuses()[static_cast<std::size_t>(r)];
        if (m.leaves == left_for_good) return;
        end(lost_rank(r, m, how));
    }
    void end(const abort_reason& why) {
        if (accept_abort(why)) to_all(frame::abort, packed(why));
    }

    bool answer(int rank) {
        if (rank == 0) return receive(0, frame::heartbeat, heartbeat());
        frame_connection& link = at(rank).link;
        // Otherwise an earlier request is still being answered
        if (!link.sending()) link.push(frame::status_table, packed_table(statuses()));
        return true;
    }
    bool stop(int rank, const std::optional<abort_reason>& why) {
        if (why && (accept_abort(*why) || rank == 0)) to_all(frame::abort, packed(*why));
        return why.has_value();
    }
    bool leave(int rank, std::optional<leave_message> m) {
        if (!m) return false;
        m->rank = rank;
        update_statuses([&](std::vector<peer_status>& all) {
            peer_status& who = all[static_cast<std::size_t>(rank)];
            who.leaves = m->leaves;
            m->exchanges = who.exchanges;
        });
        to_all(frame::leave, m->pack());
        return true;
    }
    bool receive_contribution(std::optional<contribution> p) {
        bool next = false;  // it belongs to the rank's next exchange
        if (p)
            update_statuses([&](std::vector<peer_status>& all) {
                peer_status& who = all[static_cast<std::size_t>(p->rank)];
                next = p->number == who.exchanges;
                who.exchanges += next ? 1 : 0;
            });
        if (!next) return false;
        const std::int64_t number = p->number;
        if (auto over = pending_exchanges_.add(std::move(*p))) {
            to_all(frame::result, packed(number, *over));
            deliver(number, std::move(*over));
        }
        return true;
    }
    bool note(int rank, std::optional<heartbeat_message> b) {
        if (!b) return false;
        update_statuses([&](std::vector<peer_status>& all) {
            peer_status& who = all[static_cast<std::size_t>(rank)];
            who.at = b->of.at;
            who.doing = std::move(b->of.doing);
        });
        at(rank).calls = std::move(b->calls);
        // If two ranks call different executors, neither run can end.
        for (int other = 1; other < size() && !aborted(); ++other) {
            if (rank != 0 && rank != other) continue;
            const std::string wrong = different_call(at(0).calls, at(other).calls, other);
            if (!wrong.empty()) end({other, wrong, {}, {}, false});
        }
        return true;
    }
    void send_heartbeat() override {
        const std::string mine = heartbeat();
        receive(0, frame::heartbeat, mine);
        for (client_state& r : ranks_)
            // Skipped for a rank that does not read: its output buffer must not grow
            if (!r.link.sending()) r.link.push(frame::heartbeat, mine);
        flush();
    }
    // Waits for the others to close their connections, within the bound, so that ranks which still work receive the reason of a failure.
    void close_connections() override {
        const auto until = after(timing_.linger);
        const auto all_left = [&, this] {
            for (const client_state& r : ranks_)
                if (r.link.open()) return false;
            return true;
        };
        auto next = now();
        poll_once(next);
        while (!all_left() && now() < until) {
            if (now() >= next) {
                send_heartbeat();
                next = after(timing_.period);
            }
            poll_once(earlier(until, next));
        }
        to_all(frame::close, {});
        for (client_state& r : ranks_) {
            drain(r.link, now() + std::chrono::milliseconds{100});
            r.link.close();
        }
    }

    const std::string job_;
    const bool keyed_;
    admission admission_;
    std::vector<client_state> ranks_;  // the entry of rank 0 has no connection
    pending_exchanges pending_exchanges_{size()};
    std::string notes_, fatal_;  // notes for the message of a timeout; the error that ends the rendezvous
    std::optional<refusal_message> failure_;
    int arrived_ = 1;
    bool present_changed_ = false, complete_ = false;
};

}  // namespace dovetail::control::detail
