// One role, with lanes or alone.
#include "support/planned_samples.hpp"

using namespace samples;

support::planned_samples support::plans_of_lanes() {
    return plans_of<false>(list<counter, sums, along_an_axis, descent, through_host, one_group>{});
}
