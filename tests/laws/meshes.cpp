// Samples of one role, with a mesh or without.
#include "support/planned_samples.hpp"

using namespace samples;

support::planned_samples support::plans_of_meshes() {
    return plans_of<false>(list<counter, sums, along_an_axis, permuted, descent, through_host, one_group, shards_kept, in_blocks, in_turn,
                                split_chain<4>, split_layers<2>, split_pair<2>, split_experts<2>, split_state<2>, split_groups<2>, moved,
                                hosts_first, hosts_last, from_a_host>{});
}
