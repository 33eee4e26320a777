// Samples of two and three roles, with channels and collectives between them.
#include "support/planned_samples.hpp"

using namespace samples;

support::planned_samples support::plans_of_roles() {
    return plans_of<true>(list<ring_of_three, there_and_back, read_twice, overlapping_collectives, summed_together, taken_twice,
                               blocks_across, ordered, idle_between, one_role_overlaps, told_and_reduced, sent_apart, split_across<4>,
                               split_over_roles<2>>{});
}
