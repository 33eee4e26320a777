// Frames for the control channel: numbers and texts in one order of bytes, and a connection that carries them. Nothing here
// blocks, and nothing throws for what the other side does.
#pragma once

#include "socket.hpp"

#include <utility>

namespace dovetail::cuda::detail {

class writer {
public:
    writer& number(std::int64_t n) {
        for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(static_cast<std::uint64_t>(n) >> (8 * i) & 0xff);
        return *this;
    }
    writer& text(std::string_view t) {
        number(static_cast<std::int64_t>(t.size()));
        bytes_.append(t);
        return *this;
    }
    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

// Reads past the end give zeros and leave `good` false.
class reader {
public:
    explicit reader(std::string_view bytes) : bytes_{bytes} {}
    std::int64_t number() {
        if (bytes_.size() < 8) return fail();
        std::uint64_t n = 0;
        for (int i = 0; i < 8; ++i) n |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[static_cast<std::size_t>(i)])) << (8 * i);
        bytes_.remove_prefix(8);
        return static_cast<std::int64_t>(n);
    }
    std::string text() {
        const std::int64_t size = number();
        if (size < 0 || static_cast<std::uint64_t>(size) > bytes_.size()) {
            fail();
            return {};
        }
        std::string t{bytes_.substr(0, static_cast<std::size_t>(size))};
        bytes_.remove_prefix(static_cast<std::size_t>(size));
        return t;
    }
    bool good() const { return good_; }

private:
    std::int64_t fail() {
        good_ = false;
        bytes_ = {};
        return 0;
    }
    std::string_view bytes_;
    bool good_ = true;
};

// A connection that carries frames: four bytes of length, one of kind, the rest.
class framed {
public:
    explicit framed(descriptor fd = descriptor{}) : fd_{std::move(fd)}, heard_{now()} {}

    int fd() const { return fd_.get(); }
    bool open() const { return static_cast<bool>(fd_); }
    void close() { fd_ = descriptor{}; }
    bool sending() const { return open() && !over_ && sent_ < out_.size(); }
    instant heard() const { return heard_; }

    void push(char kind, std::string_view body) {
        if (!open()) return;
        const auto size = static_cast<std::uint32_t>(body.size() + 1);
        for (int i = 0; i < 4; ++i) out_ += static_cast<char>(size >> (8 * i) & 0xff);
        out_ += kind;
        out_.append(body);
    }
    void flush() {
        while (sending()) {
            const auto n = ::send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
            if (n < 0) {
                over_ = true;
                break;
            }
            sent_ += static_cast<std::size_t>(n);
        }
        out_.clear();
        sent_ = 0;
    }
    // Reads what is there. False at the end of the connection; what came before it can still be taken. A peer that is killed
    // with something unread ends it by a reset, which a sender may meet first: its last words are read all the same.
    bool fill() {
        char some[16384];
        for (;;) {
            const auto n = ::recv(fd(), some, sizeof some, 0);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return !over_ && (errno == EAGAIN || errno == EWOULDBLOCK);
            if (n == 0) return false;
            heard_ = now();
            in_.append(some, static_cast<std::size_t>(n));
        }
    }
    // False where no whole frame is there. A frame longer than `most` breaks the connection.
    bool next(char& kind, std::string& body, std::size_t most) {
        if (in_.size() < 5) return false;
        std::size_t size = 0;
        for (std::size_t i = 0; i < 4; ++i) size |= static_cast<std::size_t>(static_cast<unsigned char>(in_[i])) << (8 * i);
        if (size < 1 || size > most) {
            close();
            in_.clear();
            return false;
        }
        if (in_.size() < size + 4) return false;
        kind = in_[4];
        body.assign(in_, 5, size - 1);
        in_.erase(0, size + 4);
        return true;
    }

private:
    descriptor fd_;
    std::string in_, out_;
    std::size_t sent_ = 0;
    bool over_ = false;  // nothing more can be sent
    instant heard_;
};

}  // namespace dovetail::cuda::detail
