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

// Of a member of a family, value<17>, the spelling is the family's: value.
struct tag {
    static constexpr long long none = -0x7fffffffffffffff;

    letters spelling;             // as this compiler prints the type, qualified
    unsigned long long hash = 0;  // of the spelling and the number
    long long number = none;      // the member's
};

namespace detail {

template <class T>
constexpr const char* pretty() {
#if defined(__clang__) || defined(__GNUC__)
    return __PRETTY_FUNCTION__;
#else
#error "dovetail needs g++, clang or nvcc with one of them"
#endif
}
template <template <int> class T>
constexpr const char* pretty() {
    return __PRETTY_FUNCTION__;
}
// "... pretty() [with T = X]" (g++), "... pretty() [T = X]" (clang), "... [with T=X]" (nvcc's front end): what stands around
// the type is the same for all, and is measured once.
inline constexpr int pretty_before = [] {
    const char* const all = pretty<char>();
    int at = static_cast<int>(__builtin_strlen(all));
    while (all[at - 1] != '=') --at;
    return all[at] == ' ' ? at + 1 : at;
}();
inline constexpr int pretty_around = static_cast<int>(__builtin_strlen(pretty<char>())) - 4;

// Every name of a graph is hashed while compiling: four letters at a time, from the last, in one function.
constexpr tag make_tag(const char* p, int size) {
    int n = size;
    unsigned long long h = 0;
    while (n % 4 != 0) h = h * 31 + p[--n];
    while (n > 0) {
        n -= 4;
        h = (h * 0x9e3779b97f4a7c15ull) ^ (p[n] + p[n + 1] * 0x100 + p[n + 2] * 0x10000 + p[n + 3] * 0x1000000u);
    }
    return {{p, size}, h ^ (h >> 29)};
}
constexpr tag tag_from(const char* pretty) { return make_tag(pretty + pretty_before, static_cast<int>(__builtin_strlen(pretty)) - pretty_around); }

// Names of large graphs are families of one: spelled and hashed once, not once for each number. Low bits of the hashes differ for
// all numbers of a family, and those of two families do not lie in rows that stand in each other's way.
// clang 19 takes templates of bool, of unsigned and of auto for templates of int as well: these are no families. nvcc
// with g++ does not, and is not asked: its front end takes 7 KB for each name.
template <template <int> class F>
concept counted = requires {
    typename F<-0x7fffffff>;
    typename F<0x7fffffff>;
};
template <template <int> class F>
inline constexpr tag family = tag_from(pretty<F>());
constexpr tag numbered(const tag& family, int i) { return {family.spelling, family.hash + static_cast<unsigned>(i) * 40503u, i}; }

}  // namespace detail

template <class T>
inline constexpr tag tag_of = detail::tag_from(detail::pretty<T>());
template <template <int> class F, int I>
#if defined(__clang__) || !defined(__CUDACC__)
    requires detail::counted<F>
#endif
inline constexpr tag tag_of<F<I>> = detail::numbered(detail::family<F>, I);

// What has no name.
inline constexpr tag nameless{};

constexpr bool named(const tag* t) { return t->hash != 0; }

// Whether two tags are one type's. Not by address: g++ does not compare addresses of inline variables while compiling when
// -fsanitize=undefined is on, and for the same reason nothing here is compared with nullptr. The built-in compares at once
// what a loop would compare letter by letter; to clang it is a loop all the same, but it knows one spelling by its address (of
// two that had one hash, it would say that it cannot tell).
constexpr bool same(const tag* a, const tag* b) {
    if (a->hash != b->hash || a->number != b->number || a->spelling.size != b->spelling.size) return false;
#if defined(__clang__)
    if (__builtin_is_constant_evaluated()) return a->spelling.first == b->spelling.first;
#endif
    return __builtin_memcmp(a->spelling.first, b->spelling.first, static_cast<decltype(sizeof(0))>(a->spelling.size)) == 0;
}

}  // namespace dovetail
