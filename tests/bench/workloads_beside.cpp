// The workloads of which one collective is beside a product, and a layer of experts, measured and printed as those of workloads.cpp;
// by hand they are in beside_by_hand.hpp.
#include "bench/beside_by_hand.hpp"
#include "bench/workloads_measure.hpp"

#include <doctest/doctest.h>

namespace {
using namespace workloads;

constexpr auto bind_nothing = [](auto&, const inputs&) {};
constexpr auto bind_square = [](auto& step, const inputs& in) { step.bind(dv::name<app::x<0>>, in.square.bound()); };
constexpr auto bind_tokens = [](auto& step, const inputs& in) { step.bind(dv::name<app::x<0>>, in.slope.bound()); };

struct gather_and_weight {
    gather_and_weight(const place& at, const inputs& in)
        : weight{app::side * app::side, 1, 1.0f / 91}, hand{at.all, at.rank, at.id, in.square.data(), weight.data(), at.meet} {}
    normal_halves weight;
    bench::gather_by_hand hand;
};
struct small_and_weight {
    explicit small_and_weight(const place& at) : weight{1000 * 1000, 1, 1.0f / 32}, hand{at.all, at.rank, at.id, weight.data(), at.meet} {}
    bench::normal_values<float> weight;
    bench::small_by_hand hand;
};
struct experts_and_weight {
    experts_and_weight(const place& at, const inputs& in, std::int64_t width)
        : weight{app::hidden * width, 1, 1.0f / 64}, hand{at.all, at.rank, at.id, in.slope.data(), weight.data(), width, at.meet} {}
    normal_halves weight;
    bench::experts_by_hand hand;
};

void add_gathers(std::vector<variant>& all, bench::gather_by_hand& hand) {
    const auto wait = [&] { hand.wait(); };
    all.push_back({"by hand, product alone", [&] { hand.product_alone(); }, wait});
    all.push_back({"by hand, NCCL, two streams", [&] { hand.by_nccl(); }, wait});
    all.push_back({"by hand, NCCL of 8 CTAs", [&] { hand.by_few_ctas(false); }, wait});
    all.push_back({"by hand, 8 CTAs, 8 SMs less", [&] { hand.by_few_ctas(true); }, wait});
    all.push_back({"by hand, copy engines, in turn", [&] { hand.by_copies(false); }, wait});
    all.push_back({"by hand, copy engines, all at once", [&] { hand.by_copies(true); }, wait});
}
void add_small(std::vector<variant>& all, bench::small_by_hand& hand) {
    const auto wait = [&] { hand.wait(); };
    all.push_back({"by hand, product alone", [&] { hand.product_alone(); }, wait});
    all.push_back({"by hand, all_reduce alone by NCCL", [&] { hand.by_nccl(1, false); }, wait});
    all.push_back({"by hand, all_reduce alone by copies", [&] { hand.by_copies(1, false); }, wait});
    all.push_back({"by hand, NCCL, two streams", [&] { hand.by_nccl(1, true); }, wait});
    all.push_back({"by hand, NCCL in 2 chunks", [&] { hand.by_nccl(2, true); }, wait});
    all.push_back({"by hand, NCCL, CUDA graph", [&] { hand.by_nccl_replayed(); }, wait});
    all.push_back({"by hand, copy engines", [&] { hand.by_copies(1, true); }, wait});
    all.push_back({"by hand, copy engines in 2 chunks", [&] { hand.by_copies(2, true); }, wait});
}
void add_experts(std::vector<variant>& all, bench::experts_by_hand& hand) {
    const auto wait = [&] { hand.wait(); };
    for (const int batches : {1, 2}) {
        const char* const in = batches == 1 ? "" : " in 2 batches";
        all.push_back({std::string{"by hand, products"} + in, [&, batches] { hand.products_alone(batches); }, wait});
        all.push_back({std::string{"by hand, NCCL"} + in, [&, batches] { hand.by_nccl(batches); }, wait});
        all.push_back({std::string{"by hand, copy engines"} + in, [&, batches] { hand.by_copies(batches); }, wait});
    }
}

template <int Ranks>
void measure_gather() {
    measure_beside_hand<Ranks, app::gather<Ranks>, app::gather_alone<Ranks>>(
        "all_gather of 64 MiB a rank beside a product", bind_square,
        [](auto&, const inputs& in, const place& at, std::vector<variant>& all) {
            auto here = std::make_shared<gather_and_weight>(at, in);
            add_gathers(all, here->hand);
            return here;
        });
}
template <int Ranks>
void measure_small() {
    measure_beside_hand<Ranks, app::small<Ranks>, app::small_alone<Ranks>>(
        "all_reduce of 10000 x 1000 floats beside a product of 1000", bind_nothing,
        [](auto&, const inputs&, const place& at, std::vector<variant>& all) {
            auto here = std::make_shared<small_and_weight>(at);
            add_small(all, here->hand);
            return here;
        });
}
// Also in two micro-batches whatever is predicted of that, and what dv::tuned keeps.
template <class G, class Alone>
void measure_experts(const char* workload, std::int64_t width) {
    measure_beside_hand<2, G, Alone>(workload, bind_tokens, [&](auto& rank, const inputs& in, const place& at, std::vector<variant>& all) {
        const auto bind_here = [&](auto& step) { bind_tokens(step, in); };
        all.push_back(planned<G, app::in_two_by_nccl>(rank, "NCCL, in 2 batches", bind_here));
        all.push_back(planned<G, app::in_two_by_copies>(rank, "copy engines, in 2 batches", bind_here));
        all.push_back(tuned<G>(rank, bind_here));
        auto here = std::make_shared<experts_and_weight>(at, in, width);
        add_experts(all, here->hand);
        return here;
    });
}
}  // namespace

TEST_CASE("a collective beside a product") { measure_gather<2>(), measure_small<2>(), measure_gather<4>(), measure_small<4>(); }
TEST_CASE("experts") { measure_experts<app::experts<0>, app::experts_alone<0>>("a layer of experts", app::side); }
TEST_CASE("experts of narrow products") {
    measure_experts<app::narrow_experts<0>, app::narrow_experts_alone<0>>("a layer of narrow experts", app::narrow);
}
