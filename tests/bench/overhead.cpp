// Host time of one run: chains, fan-outs and diamonds of empty operations, on streams and as a CUDA graph, beside the same
// launches written by hand, bare and as a program needs them that wants to know whether a run has gone well and when it has ended:
// behind each run a look for errors and an event. All are run in turn in one process; medians, and of their ratios.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>

#include "bench/measure.hpp"

#include <doctest/doctest.h>

namespace dv = dovetail;

// In overhead_kernels.cu: the graphs are compiled by the host compiler, only the kernels by nvcc.
void launch_empty(cudaStream_t s, const float* x, float* y);
void launch_empty_two(cudaStream_t s, const float* x, const float* y, float* z);

namespace {
namespace app {
using number = dv::scalar<float>;
template <int> struct v;
template <int> struct left;
template <int> struct right;

struct one {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> x, dv::out<X> y) {
        launch_empty(static_cast<cudaStream_t>(s.handle), x.data(), y.data());
    }
};
struct two {
    static constexpr dv::tensor_type result(dv::tensor_type t, dv::tensor_type) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> x, dv::in<X> y, dv::out<X> z) {
        launch_empty_two(static_cast<cudaStream_t>(s.handle), x.data(), y.data(), z.data());
    }
};

template <int I> using link = dv::let<v<I + 1>, one(v<I>)>;
template <int N>
struct chain : dv::graph<dv::input<v<0>, number>, dv::repeat<link, N>, dv::output<v<N>>> {};

template <int I> using spoke = dv::let<left<I>, one(v<0>)>;
template <int N>
struct fan : dv::graph<dv::input<v<0>, number>, dv::repeat<spoke, N>, dv::output<dv::all<N, left>>> {};

template <int I> using diamond =
    dv::group<dv::let<left<I>, one(v<I>)>, dv::let<right<I>, one(v<I>)>, dv::let<v<I + 1>, two(left<I>, right<I>)>>;
template <int N>
struct diamonds : dv::graph<dv::input<v<0>, number>, dv::repeat<diamond, N>, dv::output<v<N>>> {};
}  // namespace app

using bench::median;

template <class Issue>
double microseconds(int runs, Issue issue) {
    const auto start = bench::clock::now();
    for (int k = 0; k < runs; ++k) issue();
    const auto spent = std::chrono::duration<double, std::micro>(bench::clock::now() - start).count() / runs;
    cudaDeviceSynchronize();
    return spent;
}

// `hand(stream)` launches the same kernels.
template <class G, class Rank, class Hand>
void measure(Rank& rank, const char* shape, int operations, float* memory, Hand hand) {
    cudaStream_t mine{};
    cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
    dv::executor<G> on_streams{rank};
    dv::executor<G> as_graph{rank, dv::replay};
    on_streams.bind(dv::name<app::v<0>>, dv::device_pointer{memory, 1});
    as_graph.bind(dv::name<app::v<0>>, dv::device_pointer{memory, 1});

    cudaGraph_t captured{};
    cudaGraphExec_t instance{};
    cudaStreamBeginCapture(mine, cudaStreamCaptureModeThreadLocal);
    hand(mine);
    cudaStreamEndCapture(mine, &captured);
    cudaGraphInstantiateWithFlags(&instance, captured, 0);
    cudaGraphUpload(instance, mine);

    cudaEvent_t ended{};
    cudaEventCreateWithFlags(&ended, cudaEventDisableTiming);
    const auto checked = [&](auto launch) {
        launch();
        bench::must(cudaGetLastError());
        bench::must(cudaEventRecord(ended, mine));
    };
    const int runs = std::max(1, std::min(50, 500 / operations));
    struct figures {
        std::vector<double> bare, by_hand, dovetail, to_bare, to_by_hand;
        void add(double a, double b, double c) {
            bare.push_back(a);
            by_hand.push_back(b);
            dovetail.push_back(c);
            to_bare.push_back(c / a);
            to_by_hand.push_back(c / b);
        }
        void print(const char* how) const {
            std::printf("%s %8.2f %8.2f %8.2f us %6.3f %6.3f", how, median(bare), median(by_hand), median(dovetail), median(to_by_hand),
                        median(to_bare));
        }
    } streams, graph;
    const auto replay = [&] { bench::must(cudaGraphLaunch(instance, mine)); };
    for (int repeat = 0; repeat < 41; ++repeat) {
        const double a = microseconds(runs, [&] { hand(mine); });
        const double b = microseconds(runs, [&] { checked([&] { hand(mine); }); });
        const double c = microseconds(runs, [&] { on_streams.run(); });
        const double d = microseconds(50, replay);
        const double e = microseconds(50, [&] { checked(replay); });
        const double f = microseconds(50, [&] { as_graph.run(); });
        if (repeat == 0) continue;  // warm now
        streams.add(a, b, c);
        graph.add(d, e, f);
    }
    std::printf("%-9s %5d", shape, operations);
    streams.print("   streams");
    graph.print("   graph");
    std::printf("\n");
    std::fflush(stdout);
    cudaEventDestroy(ended);
    cudaGraphExecDestroy(instance);
    cudaGraphDestroy(captured);
    cudaStreamDestroy(mine);
}

template <int N, class Rank>
void measure_chain(Rank& rank, float* m) {
    measure<app::chain<N>>(rank, "chain", N, m, [&](cudaStream_t s) {
        for (int i = 0; i < N; ++i) launch_empty(s, m + i % 64, m + (i + 1) % 64);
    });
}
template <int N, class Rank>
void measure_fan(Rank& rank, float* m) {
    measure<app::fan<N>>(rank, "fan-out", N, m, [&](cudaStream_t s) {
        for (int i = 0; i < N; ++i) launch_empty(s, m, m + i % 64);
    });
}
template <int N, class Rank>
void measure_diamonds(Rank& rank, float* m) {
    measure<app::diamonds<N>>(rank, "diamonds", 3 * N, m, [&](cudaStream_t s) {
        for (int i = 0; i < N; ++i) {
            launch_empty(s, m + i % 60, m + i % 60 + 1);
            launch_empty(s, m + i % 60, m + i % 60 + 2);
            launch_empty_two(s, m + i % 60 + 1, m + i % 60 + 2, m + i % 60 + 3);
        }
    });
}
}  // namespace

// What single calls cost, to compare with.
void costs() {
    cudaStream_t s{};
    cudaEvent_t e{};
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    const auto cost = [](const char* what, auto call) {
        std::vector<double> t;
        for (int repeat = 0; repeat < 21; ++repeat) t.push_back(microseconds(200, call));
        std::printf("%-24s %7.3f us\n", what, median(t));
    };
    cost("cudaSetDevice", [] { cudaSetDevice(0); });
    cost("cudaGetLastError", [] { static_cast<void>(cudaGetLastError()); });
    cost("cudaEventRecord", [&] { cudaEventRecord(e, s); });
    cost("cudaStreamWaitEvent", [&] { cudaStreamWaitEvent(s, e, 0); });
    cost("cudaEventQuery", [&] { static_cast<void>(cudaEventQuery(e)); });
    cost("launch", [&] { launch_empty(s, nullptr, nullptr); });
    cost("launch, cudaEventRecord", [&] { launch_empty(s, nullptr, nullptr); cudaEventRecord(e, s); });
    cudaGraph_t captured{};
    cudaGraphExec_t instance{};
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    for (int i = 0; i < 10; ++i) launch_empty(s, nullptr, nullptr);
    cudaStreamEndCapture(s, &captured);
    cudaGraphInstantiateWithFlags(&instance, captured, 0);
    cost("cudaGraphLaunch", [&] { cudaGraphLaunch(instance, s); });
    cost("cudaGraphLaunch, record", [&] { cudaGraphLaunch(instance, s); cudaEventRecord(e, s); });
    cudaGraphExecDestroy(instance);
    cudaGraphDestroy(captured);
    cudaEventDestroy(e);
    cudaStreamDestroy(s);
}

TEST_CASE("host time of a run") {
    costs();
    std::printf("of a run: by hand bare, by hand with its errors and its end looked for, dovetail; dovetail to the second, to the first\n");
    dv::cuda::world::local(1).run([](auto& rank) {
        float* m = nullptr;
        REQUIRE(cudaMalloc(reinterpret_cast<void**>(&m), 64 * sizeof(float)) == cudaSuccess);
        measure_chain<10>(rank, m);
        measure_chain<100>(rank, m);
        measure_chain<1000>(rank, m);
        measure_fan<10>(rank, m);
        measure_fan<100>(rank, m);
        measure_fan<1000>(rank, m);
        measure_diamonds<3>(rank, m);
        measure_diamonds<33>(rank, m);
        measure_diamonds<333>(rank, m);
        cudaFree(m);
    });
}
