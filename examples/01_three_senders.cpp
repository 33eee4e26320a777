// Three roles make one block each, and a fourth role squares all three. A block that crosses roles is sent over a channel, which the
// library derives from the names. With overlap, the next block is transferred while the receiver multiplies the previous one.
//
//     sender<0>  block<0> --.
//     sender<1>  block<1> ---+--> receiver  product<I> = block<I> block<I>
//     sender<2>  block<2> --'
//
// Runs with overlap off and on, compares the results, and prints both timelines. By default ranks are host threads with simulated links
// (timed sleeps); with --gpu they are four GPUs, with the plan for host threads, because for GPUs these blocks are too small for the
// planner to overlap anything.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/observe/observe.hpp>  // timelines; and DOVETAIL_EXPLAIN=1, DOVETAIL_TRACE=file.json, ...: see examples/reference.md
#include <dovetail/ops/ops.hpp>

#include "worlds.hpp"

#include <algorithm>
#include <cstdlib>

namespace dv = dovetail;
namespace observe = dv::observe;

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

// Machine description: one core of a server, and a link that transfers a block in the time of a product.
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
    std::vector<dv::half> products;  // all three products
    observe::timeline shortest;  // the shortest run, on the receiver
};
constexpr int role = dv::plan::role_of<three_senders, receiver>;

template <class Options, class World>
outcome play(const observe::plan_view& of, World make_world) {
    outcome best;
    auto world = make_world(4);
    world.run([&](auto& rank) {
        dv::executor<three_senders, Options> step{rank, dv::record_times};
        step.bind(dv::name<value>, 0.5f);
        for (int run = 0; run < 5; ++run) {
            const auto ticket = step.run();
            ticket.wait_for(std::chrono::seconds{60});
            if (!rank.is(dv::name<receiver>)) continue;
            const observe::timeline measured = observe::measured(of, {run, {{rank.index(), role, ticket.times()}}});
            if (run > 0 && measured.length >= best.shortest.length) continue;
            best.shortest = measured;
            best.products = ticket.read(dv::name<product<0>>).host();
            for (const auto& more : {ticket.read(dv::name<product<1>>).host(), ticket.read(dv::name<product<2>>).host()})
                best.products.insert(best.products.end(), more.begin(), more.end());
        }
    });
    return best;
}

// Prints the receiver's streams; a time of `scale` fills the line.
void print(const char* title, observe::timeline t, std::int64_t scale) {
    std::erase_if(t.rows, [](const observe::row& r) { return r.role != role; });
    std::printf("%s: %s\n", title, observe::duration_text(t.length).c_str());
    t.length = scale;
    std::printf("%s", observe::streams_text(t, 80).c_str());
}

template <class World>
int compare(World make_world) {
    std::printf("%s\n\n", make_world(4).links().c_str());
    if constexpr (World::on_gpus)
        std::printf("Planned and predicted for host threads: blocks of %lld KiB are too small to gain from overlap on GPUs.\n\n",
                    static_cast<long long>(matrix::bytes / 1024));
    const observe::plan_view of_off{observe::tables_of<three_senders, without>()}, of_on{observe::tables_of<three_senders, with_overlap>()};
    const outcome off = play<without>(of_off, make_world);
    const outcome on = play<with_overlap>(of_on, make_world);

    const observe::timeline before = observe::predicted(of_off);
    observe::timeline planned = observe::predicted(of_on);
    const int moved = observe::mark_moved(of_on, planned, before);
    std::printf("receiver:");
    for (int i = 0; const dv::ir::step& s : of_on.steps(role)) {
        std::printf("%s %d %s", i > 0 ? "," : "", i, of_on.label(s.task).c_str());
        ++i;
    }
    std::printf("; %d moved by overlap\n", moved);
    const std::int64_t measured = std::max(off.shortest.length, on.shortest.length);
    const std::int64_t scale = World::on_gpus ? before.length : std::max(before.length, measured);
    print("overlap off, predicted", before, scale);
    print("overlap off, measured", off.shortest, World::on_gpus ? measured : scale);
    print("overlap on, predicted", planned, scale);
    print("overlap on, measured", on.shortest, World::on_gpus ? measured : scale);
    std::printf("\nhidden communication: predicted %.0f%%, measured %.0f%%\n",
                100 * observe::overlap(of_on, planned, before).ranks[role].by_intersection(),
                100 * observe::overlap(of_on, on.shortest, off.shortest).total.by_intersection());

    bool equal = off.products.size() == 3 * matrix::size && on.products.size() == off.products.size();
    for (std::size_t i = 0; equal && i < on.products.size(); ++i)
        equal = on.products[i].bits == off.products[i].bits && float{on.products[i]} == 128.0f;
    std::printf("results with overlap off and on: %s\n", equal ? "equal" : "DIFFERENT");
    return equal && moved == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
}  // namespace app

int main(int count, char** arguments) {
    return worlds::choose(count, arguments, {}, dv::host::link{std::chrono::microseconds{50}, 40e6},
                          [](auto make_world) { return app::compare(make_world); });
}
