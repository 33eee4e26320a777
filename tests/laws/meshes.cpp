// Samples of one role, with a mesh or without.
#include "support/planned_samples.hpp"

using namespace samples;

support::planned_samples support::plans_of_meshes() {
    return plans_of<false>(list<counter, sums, along_an_axis, permuted, descent, through_host, one_group, in_blocks>{});
}
