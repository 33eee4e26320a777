// tables: the tables of one graph under one set of options at run time, each made when it is first read.
#pragma once

#include "../ir/table.hpp"
#include "pipeline.hpp"

#include <optional>

namespace dovetail::plan {

namespace detail {

// A table as later stages read it: views of its arrays, if it has arrays.
template <class Table>
constexpr const Table& as_read(const Table& t) {
    return t;
}
template <class T>
constexpr span<const T> as_read(const vec<T>& t) {
    return t.view();
}
template <template <class> class Basic>
    requires requires { Basic<owning>::tables; }
constexpr auto as_read(const Basic<owning>& t) {
    return ir::view(t);
}

template <class Stage>
struct owned_table;
template <class Stage>
struct read_table {
    using type = std::remove_cvref_t<decltype(as_read(std::declval<const typename owned_table<Stage>::type&>()))>;
};
template <class Stage, class Given = given<Stage>>
struct made_table;
template <class Stage, class... Given>
struct made_table<Stage, stages<Given...>> {
    using type = decltype(make_table<Stage>(std::declval<const typename Stage::depends::options&>(), std::declval<looks_at_nothing&>(),
                                            std::declval<const typename read_table<Given>::type&>()...));
};
template <class Stage>
struct owned_table : made_table<Stage> {};
template <>
struct owned_table<stage::lower> {
    using type = ir::graph;
};

template <class Stage>
struct slot {
    std::optional<typename owned_table<Stage>::type> table = {};
};
template <class... Stage>
struct slots : slot<Stage>... {};
template <candidate C>
using slots_of = std::conditional_t<
    booked(C),
    slots<stage::order<C>, stage::book_memory<C>, stage::schedule<C>, stage::ready<C>, stage::emit<C>, stage::interval<C>, stage::prove<C>>,
    slots<stage::order<C>, stage::schedule<C>, stage::slowed<C>, stage::ready<C>, stage::emit<C>, stage::interval<C>, stage::prove<C>>>;

}  // namespace detail

// Calls f with the candidate as a constant.
template <class F>
constexpr auto with_candidate(candidate c, F f) {
    switch (c) {
        case candidate::written: return f(std::integral_constant<candidate, candidate::written>{});
        case candidate::listed: return f(std::integral_constant<candidate, candidate::listed>{});
        case candidate::johnson: return f(std::integral_constant<candidate, candidate::johnson>{});
        case candidate::booked_100: return f(std::integral_constant<candidate, candidate::booked_100>{});
        case candidate::booked_112: return f(std::integral_constant<candidate, candidate::booked_112>{});
        case candidate::booked_125: return f(std::integral_constant<candidate, candidate::booked_125>{});
        case candidate::booked_150: return f(std::integral_constant<candidate, candidate::booked_150>{});
        case candidate::booked_175: return f(std::integral_constant<candidate, candidate::booked_175>{});
        case candidate::booked_200: return f(std::integral_constant<candidate, candidate::booked_200>{});
        case candidate::booked_250: return f(std::integral_constant<candidate, candidate::booked_250>{});
        case candidate::booked_300: return f(std::integral_constant<candidate, candidate::booked_300>{});
        case candidate::booked_400: return f(std::integral_constant<candidate, candidate::booked_400>{});
        case candidate::booked_600: return f(std::integral_constant<candidate, candidate::booked_600>{});
        case candidate::booked_800: return f(std::integral_constant<candidate, candidate::booked_800>{});
        case candidate::min_memory: return f(std::integral_constant<candidate, candidate::min_memory>{});
        case candidate::listed_serial: return f(std::integral_constant<candidate, candidate::listed_serial>{});
        case candidate::sequential:
        case candidate::automatic: break;
    }
    return f(std::integral_constant<candidate, candidate::sequential>{});
}

// The tables of one graph under one set of options, each made when it is first read. `look(stage, table)` sees the tables of the
// stages that run within another.
template <class Look = detail::looks_at_nothing>
class tables : detail::slots<stage::check, stage::role_order, stage::rewrite, stage::expand, stage::edges, stage::cycle, stage::costs,
                             stage::serial_time, stage::occupancy, stage::reference>,
               detail::slots_of<candidate::sequential>,
               detail::slots_of<candidate::written>,
               detail::slots_of<candidate::listed>,
               detail::slots_of<candidate::johnson>,
               detail::slots_of<candidate::booked_100>,
               detail::slots_of<candidate::booked_112>,
               detail::slots_of<candidate::booked_125>,
               detail::slots_of<candidate::booked_150>,
               detail::slots_of<candidate::booked_175>,
               detail::slots_of<candidate::booked_200>,
               detail::slots_of<candidate::booked_250>,
               detail::slots_of<candidate::booked_300>,
               detail::slots_of<candidate::booked_400>,
               detail::slots_of<candidate::booked_600>,
               detail::slots_of<candidate::booked_800>,
               detail::slots_of<candidate::min_memory>,
               detail::slots_of<candidate::listed_serial> {
public:
    constexpr tables(const ir::graph& g, const plan_options& s, Look look = {})
        : graph_{g}, plan_{s}, program_{s, pass::rewrites_of(g, s.rewrites, s.axes)}, look_{look} {
        if (s.objective == objective_kind::finish) plan_ = with_preferred(s, read<stage::rewrite>());
    }

    // The table as later stages read it.
    template <class Stage>
    constexpr decltype(auto) read() {
        if constexpr (std::is_same_v<Stage, stage::lower>) {
            return (graph_);
        } else if constexpr (detail::optional_stage<Stage>) {
            static_assert(std::is_same_v<Stage, stage::rewrite>);
            return Stage::passes_on(program_) ? graph_ : detail::as_read(owned<Stage>());
        } else {
            return detail::as_read(owned<Stage>());
        }
    }
    // The table itself; a caller may move from it if no stage reads it any more.
    template <class Stage>
    constexpr auto& owned() {
        auto& table = static_cast<detail::slot<Stage>&>(*this).table;
        if (!table) table.emplace(made<Stage>(detail::given<Stage>{}));
        return *table;
    }
    // Whether the stage has a table of its own here: a stage that runs within another has none.
    template <class Stage>
    static constexpr bool keeps() {
        return std::is_same_v<Stage, stage::lower> || std::is_base_of_v<detail::slot<Stage>, tables>;
    }
    // Whether the table of the stage exists, or the stage passes on the table of another.
    template <class Stage>
    constexpr bool has() const {
        if constexpr (std::is_same_v<Stage, stage::lower>) {
            return true;
        } else if constexpr (detail::optional_stage<Stage>) {
            return Stage::passes_on(program_) || static_cast<const detail::slot<Stage>&>(*this).table.has_value();
        } else {
            return static_cast<const detail::slot<Stage>&>(*this).table.has_value();
        }
    }

private:
    template <class Stage, class... Given>
    constexpr auto made(stages<Given...>) {
        return make_table<Stage>(options_of(typename Stage::depends{}), look_, read<Given>()...);
    }
    constexpr source options_of(of_graph) const { return {}; }
    constexpr const program_options& options_of(of_program) const { return program_; }
    constexpr const plan_options& options_of(of_plan) const { return plan_; }

    ir::graph graph_;
    plan_options plan_;
    program_options program_;
    Look look_;
};

namespace detail {

// A stage that has no slot and runs within no other would never be run, nor shown.
template <class Stage, class Other>
constexpr bool runs_within() {
    if constexpr (composed<Other>)
        return reads_among(typename Other::within{}, stages<Stage>{});
    else
        return false;
}
template <class Stage, class... All>
constexpr bool is_made(stages<All...>) {
    return tables<>::keeps<Stage>() || (runs_within<Stage, All>() || ...);
}
template <class... Stage>
constexpr bool all_are_made(stages<Stage...> list) {
    return (is_made<Stage>(list) && ...);
}
static_assert(all_are_made(joined(pipeline{}, pipeline_of<candidate::listed>{})) &&
                  all_are_made(joined(pipeline{}, pipeline_of<candidate::booked_100>{})),
              "dovetail: each stage of the list has a slot, or runs within another");

}  // namespace detail

}  // namespace dovetail::plan
