// The control channel between real processes on loopback: exchanges, agreement, who is behind, and that a rank which fails,
// leaves, stalls or is killed is named to all others within a limit.
#include <doctest/doctest.h>

#include <dovetail/launch/control/process_peers.hpp>
#include <dovetail/launch/control/rendezvous.hpp>

#include <support/processes.hpp>
#include <support/raw_rank.hpp>
#include <support/says.hpp>

using namespace dovetail::control;
using namespace std::chrono_literals;
using support::says;

namespace {

constexpr control_timing quick{.period = 50ms, .silence = 10s, .linger = 300ms};

// A process for every rank, which meet and then call body(channel, rank).
template <class Body>
void start_world(support::processes& all, int size, const Body& body, control_timing timing = quick) {
    const int port = support::free_port();
    for (int r = 0; r < size; ++r)
        all.start([=] {
            resolved_identity me;
            me.rank = r;
            me.size = size;
            me.at = {"127.0.0.1", port};
            auto channel = rendezvous(me, {.limit = 3s, .timing = timing});
            return std::string{body(channel, r)};
        });
}
template <class Body>
std::vector<std::string> in_world(int size, const Body& body, control_timing timing = quick) {
    support::processes all;
    start_world(all, size, body, timing);
    return all.ends();
}
// Waits for the watchdog's call and says who and what.
struct watched {
    std::mutex mutex;
    std::condition_variable changed;
    std::string text;
    int calls = 0;
    detail::instant at;

    void operator()(const abort_reason& why) {
        const std::lock_guard lock{mutex};
        text = "rank " + std::to_string(why.rank) + ": " + why.text;
        ++calls;
        at = detail::now();
        changed.notify_all();
    }
    std::string wait(std::chrono::nanoseconds limit) {
        std::unique_lock lock{mutex};
        return changed.wait_for(lock, limit, [&] { return calls > 0; }) ? text : "nobody called";
    }
};

}  // namespace

TEST_CASE("an exchange gives every rank everybody's text") {
    const auto said = in_world(4, [](auto& c, int r) {
        const std::string big(300'000, static_cast<char>('a' + r));
        for (int i = 0; i < 200; ++i) {
            const auto all = c->exchange("round " + std::to_string(i), std::to_string(10 * r + i), 2s);
            for (int q = 0; q < 4; ++q)
                if (all[q] != std::to_string(10 * q + i)) return std::string{"wrong"};
        }
        const auto all = c->exchange("big", big, 2s);
        for (int q = 0; q < 4; ++q)
            if (all[q] != std::string(300'000, static_cast<char>('a' + q))) return std::string{"wrong"};
        const auto known = c->statuses();
        return known[3].process > 0 && known[3].process != known[0].process && known[3].machine == known[0].machine
                   ? std::string{"right"}
                   : std::string{"unknown"};
    });
    for (const auto& text : said) CHECK(text == "right");
}

TEST_CASE("a rank that does not come to an exchange is named") {
    const auto said = in_world(3, [](auto& c, int r) -> std::string {
        if (r == 1) {
            std::this_thread::sleep_for(900ms);
            return "slept";
        }
        try {
            c->barrier("the start of `model`", 300ms);
        } catch (const dovetail::timeout& e) {
            std::this_thread::sleep_for(500ms);
            return e.what();
        }
        return "came";
    });
    for (const int r : {0, 2})
        CHECK(says(said[r], "rank " + std::to_string(r) + " waits for all ranks at the start of `model`, and these have not come: rank 1"));
}

TEST_CASE("ranks at different places of the program are told so at once, and a third when it comes there") {
    for (const auto late : {0ms, 300ms}) {
        const auto said = in_world(
            3,
            [=](auto& c, int r) -> std::string {
                if (r == 1) std::this_thread::sleep_for(late);
                return support::processes::guarded([&] {
                    c->barrier(r == 2 ? "the second" : "the first", 5s);
                    return std::string{"passed"};
                });
            },
            {.period = 50ms, .silence = 10s, .linger = 1s});
        for (const auto& text : said) {
            INFO(text);
            CHECK(says(text, "world_error"));
            CHECK(says(text, "the second"));
            CHECK(says(text, "the first"));
        }
    }
}

TEST_CASE("plans that differ are named with their ranks on all of them") {
    for (const int size : {2, 4}) {
        const auto said = in_world(size, [](auto& c, int r) -> std::string {
            return support::processes::guarded([&] {
                c->require_equal("the plan of executor 0", r == 1 ? 7 : 8, r == 1 ? "`old`" : "`new`", 2s);
                return std::string{"agreed"};
            });
        });
        for (const auto& text : said) CHECK(says(text, "the plan of executor 0 differs: rank 1 (`old`) against rank 0 (`new`)"));
    }
    for (const auto& text : in_world(3, [](auto& c, int) {
             c->require_equal("the plan", 5, "`same`", 2s);
             return "agreed";
         }))
        CHECK(text == "agreed");
}

TEST_CASE("a rank that is killed is named to all others within the limit") {
    // Before, in or after a barrier; rank 0 carries the channel and is one of them.
    for (const int victim : {2, 0}) {
        for (const std::string when : {"before", "in", "after"}) {
            CAPTURE(victim);
            CAPTURE(when);
            const auto said = in_world(4, [=](auto& c, int r) -> std::string {
                watched saw;
                c->watch(std::ref(saw));
                const auto die = [] { ::kill(::getpid(), SIGKILL); };
                std::string thrown;
                const auto start = detail::now();
                try {
                    if (r == victim && when == "before") die();
                    if (when == "in" && r == victim) {
                        std::thread{[=] {
                            std::this_thread::sleep_for(150ms);
                            die();
                        }}.detach();
                    }
                    if (when == "in" && r == (victim + 1) % 4) std::this_thread::sleep_for(400ms);  // nobody passes before
                    c->barrier("a barrier", 4s);
                    if (r == victim && when == "after") die();
                    std::this_thread::sleep_for(200ms);
                    c->barrier("the next", 4s);
                } catch (const dovetail::peer_error& e) {
                    thrown = "peer_error of " + std::to_string(e.rank);
                }
                const std::string text = saw.wait(2s);
                if (saw.at - start > 1500ms) return "late: " + text;
                c->unwatch(1s);
                return thrown + "; " + text;
            });
            for (int r = 0; r < 4; ++r) {
                if (r == victim) continue;
                INFO(said[r]);
                const std::string who = std::to_string(victim);
                CHECK(says(said[r], "peer_error of " + who + "; rank " + who + ": rank " + who + " (process "));
                CHECK(says(said[r], "is gone: its connection closed without notice"));
            }
        }
    }
}

TEST_CASE("of a rank that is killed it is said what it did last") {
    for (const int victim : {2, 0}) {
        const auto said = in_world(3, [=](auto& c, int r) -> std::string {
            c->announce([] { return activity{"has not ended operation `f` of `y`", "f", "y"}; });
            c->barrier("all here", 2s);
            std::this_thread::sleep_for(r == victim ? 600ms : 150ms);  // when the others wait already
            if (r == victim) ::kill(::getpid(), SIGKILL);
            try {
                c->barrier("the next", 4s);
            } catch (const dovetail::peer_error& e) {
                return e.what() + (" (" + e.operation) + " of " + e.statement + ", rank " + std::to_string(e.rank) + ")";
            }
            return "passed";
        });
        for (int r = 0; r < 3; ++r) {
            if (r == victim) continue;
            INFO(said[r]);
            CHECK(says(said[r], "closed without notice; its last report: it has not ended operation `f` of `y`; rank " + std::to_string(r) +
                                    " waits for all ranks at the next (f of y, rank " + std::to_string(victim) + ")"));
        }
    }
}

TEST_CASE("a rank that stands still is lost after the silence allowed") {
    for (const int victim : {1, 0}) {
        support::processes all;
        start_world(
            all, 3,
            [](auto& c, int) {
                watched saw;
                c->watch(std::ref(saw));
                c->barrier("all here", 2s);
                const std::string text = saw.wait(2500ms);
                c->unwatch(1s);
                return text;
            },
            {.period = 50ms, .silence = 700ms, .linger = 100ms});
        std::this_thread::sleep_for(300ms);
        all.signal(victim, SIGSTOP);
        std::this_thread::sleep_for(1000ms);
        all.kill(victim);  // the others know by now
        const auto said = all.ends(4s);
        for (int r = 0; r < 3; ++r) {
            if (r == victim) continue;
            INFO(said[r]);
            CHECK(says(said[r], "rank " + std::to_string(victim) + ": rank " + std::to_string(victim) + " (process "));
            CHECK(says(said[r], "has sent nothing for 0.70 s"));
        }
    }
}

TEST_CASE("an abort reaches all ranks once, with its operation; a second one changes nothing") {
    for (const int from : {0, 1}) {
        const auto said = in_world(3, [=](auto& c, int r) -> std::string {
            watched saw;
            c->watch([&](const abort_reason& why) {
                saw(why);
                c->abort({r, "an abort from the callback", {}, {}, false});
            });
            if (r == from) {
                c->abort({from, "operation `f` of `y` failed on rank " + std::to_string(from), "f", "y", false});
                c->abort({from, "again", {}, {}, false});
            }
            const std::string first = saw.wait(2s);
            std::string thrown;
            try {
                c->barrier("a barrier", 2s);
            } catch (const dovetail::operation_error& e) {
                thrown = (dynamic_cast<const dovetail::peer_error*>(&e) != nullptr ? "peer_error " : "operation_error ") + e.operation +
                         " " + e.statement + " " + std::to_string(e.rank);
            }
            std::this_thread::sleep_for(150ms);
            c->unwatch(1s);
            return first + "; " + thrown + "; calls " + std::to_string(saw.calls);
        });
        for (int r = 0; r < 3; ++r) {
            const std::string who = std::to_string(from);
            CHECK(said[r] == "rank " + who + ": operation `f` of `y` failed on rank " + who + "; " +
                                 (r == from ? "operation_error" : "peer_error") + " f y " + who + "; calls 1");
        }
    }
}

TEST_CASE("an abort after the time limit of a run is one on all ranks") {
    const auto said = in_world(2, [](auto& c, int r) -> std::string {
        process_peers all{c};
        watched saw;
        all.attend(r, [&] { saw(all.why()); }, [] {});
        if (r == 0) all.abort({0, "not in time", {}, {}, false, nullptr, true});
        saw.wait(2s);
        all.unattend(r);
        const abort_reason why = all.why();
        return why.text + (why.timed_out ? ", a timeout" : "");
    });
    for (const std::string& text : said) CHECK(text == "not in time, a timeout");
}

TEST_CASE("two aborts at once end all ranks with one of them") {
    const auto said = in_world(4, [](auto& c, int r) -> std::string {
        c->barrier("all here", 2s);
        if (r == 1 || r == 3) c->abort({r, "rank " + std::to_string(r) + " failed", {}, {}, false});
        return support::processes::guarded([&] {
            c->barrier("a barrier", 2s);
            return std::string{"passed"};
        });
    });
    for (int r = 0; r < 4; ++r) {
        INFO(said[r]);
        CHECK((says(said[r], "rank 1 failed") || says(said[r], "rank 3 failed")));
    }
}

TEST_CASE("a watcher that comes after the abort is called too") {
    const auto said = in_world(2, [](auto& c, int r) {
        if (r == 1) c->abort({1, "early", {}, {}, false});
        while (!c->aborted()) std::this_thread::sleep_for(5ms);
        watched saw;
        c->watch(std::ref(saw));
        const std::string text = saw.wait(1s);
        c->unwatch(1s);
        return text;
    });
    for (const auto& text : said) CHECK(text == "rank 1: early");
}

TEST_CASE("a rank that ends well is missed only where it is needed") {
    const auto said = in_world(3, [](auto& c, int r) -> std::string {
        c->barrier("all here", 2s);
        if (r == 1) return "left";
        std::this_thread::sleep_for(200ms);
        if (c->aborted() || !c->left(1)) return "wrong";
        return support::processes::guarded([&] {
            c->barrier("the second", 5s);
            return std::string{"passed"};
        });
    });
    for (const int r : {0, 2}) CHECK(says(said[r], "rank " + std::to_string(r) + " is at the second, and rank 1 has left without it"));
}

TEST_CASE("rank 0 may end first") {
    const auto said = in_world(3, [](auto& c, int r) -> std::string {
        c->barrier("all here", 2s);
        if (r == 0) return "left";
        std::this_thread::sleep_for(700ms);  // longer than rank 0 lingers
        if (c->aborted() || !c->left(0)) return "wrong";
        return support::processes::guarded([&] {
            c->barrier("the second", 5s);
            return std::string{"passed"};
        });
    });
    for (const int r : {1, 2}) CHECK(says(said[r], "and rank 0 has left without it"));
}

TEST_CASE("a rank leaves what is done and comes to what is next") {
    const auto said = in_world(3, [](auto& c, int r) -> std::string {
        for (int run = 0; run < 20; ++run) {
            c->barrier("run " + std::to_string(run), 2s);
            if (r == run % 3) std::this_thread::sleep_for(5ms);
            c->leave();
        }
        if (r == 2) {
            c->leave();
            std::this_thread::sleep_for(300ms);
            return "left";
        }
        return support::processes::guarded([&] {
            c->barrier("one more", 5s);
            return std::string{"passed"};
        });
    });
    for (const int r : {0, 1}) CHECK(says(said[r], "and rank 2 has left without it"));
}

TEST_CASE("it is known who is behind, and at what") {
    const auto said = in_world(3, [](auto& c, int r) {
        c->announce(run_position{r == 1 ? 3 : 4, r == 1 ? 7 : 0});
        if (r == 2) c->announce([] { return activity{"has not ended operation `f`", "f", ""}; });
        c->barrier("announced", 2s);
        std::this_thread::sleep_for(150ms);
        const std::string text = c->progress();
        c->barrier("asked", 2s);
        c->announce(std::function<activity()>{});
        return text;
    });
    for (const auto& text : said)
        CHECK(text == "rank 1 is behind: run 3, step 7; rank 2: has not ended operation `f`; rank 0: run 4, step 0");
}

TEST_CASE("executors called in different order end the work, and name the call") {
    const auto said = in_world(3, [](auto& c, int r) -> std::string {
        for (int i = 0; i < 1000; ++i) c->called(i % 2);
        c->barrier("so far well", 2s);
        std::this_thread::sleep_for(150ms);
        if (c->aborted()) return "too early";
        c->barrier("nothing so far", 2s);
        c->called(r == 1 ? 1 : 0);
        for (int i = 0; i < 200 && !c->aborted(); ++i) std::this_thread::sleep_for(10ms);
        const auto why = c->why();
        return why ? why->text : "nothing";
    });
    for (const auto& text : said)
        CHECK(text == "executors are called in different order: run number 1000 of rank 1 is executor 1, of rank 0 executor 0");
}

TEST_CASE("the end of a channel does not hang on a callback that does") {
    const auto said = in_world(2, [](auto& c, int r) -> std::string {
        const auto stuck = std::make_shared<watched>();
        c->watch([stuck](const abort_reason& why) {
            (*stuck)(why);
            std::this_thread::sleep_for(30s);
        });
        if (r == 1) c->abort({1, "over", {}, {}, false});
        const std::string text = stuck->wait(1s);
        if (c->unwatch(50ms)) return "unwatched";
        const auto start = detail::now();
        c.reset();
        return detail::now() - start < 4s ? text : "hung";
    });
    for (const auto& text : said) CHECK(text == "rank 1: over");
}

TEST_CASE("a callback may hold the last handle of its channel") {
    const auto said = in_world(2, [](auto& c, int r) -> std::string {
        auto saw = std::make_shared<watched>();
        control_channel* const it = c.get();
        auto held = std::make_shared<std::shared_ptr<control_channel>>(std::move(c));
        it->watch([saw, held](const abort_reason& why) {
            held->reset();
            (*saw)(why);
        });
        if (r == 0) it->abort({0, "over", {}, {}, false});
        return saw->wait(1s);
    });
    for (const auto& text : said) CHECK(text == "rank 0: over");
}

TEST_CASE("nothing is called after unwatch") {
    const auto said = in_world(2, [](auto& c, int) -> std::string {
        std::atomic<int> ticks = 0;
        c->watch({}, [&] { ++ticks; });
        while (ticks < 3) std::this_thread::sleep_for(5ms);
        if (!c->unwatch(1s)) return "still calling";
        const int then = ticks;
        std::this_thread::sleep_for(150ms);
        return then == ticks ? "quiet" : "called";
    });
    for (const auto& text : said) CHECK(text == "quiet");
}

TEST_CASE("what a rank left with replaces that it left") {
    const auto said = in_world(2, [](auto& c, int r) -> std::string {
        if (r == 1) {
            c->abort({1, "rank 1 destroyed an executor with work in flight", {}, {}, true});
            c->abort({1, "rank 1 left with an exception: no memory", {}, {}, true});
        }
        for (int i = 0; i < 100; ++i) {
            const auto why = c->why();
            if (why && says(why->text, "no memory")) return why->text;
            std::this_thread::sleep_for(10ms);
        }
        return "not told";
    });
    for (const auto& text : said) CHECK(text == "rank 1 left with an exception: no memory");
}

TEST_CASE("a rank that says what no rank can say is gone, and the others are told") {
    namespace frame = detail::frame;
    const auto text_of_contribution = [](std::int64_t number) {
        return detail::contribution{number, 1, "the id of a communicator", {}}.pack();
    };
    const auto calls_from = [](std::int64_t first) {
        return detail::writer{}.number(0).number(0).text({}).text({}).text({}).number(first).number(2).number(0).number(0).take();
    };
    const std::vector<std::pair<char, std::vector<std::string>>> all_said = {
        {frame::contribution,
         {text_of_contribution(0), text_of_contribution(0), text_of_contribution(0)}},  // which are three, as all ranks are
        {frame::contribution, {text_of_contribution(0), text_of_contribution(2)}},
        {frame::contribution, {text_of_contribution(INT64_MAX)}},
        {frame::contribution, {text_of_contribution(-1)}},
        {frame::contribution, {text_of_contribution(0).substr(0, 20)}},
        {frame::heartbeat, {calls_from(INT64_MAX)}},
        {frame::heartbeat, {calls_from(INT64_MIN)}},
        {frame::heartbeat, {detail::heartbeat_message{{}, {0, {}}}.pack() + "more"}},
        {frame::leave, {detail::writer{}.number(-5).number(0).number(0).take()}},
        {frame::abort, {detail::packed(abort_reason{17, "a rank that there is not", {}, {}, false})}},
        {frame::welcome, {{}}},
        {'?', {{}}},
        {frame::contribution, {std::string(detail::longest_frame_of_rank + 1, 'x')}},
    };
    for (const auto& one : all_said) {
        CAPTURE(one.first);
        const int port = support::free_port();
        support::processes all;
        for (const int r : {0, 2})
            all.start([=] {
                resolved_identity me;
                me.rank = r;
                me.size = 3;
                me.at = {"127.0.0.1", port};
                const auto channel = rendezvous(me, {.limit = 3s, .timing = quick});
                std::this_thread::sleep_for(150ms);  // the liar is first
                const id_bytes id = share_id(*channel, [](id_bytes& made) { made.fill('a'); }, 3s);
                return std::string{"an id of "} + (id[0] == 'a' ? "a" : "zeros");
            });
        all.start([=, kind = one.first, bodies = one.second] {
            support::raw_rank liar{port};
            if (!liar.prove()) return std::string{"not proven"};
            liar.join(support::raw_rank::as(1, 3, {}));
            if (liar.await(frame::welcome).kind == 0) return std::string{"not welcome"};
            for (const auto& b : bodies) liar.say(kind, b);
            while (liar.more && liar.link.open()) liar.next(100ms);
            return std::string{"sent away"};
        });
        const auto said = all.ends();
        for (const int i : {0, 1}) {
            INFO(said[static_cast<std::size_t>(i)]);
            CHECK(says(said[static_cast<std::size_t>(i)], "peer_error of 1: "));
            CHECK((says(said[static_cast<std::size_t>(i)], "is gone: it sent a message that cannot be read") ||
                   says(said[static_cast<std::size_t>(i)],
                        "is gone: it sent a message of invalid length, 16810002 bytes (at most 16810001)")));
        }
        CHECK(said[2] == "sent away");
    }
}

TEST_CASE("a rank 0 that says what it cannot say is gone, and the rank says so") {
    namespace frame = detail::frame;
    const std::vector<std::pair<char, std::string>> all_said = {
        {frame::result, detail::writer{}.number(0).text({}).text("one of two").take()},
        {frame::result, detail::writer{}.number(-1).text("a fault").take()},
        {frame::status_table, "short"},
        {frame::leave, detail::writer{}.number(2).number(0).number(0).take()},
        {frame::present, "111"},
        {frame::welcome, {}},
        {frame::contribution, {}},
    };
    for (const auto& one : all_said) {
        CAPTURE(one.first);
        const int port = support::free_port();
        support::processes all;
        all.start([=, kind = one.first, body = one.second] {
            std::string why;
            int taken = port;
            const auto listeners = detail::listen_at(detail::listening_addresses("127.0.0.1", false, detail::now() + 1s, why), taken, why);
            pollfd p{listeners.at(0).get(), POLLIN, 0};
            ::poll(&p, 1, 3000);
            detail::frame_connection link{detail::descriptor::of([&] { return ::accept4(p.fd, nullptr, nullptr, SOCK_NONBLOCK); })};
            detail::server_handshake hands{job_key{}};
            char sort = 0;
            std::string text;
            for (const auto until = detail::now() + 3s; detail::now() < until && link.open();) {
                const bool more = link.fill(100'000);
                while (link.next(sort, text, 100'000)) {
                    if (sort == frame::join) {
                        link.push(frame::welcome, detail::packed_welcome(std::vector<peer_status>(2)));
                        link.push(kind, body);
                    } else if (hands.state() != detail::handshake_state::proven) {
                        const auto a = hands.receive(sort, text);
                        link.push(a.kind, a.body);
                        if (hands.state() == detail::handshake_state::proven)
                            link.seal(hands.keys().frames_of_server, hands.keys().frames_of_rank);
                    }
                }
                link.flush();
                if (!more) return std::string{"left"};
                std::this_thread::sleep_for(2ms);
            }
            return std::string{"waited"};
        });
        all.start([=] {
            resolved_identity me;
            me.rank = 1;
            me.size = 2;
            me.at = {"127.0.0.1", port};
            const auto channel = rendezvous(me, {.limit = 3s, .timing = quick});
            channel->barrier("a barrier", 3s);
            return std::string{"passed"};
        });
        const auto said = all.ends();
        INFO(said[1]);
        CHECK(said[0] == "left");
        CHECK(says(said[1], "peer_error of 0: "));
        CHECK(says(said[1], "is gone: it sent a message that cannot be read"));
    }
}

TEST_CASE("a text that is too large for an exchange is refused where it is brought") {
    const auto said = in_world(2, [](auto& c, int r) -> std::string {
        c->barrier("all here", 2s);
        std::string text = "not refused";
        try {
            if (r == 1) c->exchange("the start", std::string(detail::longest_contribution + 1, 'x'), 2s);
        } catch (const dovetail::usage_error& e) {
            text = e.what();
        }
        c->barrier("the next", 2s);  // which the refused text was no part of
        return text;
    });
    CHECK(said[0] == "not refused");
    CHECK(says(said[1], "rank 1 sends 16777217 bytes for the start, and at most 16777216 can be exchanged"));
}

TEST_CASE("a text of an exchange that nobody waits for any more is not kept, and the ranks go on") {
    const auto said = in_world(2, [](auto& c, int r) -> std::string {
        c->barrier("all here", 2s);
        try {
            if (r == 1) std::this_thread::sleep_for(300ms);
            c->exchange("late", "text", 100ms);
        } catch (const dovetail::timeout&) {
        }
        std::this_thread::sleep_for(r == 0 ? 400ms : 100ms);
        return c->exchange("the next", std::to_string(r), 2s).at(1);
    });
    for (const auto& text : said) CHECK(text == "1");
}
