// Display names: of types, from the spelling that a compiler prints, and of tensors. Takes a spelling, a tag or a tensor type, gives a
// string.
#pragma once

#include "tag.hpp"
#include "tensor.hpp"

#include <string>
#include <string_view>

namespace dovetail {

namespace detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

// Length of a prefix that compilers print and users do not write (an unnamed namespace, a cast); 0 if `text` does not begin with one.
constexpr std::size_t noise(std::string_view text) {
    for (std::string_view known : {"(anonymous namespace)::", "{anonymous}::", "<unnamed>::", "(int)", "(long)", "(bool)"})
        if (text.substr(0, known.size()) == known) return known.size();
    return 0;
}

// Builds a display name character by character.
struct display_writer {
    std::string out;
    std::size_t word_start = 0;  // where the identifier being written begins

    constexpr void drop_qualifier() { out.resize(word_start); }
    constexpr void drop_keyword() {
        const std::string_view last = std::string_view{out}.substr(word_start);
        if (last == "struct" || last == "class") out.resize(word_start);
    }
    // g++ prints suffixes of integer arguments: 3 and 3L are the same argument.
    constexpr void drop_suffix() {
        if (word_start == out.size() || !is_digit(out[word_start])) return;
        while (out.back() == 'l' || out.back() == 'L' || out.back() == 'u' || out.back() == 'U') out.pop_back();
    }
    constexpr void end_word(char c) {
        drop_suffix();
        out.push_back(c);
        if (c == ',') out.push_back(' ');
        word_start = out.size();
    }
};

}  // namespace detail

// The name without namespaces, `struct`, casts of integers and blanks; the same on every compiler.
constexpr std::string display(std::string_view spelling) {
    detail::display_writer to;
    while (!spelling.empty()) {
        const std::size_t skipped = detail::noise(spelling);
        const char c = spelling[0];
        if (skipped > 0) {
            spelling.remove_prefix(skipped);
            continue;
        }
        if (c == ':')
            to.drop_qualifier();
        else if (c == ' ')
            to.drop_keyword();
        else if (detail::is_word(c))
            to.out.push_back(c);
        else
            to.end_word(c);
        spelling.remove_prefix(c == ':' && spelling.size() > 1 ? 2 : 1);
    }
    return to.out;
}

// The spelling alone; of a member of a family, without its number.
constexpr std::string_view spelled(const tag& t) { return {t.spelling.first, static_cast<std::size_t>(t.spelling.size)}; }

inline std::string display(const tag& t) {
    std::string name = display(spelled(t));
    if (t.number != tag::none) name += "<" + std::to_string(t.number) + ">";
    return name;
}

// As in "float 8x64"; of a scalar "float".
inline std::string display(const tensor_type& t) {
    std::string text = name_of(t.type);
    for (int i = 0; i < t.rank; ++i) text += (i == 0 ? " " : "x") + std::to_string(t.extent[i]);
    return text;
}

}  // namespace dovetail
