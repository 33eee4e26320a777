// What the types of a pipeline say: the shape of its schedule, whether it is well-formed, the order of its cells as a constant, and each
// cell as a statement.
#pragma once

#include "../error/base.hpp"
#include "communication_facts.hpp"
#include "families.hpp"
#include "pipeline_order.hpp"
#include "statements.hpp"

#include <utility>

namespace dovetail {

namespace dsl {

namespace detail {

// The shape of a pipeline with this schedule; `unknown` if it is none.
template <class Schedule>
inline constexpr pipeline_shape schedule_shape{};
template <>
inline constexpr pipeline_shape schedule_shape<gpipe>{1, 1, pipeline_schedule::gpipe};
template <>
inline constexpr pipeline_shape schedule_shape<one_f_one_b>{1, 1, pipeline_schedule::one_f_one_b};
template <int ChunksPerStage>
inline constexpr pipeline_shape schedule_shape<interleaved<ChunksPerStage>>{1, 1, pipeline_schedule::interleaved, ChunksPerStage};
template <>
inline constexpr pipeline_shape schedule_shape<zero_bubble>{1, 1, pipeline_schedule::zero_bubble};
template <>
inline constexpr pipeline_shape schedule_shape<v_half>{1, 1, pipeline_schedule::v_half, 2};

template <int Stages, int MicroBatches, class Schedule>
constexpr pipeline_shape shape_of() {
    pipeline_shape s = schedule_shape<Schedule>;
    s.stages = Stages;
    s.micro_batches = MicroBatches;
    return s;
}

// The keyword of a pipeline: a group of its cells, or a kind of malformed one.
template <int Stages, int MicroBatches, class Schedule, template <int...> class Role, template <int...> class... Bodies>
constexpr keyword pipelining() {
    constexpr pipeline_shape s = schedule_shape<Schedule>;
    if constexpr (s.schedule == pipeline_schedule::unknown)
        return keyword::unknown_schedule;
    else if constexpr (Stages < 1 || MicroBatches < 1 || s.chunks_per_stage < 1)
        return keyword::pipeline_size;
    else if constexpr (sizeof...(Bodies) != s.phases())
        return keyword::body_count;
    else if constexpr (s.schedule == pipeline_schedule::interleaved && MicroBatches % Stages != 0)
        return keyword::uneven_micro_batches;
    else
        return (takes_another<Bodies, 2> || ...) || takes_another<Role, 1> ? keyword::other_arity : keyword::group;
}

// The cells in order.
template <int Cells>
struct pipeline_cells {
    pipeline_cell of[Cells]{};
    constexpr explicit pipeline_cells(const pipeline_shape& s) { order_pipeline(s, of); }
};
template <int Stages, int MicroBatches, class Schedule>
inline constexpr pipeline_cells<shape_of<Stages, MicroBatches, Schedule>().cells()> cells_of{shape_of<Stages, MicroBatches, Schedule>()};

// The body of a phase.
template <pipeline_phase Phase, template <int...> class... Bodies>
struct body_of;
template <template <int...> class Forward, template <int...> class... More>
struct body_of<pipeline_phase::forward, Forward, More...> {
    template <int C, int M>
    using at = Forward<C, M>;
    template <int C, int M>
    using place = error::in<Forward, C, M>;
};
template <template <int...> class Forward, template <int...> class Backward, template <int...> class... More>
struct body_of<pipeline_phase::backward, Forward, Backward, More...> : body_of<pipeline_phase::forward, Backward> {};
template <template <int...> class Forward, template <int...> class Backward, template <int...> class Weight>
struct body_of<pipeline_phase::weight, Forward, Backward, Weight> : body_of<pipeline_phase::forward, Weight> {};

// The statements of a pipeline: each cell on its role.
template <class Pipeline>
struct pipeline_statements;
template <int Stages, int MicroBatches, class Schedule, template <int...> class Role, template <int...> class... Bodies>
struct pipeline_statements<pipeline<Stages, MicroBatches, Schedule, Role, Bodies...>> {
    static constexpr const auto& cells = cells_of<Stages, MicroBatches, Schedule>;
    template <int I>
    using body = body_of<cells.of[I].phase, Bodies...>;
    template <int I>
    using place = typename body<I>::template place<cells.of[I].chunk, cells.of[I].micro_batch>;
    template <class Places>
    struct all;
    template <int... I>
    struct all<std::integer_sequence<int, I...>> {
        using type = types<on<Role<cells.of[I].stage>, typename body<I>::template at<cells.of[I].chunk, cells.of[I].micro_batch>>...>;
    };
    using type = typename all<std::make_integer_sequence<int, shape_of<Stages, MicroBatches, Schedule>().cells()>>::type;
};

}  // namespace detail
}  // namespace dsl

// How many chunks a pipeline of this schedule has, and the number of the role that chunk C is on: for the statements beside the pipeline,
// such as the states of a chunk:
// `template <int C> using weights = on<stage<pipeline_stage<v_half, 4, C>>, state<w<C>, ...>>`.
template <class Schedule, int Stages>
inline constexpr int pipeline_chunks = dsl::detail::shape_of<Stages, 1, Schedule>().chunks();
template <class Schedule, int Stages, int C>
inline constexpr int pipeline_stage = dsl::detail::shape_of<Stages, 1, Schedule>().stage_of(C);

}  // namespace dovetail
