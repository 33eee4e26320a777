// Tags: the identity and the printed name of a type. Its hash finds it in a table, its spelling confirms it.
// Takes a type, gives a constant; names are for display only, nothing is ordered by them.
#pragma once

#include "config.hpp"

#include <string>
#include <string_view>

namespace dovetail {

struct tag {
    std::string_view spelling;    // as this compiler prints the type, qualified
    unsigned long long hash = 0;  // of the spelling
};

namespace detail {

struct text {
    const char* first;
    std::size_t size;
};
template <class T>
constexpr text pretty() {
#if defined(__clang__) || defined(__GNUC__)
    return {__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1};
#else
#error "dovetail needs g++, clang or nvcc with one of them"
#endif
}
// "... pretty() [with T = X; ...]" (g++), "... pretty() [T = X]" (clang), "... [with T=X]" (nvcc's front end): what stands
// around the type is the same for all, and is measured once.
inline constexpr std::size_t pretty_before = [] {
    const std::string_view all{pretty<char>().first, pretty<char>().size};
    const auto spaced = all.find("T = char");
    return spaced == std::string_view::npos ? all.find("T=char") + 2 : spaced + 4;
}();
inline constexpr std::size_t pretty_around = pretty<char>().size - 4;

template <class T>
constexpr std::string_view spelled() {
    constexpr text all = pretty<T>();
    return {all.first + pretty_before, all.size - pretty_around};
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
constexpr bool same(const tag* a, const tag* b) {
    const std::size_t n = a->spelling.size();
    if (a->hash != b->hash || b->spelling.size() != n) return false;
    const char* other = b->spelling.data();
    for (const char *p = a->spelling.data(), *end = p + n; p != end; ++p, ++other)
        if (*p != *other) return false;
    return true;
}

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
