// The end of the control channel on rank 0: it listens, knows all ranks, and puts together what they bring.
#pragma once

#include "gatherings.hpp"
#include "star.hpp"

namespace dovetail::cuda::detail {

class hub final : public wired {
public:
    hub(const place& me, control_timing timing)
        : wired{0, me.size, timing}, job_{me.job}, links_(static_cast<std::size_t>(me.size)), calls_(static_cast<std::size_t>(me.size)) {}

    // Listens at the first port that is free of those it may have. An empty host and port 0: anywhere. Returns the port.
    int listen(const endpoint& at, int ports, std::chrono::nanoseconds limit) {
        std::string why;
        for (int i = 0; i < ports; ++i) {
            int port = at.port + i;
            listeners_ = listen_at(at.host, port, after(limit), why);
            if (!listeners_.empty()) return port;
        }
        throw world_error{"rank 0 cannot listen at " + at.text() + (ports > 1 ? " and the next " + std::to_string(ports - 1) + " ports" : "") + ": " + why +
                          ". Another program has the port, or an earlier start of this one is not at its end; set DOVETAIL_RENDEZVOUS to another"};
    }
    // Waits until all ranks have come. `limit` is what the deadline is called in a message.
    void meet(instant until, std::chrono::nanoseconds limit) {
        change_members([&](std::vector<member>& all) { all[0] = this_process(); });
        auto next = now();
        while (arrived_ < size() && fatal_.empty()) {
            if (now() >= until) {
                std::string text = "timeout after " + in_seconds(limit) + ": rank 0 of " + std::to_string(size()) +
                                   " waits for all ranks, and these have not come: " + missing();
                for (const std::string& n : notes_) text += "; " + n;
                send_away_all(refusal::late, text);
                throw timeout{text, 0};
            }
            turn(earlier(until, next));
            if (now() >= next) {
                beat();
                next = after(timing_.period);
            }
        }
        if (!fatal_.empty()) {
            send_away_all(refusal::wrong, fatal_);
            throw world_error{fatal_};
        }
        writer w;
        for (const member& m : members()) w.text(m.host).text(m.machine).number(m.process);
        to_all(frame::welcome, w.take());
        complete_ = true;
        flush();
    }

private:
    std::string missing() const {
        std::string who;
        for (int r = 1; r < size(); ++r)
            if (!links_[r].open()) who += (who.empty() ? "rank " : ", rank ") + std::to_string(r);
        return who;
    }
    void to_all(char kind, const std::string& body) {
        for (framed& l : links_) l.push(kind, body);
    }
    void flush() {
        for (framed& l : links_) l.flush();
    }
    static void send_away(framed& link, refusal kind, const std::string& text) {
        link.push(frame::refused, writer{}.number(static_cast<int>(kind)).text(text).take());
        drain(link, now() + std::chrono::milliseconds{200});
        link.close();
    }
    void send_away_all(refusal kind, const std::string& text) {
        for (framed& l : links_)
            if (l.open()) send_away(l, kind, text);
        listeners_.clear();
    }

    void turn(instant until) override {
        for (const letter& l : letters()) receive(0, l.kind, l.body);
        flush();
        std::vector<pollfd> fds = {{wake_fd(), POLLIN, 0}};
        for (const descriptor& d : listeners_) fds.push_back({d.get(), POLLIN, 0});
        for (const newcomer& n : pending_) fds.push_back({n.link.fd(), POLLIN, 0});
        for (const framed& l : links_)
            if (l.open()) fds.push_back({l.fd(), static_cast<short>(POLLIN | (l.sending() ? POLLOUT : 0)), 0});
        ::poll(fds.data(), static_cast<nfds_t>(fds.size()), milliseconds_until(until));
        // Ranks before newcomers: a rank that was started again comes after the end of the first.
        for (int r = 1; r < size(); ++r) listen_to(r);
        hear_newcomers();
        for (const descriptor& d : listeners_) {
            while (pending_.size() < 1024) {
                descriptor fd{::accept4(d.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
                if (!fd) break;
                prepare_connection(fd.get());
                pending_.push_back({framed{std::move(fd)}, now()});
            }
        }
        if (!complete_ && std::exchange(present_changed_, false)) {
            std::string present = "1";
            for (int r = 1; r < size(); ++r) present += links_[r].open() ? '1' : '0';
            to_all(frame::present, present);
        }
        flush();
    }
    void listen_to(int r) {
        framed& link = links_[r];
        if (!link.open()) return;
        const bool more = link.fill();
        char kind = 0;
        std::string body;
        while (link.next(kind, body, longest_frame)) receive(r, kind, body);
        if (!more || !link.open())
            lost(r, "its connection closed without a farewell");
        else if (complete_ && silent(link))
            lost(r, "it has not been heard of for " + in_seconds(timing_.silence));
    }
    void lost(int r, const std::string& how) {
        links_[r].close();
        if (!complete_) {
            --arrived_;
            present_changed_ = true;
            notes_.push_back("rank " + std::to_string(r) + " came and went");
            return;
        }
        const member m = members()[static_cast<std::size_t>(r)];
        if (m.leaves == for_good) return;
        const stop_cause why = lost_rank(r, m, how);
        if (settle(why)) to_all(frame::stop, packed(why));
    }
    void hear_newcomers() {
        for (newcomer& n : pending_) {
            const bool more = n.link.fill();
            char kind = 0;
            std::string body;
            if (n.link.next(kind, body, 4096)) {
                if (kind == frame::hello) admit(n.link, reader{body});
                n.link.close();
            } else if (!more || now() - n.since > std::chrono::seconds{5}) {
                n.link.close();
            }
        }
        std::erase_if(pending_, [](const newcomer& n) { return !n.link.open(); });
    }
    void admit(framed& link, reader r) {
        if (r.text() != protocol) return;
        const std::string version = r.text();
        const std::int64_t rank = r.number(), size_there = r.number();
        const std::string job = r.text();
        member m;
        m.host = r.text();
        m.machine = r.text();
        m.process = static_cast<long>(r.number());
        if (!r.good()) return;
        const std::string who = described(static_cast<int>(rank), m);
        if (job != job_) {
            notes_.push_back(who + " of another start was sent away");
            return send_away(link, refusal::stale, "this is another start of the program, of job `" + job_ + "`, and " + who + " is of job `" + job + "`");
        }
        std::string wrong;
        if (version != library_version())
            wrong = who + " was built with dovetail " + version + ", rank 0 with " + library_version();
        else if (size_there != size())
            wrong = who + " says that the world has " + std::to_string(size_there) + " ranks, rank 0 says " + std::to_string(size());
        else if (rank < 0 || rank >= size())
            wrong = who + " is not in a world of " + std::to_string(size());
        else if (rank == 0 || links_[rank].open())
            wrong = "rank " + std::to_string(rank) + " came twice: " + described(static_cast<int>(rank), members()[rank]) + ", then " + who;
        else if (complete_)
            wrong = "the world is complete, and " + who + " came to it again";
        if (!wrong.empty()) {
            if (!complete_ && fatal_.empty()) fatal_ = wrong;
            return send_away(link, refusal::wrong, wrong);
        }
        links_[rank] = std::move(link);
        ++arrived_;
        present_changed_ = true;
        change_members([&](std::vector<member>& all) { all[rank] = std::move(m); });
    }

    void receive(int rank, char kind, const std::string& body) {
        reader r{body};
        switch (kind) {
            case frame::part: return gather(rank, r);
            case frame::beat: return note(rank, r);
            case frame::ask: {
                if (rank == 0) return receive(0, frame::beat, pulse());
                writer w;
                for (const member& m : members()) {
                    put(w, m.at, m.doing);
                    w.number(m.exchanges);
                }
                return links_[rank].push(frame::table, w.take());
            }
            case frame::stop: {
                const stop_cause why = unpacked_cause(r);
                if (settle(why) || rank == 0) to_all(frame::stop, packed(why));
                return;
            }
            case frame::left: return leave(rank, r.number());
            case frame::bye: return leave(rank, for_good);
            default: return;
        }
    }
    void leave(int rank, std::int64_t leaves) {
        std::int64_t exchanges = 0;
        change_members([&](std::vector<member>& all) {
            all[rank].leaves = leaves;
            exchanges = all[rank].exchanges;
        });
        to_all(frame::left, writer{}.number(rank).number(leaves).number(exchanges).take());
    }
    void gather(int rank, reader& r) {
        part p{r.number(), rank, r.text(), r.text()};
        change_members([&](std::vector<member>& all) { all[rank].exchanges = p.number + 1; });
        const std::int64_t number = p.number;
        if (auto end = gatherings_.add(std::move(p))) {
            to_all(frame::whole, packed(number, *end));
            deliver(number, std::move(*end));
        }
    }
    void note(int rank, reader& r) {
        change_members([&](std::vector<member>& all) { take_doing(r, all[static_cast<std::size_t>(rank)]); });
        call_list c;
        c.first = r.number();
        const std::int64_t count = std::min(r.number(), window);
        for (std::int64_t i = 0; i < count; ++i) c.executors.push_back(r.number());
        calls_[rank] = std::move(c);
        // Neither of two ranks that call different executors would come to the end of its run.
        for (int other = 1; other < size() && !aborted(); ++other) {
            if (rank != 0 && rank != other) continue;
            const std::string wrong = different_call(calls_[0], calls_[other], other);
            if (wrong.empty()) continue;
            const stop_cause why{other, wrong, {}, {}, false};
            if (settle(why)) to_all(frame::stop, packed(why));
        }
    }
    void beat() override {
        const std::string mine = pulse();
        receive(0, frame::beat, mine);
        to_all(frame::beat, mine);
        flush();
    }
    // Waits for the others' farewells, within the bound, so that a rank that is still at work can be told what goes wrong.
    void farewell() override {
        const auto until = after(timing_.linger);
        const auto all_left = [&] {
            for (const framed& l : links_)
                if (l.open()) return false;
            return true;
        };
        auto next = now();
        turn(next);
        while (!all_left() && now() < until) {
            if (now() >= next) {
                beat();
                next = after(timing_.period);
            }
            turn(earlier(until, next));
        }
        to_all(frame::bye, {});
        for (framed& l : links_) {
            drain(l, now() + std::chrono::milliseconds{100});
            l.close();
        }
        listeners_.clear();
    }

    struct newcomer {
        framed link;
        instant since;
    };
    const std::string job_;
    std::vector<descriptor> listeners_;
    std::vector<newcomer> pending_;  // connections that have not said who they are
    std::vector<framed> links_;      // by rank
    std::vector<call_list> calls_;   // by rank
    gatherings gatherings_{size()};
    std::vector<std::string> notes_;  // for the message of a timeout
    std::string fatal_;
    int arrived_ = 1;
    bool present_changed_ = false, complete_ = false;
};

}  // namespace dovetail::cuda::detail
