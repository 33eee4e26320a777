// Both ends of the handshake, told anything in any order by somebody without the key, who may also pass on what they say: an end is
// proven only by the other end's own words.
#include <fuzzers/input.hpp>

#include <dovetail/launch/cuda/handshake.hpp>

#include <set>

using namespace dovetail::cuda;
using namespace dovetail::cuda::detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const job_key key = job_key::of("a test's", "00112233445566778899aabbccddeeff");
    fuzzers::input in{data, size};
    hub_handshake hub{key, std::string(nonce_size, 'h')};
    rank_handshake rank{key, std::string(nonce_size, 'r')};
    std::set<std::string> of_hub, of_rank;  // proofs that they have given
    handshake_answer to_hub = rank.hello(), to_rank;
    while (!in.empty()) {
        handshake_answer a;
        const unsigned act = in.below(4);
        const bool hears_hub = act % 2 == 0;
        if (act < 2) {  // passed on, perhaps changed
            a = hears_hub ? to_hub : to_rank;
            if (in.below(4) == 0 && !a.body.empty()) a.body[in.byte() % a.body.size()] = static_cast<char>(in.byte());
        } else {
            a.kind = in.kind();
            a.body = in.below(2) == 0 ? in.body(a.kind, 2) : writer{}.text(in.below(2) == 0 ? std::string{protocol} : in.text()).text(in.bytes(in.below(2) == 0 ? 16 : 32)).take();
        }
        if (hears_hub) {
            to_rank = hub.receive(a.kind, a.body);
            fuzzers::require(hub.state() != handshake_state::proven || of_rank.contains(writer{}.text(bytes_of(hub.keys().proof_of_rank)).take()), "a rank has proven the key");
            if (to_rank.kind == frame::proof) of_hub.insert(to_rank.body);
        } else {
            to_hub = rank.receive(a.kind, a.body);
            fuzzers::require(rank.state() != handshake_state::proven || of_hub.contains(writer{}.text(bytes_of(rank.keys().proof_of_hub)).take()), "rank 0 has proven the key");
            if (to_hub.kind == frame::proof) of_rank.insert(to_hub.body);
        }
        for (const handshake_answer* said : {&to_hub, &to_rank}) fuzzers::require(said->body.find(key.secret()) == std::string::npos, "the key is not said");
    }
    return 0;
}
