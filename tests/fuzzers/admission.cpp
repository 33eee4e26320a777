// Connections to rank 0 with any bytes, before and after authentication: few may wait, and only one that has proven the key joins.
#include <fuzzers/input.hpp>

#include <dovetail/launch/control/admission.hpp>

using namespace dovetail::control;
using namespace dovetail::control::detail;

namespace {

class at_the_door : public admission {
public:
    using admission::admission;
    using admission::take;
    using admission::waiting_count;
};
struct visitor {
    descriptor fd;
    std::optional<client_handshake> hands;
    std::optional<frame_tags> tags;
    std::string said;

    void send(std::string_view bytes) { static_cast<void>(!::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT)); }
    void say(char kind, const std::string& body) {
        std::string bytes;
        append_frame(bytes, kind, body, tags);
        send(bytes);
    }
    // Answers as a rank with the key does.
    void answer() {
        char some[8192];
        const auto n = ::recv(fd.get(), some, sizeof some, MSG_DONTWAIT);
        if (n <= 0 || !hands || tags) return;
        frame_buffer in;
        in.append({some, static_cast<std::size_t>(n)});
        char kind = 0;
        std::string body;
        while (!tags && in.next(kind, body, longest_unproven)) {
            const auto a = hands->receive(kind, body);
            if (a.kind != 0) say(a.kind, a.body);
            if (hands->state() == handshake_state::proven) tags.emplace(hands->keys().frames_of_rank);
        }
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const job_key key = job_key::of("a test's", "00112233445566778899aabbccddeeff");
    fuzzers::input in{data, size};
    at_the_door door{key};
    std::vector<visitor> all;
    int joined = 0, proven = 0;
    for (int steps = 0; !in.empty() && steps < 100; ++steps) {
        const unsigned act = in.below(8);
        if (all.empty() || act == 0) {
            int fds[2];
            if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) return 0;
            address from;
            reinterpret_cast<sockaddr_in&>(from.bytes).sin_family = AF_INET;
            reinterpret_cast<sockaddr_in&>(from.bytes).sin_addr.s_addr = in.byte() % 5;
            door.take(descriptor::of([&] { return fds[0]; }), from);
            visitor& v = all.emplace_back();
            v.fd = descriptor::of([&] { return fds[1]; });
            if (in.below(2) == 0) v.hands.emplace(key), v.say(frame::hello, v.hands->hello().body);
        }
        visitor& v = all[in.byte() % all.size()];
        if (act == 1) v.answer();
        if (act == 2) v.send(in.bytes(in.byte()));
        if (act == 3) v.fd = descriptor{};
        if (act > 3) {
            const char kind = in.kind();
            v.say(kind, in.body(kind, 3));
        }
        door.serve([&](frame_connection& link, const join_message& said) -> std::optional<refusal_message> {
            if (in.below(2) == 0) return refusal_message{refusal::wrong, "why not"};
            ++joined;
            frame_connection{std::move(link)}.push(frame::present, said.job);
            return {};
        });
        fuzzers::require(door.waiting_count() <= admission::most_pending, "few wait");
    }
    for (const visitor& v : all) proven += v.tags ? 1 : 0;
    fuzzers::require(joined <= proven, "who joins has proven the key");
    fuzzers::require(printable(door.notes()) == door.notes(), "what is said of strangers can be shown");
    return 0;
}
