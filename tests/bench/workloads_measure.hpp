// How a workload is measured: executors of its graph by several options, in turn, with what is added by hand; and how that is printed.
#pragma once

#include "bench/planned_variants.hpp"
#include "bench/workloads_graphs.hpp"

namespace workloads {

constexpr int repeats = 11;

using bench::normal_halves, bench::variant;

template <class G, class Given, class Rank, class Bind, class... Arguments>
variant planned(Rank& rank, const char* name, const Bind& bind, const Arguments&... arguments) {
    return bench::planned<G, typename app::with_times<G, Given>::type>(rank, name, bind, arguments...);
}

template <class G, class Rank, class Bind>
variant tuned(Rank& rank, const Bind& bind) {
    return bench::tuned<G, typename app::with_times<G, app::automatic>::type>(rank, bind);
}

// The computations alone come first, then what everyone writes.
template <class G, class Alone, class Rank, class Bind, class BindAlone>
std::vector<variant> planned_all(Rank& rank, const Bind& bind, const BindAlone& bind_alone) {
    std::vector<variant> all;
    all.push_back(planned<Alone, app::as_written>(rank, "computations alone", bind_alone));
    all.push_back(planned<G, app::as_written>(rank, "NCCL, one stream", bind));
    all.push_back(planned<G, app::by_nccl>(rank, "NCCL, planned", bind));
    all.push_back(planned<G, app::by_copies>(rank, "copy engines, planned", bind));
    all.push_back(planned<G, app::automatic>(rank, "automatic", bind));
    all.push_back(planned<G, app::automatic>(rank, "automatic, CUDA graph", bind, dv::replay));
    return all;
}

inline void print(const char* workload, int ranks, const std::vector<variant>& all) {
    std::printf("%s, %d GPUs\n", workload, ranks);
    const double alone = bench::median(all[0].milliseconds), everyone = bench::median(all[1].milliseconds);
    for (const variant& v : all) {
        const double time = bench::median(v.milliseconds);
        std::printf("  %-34s %8.3f ms, %5.3f of the computations, %4.0f%% hidden by gain", v.name.c_str(), time, time / alone,
                    100 * (everyone - time) / (everyone - alone));
        if (v.predicted > 0) std::printf("; predicted %8.3f ms, %+5.1f%%", v.predicted, 100 * (v.predicted / time - 1));
        std::printf("\n");
    }
    for (const variant& v : all) bench::print_tuning(v.name, v.tuning);
    std::fflush(stdout);
}

struct inputs {
    explicit inputs(int rank) : square{app::side * app::side, 100 + rank, 1.0f}, slope{app::side * app::hidden, 200 + rank, 1.0f} {}
    normal_halves square, slope;
};

// `bind(executor, inputs)` binds the inputs of both graphs; `more(rank, inputs, meeting, all)` adds further variants to all, and returns
// what they use.
template <int Ranks, class G, class Alone, class Bind, class More>
void measure(const char* workload, const Bind& bind, const More& more) {
    if (bench::gpus() < Ranks) return static_cast<void>(std::printf("%s: skipped, it takes %d GPUs\n", workload, Ranks));
    bench::meeting meet{Ranks};
    dv::cuda::world::local(Ranks).run([&](auto& rank) {
        bench::must(cudaSetDevice(rank.index()));
        const inputs in{rank.index()};
        const auto bind_here = [&](auto& step) { bind(step, in); };
        std::vector<variant> all = planned_all<G, Alone>(rank, bind_here, bind_here);
        [[maybe_unused]] const auto kept = more(rank, in, meet, all);
        bench::time_in_turn(all, meet, repeats);
        if (rank.index() == 0) print(workload, Ranks, all);
        meet();
    });
}
template <int Ranks, class G, class Alone, class Bind>
void measure(const char* workload, const Bind& bind) {
    measure<Ranks, G, Alone>(workload, bind, [](auto&&...) { return 0; });
}

// What is written by hand is made of: what all ranks share, and where this one is.
struct place {
    bench::shared_by_hand& all;
    const int rank;
    const ncclUniqueId& id;
    bench::meeting& meet;
};
// The same beside what is written by hand: `more(rank, inputs, place, all)`.
template <int Ranks, class G, class Alone, class Bind, class More>
void measure_beside_hand(const char* workload, const Bind& bind, const More& more) {
    if (bench::gpus() < Ranks) return static_cast<void>(std::printf("%s: skipped, it takes %d GPUs\n", workload, Ranks));
    bench::shared_by_hand shared{Ranks};
    ncclUniqueId id;
    bench::must(ncclGetUniqueId(&id));
    measure<Ranks, G, Alone>(workload, bind, [&](auto& rank, const inputs& in, bench::meeting& meet, std::vector<variant>& all) {
        return more(rank, in, place{shared, rank.index(), id, meet}, all);
    });
}

}  // namespace workloads
