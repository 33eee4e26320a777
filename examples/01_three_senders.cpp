// Three roles make a block each, a fourth one squares all three. Blocks cross roles, so channels are derived; with overlap
// the next block is on its way while the receiver multiplies the one before.
//
//     sender<0>  block<0> --.
//     sender<1>  block<1> ---+--> receiver  product<I> = block<I> block<I>
//     sender<2>  block<2> --'
//
// Runs with overlap off and on: equal results, and both timelines. On host threads with links of timed sleeps, or with --gpu
// on four GPUs.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/ops/ops.hpp>

#include "timeline.hpp"
#include "worlds.hpp"

#include <cstdlib>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct value;
struct receiver;
template <int> struct sender;
template <int> struct block;
template <int> struct product;

using matrix = dv::tensor<dv::half, 512, 512>;

template <int I> using make = dv::on<sender<I>, dv::let<block<I>, fill<matrix>(value)>>;
template <int I> using use  = dv::let<product<I>, matmul(block<I>, block<I>)>;

struct three_senders : dv::graph<
    dv::input<value, dv::scalar<float>>,
    dv::repeat<make, 3>,
    dv::on<receiver, dv::repeat<use, 3>>,
    dv::output<dv::all<3, product>>> {};

// One core of a server and a link that moves a block in the time of a product.
struct host_threads {
    static constexpr dv::machine_description description{
        .name = "host_threads", .half_flops = 20'000'000'000, .float_flops = 25'000'000'000, .double_flops = 12'000'000'000,
        .memory_bandwidth = 50'000'000'000, .launch_latency = 5'000'000, .edge_latency = 20'000'000, .link_latency = 50'000'000,
        .link_bandwidth = 40'000'000, .bus_bandwidth = 40'000'000, .host_bandwidth = 5'000'000'000};
};
using with_overlap = dv::options<host_threads>;
using without = dv::options<host_threads, dv::overlap<false>>;

static_assert(dv::valid<three_senders>);
static_assert(dv::hidden_fraction<three_senders, with_overlap> > 0.6);  // the first of three transfers cannot be hidden
static_assert(dv::hidden_fraction<three_senders, without> == 0);
static_assert(dv::peak_bytes<three_senders, receiver, with_overlap> <= 6 * matrix::bytes);

struct outcome {
    std::vector<dv::half> products;      // of all three blocks
    std::vector<timeline::bar> measured; // of the shortest run
    double milliseconds = 0;
};

template <class Options, class World>
outcome play(World make_world) {
    outcome best;
    auto world = make_world(4);
    world.run([&](auto& rank) {
        dv::executor<three_senders, Options> step{rank, dv::record_times};
        step.bind(dv::name<value>, 0.5f);
        for (int run = 0; run < 5; ++run) {
            const auto ticket = step.run();
            ticket.wait_for(std::chrono::seconds{10});
            if (!rank.is(dv::name<receiver>)) continue;
            const auto bars = timeline::measured<three_senders, Options>(dv::plan::role_of<three_senders, receiver>, ticket.times(), timeline::begin(ticket.times()));
            if (run > 0 && timeline::length(bars) >= best.milliseconds) continue;
            best.measured = bars;
            best.milliseconds = timeline::length(bars);
            best.products = ticket.read(dv::name<product<0>>).host();
            for (const auto& more : {ticket.read(dv::name<product<1>>).host(), ticket.read(dv::name<product<2>>).host()})
                best.products.insert(best.products.end(), more.begin(), more.end());
        }
    });
    return best;
}

template <class World>
int compare(World make_world) {
    constexpr int role = dv::plan::role_of<three_senders, receiver>;
    std::printf("%s\n\n", make_world(4).links().c_str());

    const outcome off = play<without>(make_world);
    outcome on = play<with_overlap>(make_world);

    auto predicted_off = timeline::predicted<three_senders, without>(role);
    auto predicted_on = timeline::predicted<three_senders, with_overlap>(role);
    const int moved = timeline::mark(predicted_on, predicted_off);
    timeline::mark(on.measured, predicted_off);
    const double scale = timeline::length(off.measured) > timeline::length(predicted_off) ? timeline::length(off.measured) : timeline::length(predicted_off);
    timeline::print("receiver, overlap off, predicted", predicted_off, scale);
    timeline::print("receiver, overlap off, measured", off.measured, scale);
    timeline::print("receiver, overlap on, predicted (* moved)", predicted_on, scale);
    timeline::print("receiver, overlap on, measured (* moved)", on.measured, scale);
    std::printf("\nhidden communication: predicted %.0f%%, measured %.0f%%\n", 100 * timeline::hidden{{predicted_on}}.fraction(), 100 * timeline::hidden{{on.measured}}.fraction());

    bool equal = off.products.size() == 3 * matrix::size && on.products.size() == off.products.size();
    for (std::size_t i = 0; equal && i < on.products.size(); ++i) equal = on.products[i].bits == off.products[i].bits && float{on.products[i]} == 128.0f;
    std::printf("results with overlap off and on: %s\n", equal ? "equal" : "DIFFERENT");
    return equal && moved == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
}  // namespace app

int main(int count, char** arguments) {
    return worlds::choose(count, arguments, dv::host::link{std::chrono::microseconds{50}, 40e6}, [](auto make_world) { return app::compare(make_world); });
}
