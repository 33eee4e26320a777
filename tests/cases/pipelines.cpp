// A training step in a pipeline, on the host backend: under every schedule and plan, its weights are those of the sequential program.
#include "support/on_host.hpp"

using namespace samples;
using floats = std::vector<float>;

namespace {

constexpr int layers = 4, micro_batches = 4, size = 8;
constexpr float learning_rate = 0.0009765625f;

floats ramp(int first, int step) {
    floats v;
    for (int i = 0; i < size; ++i) v.push_back(static_cast<float>(first + i * step));
    return v;
}
floats sample(int micro_batch, int run) { return ramp(1 + micro_batch + run, 1); }
floats target(int micro_batch) { return ramp(3 * micro_batch, 2); }

// The weights by layer after each run: one micro-batch after the other, forward and backward.
class sequential_program {
public:
    const std::vector<floats>& step(int run) {
        std::vector<floats> gradient(layers, floats(size, 0.0f));
        for (int m = 0; m < micro_batches; ++m) accumulate(gradient, m, run);
        for (int l = 0; l < layers; ++l)
            for (int i = 0; i < size; ++i) weights_[l][i] -= learning_rate * gradient[l][i];
        return weights_;
    }

private:
    void accumulate(std::vector<floats>& gradient, int micro_batch, int run) const {
        std::vector<floats> value{sample(micro_batch, run)};
        for (int l = 0; l < layers; ++l) {
            value.push_back(value[l]);
            for (int i = 0; i < size; ++i) value[l + 1][i] *= weights_[l][i];
        }
        floats slope = value[layers];
        for (int i = 0; i < size; ++i) slope[i] -= target(micro_batch)[i];
        for (int l = layers - 1; l >= 0; --l)
            for (int i = 0; i < size; ++i) {
                const float here = value[l][i] * slope[i];
                gradient[l][i] = gradient[l][i] + here;
                slope[i] = slope[i] * weights_[l][i];
            }
    }

    std::vector<floats> weights_ = std::vector<floats>(layers, floats(size, 1.0f));
};

// The weights of each layer on the rank that has its role.
template <class Schedule, int... L>
auto check_weights(std::integer_sequence<int, L...>) {
    return [](auto& step, auto& ticket, int rank, int run) {
        sequential_program program;
        for (int k = 0; k < run; ++k) program.step(k);
        const std::vector<floats>& weights = program.step(run);
        const auto check = [&](auto role, auto name, int layer) {
            if (step.is(role)) support::expect(ticket.read(name).host(), weights[layer], "layer " + std::to_string(layer), rank, run);
        };
        (check(dv::name<typename layers_of<Schedule>::template role<L>>, dv::name<corrected<L>>, L), ...);
    };
}
template <int... M>
auto bind_samples(std::integer_sequence<int, M...>) {
    return [](auto& step, int, int run) {
        step.bind(dv::name<rate>, learning_rate);
        (step.bind(dv::name<hop<0, M>>, sample(M, run)), ...);
        (step.bind(dv::name<goal<M>>, target(M)), ...);
    };
}

template <class G, class Schedule>
void run_training() {
    const auto bind = bind_samples(std::make_integer_sequence<int, micro_batches>{});
    const auto check = check_weights<Schedule>(std::make_integer_sequence<int, layers>{});
    support::run_all_ways<G>(2, bind, check);
    support::run_with<G, dv::options<slow_links, dv::force_candidate<dv::candidate::written>>>(2, bind, check, 3);
    support::run_single_rank<G>(1, bind, check);
}

}  // namespace

TEST_CASE("a training step under GPipe") { run_training<trained_by_gpipe, dv::gpipe>(); }
TEST_CASE("a training step under 1F1B") { run_training<trained_by_one_f_one_b, dv::one_f_one_b>(); }
TEST_CASE("a training step under interleaved 1F1B") { run_training<trained_by_interleaved, dv::interleaved<2>>(); }
TEST_CASE("a training step under ZB-H1") { run_training<trained_by_zero_bubble, dv::zero_bubble>(); }
TEST_CASE("a training step under V-Half") { run_training<trained_by_v_half, dv::v_half>(); }
