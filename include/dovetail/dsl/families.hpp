// What a repeat or an all stands for: the members of its family, one for each combination of indices, and what is wrong with its counts.
// A family is a template over one, two or three numbers.
#pragma once

#include "communication_facts.hpp"
#include "counts.hpp"
#include "descriptor.hpp"

#include <type_traits>
#include <utility>

namespace dovetail::dsl::detail {

// How many indices a family has, tested on its first member. A pack expansion cannot be tested, because an alias template with a fixed
// number of parameters does not accept one. These are variables, because nvcc's front end fails if a function evaluates the same
// expression.
template <template <int...> class Family>
inline constexpr bool takes_one = requires { typename types<Family<0>>; };
template <template <int...> class Family>
inline constexpr bool takes_two = requires { typename types<Family<0, 0>>; };
template <template <int...> class Family>
inline constexpr bool takes_three = requires { typename types<Family<0, 0, 0>>; };
// Whether a family has another number of indices than this. If its first member is ill-formed for another reason, the compiler reports
// that.
template <template <int...> class Family, int Indices>
inline constexpr bool takes_another = !takes_three<Family> && (takes_one<Family> || takes_two<Family>);
template <template <int...> class Family>
inline constexpr bool takes_another<Family, 1> = !takes_one<Family> && (takes_two<Family> || takes_three<Family>);
template <template <int...> class Family>
inline constexpr bool takes_another<Family, 2> = !takes_two<Family> && (takes_one<Family> || takes_three<Family>);

// The keyword of a repeat or all with these counts: itself, or a kind of malformed one.
template <keyword Kind, template <int...> class Family, int... N>
constexpr keyword counting() {
    if constexpr (sizeof...(N) < 1 || sizeof...(N) > 3)
        return keyword::too_many_indices;
    else if constexpr (((indices_of(N) < 0) || ...))
        return keyword::negative_count;
    else
        return takes_another<Family, sizeof...(N)> ? keyword::other_arity : Kind;
}

// 0, 1, ... up to the product of the counts: one number for each combination of indices.
template <int... N>
using numbers_below = std::make_integer_sequence<int, (indices_of(N) * ...)>;

// What a malformed one stands for.
struct no_indices {
    using type = types<>;
};

// body<0, ...> to body<N - 1, ...>, the last index fastest. There is one specialisation for each number of indices, because a pack cannot
// be expanded into an alias template with a fixed number of parameters. A function's signature would not do: nvcc's front end treats an
// alias there as a distinct type.
template <template <int...> class Body, int... N>
struct index_space;
template <template <int...> class Body, int N>
struct index_space<Body, N> {
    template <class Places>
    struct all;
    template <int... P>
    struct all<std::integer_sequence<int, P...>> {
        using type = types<Body<index_at(N, P)>...>;
    };
    using type = typename all<numbers_below<N>>::type;
};
template <template <int...> class Body, int N, int M>
struct index_space<Body, N, M> {
    static constexpr int m = indices_of(M);
    template <class Places>
    struct all;
    template <int... P>
    struct all<std::integer_sequence<int, P...>> {
        using type = types<Body<index_at(N, P / m), index_at(M, P % m)>...>;
    };
    using type = typename all<numbers_below<N, M>>::type;
};
template <template <int...> class Body, int N, int M, int K>
struct index_space<Body, N, M, K> {
    static constexpr int m = indices_of(M), k = indices_of(K);
    template <class Places>
    struct all;
    template <int... P>
    struct all<std::integer_sequence<int, P...>> {
        using type = types<Body<index_at(N, P / (m * k)), index_at(M, P / k % m), index_at(K, P % k)>...>;
    };
    using type = typename all<numbers_below<N, M, K>>::type;
};

// The counts of an all as a list. nvcc's front end takes decltype of a template parameter of class type for a reference.
template <auto Counts, class Type = std::remove_cvref_t<decltype(Counts)>>
struct counts_of {
    using type = Type;
};
template <auto Counts, class Type>
    requires std::is_integral_v<Type>
struct counts_of<Counts, Type> {
    using type = count_list<Counts>;
};

// The members of a family that an all stands for, and its keyword: itself, or a kind of malformed one.
template <template <int...> class Family, class Counts>
struct family_members : no_indices {
    static constexpr keyword kind = keyword::too_many_indices;
};
template <template <int...> class Family, int... N>
struct family_members<Family, count_list<N...>>
    : std::conditional_t<counting<keyword::all, Family, N...>() == keyword::all, index_space<Family, N...>, no_indices> {
    static constexpr keyword kind = counting<keyword::all, Family, N...>();
};
template <auto Counts, template <int...> class Family>
using members_of_all = family_members<Family, typename counts_of<Counts>::type>;

}  // namespace dovetail::dsl::detail
