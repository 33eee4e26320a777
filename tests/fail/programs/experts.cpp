// A mixture of experts: tokens travel to the rank of their expert and back, on a grid of data-parallel and expert ranks.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <array>

namespace dv = dovetail;

namespace moe {
using namespace dv::ops;

struct dp;
struct ep;
struct tokens;
struct router;
struct chosen;
struct sent;
struct expert_up;
struct expert_down;
struct inside;
struct worked;
struct back;
struct combined;
struct balance;
struct statistics;
struct winner;
struct rank_number;
struct shares;
struct own_share;

using batch = dv::tensor<dv::bfloat16, 64, 128>;

struct layer : dv::graph<
    dv::mesh<dv::axis<dp>, dv::axis<ep, 4>>,
    dv::input<tokens, batch>,
    dv::state<router, dv::tensor<dv::bfloat16, 128, 4>, normal_init<1, 1, 11>, dv::replicated<dp, ep>>,
    dv::state<expert_up, dv::tensor<dv::bfloat16, 128, 256>, normal_init<2, 1, 11>, dv::replicated<dp>>,
    dv::state<expert_down, dv::tensor<dv::bfloat16, 256, 128>, normal_init<3, 1, 16>, dv::replicated<dp>>,
    dv::let<chosen, matmul(tokens, router)>,
    dv::let<winner, argmax(chosen)>,
    dv::let<sent, all_to_all<ep>(tokens)>,
    dv::let<inside, relu(matmul(sent, expert_up))>,
    dv::let<worked, matmul(inside, expert_down)>,
    dv::let<back, all_to_all<ep>(worked)>,
    dv::let<combined, add(back, tokens)>,
    dv::let<shares, reduce_scatter<sum, ep>(chosen)>,
    dv::let<balance, all_reduce<average, dp>(shares)>,
    dv::let<statistics, gather<ep, root_index<0>>(balance)>,
    dv::let<rank_number, copy(dv::axis_index<ep>)>,
    dv::output<combined, winner, statistics, rank_number>> {};

using on_h200 = dv::options<dv::machine::h200_nvlink, dv::assumed_width<2>, dv::overlap<true>>;
static_assert(dv::valid<layer>);
static_assert(dv::hidden_fraction<layer, on_h200> <= 1.0);
static_assert(dv::predicted_time<layer, on_h200> > 0);
}  // namespace moe

int main() {
    dv::host::world world{8};
    world.run([](auto& rank) {
        dv::executor<moe::layer, moe::on_h200> step{rank, dv::width<moe::dp>(2)};
        std::vector<dv::bfloat16> values(moe::batch::size);
        step.bind(dv::name<moe::tokens>, values);
        auto ticket = step.run();
        ticket.wait_for(std::chrono::seconds{20});
        const auto outcome = ticket.read(dv::name<moe::combined>);
        const dv::bfloat16* first = outcome.data();
        const auto winners = ticket.read(dv::name<moe::winner>).host();
        if (first == nullptr || winners.empty()) throw std::runtime_error{"nothing"};
    });
}
