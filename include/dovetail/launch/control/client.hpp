// The control channel's end on every rank but 0: one connection, to rank 0.
#pragma once

#include "../log.hpp"
#include "channel_endpoint.hpp"
#include "peer_user.hpp"

namespace dovetail::control::detail {

class client : public channel_endpoint {
public:
    client(const resolved_identity& me, control_timing timing) : channel_endpoint{me.rank, me.size, timing}, me_{me} {}

    // Connects to rank 0 and waits until all ranks have joined. `at` are possible addresses of rank 0, tried in turn until the deadline.
    void connect(const std::vector<endpoint>& at, instant until, std::chrono::nanoseconds limit) {
        std::string why;
        auto pause = std::chrono::milliseconds{5};
        while (!find(at, until, why)) {
            if (now() >= until)
                throw timeout{"timeout after " + in_seconds(limit) + ": " + name() + " has looked for rank 0 at " + at.front().text() +
                                  ", and these have not come: rank 0 (" + why +
                                  (answer_.empty() || answer_ == why ? "" : "; before, " + answer_) + ")",
                              rank()};
            // The pause is random, so that ranks which were refused together do not retry together. It stays short after a connection was
            // accepted: rank 0 may be flooded with connections, and each attempt has a chance.
            std::this_thread::sleep_until(earlier(until, now() + pause * (128 + static_cast<unsigned char>(random_bytes(1)[0])) / 256));
            pause = std::min(2 * pause, std::chrono::milliseconds{taken_ ? 50 : 200});
        }
        // Rank 0 has the same deadline and reports first if it can, because it knows which ranks are missing.
        const auto grace = after(until - now() + std::chrono::milliseconds{700});
        auto next = now();
        while (!welcome_) {
            if (refusal_) {
                const std::string text = name() + " was refused by rank 0: " + refusal_->text;
                if (refusal_->kind == refusal::late) throw timeout{text, rank()};
                throw world_error{text};
            }
            if (!link_.open())
                throw world_error{name() + ": rank 0 at " + at.front().text() + " ended before all ranks had come (" + missing() +
                                  "): " + ended_};
            if (now() >= grace)
                throw timeout{
                    "timeout after " + in_seconds(limit) + ": " + name() + " waits for all ranks, and these have not come: " + missing(),
                    rank()};
            poll_once(earlier(grace, next));
            if (now() >= next) {
                send_heartbeat();
                next = after(timing_.period);
            }
        }
    }

protected:
    // Handles a message of rank 0; false if rank 0 cannot have sent it.
    bool receive(char kind, const std::string& body) {
        switch (kind) {
            case frame::present:
                if (body.size() != static_cast<std::size_t>(size()) || body.find_first_not_of("01") != std::string::npos) return false;
                here_ = true;
                present_ = body;
                return true;
            case frame::welcome:
                return !welcome_ && (welcome_ = update([&](std::vector<peer_status>& all) { return unpack_welcome(body, all); }));
            case frame::refused: return (refusal_ = refusal_message::unpack(body)).has_value();
            case frame::result: return take(unpacked_exchange_result(body, size()));
            case frame::status_table: return update([&](std::vector<peer_status>& all) { return unpack_table(body, all); });
            case frame::heartbeat: return note(heartbeat_message::unpack(body));
            case frame::leave: return note(leave_message::unpack(body, size()));
            case frame::abort: return stop(unpacked_abort_reason(body, size()));
            case frame::close: return note(leave_message{0, left_for_good, 0});  // without rank 0 no exchange can complete
            default: return false;
        }
    }

private:
    bool find(const std::vector<endpoint>& at, instant until, std::string& why) {
        for (const endpoint& e : at) {
            link_ = frame_connection{connect_to(e, name(), me_.key.given(), until, why)};
            taken_ = link_.open();
            if (!taken_) continue;
            strange_ = false;
            handshake_.emplace(me_.key);
            link_.push(frame::hello, handshake_->hello().body);
            const auto patience = earlier(after(until - now() + std::chrono::milliseconds{700}),
                                          now() + std::chrono::milliseconds{at.size() > 1 ? 1000 : 3000});
            while (link_.open() && !here_ && !refusal_ && !welcome_ && now() < patience) poll_once(patience);
            // The server of another program; this job's may be at the next port
            if (refusal_ && refusal_->kind == refusal::stale && at.size() > 1) {
                why = refusal_->text;
                refusal_.reset();
            } else if (here_ || refusal_ || welcome_) {
                return true;
            } else {
                // The process that answers has not proven the job's key, so it must not end the rendezvous.
                why = e.text() + " answers, but not as rank 0 of dovetail with this job's key";
                if (const std::string said = strange_ ? "it is a process of another user" : handshake_->said(); !said.empty())
                    why += ": " + said;
                if (me_.verbose && answer_ != why) launch::log(log_level::debug, name() + ": " + why + "; trying again");
                answer_ = why;
            }
            link_.close();
        }
        return false;
    }
    std::string name() const { return "rank " + std::to_string(rank()) + " of " + std::to_string(size()); }
    std::string missing() const {
        std::vector<int> who;
        for (std::size_t r = 0; r < present_.size(); ++r)
            if (present_[r] != '1') who.push_back(static_cast<int>(r));
        return who.empty() ? "unknown" : list_of_ranks(who);
    }
    bool proven() const { return handshake_ && handshake_->state() == handshake_state::proven; }

    // Handles messages until both ends have proven the key.
    bool take_handshake(char kind, const std::string& body) {
        const handshake_answer a = handshake_->receive(kind, body);
        if (handshake_->state() == handshake_state::refused) return false;
        if (a.kind != 0) link_.push(a.kind, a.body);
        if (!proven()) return true;
        strange_ = !me_.key.given() && !is_own_user(link_.fd());
        if (strange_) return false;
        link_.seal(handshake_->keys().frames_of_rank, handshake_->keys().frames_of_server);
        link_.push(frame::join, join_message{library_version(), rank(), size(), me_.job, this_instance(), this_process()}.pack());
        return true;
    }
    void poll_once(instant until) override {
        for (const message& l : take_messages()) link_.push(l.kind, l.body);
        link_.flush();
        std::array<pollfd, 2> fds = {pollfd{wake_fd(), POLLIN, 0},
                                     pollfd{link_.fd(), static_cast<short>(POLLIN | (link_.sending() ? POLLOUT : 0)), 0}};
        ::poll(fds.data(), link_.open() ? 2 : 1, milliseconds_until(until));
        if (!link_.open()) return;
        const bool more = link_.fill(proven() ? bytes_per_poll : longest_unproven);
        char kind = 0;
        std::string body;
        while (link_.open() && link_.next(kind, body, proven() ? longest_frame : longest_unproven))
            if (!(proven() ? receive(kind, body) : take_handshake(kind, body))) return lost("it sent a message that cannot be read");
        if (!link_.fault().empty())
            lost("it sent " + link_.fault());
        else if (!more || !link_.open())
            lost("its connection closed without notice");
        else if (welcome_ && silent(link_))
            lost("it has sent nothing for " + in_seconds(timing_.silence));
        link_.flush();
    }
    void send_heartbeat() override {
        if (link_.open() && !link_.sending()) link_.push(frame::heartbeat, heartbeat());
        link_.flush();
    }
    void close_connections() override {
        poll_once(now());
        link_.push(frame::close, {});
        drain(link_, now() + std::chrono::milliseconds{500});
        link_.close();
    }
    void lost(const std::string& how) {
        if (!link_.open() && gone_) return;
        link_.close();
        if (ended_.empty()) ended_ = how;
        if (!welcome_ || gone_) return;
        gone_ = true;
        const peer_status server = statuses()[0];
        if (server.leaves == left_for_good) return;
        accept_abort(lost_rank(0, server, how));
    }

    template <class Change>
    bool update(Change&& change) {
        bool good = false;
        update_statuses([&](std::vector<peer_status>& all) { good = change(all); });
        return good;
    }
    bool take(std::optional<std::pair<std::int64_t, exchange_result>> over) {
        if (over) deliver(over->first, std::move(over->second));
        return over.has_value();
    }
    bool note(const std::optional<heartbeat_message>& b) {
        if (!b) return false;
        update_statuses(
            [&](std::vector<peer_status>& all) {
                all[0].at = b->of.at;
                all[0].doing = b->of.doing;
            },
            false);
        return true;
    }
    bool note(const std::optional<leave_message>& m) {
        if (!m) return false;
        update_statuses([&](std::vector<peer_status>& all) {
            peer_status& who = all[static_cast<std::size_t>(m->rank)];
            who.leaves = m->leaves;
            who.exchanges = m->exchanges;
        });
        return true;
    }
    bool stop(const std::optional<abort_reason>& why) {
        if (why) accept_abort(*why);
        return why.has_value();
    }

    const resolved_identity me_;
    frame_connection link_;
    std::optional<client_handshake> handshake_;
    std::optional<refusal_message> refusal_;
    bool taken_ = false, strange_ = false, here_ = false, welcome_ = false, gone_ = false;
    std::string present_, ended_;
    std::string answer_;  // of the last process that answered and was not rank 0
};

}  // namespace dovetail::control::detail
