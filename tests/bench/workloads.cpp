// Communication beside computation on two GPUs, or four, of one process: the workloads for which dovetail chooses what moves each message.
// Each as everyone writes it with NCCL (one stream), by the planner with NCCL, with all collectives by copy engines, and as
// `rewrite::automatic` makes it of the graph as written, on streams and replayed; beside the same computations without communication and,
// but for what is fully sharded, the same by hand (workloads_by_hand.hpp); the chain, the gradients and the experts also with dv::tuned.
// Medians, variants in turn. Prints for each the ratio to the computations alone, the part of the communication that is hidden, and the
// predicted time, and what dv::tuned compared. Here are the chain, the gradients and what is fully sharded; the others are in
// workloads_beside.cpp.
#include "bench/workloads_measure.hpp"

#include <doctest/doctest.h>

namespace {
using namespace workloads;

constexpr auto bind_square = [](auto& step, const inputs& in) { step.bind(dv::name<app::x<0>>, in.square.bound()); };
constexpr auto bind_backward = [](auto& step, const inputs& in) {
    step.bind(dv::name<app::given>, in.slope.bound()).bind(dv::name<app::slope<0>>, in.slope.bound());
};
constexpr auto bind_sharded = [](auto& step, const inputs& in) {
    step.bind(dv::name<app::x<0>>, in.slope.bound()).bind(dv::name<app::slope<0>>, in.slope.bound());
};

// What is written by hand, on one rank, with weights of its own.
struct hand_and_weight {
    hand_and_weight(const place& at, const inputs& in, int deviation)
        : weight{app::side * app::side, 1, 1.0f / static_cast<float>(deviation)},
          hand{at.all, at.rank, at.id, in.square.data(), in.slope.data(), weight.data(), at.meet} {}
    normal_halves weight;
    bench::by_hand hand;
};
using added = void (*)(std::vector<variant>&, bench::by_hand&);

// Adds the graph with products on fewer multiprocessors, what dv::tuned keeps, and the variants by hand that `add` lists.
template <int Ranks, class G, class Alone, class OnFewer, class Bind>
void measure_all(const char* workload, const Bind& bind, int deviation, added add) {
    measure_beside_hand<Ranks, G, Alone>(workload, bind, [&](auto& rank, const inputs& in, const place& at, std::vector<variant>& all) {
        const auto bind_here = [&](auto& step) { bind(step, in); };
        all.push_back(planned<OnFewer, app::automatic>(rank, "automatic, products on 128 SMs", bind_here));
        all.push_back(tuned<G>(rank, bind_here));
        auto here = std::make_shared<hand_and_weight>(at, in, deviation);
        add(all, here->hand);
        return here;
    });
}

void add_chains(std::vector<variant>& all, bench::by_hand& hand) {
    const auto wait = [&] { hand.wait(); };
    for (const int chunks : {1, 2, 4, 8})
        all.push_back({"by hand, products in " + std::to_string(chunks) + " chunks", [&, chunks] { hand.products(chunks); }, wait});
    all.push_back({"by hand, NCCL, one stream", [&] { hand.chain_by_nccl(1, false); }, wait});
    for (const int chunks : {2, 4, 8}) {
        const std::string in_chunks = " in " + std::to_string(chunks) + " chunks";
        all.push_back({"by hand, NCCL" + in_chunks, [&, chunks] { hand.chain_by_nccl(chunks, true); }, wait});
        all.push_back({"by hand, copy engines" + in_chunks, [&, chunks] { hand.chain_by_copies(chunks); }, wait});
    }
    all.push_back({"by hand, copy engines, 4 SMs less", [&] { hand.chain_by_copies(4, 4); }, wait});
    all.push_back({"by hand, 8 CTAs in 4 chunks", [&] { hand.chain_by_few_ctas(4, false); }, wait});
    all.push_back({"by hand, 8 CTAs, 8 SMs less", [&] { hand.chain_by_few_ctas(4, true); }, wait});
}
void add_backwards(std::vector<variant>& all, bench::by_hand& hand) {
    const auto wait = [&] { hand.wait(); };
    all.push_back({"by hand, products alone", [&] { hand.backward_alone(); }, wait});
    all.push_back({"by hand, NCCL, one stream", [&] { hand.backward_by_nccl(false); }, wait});
    all.push_back({"by hand, NCCL, two streams", [&] { hand.backward_by_nccl(true); }, wait});
    all.push_back({"by hand, NCCL of 8 CTAs", [&] { hand.backward_by_few_ctas(); }, wait});
    all.push_back({"by hand, copy engines", [&] { hand.backward_by_copies(); }, wait});
}

template <int Ranks>
void measure_chain() {
    measure_all<Ranks, app::chain<Ranks>, app::chain_alone<Ranks>, app::chain_on_128<Ranks>>("tensor-parallel chain of four layers",
                                                                                             bind_square, 91, add_chains);
}
template <int Ranks>
void measure_backward() {
    measure_all<Ranks, app::backward<Ranks>, app::backward_without<Ranks>, app::backward_on_128<Ranks>>("gradients of twelve layers",
                                                                                                        bind_backward, 64, add_backwards);
}
}  // namespace

TEST_CASE("a chain of tensor-parallel layers") { measure_chain<2>(), measure_chain<4>(); }
TEST_CASE("gradients beside the backward pass") { measure_backward<2>(), measure_backward<4>(); }
TEST_CASE("fully sharded") {
    measure<2, app::fsdp<0>, app::fsdp_alone<0>>("fully sharded, eight layers, forward and backward", bind_sharded);
}
