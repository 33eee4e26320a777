// Makes text of another process safe to display: characters that a terminal would interpret, or that would change how other text looks, are
// written as escapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dovetail::control {

namespace detail {

struct code_point {
    std::size_t bytes = 1;
    std::uint32_t value = 0;
    bool good = false;
};
// The first code point of `text`, which is not empty, if it is well-formed UTF-8.
inline code_point first_of(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const std::uint32_t lead = byte(0);
    if (lead < 0x80) return {1, lead, true};
    const std::size_t more = lead >> 5 == 0x6 ? 1 : lead >> 4 == 0xe ? 2 : lead >> 3 == 0x1e ? 3 : 0;
    if (more == 0 || text.size() <= more) return {};
    std::uint32_t value = lead & (0x3fu >> more);
    for (std::size_t i = 1; i <= more; ++i) {
        if (byte(i) >> 6 != 2) return {};
        value = value << 6 | (byte(i) & 0x3f);
    }
    constexpr std::uint32_t least[] = {0, 0x80, 0x800, 0x10000};  // an overlong encoding of a smaller code point is not well-formed
    if (value < least[more] || value > 0x10ffff || value >> 11 == 0x1b) return {};
    return {more + 1, value, true};
}
// Control characters of ASCII and Latin-1, and those that change the direction of writing.
inline bool controls(std::uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

}  // namespace detail

// Control characters and bytes that are not UTF-8 become \xNN; newlines and tabs become \n and \t.
inline std::string printable(std::string_view text) {
    constexpr const char* digits = "0123456789abcdef";
    std::string shown;
    while (!text.empty()) {
        const detail::code_point c = detail::first_of(text);
        const std::string_view bytes = text.substr(0, c.bytes);
        text.remove_prefix(c.bytes);
        if (c.good && !detail::controls(c.value)) {
            shown += bytes;
        } else if (c.good && (c.value == '\n' || c.value == '\t')) {
            shown += c.value == '\n' ? "\\n" : "\\t";
        } else {
            for (const char b : bytes) {
                const auto byte = static_cast<unsigned char>(b);
                shown += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
            }
        }
    }
    return shown;
}

}  // namespace dovetail::control
