// Tags: the identity and the printed name of a type. Its hash finds it in a table, its spelling confirms it.
// Takes a type, gives a constant; names are for display only, nothing is ordered by them. How a person writes them: display.hpp.
#pragma once

#include "config.hpp"

namespace dovetail {

// Text that somebody else owns. Not std::string_view, whose header costs more than all that a small graph needs.
struct letters {
    const char* first = "";
    int size = 0;
};

struct tag {
    letters spelling;             // as this compiler prints the type, qualified
    unsigned long long hash = 0;  // of the spelling
};

namespace detail {

template <class T>
constexpr letters pretty() {
#if defined(__clang__) || defined(__GNUC__)
    return {__PRETTY_FUNCTION__, static_cast<int>(sizeof(__PRETTY_FUNCTION__)) - 1};
#else
#error "dovetail needs g++, clang or nvcc with one of them"
#endif
}
// "... pretty() [with T = X]" (g++), "... pretty() [T = X]" (clang), "... [with T=X]" (nvcc's front end): what stands around
// the type is the same for all, and is measured once.
inline constexpr int pretty_before = [] {
    const letters all = pretty<char>();
    int at = all.size;
    while (all.first[at - 1] != '=') --at;
    return all.first[at] == ' ' ? at + 1 : at;
}();
inline constexpr int pretty_around = pretty<char>().size - 4;

constexpr unsigned long long hashed(letters t) {
    unsigned long long h = 1469598103934665603ull;  // FNV-1a
    for (const char *p = t.first, *end = p + t.size; p != end; ++p) h = (h ^ static_cast<unsigned char>(*p)) * 1099511628211ull;
    return h;
}

constexpr tag make_tag(letters spelling) { return {spelling, hashed(spelling)}; }
constexpr tag trimmed(letters pretty) { return make_tag({pretty.first + pretty_before, pretty.size - pretty_around}); }

}  // namespace detail

template <class T>
inline constexpr tag tag_of = detail::trimmed(detail::pretty<T>());

// What has no name.
inline constexpr tag nameless{};

constexpr bool named(const tag* t) { return t->hash != 0; }

// Whether two tags are one type's. Not by address: g++ does not compare addresses of inline variables while compiling when
// -fsanitize=undefined is on, and for the same reason nothing here is compared with nullptr. The built-in compares at once
// what a loop would compare letter by letter.
constexpr bool same(const tag* a, const tag* b) {
    return a->hash == b->hash && a->spelling.size == b->spelling.size &&
           __builtin_memcmp(a->spelling.first, b->spelling.first, static_cast<decltype(sizeof(0))>(a->spelling.size)) == 0;
}

}  // namespace dovetail
