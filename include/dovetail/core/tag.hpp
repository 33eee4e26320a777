// Tags: the identity and the printed name of a type. Its hash finds it in a table, its spelling confirms it.
// Takes a type, gives a constant; names are for display only, nothing is ordered by them.
#pragma once

#include "config.hpp"

#include <string>
#include <string_view>

namespace dovetail {

struct tag {
    std::string_view spelling;     // as this compiler prints the type, qualified
    unsigned long long hash = 0;   // of the spelling
};

namespace detail {

template <class T>
constexpr std::string_view spelled() {
#if defined(__clang__) || defined(__GNUC__)
    std::string_view text = __PRETTY_FUNCTION__;
#else
#error "dovetail needs g++, clang or nvcc with one of them"
#endif
    // "... spelled() [with T = X; ...]" (g++), "... spelled() [T = X]" (clang), "... [with T=X]" (nvcc's front end)
    auto begin = text.find("T = ");
    begin = begin == std::string_view::npos ? text.find("T=") + 2 : begin + 4;
    auto end = text.find(';', begin);
    if (end == std::string_view::npos) end = text.rfind(']');
    return text.substr(begin, end - begin);
}

constexpr unsigned long long hashed(std::string_view text) {
    unsigned long long h = 1469598103934665603ull;  // FNV-1a
    const char* p = text.data();
    for (const char* end = p + text.size(); p != end; ++p) h = (h ^ static_cast<unsigned char>(*p)) * 1099511628211ull;
    return h;
}

constexpr tag make_tag(std::string_view text) { return {text, hashed(text)}; }

}  // namespace detail

template <class T>
inline constexpr tag tag_of = detail::make_tag(detail::spelled<T>());

// What has no name.
inline constexpr tag nameless{};

constexpr bool named(const tag* t) { return t->hash != 0; }

// Whether two tags are one type's. Not by address: g++ does not compare addresses of inline variables while compiling when
// -fsanitize=undefined is on, and for the same reason nothing here is compared with nullptr.
constexpr bool same(const tag* a, const tag* b) { return a->hash == b->hash && a->spelling == b->spelling; }

// The name as a person writes it: without namespaces, `struct`, casts of integers and blanks; the same on every compiler.
constexpr std::string display(std::string_view spelling) {
    std::string out;
    auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    std::size_t word_start = 0;  // where the identifier being written begins in `out`
    for (std::size_t i = 0; i < spelling.size(); ++i) {
        const std::string_view rest = spelling.substr(i);
        bool skipped = false;
        for (std::string_view noise : {"(anonymous namespace)::", "{anonymous}::", "<unnamed>::", "(int)", "(long)", "(bool)"})
            if (rest.substr(0, noise.size()) == noise) {
                i += noise.size() - 1;
                skipped = true;
                break;
            }
        if (skipped) continue;
        const char c = spelling[i];
        if (c == ':') {  // drop the qualifier just written
            out.resize(word_start);
            ++i;
            continue;
        }
        if (c == ' ') {
            const std::string_view last = std::string_view{out}.substr(word_start);
            if (last == "struct" || last == "class") out.resize(word_start);
            continue;
        }
        if (!word(c)) {
            // g++ marks suffixes of integer arguments: 3 and 3L are the same argument
            while (out.size() > word_start && out[word_start] >= '0' && out[word_start] <= '9' &&
                   (out.back() == 'l' || out.back() == 'L' || out.back() == 'u' || out.back() == 'U'))
                out.pop_back();
            out.push_back(c);
            if (c == ',') out.push_back(' ');
            word_start = out.size();
            continue;
        }
        out.push_back(c);
    }
    return out;
}

inline std::string display(const tag& t) { return display(t.spelling); }

}  // namespace dovetail
