// Real processes with job keys: who has the key comes in, who has not ends nothing, and nobody on the way learns it, changes what is
// said or says it again. What ranks with the key may not say is in control_channel.cpp.
#include <doctest/doctest.h>

#include <dovetail/launch/control/rendezvous.hpp>

#include <support/processes.hpp>
#include <support/raw_rank.hpp>
#include <support/says.hpp>
#include <support/sockets.hpp>

using namespace dovetail::control;
using namespace std::chrono_literals;
using support::says;

namespace {

const std::string digits = "5eed0123456789abcdef5eed0123456789abcdef", others = "0bad0123456789abcdef5eed0123456789abcdef";

resolved_identity at(int rank, int size, int port, const std::string& key = digits, std::chrono::nanoseconds limit = 3s) {
    resolved_identity p;
    p.rank = rank;
    p.size = size;
    p.at = {"127.0.0.1", port};
    p.limit = limit;
    if (!key.empty()) p.key = job_key::of("the test's", key);
    return p;
}
std::string met(resolved_identity me, const rendezvous_options& options = {}) {
    const auto channel = rendezvous(me, options);
    channel->barrier("the end", 3s);
    return "met";
}

// Stands between a rank and rank 0: passes on what both say, and has it at the end. `change` may do what it likes with the bytes of
// a rank, or of rank 0, and knows how many went before.
struct relay {
    std::string of_rank, of_server;

    template <class Change>
    void run(int listener, int port, std::chrono::milliseconds limit, const Change& change) {
        const auto until = std::chrono::steady_clock::now() + limit;
        pollfd waiting{listener, POLLIN, 0};
        if (::poll(&waiting, 1, static_cast<int>(limit.count())) <= 0) return;
        const int rank = ::accept(listener, nullptr, nullptr), server = support::connect_soon(port);
        ::close(listener);
        while (std::chrono::steady_clock::now() < until) {
            pollfd both[] = {{rank, POLLIN, 0}, {server, POLLIN, 0}};
            ::poll(both, 2, 50);
            for (const bool from_rank : {true, false}) {
                if ((both[from_rank ? 0 : 1].revents & (POLLIN | POLLHUP)) == 0) continue;
                char some[4096];
                const auto n = ::recv(from_rank ? rank : server, some, sizeof some, 0);
                if (n <= 0) return ::close(rank), ::close(server), void();
                std::string bytes{some, static_cast<std::size_t>(n)};
                std::string& all = from_rank ? of_rank : of_server;
                change(from_rank, all.size(), bytes);
                all += bytes;
                support::send_all(from_rank ? server : rank, bytes);
            }
        }
    }
};
const auto unchanged = [](bool, std::size_t, std::string&) {};

}  // namespace

TEST_CASE("ranks with one key meet, on loopback too") {
    const int port = support::free_port();
    support::processes all;
    for (int r = 0; r < 3; ++r) all.start([=] { return met(at(r, 3, port)); });
    for (const auto& text : all.ends()) CHECK(text == "met");
}

TEST_CASE("a rank with another key, or with none, is not let in, and the others meet without it") {
    for (const std::string& key : {others, std::string{}}) {
        const int port = support::free_port();
        support::processes all, early;
        all.start([=] { return met(at(0, 2, port, digits, 20s)); });
        early.start([=] { return met(at(1, 2, port, key, 2500ms)); });
        const std::string told = early.ends()[0];  // while rank 0 waits
        INFO(told);
        CHECK(says(told, "timeout: "));
        CHECK(says(told, "answers, but not as rank 0 of dovetail with this job's key: "));
        CHECK(says(told, "it says: this process does not have the job key of rank 0"));
        all.start([=] { return met(at(1, 2, port, key, 500ms)); });
        all.start([=] { return met(at(1, 2, port, digits, 20s)); });
        auto said = all.ends();
        CHECK(said[0] == "met");
        CHECK(says(said[1], "timeout: "));
        CHECK(said[2] == "met");
        said.push_back(told);
        for (const auto& text : said)
            for (const std::string& secret : {digits.substr(0, 8), others.substr(0, 8)}) CHECK_FALSE(says(text, secret));
    }
}

TEST_CASE("rank 0 says why ranks are missing that have come without the key") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return met(at(0, 2, port, digits, 2500ms)); });
    all.start([=] { return met(at(1, 2, port, others, 4s)); });
    const auto said = all.ends();
    INFO(said[0]);
    CHECK(says(said[0], "these have not come: rank 1; "));
    CHECK(says(
        said[0],
        "connections did not come from a rank of this job, the last from 127.0.0.1: this process does not have the job key of rank 0"));
}

TEST_CASE("the key is not on the wire, in no form") {
    const int port = support::free_port(), door = support::free_port(), listener = support::listen_on(door);
    REQUIRE(listener >= 0);
    support::processes all;
    all.start([=] { return met(at(0, 2, port)); });
    all.start([=] {
        relay between;
        between.run(listener, port, 4s, unchanged);
        const std::string secret = job_key::of("the test's", digits).secret(), seen = between.of_rank + between.of_server;
        return std::string{says(seen, secret) || says(seen, digits) || says(seen, secret.substr(0, 8)) ? "seen" : "not seen"} +
               (seen.size() > 500 ? "" : ", but nothing passed");
    });
    all.start([=] { return met(at(1, 2, door)); });
    ::close(listener);
    const auto said = all.ends();
    CHECK(said[0] == "met");
    CHECK(said[1] == "not seen");
    CHECK(said[2] == "met");
}

TEST_CASE("what a rank has said before does not let anybody in") {
    const int port = support::free_port(), door = support::free_port(), listener = support::listen_on(door);
    REQUIRE(listener >= 0);
    support::processes all;
    all.start([=] { return met(at(0, 3, port)); });
    all.start([=] {
        relay between;
        between.run(listener, port, 700ms, unchanged);  // which ends rank 1's connection
        const int again = support::connect_soon(port);
        support::send_all(again, between.of_rank);
        return support::received(again, 800ms);
    });
    const int first = all.start([=] { return met(at(1, 3, door)); });
    ::close(listener);
    std::this_thread::sleep_for(1s);
    all.kill(first);
    for (int r = 1; r < 3; ++r) all.start([=] { return met(at(r, 3, port)); });
    const auto said = all.ends();
    CHECK(said[0] == "met");  // and rank 1 did not come twice
    CHECK(says(said[1], "this process does not have the job key of rank 0"));
    CHECK(said[3] == "met");
    CHECK(said[4] == "met");
}

TEST_CASE("who changes what ranks say, once they have met, ends the connection and is no rank") {
    for (const bool of_rank : {true, false}) {
        CAPTURE(of_rank);
        const int port = support::free_port(), door = support::free_port(), listener = support::listen_on(door);
        REQUIRE(listener >= 0);
        const auto talk = [](resolved_identity me) {
            const auto channel = rendezvous(me, {.timing = {.period = 50ms, .linger = 300ms}});
            for (int i = 0; i < 100; ++i) {
                channel->exchange("the talk", "a text that nobody is to change", 3s);
                std::this_thread::sleep_for(10ms);
            }
            return std::string{"undisturbed"};
        };
        support::processes all;
        all.start([=] { return talk(at(0, 2, port)); });
        all.start([=] {
            relay between;
            between.run(listener, port, 3s, [=](bool from_rank, std::size_t before, std::string& bytes) {
                if (from_rank == of_rank && before > 3000 && bytes.size() > 60) bytes[40] = static_cast<char>(bytes[40] ^ 1);
            });
            return std::string{};
        });
        all.start([=] { return talk(at(1, 2, door)); });
        ::close(listener);
        const auto said = all.ends();
        for (const int r : {0, 2}) {
            INFO(said[static_cast<std::size_t>(r)]);
            CHECK(says(said[static_cast<std::size_t>(r)], "peer_error of "));
        }
        CHECK(says(said[of_rank ? 0 : 2], "is gone: it sent a message without a valid tag of the process that has proven the job's key"));
    }
}

TEST_CASE("a program's own broadcast carries a key that rank 0 makes, or all have one") {
    int pipes[2][2];
    for (auto& p : pipes) REQUIRE(::pipe(p) == 0);
    const auto broadcast_of = [&pipes](int rank) {
        return [&pipes, rank](void* bytes, std::size_t n, int root) {
            if (rank == root)
                static_cast<void>(!::write(pipes[1][1], bytes, n));
            else
                for (std::size_t got = 0; got < n;)
                    got += static_cast<std::size_t>(::read(pipes[1][0], static_cast<char*>(bytes) + got, n - got));
        };
    };
    const auto with_keys = [&](const std::string& zero, const std::string& one) {
        support::processes all;
        for (int r = 0; r < 2; ++r)
            all.start([&, r] {
                resolved_identity me = at(r, 2, 0, r == 0 ? zero : one, 1s);
                me.at = {};
                const auto channel = rendezvous(me, {.broadcast = broadcast_of(r)});
                channel->barrier("the end", 2s);
                return std::string{me.key.given() ? "met with a key" : "met without"};
            });
        return all.ends();
    };
    for (const auto& text : with_keys("", "")) CHECK(text == "met with a key");
    for (const auto& text : with_keys(digits, digits)) CHECK(text == "met with a key");
    for (const auto& text : with_keys("", digits)) CHECK(text == "met with a key");
    CHECK(says(with_keys(digits, "")[1], "rank 1 has no job key, and rank 0 was given one: give it to all ranks, or to none"));
    CHECK(says(with_keys(digits, others)[1], "timeout: "));
    for (auto& p : pipes) ::close(p[0]), ::close(p[1]);
}

TEST_CASE("a process with the key that says nothing of a rank takes no place") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return met(at(0, 2, port)); });
    all.start([=] {
        support::raw_rank mute{port, job_key::of("the test's", digits)};
        if (!mute.prove()) return std::string{"not proven"};
        std::this_thread::sleep_for(700ms);
        return std::string{"proven"};
    });
    all.start([=] {
        support::raw_rank lost{port, job_key::of("the test's", digits)};
        if (!lost.prove()) return std::string{"not proven"};
        lost.say(detail::frame::contribution, "what a rank says that has come");
        return lost.next().body;
    });
    std::this_thread::sleep_for(300ms);
    all.start([=] { return met(at(1, 2, port)); });
    const auto said = all.ends();
    CHECK(said[0] == "met");
    CHECK(said[1] == "proven");
    CHECK(says(said[2], "rank 0 cannot read the first message of this process"));
    CHECK(said[3] == "met");
}

TEST_CASE("rank 0 listens elsewhere only where it is told to, and says what is wrong with an address that it has not") {
    support::processes all;
    all.start([] {
        if (!support::enter_own_network({"10.77.0.1", "10.77.1.1"})) return std::string{"not permitted"};
        const auto find = [](int rank, const std::string& rendezvous, const std::string& listen) {
            return resolve_identity({.rank = rank, .size = 2, .rendezvous = rendezvous, .job_key = digits, .listen = listen});
        };
        support::processes inside;
        // Where the address of the rendezvous is another machine's, that passes on what comes to it: here the ranks know its other address.
        inside.start([=] { return met(find(0, "10.77.0.1:4711", "10.77.1.1")); });
        inside.start([=] { return met(find(1, "10.77.1.1:4711", {})); });
        inside.start([=] { return support::processes::guarded([&] { return met(find(0, "192.0.2.1:4712", {})); }); });
        std::string text;
        for (const auto& said : inside.ends(6s)) text += said + "|";
        return text;
    });
    const std::string said = all.ends()[0];
    if (said == "not permitted") {
        MESSAGE("skipped: this process may not make a network of its own");
        return;
    }
    INFO(said);
    CHECK(said.substr(0, 8) == "met|met|");
    CHECK(says(said, "rank 0 cannot listen at 192.0.2.1:4712: Cannot assign requested address: this machine does not have that address"));
    CHECK(says(said, "DOVETAIL_LISTEN=address"));
}

TEST_CASE("a name that means loopback here alone may mean another address elsewhere") {
    std::string why;
    const auto until = detail::now() + 2s;
    CHECK(detail::all_loopback(detail::listening_addresses("localhost", true, until, why)));
    CHECK(detail::all_loopback(detail::listening_addresses("127.0.1.1", true, until, why)));
    const std::string name = "ip6-loopback";  // Debian's /etc/hosts has it, as it has the machine's own name
    if (const auto there = detail::look_up(name, 0, 0, why); there.empty() || !detail::all_loopback(there)) {
        MESSAGE("skipped: no such name here");
        return;
    }
    CHECK(detail::all_loopback(detail::listening_addresses(name, false, until, why)));
    CHECK_FALSE(detail::all_loopback(detail::listening_addresses(name, true, until, why)));
}

TEST_CASE("who makes room for one more: networks share it evenly, and the oldest goes when it had its time") {
    const auto at = detail::now();
    const auto displaced = [&](const std::string& network, const std::vector<detail::waiting>& all) {
        const auto which = detail::displaced_by(network, all, at);
        return which ? static_cast<int>(*which) : -1;
    };
    const auto fresh = at - 1ms, old = at - 1s, older = at - 2s;
    CHECK(displaced("a", {}) == -1);
    // One network: the oldest, and nobody before its time.
    CHECK(displaced("a", {{"a", old}, {"a", older}, {"a", fresh}}) == 1);
    CHECK(displaced("a", {{"a", fresh}, {"a", fresh}}) == -1);
    // Another network gets in at once as long as it has less.
    CHECK(displaced("b", {{"a", fresh}, {"a", at}, {"a", fresh}}) == 0);
    CHECK(displaced("b", {{"a", fresh}, {"a", fresh}, {"b", older}}) == -1);
    CHECK(displaced("b", {{"a", old}, {"a", fresh}, {"b", older}}) == 0);
    // Who has proven the key stays.
    CHECK(displaced("b", {{"a", older, true}, {"a", older, true}, {"b", old}}) == 2);
    CHECK(displaced("b", {{"a", older, true}}) == -1);
}
