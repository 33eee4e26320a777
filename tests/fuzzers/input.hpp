// The bytes of a fuzzer as choices: numbers near a limit, texts, and messages of the control channel made of them, complete or damaged. So
// a fuzzer need not discover the format of a message.
#pragma once

#include <dovetail/launch/control/messages.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace fuzzers {

// Ends the program where what must hold does not: libFuzzer keeps the input.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

class input {
public:
    input(const std::uint8_t* data, std::size_t size) : rest_{reinterpret_cast<const char*>(data), size} {}

    bool empty() const { return rest_.empty(); }
    unsigned byte() {
        if (rest_.empty()) return 0;
        const auto b = static_cast<unsigned char>(rest_[0]);
        rest_.remove_prefix(1);
        return b;
    }
    unsigned below(unsigned limit) { return byte() % limit; }
    std::string bytes(std::size_t most) {
        const std::string some{rest_.substr(0, most)};
        rest_.remove_prefix(some.size());
        return some;
    }
    std::string text() { return bytes(byte() % 32); }
    std::int64_t number() {
        switch (below(8)) {
            case 0: return INT64_MAX - static_cast<std::int64_t>(below(4));
            case 1: return INT64_MIN + static_cast<std::int64_t>(below(4));
            case 2: return -static_cast<std::int64_t>(below(4));
            case 3: return static_cast<std::int64_t>(1) << below(63);
            case 4: {
                std::uint64_t n = 0;
                for (int i = 0; i < 8; ++i) n = n << 8 | byte();
                return static_cast<std::int64_t>(n);
            }
            default: return static_cast<std::int64_t>(below(6));
        }
    }
    dovetail::control::peer_status peer_status() {
        dovetail::control::peer_status m;
        m.host = text();
        m.machine = text();
        m.process = static_cast<long>(number());
        m.at = {number(), number()};
        m.doing = {text(), text(), text()};
        m.exchanges = number();
        return m;
    }
    // A message of that kind, as far as its fields can be written; or any bytes.
    std::string body(char kind, int ranks) {
        namespace d = dovetail::control::detail;
        namespace frame = d::frame;
        const unsigned damage = below(8);
        std::string b = damage == 0 ? bytes(byte()) : well_formed(kind, ranks);
        if (damage == 1 && !b.empty()) b.resize(byte() % b.size());
        if (damage == 2) b += text();
        if (damage == 3 && !b.empty()) b[byte() % b.size()] = static_cast<char>(byte());
        return b;
    }
    char kind() { return "hnkjpwrcgbqtale?"[below(16)]; }

private:
    std::string well_formed(char kind, int ranks) {
        namespace d = dovetail::control::detail;
        namespace frame = d::frame;
        const auto all = [&] {
            std::vector<dovetail::control::peer_status> m;
            for (int i = 0; i < ranks; ++i) m.push_back(peer_status());
            return m;
        };
        switch (kind) {
            case frame::join:
                return d::join_message{
                    below(4) == 0 ? text() : d::library_version(), number(), number(), below(4) == 0 ? text() : "", text(), peer_status()}
                    .pack();
            case frame::refused: return d::writer{}.number(number()).text(text()).take();
            case frame::present: return std::string(static_cast<std::size_t>(ranks), below(2) == 0 ? '0' : '1');
            case frame::welcome: return d::packed_welcome(all());
            case frame::contribution: return d::contribution{number(), 0, text(), text()}.pack();
            case frame::result: {
                d::exchange_result o;
                if (below(2) == 0) o.fault = text();
                else
                    for (int i = 0; i < ranks; ++i) o.texts.push_back(text());
                return d::packed(number(), o);
            }
            case frame::heartbeat: {
                d::heartbeat_message b;
                b.of = peer_status();
                b.calls.first = number();
                for (unsigned n = below(5); n > 0; --n) b.calls.executors.push_back(number());
                return b.pack();
            }
            case frame::status_table: return d::packed_table(all());
            case frame::leave: return d::leave_message{number(), number(), number()}.pack();
            case frame::abort:
                return d::packed(dovetail::control::abort_reason{static_cast<int>(number()), text(), text(), text(), below(2) == 0});
            default: return text();
        }
    }

    std::string_view rest_;
};

}  // namespace fuzzers
