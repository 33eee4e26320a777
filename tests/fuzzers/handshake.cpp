// Both ends of the handshake with any messages in any order from an attacker without the key, who may also relay messages: an end is
// authenticated only by messages of the other end.
#include <fuzzers/input.hpp>

#include <dovetail/launch/control/handshake.hpp>

#include <set>

using namespace dovetail::control;
using namespace dovetail::control::detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const job_key key = job_key::of("a test's", "00112233445566778899aabbccddeeff");
    fuzzers::input in{data, size};
    server_handshake server{key, std::string(nonce_size, 'h')};
    client_handshake rank{key, std::string(nonce_size, 'r')};
    std::set<std::string> of_server, of_rank;  // proofs that they have given
    handshake_answer to_server = rank.hello(), to_rank;
    while (!in.empty()) {
        handshake_answer a;
        const unsigned act = in.below(4);
        const bool to_server_now = act % 2 == 0;
        if (act < 2) {  // passed on, perhaps changed
            a = to_server_now ? to_server : to_rank;
            if (in.below(4) == 0 && !a.body.empty()) a.body[in.byte() % a.body.size()] = static_cast<char>(in.byte());
        } else {
            a.kind = in.kind();
            a.body =
                in.below(2) == 0
                    ? in.body(a.kind, 2)
                    : writer{}.text(in.below(2) == 0 ? std::string{protocol} : in.text()).text(in.bytes(in.below(2) == 0 ? 16 : 32)).take();
        }
        if (to_server_now) {
            to_rank = server.receive(a.kind, a.body);
            fuzzers::require(
                server.state() != handshake_state::proven || of_rank.contains(writer{}.text(bytes_of(server.keys().proof_of_rank)).take()),
                "a rank has proven the key");
            if (to_rank.kind == frame::proof) of_server.insert(to_rank.body);
        } else {
            to_server = rank.receive(a.kind, a.body);
            fuzzers::require(
                rank.state() != handshake_state::proven || of_server.contains(writer{}.text(bytes_of(rank.keys().proof_of_server)).take()),
                "rank 0 has proven the key");
            if (to_server.kind == frame::proof) of_rank.insert(to_server.body);
        }
        for (const handshake_answer* said : {&to_server, &to_rank})
            fuzzers::require(said->body.find(key.secret()) == std::string::npos, "the key is not said");
    }
    return 0;
}
