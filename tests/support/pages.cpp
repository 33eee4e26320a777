// Writes the files that tests/observe/browser and tests/observe/hta check into the current folder: pages of a graph of about ten
// operations, of one of about a thousand, of the README's graph as planned for GPUs, and of a smaller one of that kind with a measured
// run, also planned for one stream; a trace for each rank of its runs, and the overlap that dovetail computes from them.
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/observe/html.hpp>
#include <dovetail/plan/make.hpp>

#include "samples.hpp"
#include "three_senders.hpp"
#include "traced_runs.hpp"

#include <cstdio>

namespace {

using namespace samples;
namespace observe = dv::observe;

// Four stages, 85 micro-batches, two operations each: 1,024 operations, inputs and transfers included.
struct quick_links {
    static constexpr dv::machine_description description{.name = "quick_links",
                                                         .half_flops = 1'000'000'000,
                                                         .float_flops = 1'000'000'000,
                                                         .double_flops = 1'000'000'000,
                                                         .memory_bandwidth = 1'000'000'000,
                                                         .launch_latency = 1'000'000,
                                                         .edge_latency = 1,
                                                         .link_latency = 1'000'000,
                                                         .link_bandwidth = 30'000'000,
                                                         .bus_bandwidth = 30'000'000,
                                                         .host_bandwidth = 30'000'000,
                                                         .with_communication = {.of_compute = {1100, 1100, 1100}},
                                                         .with_copy = {.of_compute = {1030, 1030, 1030}}};
};
template <int S, int M> using two_steps = dv::let<hop<S + 1, M>, add(multiply(hop<S, M>, bias_of_stage), bias_of_stage)>;
template <int S> struct on_stage {
    template <int M> using body = two_steps<S, M>;
};
template <int S> using long_stage = dv::on<stage<S>, dv::repeat<on_stage<S>::template body, 85>>;
template <int M> using last_hop = hop<4, M>;
struct long_pipeline : dv::graph<dv::input<bias_of_stage, vector>, dv::repeat<pipeline_of<85>::feed, 85>, dv::repeat<long_stage, 4>,
                                 dv::output<dv::all<85, last_hop>>> {};

struct host_threads {
    static constexpr dv::machine_description description{.name = "host_threads",
                                                         .half_flops = 5'000'000'000,
                                                         .float_flops = 5'000'000'000,
                                                         .double_flops = 5'000'000'000,
                                                         .memory_bandwidth = 20'000'000'000,
                                                         .launch_latency = 5'000'000,
                                                         .edge_latency = 20'000'000,
                                                         .link_latency = 50'000'000,
                                                         .link_bandwidth = 40'000'000,
                                                         .bus_bandwidth = 40'000'000,
                                                         .host_bandwidth = 5'000'000'000};
};
using with_threads = dv::options<host_threads>;
using on_one_stream = dv::options<host_threads, dv::overlap<false>>;

template <class Options>
void run_three(support::traced_runs& runs, int count) {
    dv::host::world{4, dv::host::link{std::chrono::microseconds{50}, 40e6}}.run([&](auto& rank) {
        dv::executor<senders::three_small_senders, Options> step{rank, dv::record_times};
        step.bind(dv::name<senders::value>, 0.5f);
        for (int i = 0; i < count; ++i) runs.add(i, rank.index(), step, step.run().times());
    });
}

}  // namespace

int main() {
    const observe::plan_view ten{observe::tables_of<there_and_back, overlapped>()};
    observe::files to;
    bool all = to.write("page", "ten.html", observe::html(ten));
    all = all && to.write("page", "three_senders.html", observe::html(observe::plan_view{observe::tables_of<senders::three_senders>()}));

    const dv::plan_options s = dv::options<quick_links>::value;
    const auto made = dv::plan::make(dv::plan::typed<long_pipeline>::value, s);
    const observe::plan_view thousand{
        {&dv::tag_of<long_pipeline>, dv::plan::typed<long_pipeline>::value, dv::ir::view(made.program), dv::ir::view(made.plan), s}};
    all = all && to.write("page", "thousand.html", observe::html(thousand));
    std::printf("%d operations\n", thousand.program.tasks.size());

    const observe::plan_view three{observe::tables_of<senders::three_small_senders, with_threads>()};
    support::traced_runs runs{5};
    run_three<with_threads>(runs, 5);
    all = all && to.write("page", "measured.html", observe::html(three, {runs.timelines(three).back()}));
    all = all && runs.write(three, ".");

    const observe::plan_view serial{observe::tables_of<senders::three_small_senders, on_one_stream>()};
    support::traced_runs serial_runs{1};
    run_three<on_one_stream>(serial_runs, 1);
    all = all && to.write("page", "one_stream.html", observe::html(serial, serial_runs.timelines(serial)));
    return all ? 0 : 1;
}
