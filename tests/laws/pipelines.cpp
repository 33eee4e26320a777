// Samples with micro-batches, and of roles with several positions.
#include "support/planned_samples.hpp"

using namespace samples;

namespace samples {
// Names without default arguments, which not all compilers print.
struct two_stages : pipeline<2, 2> {};
struct four_stages : pipeline<4, 6> {};
}  // namespace samples

support::planned_samples support::plans_of_pipelines() {
    return plans_of<true>(list<two_stages, four_stages, trained_by_one_f_one_b, trained_by_v_half, roles_and_meshes>{});
}
