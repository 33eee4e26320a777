// Runs graphs of several kinds on threads, and prints of each the predicted and the measured time of a run, in microseconds. Compiled with
// PROFILED and the header that DOVETAIL_PROFILE has made of such runs, their plans take its times: see tests/observe/profiles.
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/observe/observe.hpp>
#include <dovetail/ops/ops.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <type_traits>
#include <vector>

namespace dv = dovetail;

#if defined(PROFILED)
template <class Times> using measured_times = dv::profile<Times>;
#else
struct senders_profile;
struct chain_profile;
struct split_chain_profile;
struct training_profile;
template <class Times> using measured_times = dv::overlap<true>;  // which changes nothing
#endif

namespace app {

using namespace dv::ops;

struct dp;
struct x;
struct rate;
struct receiver;
template <int> struct sender;
template <int> struct block;
template <int> struct product;
template <int> struct weight;
template <int> struct activation;
template <int> struct gradient;
template <int> struct change;

using matrix = dv::tensor<float, 128, 128>;

// Values of three roles, which a fourth one multiplies.
template <int I> using make = dv::on<sender<I>, dv::let<block<I>, relu(x)>>;
template <int I> using use = dv::let<product<I>, matmul(block<I>, block<I>)>;
struct senders : dv::graph<dv::input<x, matrix>, dv::repeat<make, 3>, dv::on<receiver, dv::repeat<use, 3>>,
                           dv::output<dv::all<3, product>>> {};

// Products and sums over ranks, in a chain and in blocks of it.
template <int I> using link = dv::let<activation<I + 1>, all_reduce<sum, dp>(matmul(activation<I>, x))>;
struct chain : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, matrix>, dv::input<activation<0>, matrix>, dv::repeat<link, 4>,
                         dv::output<activation<4>>> {};
struct split_chain : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, matrix>, dv::input<activation<0>, matrix>,
                               dv::split<4, dv::repeat<link, 4>>, dv::output<activation<4>>> {};

// Training of layers: gradients are summed while the earlier layers' are computed.
template <int I> using state = dv::state<weight<I>, matrix, zeros, dv::replicated<dp>>;
template <int I> using forward = dv::let<activation<I + 1>, matmul(activation<I>, weight<I>)>;
template <int I> using backward = dv::group<
    dv::let<change<I>, all_reduce<sum, dp>(matmul_tn(activation<I>, gradient<I + 1>))>,
    dv::let<gradient<I>, matmul_nt(gradient<I + 1>, weight<I>)>,
    dv::update<weight<I>, sgd(weight<I>, change<I>, rate)>>;
struct training : dv::graph<
    dv::mesh<dv::axis<dp, 2>>,
    dv::input<activation<0>, matrix>, dv::input<rate, dv::scalar<float>, dv::replicated<dp>>,
    dv::repeat<state, 3>, dv::repeat<forward, 3>,
    dv::let<gradient<3>, subtract(activation<3>, activation<0>)>,
    dv::repeat<backward, dv::down<3>>,
    dv::output<gradient<0>>> {};

// Guesses, as a user makes them of a machine that nobody has measured.
struct host_threads {
    static constexpr dv::machine_description description{.name = "host_threads",
                                                         .half_flops = 2'000'000'000,
                                                         .float_flops = 2'000'000'000,
                                                         .double_flops = 1'000'000'000,
                                                         .memory_bandwidth = 5'000'000'000,
                                                         .launch_latency = 1'000'000,
                                                         .edge_latency = 5'000'000,
                                                         .link_latency = 100'000'000,
                                                         .link_bandwidth = 100'000'000,
                                                         .bus_bandwidth = 100'000'000,
                                                         .host_bandwidth = 5'000'000'000};
};
template <class Times> using options = dv::options<host_threads, measured_times<Times>>;

}  // namespace app

namespace {

constexpr int runs = 40;
using steady = std::chrono::steady_clock;

// The median time of a run on the slowest rank.
template <class G, class O, class... Input>
double measured(int ranks, Input... name) {
    double longest = 0;
    std::mutex guard;
    dv::host::world{ranks, dv::host::link{std::chrono::microseconds{100}, 1e8}}.run([&](auto& rank) {
        dv::executor<G, O> step{rank};
        (step.bind(name, std::vector<float>(app::matrix::size, 0.01f)), ...);
        if constexpr (std::is_same_v<G, app::training>) step.bind(dv::name<app::rate>, 0.01f);
        std::vector<double> times;
        for (int i = 0; i < runs; ++i) {
            const auto begin = steady::now();
            step.run().wait();
            times.push_back(std::chrono::duration<double, std::micro>(steady::now() - begin).count());
        }
        std::sort(times.begin(), times.end());
        const std::lock_guard lock{guard};
        longest = std::max(longest, times[times.size() / 2]);
    });
    return longest;
}
template <class G, class Times, class... Input>
void show(const char* name, int ranks, Input... input) {
    using options = app::options<Times>;
    const double predicted = static_cast<double>(dv::predicted_time<G, options>) / 1e6;
    std::printf("%s %.0f %.0f\n", name, predicted, measured<G, options>(ranks, input...));
}

}  // namespace

int main() {
    constexpr auto x = dv::name<app::x>;
    constexpr auto first = dv::name<app::activation<0>>;
    show<app::senders, senders_profile>("senders", 4, x);
    show<app::chain, chain_profile>("chain", 2, x, first);
    show<app::split_chain, split_chain_profile>("split_chain", 2, x, first);
    show<app::training, training_profile>("training", 2, first);
}
