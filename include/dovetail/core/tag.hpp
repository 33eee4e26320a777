// Tags: the identity and the printed name of a type. A lookup compares hashes first, then spellings. Takes a type, gives a constant. Names
// are for display only: nothing is ordered by them. display.hpp shortens them for messages.
#pragma once

#include "config.hpp"

namespace dovetail {

// A view of characters that it does not own. Not std::string_view: its header costs more compile time than a small graph needs.
struct letters {
    const char* first = "";
    int size = 0;
};

// Of a member of a family such as value<17>, the spelling is the family's: value.
struct tag {
    static constexpr long long none = -0x7fffffffffffffff;

    letters spelling;             // as this compiler prints the type, qualified
    unsigned long long hash = 0;  // of the spelling and the number
    long long number = none;      // of a member of a family
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
// "... pretty() [with T = X]" (g++), "... pretty() [T = X]" (clang), "... [with T=X]" (nvcc's front end): the text around the type is the
// same for all types, so its length is measured once.
inline constexpr int pretty_before = [] {
    const char* const all = pretty<char>();
    int at = static_cast<int>(__builtin_strlen(all));
    while (all[at - 1] != '=') --at;
    return all[at] == ' ' ? at + 1 : at;
}();
inline constexpr int pretty_around = static_cast<int>(__builtin_strlen(pretty<char>())) - 4;

// Every name of a graph is hashed in constant evaluation. To keep that cheap, one function hashes four characters at a time, from the end.
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
constexpr tag tag_from(const char* pretty) {
    return make_tag(pretty + pretty_before, static_cast<int>(__builtin_strlen(pretty)) - pretty_around);
}

// Names in large graphs are members of a few families: a family is spelled and hashed once, not once for each number. The low bits of the
// hashes differ between the numbers of a family, and the multiplier keeps the numbers of two families from filling the same run of a hash
// table.
// clang 19 also accepts templates over bool, unsigned and auto where a template over int is required: they are not families. nvcc with g++
// does not accept them, and `counted` is not used there: it costs nvcc's front end 7 KB per name.
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

// The tag of something without a name.
inline constexpr tag nameless{};

constexpr bool named(const tag* t) { return t->hash != 0; }

// Whether two tags belong to the same type. Addresses are not compared, not even with nullptr: with -fsanitize=undefined, g++ does not
// compare addresses of inline variables in constant expressions. The built-in compares in one step what a loop would compare character by
// character. clang evaluates the built-in as a loop too, but gives equal spellings one address, so comparing addresses is enough there.
// (For two spellings with equal hashes clang would report that the comparison is not a constant expression.)
constexpr bool same(const tag* a, const tag* b) {
    if (a->hash != b->hash || a->number != b->number || a->spelling.size != b->spelling.size) return false;
#if defined(__clang__)
    if (__builtin_is_constant_evaluated()) return a->spelling.first == b->spelling.first;
#endif
    return __builtin_memcmp(a->spelling.first, b->spelling.first, static_cast<decltype(sizeof(0))>(a->spelling.size)) == 0;
}

}  // namespace dovetail
