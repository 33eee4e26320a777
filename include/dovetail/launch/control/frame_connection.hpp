// A connection that carries frames. Nothing here blocks, and errors of the other side cause no exceptions.
#pragma once

#include "frames.hpp"
#include "socket.hpp"

#include <utility>

namespace dovetail::control::detail {

class frame_connection {
public:
    explicit frame_connection(descriptor fd = descriptor{}) : fd_{std::move(fd)}, last_received_{now()} {}

    int fd() const { return fd_.get(); }
    bool open() const { return static_cast<bool>(fd_); }
    void close() { fd_ = descriptor{}; }
    bool sending() const { return open() && !over_ && sent_ < out_.size(); }
    instant last_received() const { return last_received_; }
    // Why the received bytes are invalid.
    const std::string& fault() const { return in_.fault(); }

    // From now on every frame has a tag, in both directions.
    void seal(const digest& mine, const digest& theirs) {
        tags_.emplace(mine);
        in_.expect(theirs);
    }
    void push(char kind, std::string_view body) {
        if (!open()) return;
        append_frame(out_, kind, body, tags_);
    }
    void flush() {
        while (sending()) {
            const auto n = ::send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return forget_sent();
            if (n < 0) {
                over_ = true;
                break;
            }
            sent_ += static_cast<std::size_t>(n);
        }
        out_.clear();
        sent_ = 0;
    }
    // Sends nothing more; received bytes can still be read.
    void end_sending() { ::shutdown(fd(), SHUT_WR); }

    // Reads up to `most` available bytes. False at the end of the connection; frames received before can still be taken. If a peer is
    // killed with unread input, the connection ends by a reset, which a sender may see first: the peer's last messages are read all the
    // same.
    bool fill(std::size_t most) {
        return receive(most, [&, this](std::string_view bytes) { in_.append(bytes); });
    }
    // The same, but the bytes are dropped.
    bool discard(std::size_t most) {
        return receive(most, [](std::string_view) {});
    }
    bool next(char& kind, std::string& body, std::size_t most) { return in_.next(kind, body, most); }

private:
    template <class Take>
    bool receive(std::size_t most, Take&& take) {
        char some[16384];
        while (most > 0) {
            const auto n = ::recv(fd(), some, std::min(most, sizeof some), 0);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return !over_ && (errno == EAGAIN || errno == EWOULDBLOCK);
            if (n == 0) return false;
            last_received_ = now();
            most -= static_cast<std::size_t>(n);
            take(std::string_view{some, static_cast<std::size_t>(n)});
        }
        return true;
    }
    void forget_sent() {
        if (sent_ <= out_.size() / 2) return;
        out_.erase(0, sent_);
        sent_ = 0;
    }

    descriptor fd_;
    frame_buffer in_;
    std::string out_;
    std::optional<frame_tags> tags_;
    std::size_t sent_ = 0;
    bool over_ = false;  // nothing more can be sent
    instant last_received_;
};

}  // namespace dovetail::control::detail
