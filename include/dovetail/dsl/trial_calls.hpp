// Trial calls: can a rule of an operation be evaluated while compiling?
#pragma once

#include "../core/tensor.hpp"

#include <type_traits>
#include <utility>

namespace dovetail::dsl::detail {

// Whether a shape rule, a cost function or a workspace is a constant expression is tested with tensors of every rank, equal ones for all
// arguments, with extents of 1 and of 40320, which many numbers divide. One success is enough, because a rule may throw to refuse
// arguments.
constexpr tensor_type tensor_to_try(element type, int rank, std::int64_t extent) {
    tensor_type t{type, rank, {}};
    for (int i = 0; i < rank; ++i) t.extent[i] = extent;
    return t;
}
template <bool (*Try)(tensor_type), element Type, int Rank, std::int64_t Extent>
inline constexpr bool passes = requires { typename std::bool_constant<Try(tensor_to_try(Type, Rank, Extent))>; };
template <bool (*Try)(tensor_type), element Type, int... Rank>
constexpr bool passes_somehow(std::integer_sequence<int, Rank...>) {
    return (passes<Try, Type, Rank, 1> || ...) || (passes<Try, Type, Rank, 40320> || ...);
}
template <bool (*Try)(tensor_type)>
constexpr bool doubtful() {
    using ranks = std::make_integer_sequence<int, max_rank + 1>;
    if constexpr (passes<Try, element::float32, 2, 1>)
        return false;
    else
        return !(passes_somehow<Try, element::float32>(ranks{}) || passes_somehow<Try, element::float16>(ranks{}) ||
                 passes_somehow<Try, element::int32>(ranks{}));
}

// Tensors of other ranks or extents than those before them: what a rule that throws refuses.
constexpr tensor_type unlike_to_try(int argument, bool of_other_ranks) {
    return tensor_to_try(element::float32, of_other_ranks ? 1 + argument % max_rank : 2, 3 + argument);
}
template <bool (*Try)(bool)>
inline constexpr bool refuses_by_value = requires {
    typename std::bool_constant<Try(false)>;
    typename std::bool_constant<Try(true)>;
};

}  // namespace dovetail::dsl::detail
