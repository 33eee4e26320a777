// Micro-batches, and roles with lanes.
#include "support/planned_samples.hpp"

using namespace samples;

support::planned_samples support::plans_of_pipelines() { return plans_of<true>(list<pipeline<2, 2>, pipeline<4, 6>, roles_and_lanes>{}); }
