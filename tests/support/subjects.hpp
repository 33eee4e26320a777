// The proven plans to damage: plans made by hand, of the samples with several options, and of random graphs.
#pragma once

#include "hand_plans.hpp"
#include "planner.hpp"
#include "random_graph.hpp"
#include "samples.hpp"
#include "simulated.hpp"
#include "written.hpp"

#include <dovetail/core/display.hpp>
#include <dovetail/plan/make.hpp>

#include <memory>
#include <string>
#include <vector>

namespace support {
template <class... G>
struct graphs {};
}  // namespace support

namespace samples {
struct two_stages : pipeline<2, 2> {};

using damaged_graphs = support::graphs<crossing_pair, ping_pong, ring_of_three, there_and_back, read_twice, channel_first, collective_first,
                                       overlapping_collectives, taken_twice, two_stages, counter, sums, along_an_axis, roles_and_meshes,
                                       descent, through_host, one_group, summed_together, in_blocks, blocks_across, ordered, in_turn,
                                       idle_between, moved, sent_apart, told_and_reduced, split_pair<2>, split_experts<2>, split_across<4>,
                                       split_over_roles<2>, split_state<2>,
                                       gathered, scattered, shared_out, passed_on, collected, announced, summed_apart, input_elsewhere,
                                       over_host, shaped<0>, shaped<7>>;
using damaged_single_rank_graphs =
    support::graphs<dv::single_rank<crossing_pair>, dv::single_rank<collective_first>, dv::single_rank<overlapping_collectives>,
                    dv::single_rank<summed_together>, dv::single_rank<gathered>, dv::single_rank<scattered>, dv::single_rank<shared_out>,
                    dv::single_rank<passed_on>, dv::single_rank<announced>, dv::single_rank<input_elsewhere>, dv::single_rank<over_host>,
                    dv::single_rank<blocks_across>, dv::single_rank<sent_apart>, dv::single_rank<shaped<7>>>;
}  // namespace samples

namespace support {

struct named_subject {
    std::string name;
    subject whole;
    std::shared_ptr<const sketch> drawn = nullptr;  // what a random graph points into
};

// The plan of a graph; where there is none, one without steps.
inline subject subject_of(const dv::ir::graph& g, const dv::plan_options& options) {
    dv::plan::made made = make_plan(g, options);
    const dv::rewrite_list rewrites = dv::pass::rewrites_of(g, options.rewrites, options.axes);
    dv::ir::graph_data planned = made.wrong ? owned(g) : dv::pass::detail::rewritten(g, rewrites);
    return {std::move(planned), std::move(made.program), std::move(made.plan), options};
}

template <class... O>
struct plan_options {};

// Options under which samples are planned: on one stream, overlapped, with several slots, with peer copies.
using usual_options = plan_options<samples::sequential, samples::overlapped, samples::several, samples::several_copied>;

namespace detail {
template <class G, class... O>
void add_plans(std::vector<named_subject>& to, plan_options<O...>) {
    static constexpr const char* options[] = {"sequential", "overlapped", "several", "several_copied"};
    int i = 0;
    (to.push_back({dv::display(dv::tag_of<G>) + ", " + options[i++], subject_of(dv::plan::typed<G>::value, O::value)}), ...);
}
template <class... G>
void add_samples(std::vector<named_subject>& to, graphs<G...>) {
    (add_plans<G>(to, usual_options{}), ...);
}
// Plans with waits for memory.
template <class... G>
void add_booked(std::vector<named_subject>& to, graphs<G...>) {
    (to.push_back({dv::display(dv::tag_of<G>) + ", booked", subject_of(dv::plan::typed<G>::value, samples::booked::value)}), ...);
}
}  // namespace detail

inline std::vector<named_subject> hand_subjects() {
    std::vector<named_subject> all;
    for (const hand_made& x : by_hand) all.push_back({x.name, x.make()});
    return all;
}

inline std::vector<named_subject> sample_subjects() {
    std::vector<named_subject> all;
    detail::add_samples(all, samples::damaged_graphs{});
    detail::add_samples(all, samples::damaged_single_rank_graphs{});
    detail::add_booked(all, graphs<samples::sums, samples::along_an_axis, samples::passed_on, samples::in_blocks>{});
    return all;
}

// Random graph number i of a seed.
inline named_subject random_subject(word seed, int i, const knobs& k = {}) {
    const auto drawn = std::make_shared<const sketch>(random_graph(mix(seed) + static_cast<word>(i), k));
    const dv::ir::graph_data data = emit(*drawn);
    return {"random graph " + std::to_string(i) + " of seed " + std::to_string(seed), subject_of(dv::ir::view(data), drawn->plan_options),
            drawn};
}

}  // namespace support
