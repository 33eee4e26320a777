// The error of a name that nothing defines, with the name that is spelt most like it.
#pragma once

#include "../../ir/names.hpp"
#include "fault_types.hpp"

namespace dovetail::plan::detail {

// The symbol or role whose spelling is nearest to a missing name, with at most one letter and a third of them different: its source
// position, or -1. `fits` selects the rows to consider.
template <class Row, class Fits>
constexpr int nearest(span<const Row> rows, const tag& missing_name, Fits fits) {
    const ir::short_name missing_text{missing_name};
    const letters missing = missing_text.text();
    int best = missing.size / 3 + 2;
    int source_position = -1;
    int budget = 200;  // names of similar length to compare: bounds the compile time in a large graph
    for (const Row& s : rows) {
        if (!dovetail::named(s.name) || same(s.name, &missing_name) || !fits(s) || budget == 0) continue;
        const ir::short_name short_name{*s.name};
        const letters name = short_name.text();
        if (name.size + 3 < missing.size || missing.size + 3 < name.size) continue;
        --budget;
        if (const int d = ir::edit_distance(missing, name, best); d < best) {
            best = d;
            source_position = s.source_position;
        }
    }
    return source_position;
}
struct any_row {
    template <class Row>
    constexpr bool operator()(const Row&) const {
        return true;
    }
};
// The error of an unknown name. `near`: the source position of the name with the nearest spelling, or -1.
template <template <class...> class Error, class G, int Near, class Name>
constexpr auto tell_near() {
    if constexpr (Near < 0)
        return std::type_identity<Error<Name>>{};
    else
        return std::type_identity<Error<Name, error::did_you_mean<dsl::type_at<written<G>, Near>>>>{};
}

// The error of a name that nothing defines.
template <template <class...> class Error, class G, class... Statement>
constexpr auto tell_nearest() {
    constexpr int near = nearest(typed<G>::value.symbols, tag_of<named<G, 1>>, any_row{});
    if constexpr (near < 0)
        return std::type_identity<Error<Statement..., named<G, 1>, standing<G>>>{};
    else
        return std::type_identity<Error<Statement..., named<G, 1>, error::did_you_mean<dsl::type_at<written<G>, near>>, standing<G>>>{};
}

}  // namespace dovetail::plan::detail
