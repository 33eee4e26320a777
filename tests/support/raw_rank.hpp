// A client of the control channel's protocol that sends single frames, so that it can violate the protocol.
#pragma once

#include <dovetail/launch/control/channel_endpoint.hpp>

#include <string>
#include <utility>

namespace support {

using namespace std::chrono_literals;

// A connection to a port of this machine; empty where nobody has listened for two seconds.
inline dovetail::control::detail::descriptor connected(int port, const std::string& host = "127.0.0.1",
                                                       std::chrono::milliseconds limit = 2s) {
    namespace d = dovetail::control::detail;
    std::string why;
    for (const auto until = d::now() + limit;;) {
        d::descriptor fd = d::connect_to({host, port}, "a test", true, d::now() + 1s, why);
        if (fd || d::now() > until) return fd;
        std::this_thread::sleep_for(5ms);
    }
}

class raw_rank {
public:
    explicit raw_rank(int port, dovetail::control::job_key key = {}) : link{connected(port)}, hands{std::move(key)} {}

    struct frame {
        char kind = 0;  // 0: none came
        std::string body;
    };
    frame next(std::chrono::milliseconds limit = 2s) {
        frame f;
        for (const auto until = dovetail::control::detail::now() + limit; dovetail::control::detail::now() < until;) {
            link.flush();
            if (link.next(f.kind, f.body, dovetail::control::detail::longest_frame)) return f;
            if (!link.open() || !link.fault().empty() || !more) break;
            more = link.fill(1 << 20);
            std::this_thread::sleep_for(1ms);
        }
        return {};
    }
    void say(char kind, const std::string& body) {
        link.push(kind, body);
        link.flush();
    }
    // Whether rank 0 took the proof; then all frames have tags.
    bool prove() {
        namespace d = dovetail::control::detail;
        say(d::frame::hello, hands.hello().body);
        for (int i = 0; i < 2; ++i) {
            const frame f = next();
            const auto a = hands.receive(f.kind, f.body);
            if (a.kind != 0) say(a.kind, a.body);
        }
        if (hands.state() != d::handshake_state::proven) return false;
        link.seal(hands.keys().frames_of_rank, hands.keys().frames_of_server);
        return true;
    }
    static dovetail::control::detail::join_message as(int rank, int size, const std::string& job = "test") {
        namespace d = dovetail::control::detail;
        return {d::library_version(), rank, size, job, d::this_instance(), d::this_process()};
    }
    void join(const dovetail::control::detail::join_message& m) { say(dovetail::control::detail::frame::join, m.pack()); }
    // The next frame of that kind, or of none.
    frame await(char kind, std::chrono::milliseconds limit = 2s) {
        for (const auto until = dovetail::control::detail::now() + limit; dovetail::control::detail::now() < until;) {
            const frame f = next(std::chrono::ceil<std::chrono::milliseconds>(until - dovetail::control::detail::now()));
            if (f.kind == kind || f.kind == 0) return f;
        }
        return {};
    }

    dovetail::control::detail::frame_connection link;
    dovetail::control::detail::client_handshake hands;
    bool more = true;  // the connection is not at its end
};

}  // namespace support
