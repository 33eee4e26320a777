// The handshake of the control channel, both ends in one process: who holds the key gets through, and nobody else, whatever is
// repeated, reflected or passed on.
#include <support/says.hpp>

#include <doctest/doctest.h>

#include <dovetail/launch/control/handshake.hpp>

using namespace dovetail::control;
using namespace dovetail::control::detail;
using support::says;

namespace {

const job_key ours = job_key::of("ours", "00112233445566778899aabbccddeeff"),
              other = job_key::of("other", "00112233445566778899aabbccddeefe");

struct message {
    char kind;
    std::string body;
};
// All that is said, first to last, or until one refuses.
std::vector<message> spoken(client_handshake& rank, server_handshake& server) {
    std::vector<message> all{{rank.hello().kind, rank.hello().body}};
    for (bool to_server = true; all.back().kind != 0; to_server = !to_server) {
        const auto a = to_server ? server.receive(all.back().kind, all.back().body) : rank.receive(all.back().kind, all.back().body);
        all.push_back({a.kind, a.body});
    }
    all.pop_back();
    return all;
}

}  // namespace

TEST_CASE("two that hold the key prove it to each other, and have the same keys for their frames") {
    for (const job_key& key : {ours, job_key{}}) {
        client_handshake rank{key};
        server_handshake server{key};
        const auto all = spoken(rank, server);
        CHECK(all.size() == 4);
        CHECK(rank.state() == handshake_state::proven);
        CHECK(server.state() == handshake_state::proven);
        CHECK(rank.keys().frames_of_rank == server.keys().frames_of_rank);
        CHECK(rank.keys().frames_of_server == server.keys().frames_of_server);
        CHECK(rank.keys().frames_of_server != rank.keys().frames_of_rank);
        CHECK(rank.keys().proof_of_server != rank.keys().proof_of_rank);
        for (const auto& m : all)
            if (key.given()) CHECK_FALSE(says(m.body, key.secret()));
    }
}

TEST_CASE("no two connections have the same numbers, proofs or keys") {
    client_handshake a{ours}, b{ours};
    server_handshake for_a{ours}, for_b{ours};
    spoken(a, for_a);
    spoken(b, for_b);
    CHECK(a.hello().body != b.hello().body);
    CHECK(a.keys().frames_of_rank != b.keys().frames_of_rank);
    CHECK(a.keys().proof_of_server != b.keys().proof_of_server);
}

TEST_CASE("another key, or none where there is one, is refused before the server has proven anything") {
    for (const auto& [mine, theirs] : {std::pair{ours, other}, {ours, job_key{}}, {job_key{}, ours}}) {
        client_handshake rank{mine};
        server_handshake server{theirs};
        const auto all = spoken(rank, server);
        CHECK(server.state() == handshake_state::refused);
        CHECK(rank.state() == handshake_state::refused);
        REQUIRE(all.size() == 4);
        CHECK(all[3].kind == frame::refused);
        CHECK(says(rank.said(), theirs.given() ? "this process does not have the job key of rank 0"
                                               : "this process has a job key, and rank 0 has none"));
    }
}

TEST_CASE("who does not hold the key cannot use what others have said") {
    client_handshake rank{ours};
    server_handshake server{ours};
    const auto said = spoken(rank, server);
    SUBCASE("a rank's words again, to the server's next connection") {
        server_handshake next{ours};
        next.receive(said[0].kind, said[0].body);
        next.receive(said[2].kind, said[2].body);
        CHECK(next.state() == handshake_state::refused);
    }
    SUBCASE("the server's words again, to a rank's next connection") {
        client_handshake next{ours};
        next.receive(said[1].kind, said[1].body);
        next.receive(said[3].kind, said[3].body);
        CHECK(next.state() == handshake_state::refused);
    }
    SUBCASE("the server's proof, back to it as a rank's") {
        const std::string nonce(nonce_size, 'n');
        server_handshake reflected{ours, nonce};
        reflected.receive(frame::hello, writer{}.text(protocol).text(nonce).take());  // the same number on both sides
        const handshake_keys keys{ours, nonce, nonce};
        reflected.receive(frame::proof, writer{}.text(bytes_of(keys.proof_of_server)).take());
        CHECK(reflected.state() == handshake_state::refused);
    }
    SUBCASE("a rank's own proof, back to it") {
        client_handshake next{ours};
        const auto proof = next.receive(frame::challenge, writer{}.text(std::string(nonce_size, 'n')).take());
        CHECK(proof.kind == frame::proof);
        next.receive(frame::proof, proof.body);
        CHECK(next.state() == handshake_state::refused);
    }
}

TEST_CASE("messages out of turn, cut or lengthened are refused") {
    const auto refuses = [](auto&& handshake, std::initializer_list<message> all) {
        for (const auto& m : all) handshake.receive(m.kind, m.body);
        return handshake.state() == handshake_state::refused;
    };
    const client_handshake rank{ours};
    const std::string hello = rank.hello().body, challenge = writer{}.text(std::string(nonce_size, 'n')).take(),
                      proof = writer{}.text(std::string(32, 'p')).take();
    CHECK(refuses(server_handshake{ours}, {{frame::proof, proof}}));
    CHECK(refuses(server_handshake{ours}, {{frame::hello, hello}, {frame::hello, hello}}));
    CHECK(refuses(server_handshake{ours}, {{frame::join, hello}}));
    CHECK(refuses(server_handshake{ours}, {{frame::hello, hello + "x"}}));
    CHECK(refuses(server_handshake{ours}, {{frame::hello, hello.substr(0, hello.size() - 1)}}));
    CHECK(refuses(server_handshake{ours}, {{frame::hello, {}}}));
    CHECK(refuses(server_handshake{ours}, {{frame::hello, writer{}.text(protocol).text("short").take()}}));
    CHECK(refuses(server_handshake{ours}, {{frame::hello, hello}, {frame::proof, {}}}));
    CHECK(refuses(server_handshake{ours}, {{frame::hello, hello}, {frame::proof, writer{}.text("").take()}}));
    CHECK(refuses(client_handshake{ours}, {{frame::proof, proof}}));
    CHECK(refuses(client_handshake{ours}, {{frame::challenge, challenge}, {frame::challenge, challenge}}));
    CHECK(refuses(client_handshake{ours}, {{frame::challenge, challenge}, {frame::proof, {}}}));
    CHECK(refuses(client_handshake{ours}, {{frame::challenge, {}}}));
    CHECK(refuses(client_handshake{ours}, {{frame::welcome, {}}}));
    CHECK(refuses(client_handshake{ours}, {{frame::refused, "?"}}));
}

TEST_CASE("another protocol and a first message that is too long are told why, and nothing else is answered") {
    server_handshake old{ours};
    const auto a = old.receive(frame::hello, writer{}.text("dovetail control 2").text("0.9.0").take());
    CHECK(a.kind == frame::refused);
    CHECK(says(a.body,
               "rank 0 speaks `dovetail control 4`, and this process `dovetail control 2`: build all ranks with one version of dovetail"));
    server_handshake future{ours};
    CHECK(says(future.receive(frame::hello, writer{}.text("dovetail control \x1b[1m").take()).body,
               "this process `dovetail control \\x1b[1m`"));
    server_handshake web{ours};
    CHECK(web.receive('/', "HTTP/1.1").kind == 0);
    CHECK(server_handshake{ours}.receive(frame::hello, writer{}.text("another program").take()).kind == 0);

    server_handshake long_one{ours};
    const auto b = long_one.too_long(frame::hello, "a message of 5000 bytes");
    CHECK(b.kind == frame::refused);
    CHECK(says(b.body, "rank 0 was sent a message of 5000 bytes"));
    CHECK(long_one.state() == handshake_state::refused);
    CHECK(server_handshake{ours}.too_long('/', "a message of 5000 bytes").kind == 0);
}
