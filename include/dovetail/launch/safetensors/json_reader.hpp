// Reads the JSON of a safetensors header, which is untrusted: strings, natural numbers and the characters between them. The caller asks for
// what the format has at each place, so nothing is nested deeper than the format nests. Throws malformed at the first byte that is wrong.
#pragma once

#include "../control/printable.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dovetail::safetensors {

// What is wrong with a file, without its name.
struct malformed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class json_reader {
public:
    explicit json_reader(std::string_view text) : text_{text} {}

    // Whether the next character behind blanks is `c`, which is then skipped.
    bool next(char c) {
        skip_blanks();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!next(c)) refuse(std::string{"`"} + c + "` is expected");
    }
    // Throws unless only blanks follow.
    void expect_end() {
        skip_blanks();
        if (at_ != text_.size()) refuse("nothing more is expected");
    }
    // A string of well-formed UTF-8, its escapes replaced.
    std::string string() {
        expect('"');
        std::string out;
        while (peek() != '"') {
            if (static_cast<unsigned char>(peek()) < 0x20) refuse("a control character in a string");
            if (peek() == '\\') {
                append_escape(out);
                continue;
            }
            const auto c = control::detail::first_of(text_.substr(at_));
            if (!c.good) refuse("a string that is not UTF-8");
            out += text_.substr(at_, c.bytes);
            at_ += c.bytes;
        }
        ++at_;
        return out;
    }
    // A natural number of at most 63 bits, in decimal digits alone.
    std::int64_t number() {
        skip_blanks();
        if (at_ == text_.size() || !is_digit(text_[at_])) refuse("a natural number is expected");
        const std::size_t first = at_;
        std::int64_t n = 0;
        for (; at_ < text_.size() && is_digit(text_[at_]); ++at_)
            if (__builtin_mul_overflow(n, std::int64_t{10}, &n) || __builtin_add_overflow(n, std::int64_t{text_[at_] - '0'}, &n))
                refuse("a number is too large");
        if (text_[first] == '0' && at_ > first + 1) refuse("a number begins with 0");
        return n;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw malformed{"its header is not well-formed at byte " + std::to_string(at_) + ": " + why};
    }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    }
    // The next character of a string.
    char peek() const {
        if (at_ == text_.size()) refuse("a string does not end");
        return text_[at_];
    }
    void append_escape(std::string& to) {
        ++at_;
        constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const char c = peek();
        if (const std::size_t known = letters.find(c); known != std::string_view::npos) {
            to += meant[known];
            ++at_;
            return;
        }
        if (c != 'u') refuse("an unknown escape");
        std::uint32_t value = unit();
        if (value >= 0xd800 && value < 0xdc00) {  // the first half of a surrogate pair
            if (text_.substr(at_, 2) != "\\u") refuse("half a surrogate pair");
            ++at_;
            const std::uint32_t second = unit();
            if (second < 0xdc00 || second > 0xdfff) refuse("half a surrogate pair");
            value = 0x10000 + ((value - 0xd800) << 10 | (second - 0xdc00));
        } else if (value >= 0xdc00 && value < 0xe000) {
            refuse("half a surrogate pair");
        }
        append_utf8(to, value);
    }
    // The four hexadecimal digits behind `u`, which is the next character.
    std::uint32_t unit() {
        ++at_;
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i, ++at_) {
            const std::size_t digit = std::string_view{"0123456789abcdefABCDEF"}.find(peek());
            if (digit == std::string_view::npos) refuse("an escape without four hexadecimal digits");
            value = value << 4 | static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
        }
        return value;
    }
    static void append_utf8(std::string& to, std::uint32_t value) {
        const auto byte = [&](std::uint32_t b) { to += static_cast<char>(static_cast<unsigned char>(b)); };
        if (value < 0x80) return byte(value);
        if (value < 0x800) {
            byte(0xc0 | value >> 6);
        } else if (value < 0x10000) {
            byte(0xe0 | value >> 12);
            byte(0x80 | (value >> 6 & 0x3f));
        } else {
            byte(0xf0 | value >> 18);
            byte(0x80 | (value >> 12 & 0x3f));
            byte(0x80 | (value >> 6 & 0x3f));
        }
        byte(0x80 | (value & 0x3f));
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

inline bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto c = control::detail::first_of(text);
        if (!c.good) return false;
        text.remove_prefix(c.bytes);
    }
    return true;
}

// The text, which is UTF-8, as a JSON string.
inline std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20) {
            constexpr const char* digits = "0123456789abcdef";
            out += "\\u00";
            out += digits[c >> 4];
            out += digits[c & 15];
            continue;
        }
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

}  // namespace dovetail::safetensors
