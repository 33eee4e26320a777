// Numbers and texts as bytes in a fixed order, as the control channel sends them.
#pragma once

#include "printable.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace dovetail::control::detail {

// Longest message text. Longer ones are cut before they are sent; a received text that is longer is invalid.
inline constexpr std::size_t longest_words = 16384;

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
    // A text for display: at most its first `most` characters.
    writer& words(std::string_view t, std::size_t most = longest_words) { return text(t.substr(0, most)); }
    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

// Reads past the end give zeros and set `good` to false.
class reader {
public:
    explicit reader(std::string_view bytes) : bytes_{bytes} {}
    std::int64_t number() {
        if (bytes_.size() < 8) return fail();
        std::uint64_t n = 0;
        for (int i = 0; i < 8; ++i)
            n |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[static_cast<std::size_t>(i)])) << (8 * i);
        bytes_.remove_prefix(8);
        return static_cast<std::int64_t>(n);
    }
    // A number from `least` to `most`; another number sets `good` to false.
    std::int64_t number(std::int64_t least, std::int64_t most) {
        const std::int64_t n = number();
        return n < least || n > most ? fail() : n;
    }
    std::string text(std::size_t most = SIZE_MAX) {
        const std::int64_t size = number();
        if (size < 0 || static_cast<std::uint64_t>(size) > bytes_.size() || static_cast<std::uint64_t>(size) > most) {
            fail();
            return {};
        }
        std::string t{bytes_.substr(0, static_cast<std::size_t>(size))};
        bytes_.remove_prefix(static_cast<std::size_t>(size));
        return t;
    }
    // A text for display, made printable.
    std::string words() { return printable(text(longest_words)); }
    bool good() const { return good_; }
    // Whether every read succeeded and no bytes are left.
    bool complete() const { return good_ && bytes_.empty(); }

private:
    std::int64_t fail() {
        good_ = false;
        bytes_ = {};
        return 0;
    }
    std::string_view bytes_;
    bool good_ = true;
};

}  // namespace dovetail::control::detail
