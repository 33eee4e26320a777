// The end of the control channel on every rank but 0: one connection, to rank 0.
#pragma once

#include "star.hpp"

namespace dovetail::cuda::detail {

class spoke final : public wired {
public:
    spoke(const place& me, control_timing timing) : wired{me.rank, me.size, timing} {}

    // Comes to rank 0 and waits until all have. `at` are the places where it may be, tried in turn until the deadline.
    void meet(const place& me, const std::vector<endpoint>& at, instant until, std::chrono::nanoseconds limit) {
        const std::string who = "rank " + std::to_string(me.rank) + " of " + std::to_string(me.size);
        std::string why;
        auto pause = std::chrono::milliseconds{5};
        while (!find(me, at, until, why)) {
            if (now() >= until)
                throw timeout{"timeout after " + in_seconds(limit) + ": " + who + " has looked for rank 0 at " + at.front().text() +
                                  ", and these have not come: rank 0 (" + why + ")",
                              me.rank};
            std::this_thread::sleep_until(earlier(until, now() + pause));
            pause = std::min(2 * pause, std::chrono::milliseconds{200});
        }
        // Rank 0 has a deadline of its own and speaks first where it can: it knows who is missing.
        const auto grace = after(until - now() + std::chrono::milliseconds{700});
        auto next = now();
        while (!welcome_) {
            if (refused_) {
                if (refusal_ == refusal::late) throw timeout{who + " was sent away by rank 0: " + refusal_text_, me.rank};
                throw world_error{who + " was sent away by rank 0: " + refusal_text_};
            }
            if (!link_.open()) throw world_error{who + ": rank 0 at " + at.front().text() + " ended before all ranks had come (" + missing() + ")"};
            if (now() >= grace)
                throw timeout{"timeout after " + in_seconds(limit) + ": " + who + " waits for all ranks, and these have not come: " + missing(), me.rank};
            turn(earlier(grace, next));
            if (now() >= next) {
                beat();
                next = after(timing_.period);
            }
        }
    }

private:
    bool find(const place& me, const std::vector<endpoint>& at, instant until, std::string& why) {
        for (const endpoint& e : at) {
            link_ = framed{connect_to(e, until, why)};
            if (!link_.open()) continue;
            const member m = this_process();
            link_.push(frame::hello, writer{}
                                         .text(protocol)
                                         .text(library_version())
                                         .number(me.rank)
                                         .number(me.size)
                                         .text(me.job)
                                         .text(m.host)
                                         .text(m.machine)
                                         .number(m.process)
                                         .take());
            const auto patience =
                earlier(after(until - now() + std::chrono::milliseconds{700}), now() + std::chrono::milliseconds{at.size() > 1 ? 1000 : 3000});
            while (link_.open() && !here_ && !refused_ && !welcome_ && now() < patience) turn(patience);
            if (refused_ && refusal_ == refusal::stale && at.size() > 1) {  // another program's; ours may be at the next port
                why = refusal_text_;
                refused_ = false;
            } else if (here_ || refused_ || welcome_) {
                return true;
            } else {
                why = e.text() + " answers, but not as rank 0 of dovetail";
            }
            link_.close();
        }
        return false;
    }
    std::string missing() const {
        std::string who;
        for (std::size_t r = 0; r < present_.size(); ++r)
            if (present_[r] != '1') who += (who.empty() ? "rank " : ", rank ") + std::to_string(r);
        return who.empty() ? "unknown" : who;
    }

    void turn(instant until) override {
        for (letter& l : letters()) link_.push(l.kind, l.body);
        link_.flush();
        std::array<pollfd, 2> fds = {pollfd{wake_fd(), POLLIN, 0}, pollfd{link_.fd(), static_cast<short>(POLLIN | (link_.sending() ? POLLOUT : 0)), 0}};
        ::poll(fds.data(), link_.open() ? 2 : 1, milliseconds_until(until));
        if (!link_.open()) return;
        const bool more = link_.fill();
        char kind = 0;
        std::string body;
        while (link_.next(kind, body, longest_frame)) receive(kind, body);
        if (!more || !link_.open())
            lost("its connection closed without a farewell");
        else if (welcome_ && silent(link_))
            lost("it has not been heard of for " + in_seconds(timing_.silence));
        link_.flush();
    }
    void beat() override {
        if (link_.open()) link_.push(frame::beat, pulse());
        link_.flush();
    }
    void farewell() override {
        turn(now());
        link_.push(frame::bye, {});
        drain(link_, now() + std::chrono::milliseconds{500});
        link_.close();
    }
    void lost(const std::string& how) {
        if (!link_.open() && gone_) return;
        link_.close();
        if (!welcome_ || gone_) return;
        gone_ = true;
        const member hub = members()[0];
        if (hub.leaves == for_good) return;
        settle(lost_rank(0, hub, how));
    }
    void receive(char kind, const std::string& body) {
        reader r{body};
        switch (kind) {
            case frame::present:
                here_ = true;
                present_ = body;
                break;
            case frame::welcome:
                change_members([&](std::vector<member>& all) {
                    for (member& m : all) {
                        m.host = r.text();
                        m.machine = r.text();
                        m.process = static_cast<long>(r.number());
                    }
                });
                welcome_ = true;
                break;
            case frame::refused:
                refused_ = true;
                refusal_ = static_cast<refusal>(r.number());
                refusal_text_ = r.text();
                break;
            case frame::whole: {
                const std::int64_t number = r.number();
                outcome result;
                result.fault = r.text();
                if (result.fault.empty())
                    for (int i = 0; i < size(); ++i) result.texts.push_back(r.text());
                deliver(number, std::move(result));
                break;
            }
            case frame::table:
                change_members([&](std::vector<member>& all) {
                    for (member& m : all) {
                        take_doing(r, m);
                        m.exchanges = r.number();
                    }
                });
                break;
            case frame::beat: change_members([&](std::vector<member>& all) { take_doing(r, all[0]); }, false); break;
            case frame::left: {
                const std::int64_t who = r.number(), leaves = r.number(), exchanges = r.number();
                if (who < 0 || who >= size()) break;
                change_members([&](std::vector<member>& all) {
                    all[static_cast<std::size_t>(who)].leaves = leaves;
                    all[static_cast<std::size_t>(who)].exchanges = exchanges;
                });
                break;
            }
            case frame::stop: settle(unpacked_cause(r)); break;
            case frame::bye:
                // Nothing can be exchanged without rank 0, whatever it has brought before.
                change_members([](std::vector<member>& all) {
                    all[0].leaves = for_good;
                    all[0].exchanges = 0;
                });
                break;
            default: break;
        }
    }

    framed link_;
    bool here_ = false, welcome_ = false, refused_ = false, gone_ = false;
    refusal refusal_ = refusal::wrong;
    std::string refusal_text_, present_;
};

}  // namespace dovetail::cuda::detail
