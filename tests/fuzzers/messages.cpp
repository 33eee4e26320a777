// Any bytes as messages of the control channel: a message that is accepted has the same meaning after it is written again, and can be
// printed.
#include <fuzzers/input.hpp>

#include <dovetail/launch/control/rendezvous.hpp>

using namespace dovetail::control;
using namespace dovetail::control::detail;

namespace {

constexpr int ranks = 3;

void shown(const std::string& text) {
    fuzzers::require(printable(text) == text, "what has come can be shown");
    for (const char c : text) fuzzers::require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "no escape codes");
}
// What is understood is the same when it is written and read again.
template <class Unpack, class Pack>
void check(const std::string& body, Unpack&& unpack, Pack&& pack) {
    const auto once = unpack(body);
    if (!once) return;
    const std::string again = pack(*once);
    const auto twice = unpack(again);
    fuzzers::require(twice && pack(*twice) == again, "a message is stable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzzers::input in{data, size};
    const char kind = in.kind();
    const std::string body = in.body(kind, ranks);
    switch (kind) {
        case frame::join:
            check(
                body, [](auto& b) { return join_message::unpack(b); },
                [](auto& m) { return shown(m.who.host), shown(m.version), m.pack(); });
            break;
        case frame::refused:
            check(body, [](auto& b) { return refusal_message::unpack(b); }, [](auto& m) { return shown(m.text), m.pack(); });
            break;
        case frame::heartbeat:
            check(body, [](auto& b) { return heartbeat_message::unpack(b); }, [](auto& m) { return shown(m.of.doing.text), m.pack(); });
            break;
        case frame::leave:
            check(body, [](auto& b) { return leave_message::unpack(b, ranks); }, [](auto& m) { return m.pack(); });
            break;
        case frame::abort:
            check(
                body, [](auto& b) { return unpacked_abort_reason(b, ranks); },
                [](auto& m) { return shown(m.text), shown(m.operation), packed(m); });
            break;
        case frame::contribution:
            check(body, [](auto& b) { return contribution::unpack(b, 1); }, [](auto& m) { return shown(m.what), m.pack(); });
            break;
        case frame::result:
            check(
                body, [](auto& b) { return unpacked_exchange_result(b, ranks); },
                [](auto& m) { return shown(m.second.fault), packed(m.first, m.second); });
            break;
        case frame::status_table: {
            std::vector<peer_status> all(ranks);
            if (unpack_table(body, all)) fuzzers::require(unpack_table(packed_table(all), all), "a table is stable");
            for (const peer_status& m : all) shown(m.doing.statement);
            break;
        }
        case frame::welcome: {
            std::vector<peer_status> all(ranks);
            if (unpack_welcome(body, all)) fuzzers::require(unpack_welcome(packed_welcome(all), all), "a welcome is stable");
            for (const peer_status& m : all) shown(m.host);
            break;
        }
        default: {
            const server_address c = server_address::unpack(body);
            for (const endpoint& e : c.at) fuzzers::require(e.port > 0 && e.port < 65536 && !e.host.empty(), "an endpoint is one");
            shown(c.fault);
        }
    }
    return 0;
}
