// Numbers and names as observers print them, by integer arithmetic only, so that every compiler prints the same; and escaping of strings
// for JSON, DOT and HTML.
#pragma once

#include "../core/config.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace dovetail::observe {

// 1234567 as "1,234,567".
inline std::string with_separators(std::int64_t n) {
    std::string digits = std::to_string(n < 0 ? -n : n);
    for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
    return (n < 0 ? "-" : "") + digits;
}

// Picoseconds as microseconds with three decimals, rounded down.
inline std::string microseconds(std::int64_t picoseconds) {
    const std::int64_t ns = (picoseconds < 0 ? -picoseconds : picoseconds) / 1000;
    std::string decimals = std::to_string(ns % 1000);
    return (picoseconds < 0 ? "-" : "") + std::to_string(ns / 1000) + "." + std::string(3 - decimals.size(), '0') + decimals;
}

// The same with its unit; in milliseconds from one millisecond on.
inline std::string duration_text(std::int64_t picoseconds) {
    return picoseconds < 1'000'000'000 ? microseconds(picoseconds) + " us" : microseconds(picoseconds / 1000) + " ms";
}

// a / b with this many decimals, rounded down; "-" where b is 0.
inline std::string ratio(std::int64_t a, std::int64_t b, int decimals) {
    if (b == 0) return "-";
    std::string text = (a < 0) != (b < 0) && a != 0 ? "-" : "";
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b > INT64_MAX / 10) {  // the remainder is multiplied by ten
        a /= 2;
        b /= 2;
    }
    text += std::to_string(a / b);
    if (decimals > 0) text += ".";
    for (std::int64_t rest = a % b; decimals > 0; --decimals) {
        text += static_cast<char>('0' + rest * 10 / b);
        rest = rest * 10 % b;
    }
    return text;
}

// a / b in per cent with one decimal.
inline std::string percent(std::int64_t a, std::int64_t b) {
    if (b == 0) return "-";
    return (a <= INT64_MAX / 100 ? ratio(a * 100, b, 1) : ratio(a, b < 100 ? 1 : b / 100, 1)) + " %";
}

// Bytes in the largest binary unit that is not more, with one decimal unless it is whole: "512 B", "1.5 MiB".
inline std::string bytes_text(std::int64_t n) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    std::int64_t size = 1;
    for (; unit < 4 && n >= size * 1024; ++unit) size *= 1024;
    return ratio(n, size, n % size == 0 ? 0 : 1) + " " + units[unit];
}

inline std::string padded(std::string text, std::size_t width, bool right = false) {
    if (text.size() >= width) return text;
    return right ? std::string(width - text.size(), ' ') + text : text + std::string(width - text.size(), ' ');
}

// A string in quotes for JSON and DOT. `<` is escaped, so that the text may be inside a script of a page.
inline std::string in_quotes(std::string_view text, bool json = true) {
    static constexpr char hex[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (c == '\n')
            out += "\\n";
        else if (json && (static_cast<unsigned char>(c) < 0x20 || c == '<'))
            ((out += "\\u00") += hex[(c >> 4) & 15]) += hex[c & 15];
        else
            out += c;
    }
    return out += '"';
}

inline std::string html_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

// Rows of cells in columns as wide as they need; the first row is the heading.
inline std::string table(const auto& rows, std::string_view right_aligned) {
    std::string text;
    std::size_t columns = 0;
    for (const auto& row : rows) columns = row.size() > columns ? row.size() : columns;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            std::size_t width = 0;
            for (const auto& other : rows) width = c < other.size() && other[c].size() > width ? other[c].size() : width;
            const bool right = c < right_aligned.size() && right_aligned[c] == 'r';
            line += "  " + padded(row[c], width, right);
        }
        while (!line.empty() && line.back() == ' ') line.pop_back();
        text += line + "\n";
    }
    return text;
}

}  // namespace dovetail::observe
