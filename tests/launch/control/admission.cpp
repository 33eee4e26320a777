// Processes that are no ranks of the job, at the port where its ranks meet: they take no place, end nothing, learn nothing, and cost
// little. And what is like them: a rank 0 that stood still, a child of a rank, text of another process. Nothing here speaks the
// protocol but the ranks, so that these tests say of any version of it what a stranger can do.
#include <doctest/doctest.h>

#include <dovetail/launch/control/rendezvous.hpp>

#include <support/processes.hpp>
#include <support/says.hpp>
#include <support/sockets.hpp>

#include <deque>

using namespace dovetail::control;
using namespace std::chrono_literals;
using support::says;

namespace {

resolved_identity at(int rank, int size, int port, std::chrono::nanoseconds limit = 4s) {
    resolved_identity p;
    p.rank = rank;
    p.size = size;
    p.at = {"127.0.0.1", port};
    p.job = "the-secret-job";
    p.limit = limit;
    p.rank_from = "test";
    return p;
}
std::string met(resolved_identity me) {
    const auto channel = rendezvous(me);
    channel->barrier("the end", 4s);
    return "met";
}
// The ranks from `first` on, as processes; not the last `later` ones.
void start_ranks(support::processes& all, int first, int size, int port, std::chrono::nanoseconds limit = 4s, int later = 0) {
    for (int r = first; r < size - later; ++r) all.start([=] { return met(at(r, size, port, limit)); });
}
void check_all_met(const std::vector<std::string>& said, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
        INFO("process ", i, ": ", said[i]);
        CHECK(said[i] == "met");
    }
}
bool has_escapes(const std::string& text) {
    for (const char c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
    return false;
}

}  // namespace

TEST_CASE("a stranger that speaks the old protocol takes no rank, ends nothing, and is told why") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return met(at(0, 2, port)); });
    all.start([=] {
        const int fd = support::connect_soon(port);
        support::send_all(fd, support::old_hello(1, 2, "the-secret-job"));
        return support::received(fd, 700ms);
    });
    std::this_thread::sleep_for(300ms);
    all.start([=] { return met(at(1, 2, port)); });
    const auto said = all.ends();
    CHECK(said[0] == "met");
    CHECK(said[2] == "met");
    CHECK(says(said[1], "build all ranks with one version of dovetail"));
    CHECK(says(said[1], "dovetail control 2"));
}

TEST_CASE("a stranger learns nothing of the job, whatever it says") {
    const int port = support::free_port();
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    const std::vector<std::string> tries = {
        "",
        "GET / HTTP/1.1\r\n\r\n",
        support::old_hello(1, 3, "the-secret-job"),
        support::old_hello(1, 3, "another job"),
        support::old_hello(1, 7, "the-secret-job"),
        support::old_hello(0, 3, "the-secret-job", "99.0"),
        support::old_hello(2, 3, "the-secret-job"),
        support::frame_bytes('h', support::text_bytes("dovetail control 3") + support::text_bytes("0123456789abcdef"))};
    support::processes all;
    all.start([=] { return met(at(0, 3, port)); });
    for (const std::string& text : tries)
        all.start([=] {
            const int fd = support::connect_soon(port);
            support::send_all(fd, text);
            return support::received(fd, 900ms);
        });
    std::this_thread::sleep_for(1200ms);
    start_ranks(all, 1, 3, port);
    const auto said = all.ends();
    for (std::size_t i = 0; i < tries.size(); ++i) {
        CAPTURE(i);
        for (const std::string& secret : {std::string{"secret-job"}, std::string{host}, std::string{"3 ranks"}, std::string{"p100"}})
            CHECK_FALSE(says(said[i + 1], secret));
    }
    CHECK(said[0] == "met");
    check_all_met(said, tries.size() + 1, tries.size() + 3);
}

TEST_CASE("a first message that is too long is answered with the reason") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return met(at(0, 2, port)); });
    all.start([=] {
        const int fd = support::connect_soon(port);
        support::send_all(fd, support::old_hello(1, 2, std::string(5000, 'j')));
        return support::received(fd, 1s);
    });
    std::this_thread::sleep_for(300ms);
    start_ranks(all, 1, 2, port);
    const auto said = all.ends();
    CHECK(said[0] == "met");
    CHECK(said[2] == "met");
    CHECK(says(said[1], "rank 0 was sent a message of invalid length, 51"));
}

// From an address of their own, as those of another host: within one address ranks only have a good chance.
TEST_CASE("any number of connections that say nothing do not keep ranks out") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return met(at(0, 4, port, 7s)); });
    for (int i = 0; i < 2; ++i)
        all.start([=] {
            rlimit files = {};
            ::getrlimit(RLIMIT_NOFILE, &files);
            files.rlim_cur = files.rlim_max;
            ::setrlimit(RLIMIT_NOFILE, &files);
            const std::size_t most = std::min<std::size_t>(files.rlim_cur - 100, 3000);
            std::deque<int> open;
            std::size_t made = 0;
            ::close(support::connect_soon(port));
            for (const auto until = std::chrono::steady_clock::now() + 10s; std::chrono::steady_clock::now() < until;) {
                const int fd = support::open_connection(port, "127.0.0.1", "127.0.0.2");
                if (fd < 0 && errno == ECONNREFUSED) break;  // all have come
                if (fd < 0) continue;
                ++made;
                open.push_back(fd);
                if (open.size() < most) continue;
                ::close(open.front());
                open.pop_front();
            }
            return std::to_string(made) + " connections";
        });
    std::this_thread::sleep_for(700ms);
    start_ranks(all, 1, 4, port, 6s);
    const auto said = all.ends(12s);
    MESSAGE(said[1], " and ", said[2]);
    CHECK(said[0] == "met");
    check_all_met(said, 3, 6);
}

TEST_CASE("connections that come again and again, each with a first message, do not keep ranks out") {
    const int port = support::free_port();
    const std::string hello =
        support::frame_bytes('h', support::text_bytes("dovetail control 3") + support::text_bytes("0123456789abcdef"));
    support::processes all;
    all.start([=] { return met(at(0, 4, port, 7s)); });
    all.start([=] {
        ::close(support::connect_soon(port));
        int made = 0;
        std::deque<int> open;
        for (const auto until = std::chrono::steady_clock::now() + 10s; std::chrono::steady_clock::now() < until; ++made) {
            const int fd = support::open_connection(port, "127.0.0.1", "127.0.0.2");
            if (fd < 0 && errno == ECONNREFUSED) break;
            if (fd < 0) continue;
            support::send_all(fd, hello);
            open.push_back(fd);
            if (open.size() < 200) continue;
            ::close(open.front());
            open.pop_front();
        }
        return std::to_string(made) + " connections";
    });
    std::this_thread::sleep_for(300ms);
    start_ranks(all, 1, 4, port, 6s);
    const auto said = all.ends(12s);
    MESSAGE(said[1]);
    CHECK(said[0] == "met");
    check_all_met(said, 2, 5);
}

TEST_CASE("what a stranger sends costs no memory") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] {
        const double before = support::resident_mib("VmHWM:");
        const std::string said = support::processes::guarded([=] { return met(at(0, 2, port)); });
        return std::to_string(support::resident_mib("VmHWM:") - before) + " " + said;
    });
    // As one message of the greatest length, as one that is as long as a first one may be, and as a text of a rank that has come.
    const std::vector<std::string> firsts = {"\xff\xff\xff\x0fh", std::string{"\x00\x10\x00\x00h", 5},
                                             support::old_hello(1, 2, "the-secret-job") + std::string{"\x00\x00\x00\x10" "c", 5}};
    for (const std::string& first : firsts)
        all.start([=] {
            const std::string much(1 << 20, 'x');
            const int fd = support::connect_soon(port);
            int sent = 0;
            for (support::send_all(fd, first); sent < 256 && support::send_all(fd, much); ++sent) {}
            return std::to_string(sent);
        });
    std::this_thread::sleep_for(1500ms);
    start_ranks(all, 1, 2, port);
    const auto said = all.ends();
    MESSAGE("MiB of rank 0: ", said[0]);
    CHECK(std::atof(said[0].c_str()) < 16);
    CHECK(says(said[0], "met"));
    CHECK(said[4] == "met");
}

TEST_CASE("rank 0 without descriptors waits for some, and does not spin") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] {
        rlimit files = {};
        ::getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = static_cast<rlim_t>(support::open_files() + 40);
        ::setrlimit(RLIMIT_NOFILE, &files);
        std::thread taker{[] {
            std::vector<int> held;
            std::this_thread::sleep_for(200ms);
            for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) held.push_back(fd);
            std::this_thread::sleep_for(1500ms);
            for (const int fd : held) ::close(fd);
        }};
        const double before = support::cpu_seconds();
        met(at(0, 2, port, 6s));
        const double taken = support::cpu_seconds() - before;
        taker.join();
        return std::to_string(taken);
    });
    std::this_thread::sleep_for(400ms);
    start_ranks(all, 1, 2, port, 6s);
    const auto said = all.ends();
    MESSAGE("seconds of processor: ", said[0]);
    CHECK(std::stod(said[0]) < 0.3);
    CHECK_FALSE(says(said[0], "status"));  // of a sanitizer
    CHECK(said[1] == "met");
}

TEST_CASE("rank 0 stands still for five seconds while the others come") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return met(at(0, 4, port, 15s)); });
    ::close(support::connect_soon(port));
    all.signal(0, SIGSTOP);
    start_ranks(all, 1, 4, port, 15s);
    std::this_thread::sleep_for(5s);
    all.signal(0, SIGCONT);
    check_all_met(all.ends(10s), 0, 4);
}

TEST_CASE("rank 0 that stands still now and then lets nobody in twice") {
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return met(at(0, 4, port, 15s)); });
    ::close(support::connect_soon(port));
    start_ranks(all, 1, 4, port, 15s, 1);
    for (int i = 0; i < 40; ++i) {
        all.signal(0, SIGSTOP);
        std::this_thread::sleep_for(3ms);
        all.signal(0, SIGCONT);
        std::this_thread::sleep_for(std::chrono::microseconds{200 * i});
    }
    start_ranks(all, 3, 4, port, 15s);
    check_all_met(all.ends(10s), 0, 4);
}

TEST_CASE("nobody can connect any more when all have come") {
    const int port = support::free_port();
    support::processes all;
    for (const int r : {0, 1})
        all.start([=] {
            resolved_identity me = at(r, 2, port);
            const auto channel = rendezvous(me);
            std::this_thread::sleep_for(800ms);
            channel->barrier("later", 4s);
            return std::string{"met"};
        });
    std::this_thread::sleep_for(500ms);
    const int fd = support::open_connection(port);
    CHECK((fd < 0 && errno == ECONNREFUSED));
    if (fd >= 0) ::close(fd);
    check_all_met(all.ends(), 0, 2);
}

TEST_CASE("rank 0 listens at the address where it is met, and at no other") {
    support::processes all;
    all.start([] {
        if (!support::enter_own_network({"10.77.0.1", "10.77.1.1"})) return std::string{"not permitted"};
        ::setenv("DOVETAIL_JOB_KEY", "00112233445566778899aabbccddeeff", 1);
        ::setenv("DOVETAIL_TIME_LIMIT", "4", 1);
        support::processes inside;
        for (const int r : {0, 1})
            inside.start([=] {
                if (r == 1) std::this_thread::sleep_for(600ms);
                return met(resolve_identity({.rank = r, .size = 2, .rendezvous = "10.77.0.1:4711"}));
            });
        const bool there = support::connect_soon(4711, "10.77.0.1") >= 0;
        const bool elsewhere = support::open_connection(4711, "10.77.1.1") >= 0 || support::open_connection(4711, "127.0.0.1") >= 0;
        const auto said = inside.ends(6s);
        return std::string{there ? "" : "not there; "} + (elsewhere ? "elsewhere too; " : "") + said[0] + " " + said[1];
    });
    const std::string said = all.ends()[0];
    if (said == "not permitted")
        MESSAGE("skipped: this process may not make a network of its own");
    else
        CHECK(said == "met met");
}

TEST_CASE("beyond this machine nobody meets without a key, and it is said how to have one") {
    ::unsetenv("DOVETAIL_JOB_KEY");
    support::processes all;
    all.start([] {
        if (!support::enter_own_network({"10.77.0.1"})) return std::string{"not permitted"};
        support::processes inside;
        const auto start = std::chrono::steady_clock::now();
        for (const int r : {0, 1})
            inside.start([=] { return met(resolve_identity({.rank = r, .size = 2, .rendezvous = "10.77.0.1:4711"})); });
        const auto said = inside.ends(3s);
        return said[0] + "\n" + said[1] + (std::chrono::steady_clock::now() - start < 1s ? "" : "\nlate");
    });
    const std::string said = all.ends()[0];
    if (said == "not permitted") {
        MESSAGE("skipped: this process may not make a network of its own");
        return;
    }
    INFO(said);
    CHECK(says(said, "world_error: dovetail: rank 0 has no job key, and 10.77.0.1 is beyond this machine"));
    CHECK(says(said, "world_error: dovetail: rank 1 of 2 has no job key, and rank 0 at 10.77.0.1:4711 is beyond this machine"));
    CHECK(says(said, "export DOVETAIL_JOB_KEY=$(openssl rand -hex 32)"));
    CHECK_FALSE(says(said, "late"));
}

TEST_CASE("a process of another user takes no rank, also without a key") {
    if (::geteuid() != 0) {
        MESSAGE("skipped: only the superuser can become another user");
        return;
    }
    const int port = support::free_port();
    support::processes all;
    all.start([=] { return met(at(0, 2, port)); });
    all.start([=] {
        if (::setuid(65534) != 0) return std::string{"not permitted"};
        return met(at(1, 2, port, 1s));
    });
    std::this_thread::sleep_for(500ms);
    all.start([=] { return met(at(1, 2, port)); });
    const auto said = all.ends();
    CHECK(said[0] == "met");
    CHECK(says(said[1], "timeout: "));
    CHECK(said[2] == "met");
}

TEST_CASE("a process of another user is not taken for rank 0, also without a key") {
    if (::geteuid() != 0) {
        MESSAGE("skipped: only the superuser can become another user");
        return;
    }
    const int port = support::free_port();
    support::processes all;
    all.start([=] {
        if (::setuid(65534) != 0) return std::string{"not permitted"};
        return met(at(0, 2, port, 2s));
    });
    all.start([=] { return met(at(1, 2, port, 1s)); });
    const auto said = all.ends();
    CHECK(says(said[0], "timeout: "));
    CHECK(says(said[1], "timeout: "));
}

TEST_CASE("a child that a rank forks does not keep the rank's connections open") {
    for (const int victim : {1, 0}) {
        CAPTURE(victim);
        const int port = support::free_port();
        support::processes all;
        for (int r = 0; r < 3; ++r)
            all.start([=] {
                resolved_identity me = at(r, 3, port);
                auto channel = rendezvous(me, {.timing = {.period = 50ms, .silence = 20s, .linger = 300ms}});
                channel->barrier("all here", 2s);
                if (r == victim) {
                    if (::fork() == 0) {
                        ::sleep(3);
                        ::_exit(0);
                    }
                    ::kill(::getpid(), SIGKILL);
                }
                return support::processes::guarded([&] {
                    channel->barrier("the next", 2s);
                    return std::string{"passed"};
                });
            });
        const auto said = all.ends();
        for (int r = 0; r < 3; ++r)
            if (r != victim) CHECK(says(said[static_cast<std::size_t>(r)], "is gone: its connection closed without notice"));
    }
}

TEST_CASE("a child that a rank forks may end what it got from it, and opens files of its own") {
    const int port = support::free_port();
    support::processes all;
    for (int r = 0; r < 2; ++r)
        all.start([=] {
            resolved_identity me = at(r, 2, port);
            auto channel = rendezvous(me);
            const ::pid_t child = ::fork();
            if (child == 0) {
                int opened[16];  // which get the numbers that were the channel's
                for (int& fd : opened) fd = ::dup(0);
                channel.reset();
                for (const int fd : opened)
                    if (::fcntl(fd, F_GETFD) < 0) ::_exit(1);
                ::_exit(0);
            }
            int status = 0;
            for (int i = 0; i < 2000 && ::waitpid(child, &status, WNOHANG) == 0; ++i) ::usleep(1000);
            channel->barrier("the end", 3s);
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::string{"met"} : std::string{"the child closed what is not its"};
        });
    check_all_met(all.ends(), 0, 2);
}

TEST_CASE("a rank 0 that fails still tells those who come late") {
    SUBCASE("a rank has another size") {
        const int port = support::free_port();
        support::processes all;
        all.start([=] { return met(at(0, 3, port)); });
        all.start([=] { return met(at(1, 4, port)); });
        std::this_thread::sleep_for(900ms);
        const auto start = std::chrono::steady_clock::now();
        all.start([=] { return met(at(2, 3, port)); });
        for (const auto& text : all.ends()) {
            INFO(text);
            CHECK(says(text, "says that the world has 4 ranks, rank 0 says 3"));
        }
        CHECK(std::chrono::steady_clock::now() - start < 1s);
    }
    SUBCASE("ranks do not come in time") {
        const int port = support::free_port();
        support::processes all;
        all.start([=] { return met(at(0, 3, port, 500ms)); });
        std::this_thread::sleep_for(1200ms);
        all.start([=] { return met(at(2, 3, port)); });
        for (const auto& text : all.ends()) {
            INFO(text);
            CHECK(says(text, "timeout: "));
            CHECK(says(text, "timeout after 0.50 s: rank 0 of 3 waits for all ranks, and these have not come: rank 1, rank 2"));
        }
    }
}

TEST_CASE("what an impostor says in place of rank 0 ends nothing and shows no escape codes") {
    const int port = support::free_port(), listener = support::listen_on(port);
    REQUIRE(listener >= 0);
    support::processes all;
    all.start([=] { return met(at(1, 2, port, 1500ms)); });
    all.start([=] {
        std::vector<int> open;
        for (;;) {
            const int fd = ::accept(listener, nullptr, nullptr);
            support::send_all(
                fd, support::frame_bytes('r', support::number_bytes(0) + support::text_bytes("\x1b]0;owned\x07\x1b[31m go home\r")));
            open.push_back(fd);
        }
        return std::string{};
    });
    ::close(listener);
    const std::string text = all.ends(4s)[0];
    INFO(text);
    CHECK(says(text, "timeout: "));
    CHECK(says(text, "\\x1b]0;owned\\x07\\x1b[31m go home\\x0d"));
    CHECK_FALSE(has_escapes(text));
}

TEST_CASE("escape codes of a rank do not reach the terminals of the others") {
    const int port = support::free_port();
    support::processes all;
    for (int r = 0; r < 3; ++r)
        all.start([=] {
            resolved_identity me = at(r, 3, port);
            auto channel = rendezvous(me, {.timing = {.period = 50ms}});
            if (r == 1) channel->announce([] { return activity{"\x1b[2J at work", "f\x1b[0m", "y"}; });
            std::string text;
            try {
                channel->require_equal("the plan", r == 1 ? 7 : 8, r == 1 ? "\x1b]0;owned\x07" : "`new`", 3s);
            } catch (const dovetail::world_error& e) {
                text = e.what();
            }
            std::this_thread::sleep_for(200ms);
            text += channel->progress();
            std::this_thread::sleep_for(300ms);
            if (r == 1) channel->abort({1, "an end in \x1b[31mred\x9b\n", "f\x1b[0m", "y", false});
            try {
                channel->barrier("the end", 3s);
            } catch (const dovetail::operation_error& e) {
                text += e.what() + e.operation;
            }
            return r == 1 ? std::string{"-"} : text;
        });
    const auto said = all.ends();
    for (const int r : {0, 2}) {
        const std::string& text = said[static_cast<std::size_t>(r)];
        INFO(text);
        CHECK(says(text, "the plan differs: rank 1 (\\x1b]0;owned\\x07)"));
        CHECK(says(text, "\\x1b[2J at work"));
        CHECK(says(text, "an end in \\x1b[31mred\\x9b\\n"));
        CHECK_FALSE(has_escapes(text));
    }
}
