// Frames as bytes of a connection: four bytes of length, one of kind, the body and, once both ends have proven the job's key, a tag. The
// tag is a keyed hash of the frame and its sequence number, with a separate key for each direction of each connection: a frame that is
// changed, added, repeated or left out on the way ends the connection. Nothing here needs a socket.
#pragma once

#include "bytes.hpp"
#include "hmac.hpp"

#include <optional>

namespace dovetail::control::detail {

// The tags of one direction, in frame order.
class frame_tags {
public:
    static constexpr std::size_t size = 16;

    explicit frame_tags(const digest& key) : keyed_{bytes_of(key)} {}
    std::string next(char kind, std::string_view body) {
        const std::string number = writer{}.number(count_++).take();
        return std::string{bytes_of(keyed_.of({number, {&kind, 1}, body})).substr(0, size)};
    }

private:
    hmac keyed_;
    std::int64_t count_ = 0;
};

inline constexpr std::size_t frame_header = 5;

inline void append_frame(std::string& to, char kind, std::string_view body, std::optional<frame_tags>& tags) {
    const auto size = static_cast<std::uint32_t>(body.size() + 1 + (tags ? frame_tags::size : 0));
    for (int i = 0; i < 4; ++i) to += static_cast<char>(size >> (8 * i) & 0xff);
    to += kind;
    to.append(body);
    if (tags) to += tags->next(kind, body);
}

// Received bytes, until they are taken frame by frame.
class frame_buffer {
public:
    std::size_t size() const { return bytes_.size() - taken_; }
    void append(std::string_view bytes) {
        // Erases the bytes already read only if they are more than the rest: each byte is moved once at most, whatever the frames' sizes.
        if (taken_ > bytes_.size() / 2) {
            bytes_.erase(0, taken_);
            taken_ = 0;
        }
        bytes_.append(bytes);
    }
    // The next frame. False if it is incomplete, or if `fault()` tells why the connection is unusable. `most`: the largest body in bytes.
    bool next(char& kind, std::string& body, std::size_t most) {
        if (!fault_.empty() || size() < frame_header) return false;
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; ++i) length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes_[taken_ + i])) << (8 * i);
        const std::size_t around = 1 + (tags_ ? frame_tags::size : 0);
        kind = bytes_[taken_ + 4];
        if (length < around || length - around > most)
            return fail("a message of invalid length, " + std::to_string(length) + " bytes (at most " + std::to_string(most + around) +
                        ")");
        if (size() < length + 4) return false;
        const std::string_view all = std::string_view{bytes_}.substr(taken_ + frame_header, length - 1);
        body.assign(all.substr(0, length - around));
        if (tags_ && !equal_in_constant_time(tags_->next(kind, body), all.substr(length - around))) {
            body.clear();
            return fail("a message without a valid tag of the process that has proven the job's key");
        }
        taken_ += length + 4;
        return true;
    }
    // From the next frame on, every frame must have a tag.
    void expect(const digest& key) { tags_.emplace(key); }
    const std::string& fault() const { return fault_; }

private:
    bool fail(std::string why) {
        fault_ = std::move(why);
        bytes_.clear();
        taken_ = 0;
        return false;
    }
    std::string bytes_;
    std::size_t taken_ = 0;
    std::optional<frame_tags> tags_;
    std::string fault_;
};

}  // namespace dovetail::control::detail
