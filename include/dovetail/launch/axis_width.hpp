// The width of an open axis, as an argument of an executor: `dv::width<dp>(4)`.
#pragma once

#include "../core/tag.hpp"

namespace dovetail {

struct axis_width {
    const tag* axis = &nameless;
    int width = 0;
};
template <class Axis>
struct width_of_axis : axis_width {
    using of_axis = Axis;
};
template <class Axis>
constexpr width_of_axis<Axis> width(int positions) {
    return {{&tag_of<Axis>, positions}};
}

}  // namespace dovetail
