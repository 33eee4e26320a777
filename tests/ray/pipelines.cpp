// Ray's pipelines: 1F1B with the exact order of each worker, GPipe, and forward and backward passes through separate arguments.
#include "actors.hpp"
#include "graphs.hpp"
#include "order.hpp"

using namespace ray;

namespace {

using in_written_order = dv::options<samples::slow_links, dv::force_candidate<dv::candidate::written>>;

std::string named(const char* what, int stage, int micro) {
    return std::string{what} + "<" + std::to_string(stage) + ", " + std::to_string(micro) + ">";
}
// 1F1B by its definition: a worker that has as many micro-batches under way as there are workers from it to the last one goes backward.
std::string one_forward_one_backward(int worker, int workers, int micro_batches) {
    std::string list;
    for (int forward = 0, backward = 0; backward < micro_batches;)
        if (forward < micro_batches && forward - backward < workers - worker) append(list, named("add w", worker + 1, forward++));
        else append(list, named("multiply g", worker, backward++));
    return list;
}
template <class G, class O, int Worker>
std::string computes() {
    return order<G, actor<Worker>, O>(dv::stream_kind::compute);
}

template <int Stages, int Micro, class Schedule, int Ahead, class O>
void values() {
    const auto each = []<int... M>(std::integer_sequence<int, M...>, auto f) { (f(std::integral_constant<int, M>{}), ...); };
    constexpr std::make_integer_sequence<int, Micro> all{};
    const auto sample = [](int micro, int run) { return static_cast<float>(1 + micro + run); };
    ray::run<pipeline<Stages, Micro, Schedule>, O, Ahead>(
        Stages, Ahead,
        [&](auto& step, int run) { each(all, [&](auto m) { step.bind(dv::name<w<0, m>>, sample(m, run)); }); },
        [&](auto& step, auto& ticket, int rank, int run) {
            each(all, [&](auto m) {
                // Of x doubled in each stage: x 2x ... 2^n x, multiplied.
                float wanted = 1, x = sample(m, run);
                for (int s = 0; s <= Stages; ++s, x *= 2) wanted *= x;
                ray::expect<actor<0>, g<0, m>>(step, ticket, rank, run, {wanted});
            });
        });
}

}  // namespace

TEST_CASE("TestGenerateActorToExecutionSchedule.test_simulate_pp_2workers_2batches_1f1b_with_nccl") {
    using G = pipeline<2, 2>;
    CHECK(computes<G, in_written_order, 0>() == "add w<1, 0>, add w<1, 1>, multiply g<0, 0>, multiply g<0, 1>");
    CHECK(computes<G, in_written_order, 1>() == "add w<2, 0>, multiply g<1, 0>, add w<2, 1>, multiply g<1, 1>");
    // The second worker receives its second micro-batch before it sends the gradient of the first: the first worker sends before it waits.
    const std::string transfers = "transfer w<1, 0>, transfer w<1, 1>, transfer g<1, 0>, transfer g<1, 1>";
    CHECK(order<G, actor<0>, in_written_order>(dv::stream_kind::communication) == transfers);
    CHECK(order<G, actor<1>, in_written_order>(dv::stream_kind::communication) == transfers);
}

TEST_CASE("TestGenerateActorToExecutionSchedule.test_simulate_pp_2workers_2batches_1f1b_no_nccl") {
    using O = dv::options<samples::slow_links, dv::overlap<false>>;
    const std::string all = order<dv::single_rank<pipeline<2, 2>>, actor<0>, O>();
    for (const auto& [first, second] : {std::pair{"add w<1, 0>", "add w<1, 1>"}, {"add w<1, 1>", "multiply g<0, 0>"},
                                        {"multiply g<0, 0>", "multiply g<0, 1>"}, {"add w<2, 0>", "multiply g<1, 0>"},
                                        {"multiply g<1, 0>", "add w<2, 1>"}, {"add w<2, 1>", "multiply g<1, 1>"}})
        CHECK(before(all, first, second));
}

TEST_CASE("test_simulate_pp_2workers_2batches_1f1b[single_fetch]") {
    values<2, 2, dv::one_f_one_b, 1, in_written_order>();
    values<2, 2, dv::one_f_one_b, 3, samples::several>();
}

TEST_CASE("test_simulate_pp_4workers_8batches_1f1b") {
    using G = pipeline<4, 8>;
    CHECK(computes<G, in_written_order, 0>() == one_forward_one_backward(0, 4, 8));
    CHECK(computes<G, in_written_order, 1>() == one_forward_one_backward(1, 4, 8));
    CHECK(computes<G, in_written_order, 2>() == one_forward_one_backward(2, 4, 8));
    CHECK(computes<G, in_written_order, 3>() == one_forward_one_backward(3, 4, 8));
    values<4, 8, dv::one_f_one_b, 1, in_written_order>();
    values<4, 8, dv::one_f_one_b, 3, samples::several>();
}

TEST_CASE("test_simulate_pipeline_parallelism[single_fetch]") {
    using G = pipeline<2, 3, dv::gpipe>;
    CHECK(computes<G, in_written_order, 0>()
          == "add w<1, 0>, add w<1, 1>, add w<1, 2>, multiply g<0, 0>, multiply g<0, 1>, multiply g<0, 2>");
    values<2, 3, dv::gpipe, 1, in_written_order>();
    values<2, 3, dv::gpipe, 3, samples::several>();
}

TEST_CASE("test_multi_args_simulate_pp") {
    const auto ramp = [](int size, int run) {
        floats all;
        for (int i = 0; i < size; ++i) all.push_back(static_cast<float>(10 * size + i + run));
        return all;
    };
    run_overlapped<by_arguments>(
        2,
        [&](auto& step, int run) {
            step.bind(dv::name<in<0>>, ramp(1, run)).bind(dv::name<in<1>>, ramp(2, run)).bind(dv::name<in<2>>, ramp(3, run));
        },
        [&](auto& step, auto& ticket, int rank, int run) {
            ray::expect<actor<1>, out<0>>(step, ticket, rank, run, ramp(1, run));
            ray::expect<actor<1>, out<1>>(step, ticket, rank, run, ramp(2, run));
            ray::expect<actor<0>, out<2>>(step, ticket, rank, run, ramp(3, run));
            ray::expect<actor<0>, out<3>>(step, ticket, rank, run, ramp(3, run));
        });
}
