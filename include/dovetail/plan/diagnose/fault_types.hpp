// tell<Error, G>: the error of the first mistake in a graph, with the types that it concerns. A fault names them by their source positions.
#pragma once

#include "../../dsl/source_position.hpp"
#include "../../error/base.hpp"
#include "../compile/keys.hpp"

#include <type_traits>
#include <utility>

namespace dovetail::plan::detail {

// The first mistake in a graph. Cycles are found in the program, which has the same operations and edges for all options.
template <class G>
using default_program = typename plan_key<G, options<>>::for_program;
template <class G>
constexpr ir::fault first_fault() {
    if constexpr (stage_table<graph_key<G>, stage::check>)
        return stage_table<graph_key<G>, stage::check>;
    else
        return stage_table<default_program<G>, stage::cycle>;
}
template <class G>
struct fault_of {
    static constexpr ir::fault value = first_fault<G>();
};

template <class G, int Position>
struct name_at {
    using type = dsl::type_at<written<G>, Position>;
};
template <class G>
struct name_at<G, ir::names_left_out> {
    using type = error::names_left_out;
};
template <class G, int I>
using named = typename name_at<G, fault_of<G>::value.source_position[I]>::type;

template <class G, int I>
using tensor_named =
    tensor_from<fault_of<G>::value.type[I].type, fault_of<G>::value.type[I].rank, fault_of<G>::value.type[I].extent[0],
                fault_of<G>::value.type[I].extent[1], fault_of<G>::value.type[I].extent[2], fault_of<G>::value.type[I].extent[3],
                fault_of<G>::value.type[I].extent[4], fault_of<G>::value.type[I].extent[5]>;

// The numbers in an error, and the position of its statement.
template <class G>
constexpr auto where_it_stands() {
    constexpr ir::fault f = fault_of<G>::value;
    if constexpr (f.where >= 0)
        return std::type_identity<dsl::located<written<G>, f.where>>{};
    else
        return std::type_identity<dsl::located<written<G>, f.source_position[0]>>{};
}
template <class G>
using standing = typename decltype(where_it_stands<G>())::type;

template <template <class...> class Error, class G, int... I, int... T>
constexpr auto error_with(std::integer_sequence<int, I...>, std::integer_sequence<int, T...>) {
    constexpr ir::fault f = fault_of<G>::value;
    if constexpr (f.counted)
        return std::type_identity<Error<named<G, I>..., tensor_named<G, T>..., error::number<f.number>, standing<G>>>{};
    else
        return std::type_identity<Error<named<G, I>..., tensor_named<G, T>..., standing<G>>>{};
}
template <template <class...> class Error, class G>
constexpr auto tell() {
    return error_with<Error, G>(std::make_integer_sequence<int, fault_of<G>::value.count>{},
                                std::make_integer_sequence<int, fault_of<G>::value.types>{});
}

}  // namespace dovetail::plan::detail
