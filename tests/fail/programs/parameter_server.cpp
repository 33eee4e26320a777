// Two workers make gradients, a server keeps the weights and hands them out.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdio>

namespace dv = dovetail;

namespace cluster {
using namespace dv::ops;

struct server;
template <int> struct worker;
template <int> struct samples;
template <int> struct target;
template <int> struct prediction;
template <int> struct difference;
template <int> struct gradient;
struct rate;
struct weights;
struct current;
struct everywhere;
struct none_of_mine;
struct total;
struct mean_gradient;

using parameters = dv::tensor<float, 100, 10>;

template <int W> using data = dv::group<
    dv::input<samples<W>, dv::tensor<float, 32, 100>>,
    dv::input<target<W>, dv::tensor<float, 32, 10>>>;
template <int W> using backward = dv::on<worker<W>,
    dv::let<prediction<W>, matmul(samples<W>, everywhere)>,
    dv::let<difference<W>, subtract(prediction<W>, target<W>)>,
    dv::let<gradient<W>, matmul_tn(samples<W>, difference<W>)>>;

struct training : dv::graph<
    dv::repeat<data, 2>,
    dv::input<rate, dv::scalar<float>>,
    dv::on<server,
        dv::state<weights, parameters, uniform_init<1, 1, 10>>,
        dv::let<current, copy(weights)>>,
    dv::let<everywhere, broadcast<to<worker<0>, worker<1>>>(current)>,
    dv::repeat<backward, 2>,
    dv::on<server, dv::let<none_of_mine, fill<parameters>(rate)>>,
    dv::let<total, reduce<sum, root<server>>(none_of_mine, gradient<0>, gradient<1>)>,
    dv::on<server,
        dv::let<mean_gradient, scale(total, rate)>,
        dv::update<weights, sgd(weights, mean_gradient, rate)>>,
    dv::output<mean_gradient>> {};

static_assert(dv::valid<training>);
static_assert(dv::peak_bytes<training, server> < 100'000);
}  // namespace cluster

int main() {
    dv::host::world world{3};
    world.run([](auto& rank) {
        using namespace cluster;
        dv::store store{rank};
        dv::executor<training> step{rank, store, dv::record_times};
        step.bind(dv::name<rate>, 0.01f);
        step.bind(dv::name<samples<0>>, std::vector<float>(3200, 1.0f)).bind(dv::name<target<0>>, std::vector<float>(320, 2.0f));
        step.bind(dv::name<samples<1>>, std::vector<float>(3200, 3.0f)).bind(dv::name<target<1>>, std::vector<float>(320, 4.0f));
        for (int i = 0; i < 20; ++i) step.run().wait();
        const auto ticket = step.run();
        if (rank.is(dv::name<server>)) {
            const std::vector<float> gradient = ticket.read(dv::name<mean_gradient>).host();
            std::printf("%g %g\n", double{gradient[0]}, double{step.read_state(dv::name<weights>)[0]});
        }
    });
}
