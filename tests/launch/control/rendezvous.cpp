// Processes that meet on loopback: all come, some do not, some come twice or from another start, and what is no rank at all.
#include <doctest/doctest.h>

#include <dovetail/launch/control/rendezvous.hpp>

#include <support/processes.hpp>
#include <support/raw_rank.hpp>
#include <support/says.hpp>

using namespace dovetail::control;
using namespace std::chrono_literals;
using support::says;

namespace {

resolved_identity at(int rank, int size, int port, const std::string& job = "test", const std::string& host = "127.0.0.1") {
    resolved_identity p;
    p.rank = rank;
    p.size = size;
    p.at = {host, port};
    p.job = job;
    p.limit = 3s;
    p.rank_from = "test";
    return p;
}
// Meets and says which id it was given and what it is on its host.
std::string meet_and_share(resolved_identity me, const rendezvous_options& options = {}) {
    const auto channel = rendezvous(me, options);
    const id_bytes id = share_id(*channel, [](id_bytes& made) { made.fill('a'), made[127] = 'z'; }, 2s);
    channel->barrier("the end", 2s);
    return std::string{"met, local rank "} + std::to_string(me.local_rank) + ", id " + id[0] + id[127];
}
// A socket that listens and never answers.
struct stranger {
    std::vector<detail::descriptor> sockets;
    explicit stranger(int port) {
        std::string why;
        sockets = detail::listen_at(detail::listening_addresses("127.0.0.1", false, detail::now() + 1s, why), port, why);
    }
};
bool has_ipv6() {
    std::string why;
    int port = 0;
    return !detail::listen_at(detail::listening_addresses("::1", false, detail::now() + 1s, why), port, why).empty();
}

}  // namespace

TEST_CASE("four processes meet, whoever comes first, and get one id") {
    for (const int late : {0, 3}) {
        const int port = support::free_port();
        support::processes all;
        for (int r = 0; r < 4; ++r)
            all.start([=] {
                if (r == late) std::this_thread::sleep_for(200ms);
                return meet_and_share(at(r, 4, port));
            });
        const auto said = all.ends();
        for (int r = 0; r < 4; ++r) CHECK(said[r] == "met, local rank " + std::to_string(r) + ", id az");
    }
}

TEST_CASE("a world of one needs no address") {
    resolved_identity me;
    me.rank = 0;
    me.size = 1;
    CHECK(meet_and_share(me) == "met, local rank 0, id az");
}

TEST_CASE("names and IPv6 addresses serve as well") {
    for (const std::string host : {"localhost", "::1"}) {
        if (host == "::1" && !has_ipv6()) continue;
        const int port = support::free_port();
        support::processes all;
        for (int r = 0; r < 2; ++r) all.start([=] { return meet_and_share(at(r, 2, port, "test", host)); });
        for (const auto& text : all.ends()) CHECK(says(text, "met"));
    }
}

TEST_CASE("rank 0 never comes: the others say so when their time is over") {
    const int port = support::free_port();
    support::processes all;
    const auto start = std::chrono::steady_clock::now();
    for (int r = 1; r < 3; ++r) all.start([=] { return meet_and_share(at(r, 3, port), {.limit = 600ms}); });
    for (const auto& text : all.ends()) {
        CHECK(says(text, "timeout: dovetail: timeout after 0.60 s"));
        CHECK(says(text, "these have not come: rank 0 (Connection refused"));
    }
    CHECK(std::chrono::steady_clock::now() - start < 2s);
}

TEST_CASE("a host that is unknown is said to be") {
    support::processes all;
    all.start([=] { return meet_and_share(at(1, 2, 4000, "test", "no-such-host.invalid"), {.limit = 500ms}); });
    const auto said = all.ends();
    CHECK(says(said[0], "rank 0 at no-such-host.invalid:4000"));
    CHECK(says(said[0], "timeout: "));
}

TEST_CASE("ranks that do not come are named by all that did") {
    const int port = support::free_port();
    support::processes all;
    for (const int r : {0, 2}) all.start([=] { return meet_and_share(at(r, 4, port), {.limit = 600ms}); });
    for (const auto& text : all.ends()) {
        INFO(text);
        CHECK(says(text, "timeout: "));
        CHECK(says(text, "these have not come: rank 1, rank 3"));
    }
}

TEST_CASE("a rank that comes twice ends the rendezvous for all") {
    const int port = support::free_port();
    support::processes all;
    for (const int r : {0, 1, 1}) all.start([=] { return meet_and_share(at(r, 3, port)); });
    for (const auto& text : all.ends()) {
        INFO(text);
        CHECK(says(text, "world_error: "));
        CHECK(says(text, "rank 1 came twice: rank 1 (process "));
    }
}

TEST_CASE("a rank that comes after all are there finds nobody, and they go on") {
    const int port = support::free_port();
    support::processes all;
    for (const int r : {0, 1})
        all.start([=] {
            resolved_identity me = at(r, 2, port);
            const auto channel = rendezvous(me);
            std::this_thread::sleep_for(600ms);
            channel->barrier("later", 2s);
            return std::string{"well"};
        });
    all.start([=] {
        std::this_thread::sleep_for(300ms);
        return meet_and_share(at(1, 2, port), {.limit = 500ms});
    });
    const auto said = all.ends();
    CHECK(said[0] == "well");
    CHECK(said[1] == "well");
    CHECK(says(said[2], "timeout: "));
    CHECK(says(said[2], "rank 0 (Connection refused: rank 0 does not listen yet, or all ranks have joined already)"));
}

TEST_CASE("ranks that disagree on the size, or are none of the world, end the rendezvous for all") {
    {
        const int port = support::free_port();
        support::processes all;
        all.start([=] { return meet_and_share(at(0, 3, port)); });
        all.start([=] { return meet_and_share(at(1, 4, port)); });
        for (const auto& text : all.ends()) CHECK(says(text, "says that the world has 4 ranks, rank 0 says 3"));
    }
    {
        const int port = support::free_port();
        support::processes all;
        all.start([=] { return meet_and_share(at(0, 3, port)); });
        all.start([=] {
            support::raw_rank other{port};
            if (other.prove()) other.join(support::raw_rank::as(3, 3));
            return other.next().body;
        });
        for (const auto& text : all.ends()) CHECK(says(text, "is not in a world of 3"));
    }
}

TEST_CASE("a rank that is none, and a world of millions, are refused where they are asked for") {
    for (const auto& [rank, size] : {std::pair{3, 3}, {-1, 3}, {0, 0}, {0, 2'000'000'000}, {1, 65537}}) {
        resolved_identity me = at(rank, size, 4000);
        const auto text = support::processes::guarded([&] { return meet_and_share(me, {.limit = 100ms}); });
        INFO(text);
        CHECK(says(text, "world_error: "));
        CHECK(says(text, "a world has 1 to 65536 ranks"));
    }
}

TEST_CASE("another start of the program is sent away at once, and does not disturb this one") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return meet_and_share(at(0, 2, port, "second")); });
    all.start([=] { return meet_and_share(at(1, 2, port, "first")); });
    all.start([=] {
        std::this_thread::sleep_for(400ms);
        return meet_and_share(at(1, 2, port, "second"));
    });
    const auto said = all.ends();
    CHECK(says(said[0], "met"));
    CHECK(says(said[1], "world_error: "));
    CHECK(says(said[1], "this is another start of the program, of job `second`, and rank 1"));
    CHECK(says(said[2], "met"));
}

TEST_CASE("another version of the library is refused") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return meet_and_share(at(0, 2, port)); });
    all.start([=] {
        support::raw_rank other{port};
        if (!other.prove()) return std::string{"not proven"};
        auto me = support::raw_rank::as(1, 2);
        me.version = "99.0.0";
        other.join(me);
        return other.next().body;
    });
    for (const auto& text : all.ends()) CHECK(says(text, "was built with dovetail 99.0.0, rank 0 with " + detail::library_version()));
}

TEST_CASE("what is no rank is left standing or thrown out, and the ranks meet") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return meet_and_share(at(0, 2, port)); });
    all.start([=] {  // half-open, a web client, an enormous frame, a hello cut short
        std::vector<detail::descriptor> open;
        for (const std::string& text :
             {std::string{}, std::string{"GET / HTTP/1.0\r\n\r\n"}, std::string{"\xff\xff\xff\x7fh"}, std::string{"\x03\0\0\0hxx", 7}}) {
            detail::descriptor fd = support::connected(port);
            static_cast<void>(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL));
            open.push_back(std::move(fd));
        }
        std::this_thread::sleep_for(700ms);
        return std::string{"done"};
    });
    all.start([=] {
        std::this_thread::sleep_for(400ms);
        return meet_and_share(at(1, 2, port));
    });
    const auto said = all.ends();
    CHECK(says(said[0], "met"));
    CHECK(says(said[2], "met"));
}

TEST_CASE("a stranger at the address is told from rank 0") {
    const int port = support::free_port();
    const stranger s{port};
    REQUIRE_FALSE(s.sockets.empty());
    support::processes all;
    for (const int r : {0, 1}) all.start([=] { return meet_and_share(at(r, 2, port), {.limit = 400ms}); });
    const auto said = all.ends();
    CHECK(says(said[0], "rank 0 cannot listen at 127.0.0.1:" + std::to_string(port)));
    CHECK(says(said[0], "Address already in use"));
    CHECK(says(said[1], "answers, but not as rank 0 of dovetail"));
}

TEST_CASE("where the port was made up, the next ones serve too") {
    const int port = support::free_port();
    const stranger s{port};
    support::processes all;
    for (const int r : {0, 1})
        all.start([=] {
            resolved_identity me = at(r, 2, port);
            me.ports = 4;
            me.limit = 6s;
            return meet_and_share(me);
        });
    for (const auto& text : all.ends()) CHECK(says(text, "met"));
}

TEST_CASE("a rank that dies at the rendezvous and is started again is let in") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return meet_and_share(at(0, 3, port)); });
    all.start([=] { return meet_and_share(at(1, 3, port)); });
    std::this_thread::sleep_for(300ms);
    all.kill(1);
    all.start([=] { return meet_and_share(at(1, 3, port)); });
    all.start([=] { return meet_and_share(at(2, 3, port)); });
    const auto said = all.ends();
    CHECK(says(said[0], "met"));
    CHECK(says(said[2], "met"));
    CHECK(says(said[3], "met"));
}

TEST_CASE("rank 0 dies at the rendezvous: the others do not wait for their deadline") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return meet_and_share(at(0, 3, port)); });
    all.start([=] { return meet_and_share(at(1, 3, port), {.limit = 5s}); });
    std::this_thread::sleep_for(400ms);
    const auto start = std::chrono::steady_clock::now();
    all.kill(0);
    CHECK(says(all.ends()[1], "ended before all ranks had come (rank 2)"));
    CHECK(std::chrono::steady_clock::now() - start < 1s);
}

TEST_CASE("without an address there is an error, not a guess") {
    resolved_identity me = at(1, 2, 0);
    CHECK(says(support::processes::guarded([&] { return meet_and_share(me); }), "set DOVETAIL_RENDEZVOUS=host:port"));
}

TEST_CASE("a program's own broadcast replaces the address") {
    // One pipe a rank stands for MPI_Bcast.
    int pipes[3][2];
    for (auto& p : pipes) REQUIRE(::pipe(p) == 0);
    const auto broadcast_of = [&pipes](int rank) {
        return [&pipes, rank](void* bytes, std::size_t n, int root) {
            if (rank != root) {
                for (std::size_t got = 0; got < n;)
                    got += static_cast<std::size_t>(::read(pipes[rank][0], static_cast<char*>(bytes) + got, n - got));
                return;
            }
            for (int r = 0; r < 3; ++r)
                if (r != root) static_cast<void>(!::write(pipes[r][1], bytes, n));
        };
    };
    SUBCASE("all meet") {
        support::processes all;
        for (int r = 0; r < 3; ++r) all.start([&, r] { return meet_and_share(at(r, 3, 0, ""), {.broadcast = broadcast_of(r)}); });
        const auto said = all.ends();
        for (int r = 0; r < 3; ++r) CHECK(said[r] == "met, local rank " + std::to_string(r) + ", id az");
    }
    SUBCASE("rank 0 cannot listen: all learn it") {
        const int port = support::free_port();
        const stranger s{port};
        support::processes all;
        for (int r = 0; r < 3; ++r) all.start([&, r] { return meet_and_share(at(r, 3, port), {.broadcast = broadcast_of(r)}); });
        for (const auto& text : all.ends()) CHECK(says(text, "rank 0 cannot listen at 127.0.0.1"));
    }
    SUBCASE("a rank does not come") {
        support::processes all;
        for (const int r : {0, 1})
            all.start([&, r] { return meet_and_share(at(r, 3, 0, ""), {.broadcast = broadcast_of(r), .limit = 500ms}); });
        for (const auto& text : all.ends()) CHECK(says(text, "these have not come: rank 2"));
    }
    for (auto& p : pipes) ::close(p[0]), ::close(p[1]);
}

TEST_CASE("rank 0 that cannot make an id tells the others why") {
    const int port = support::free_port();
    support::processes all;
    for (int r = 0; r < 2; ++r)
        all.start([=] {
            resolved_identity me = at(r, 2, port);
            const auto channel = rendezvous(me);
            share_id(*channel, [](id_bytes&) { throw dovetail::failure{"ncclGetUniqueId: no socket"}; }, 2s);
            return std::string{"shared"};
        });
    const auto said = all.ends();
    CHECK(says(said[0], "threw: dovetail: ncclGetUniqueId: no socket"));
    CHECK(says(said[1], "peer_error of 0: "));
    CHECK(says(said[1], "rank 0 cannot make an id: ncclGetUniqueId: no socket"));
}

TEST_CASE("one device twice, or none, is said on all ranks") {
    const auto choose = [](const std::vector<std::string>& devices, const std::vector<std::string>& faults) {
        const int port = support::free_port(), n = static_cast<int>(devices.size());
        support::processes all;
        for (int r = 0; r < n; ++r)
            all.start([=] {
                resolved_identity me = at(r, n, port);
                const auto channel = rendezvous(me);
                check_devices(*channel, devices[r], faults[r], 2s);
                return std::string{"fine"};
            });
        return all.ends();
    };
    for (const auto& text : choose({"a", "b", "c"}, {"", "", ""})) CHECK(text == "fine");
    for (const auto& text : choose({"a", "b", "b"}, {"", "", ""})) {
        CHECK(says(text, "ranks 1 and 2 on "));
        CHECK(says(text, " are both to use device b"));
    }
    for (const auto& text : choose({"a", ""}, {"", "device 1 of 1"})) CHECK(says(text, "device 1 of 1"));
}
