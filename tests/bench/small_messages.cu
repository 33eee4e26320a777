// Small messages between two GPUs, whose ranks are threads of one process, then processes: all_reduces each with a small kernel behind it,
// fifty in a run and one in a run, and a message of 4 bytes that goes to and fro. By hand with NCCL on one stream and as a CUDA graph, and
// planned with NCCL, with copy engines and with what the planner chooses, on streams and replayed. Medians of the times of many runs issued
// in a row, all variants in turn; the ratio is to NCCL by hand, issued the same way.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/ops/ops.hpp>

#include "bench/measure.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>

#if !defined(BENCH_MACHINE)
#define BENCH_MACHINE dv::machine::h200_nvlink
#endif

namespace dv = dovetail;

namespace {
namespace app {
using namespace dv::ops;

struct ranks;
struct left;
struct right;
template <int> struct x;
template <int> struct total;
template <int> struct ball;

template <int L> using layer = dv::group<dv::let<total<L>, all_reduce<average, ranks>(x<L>)>, dv::let<x<L + 1>, relu(total<L>)>>;
template <int Pairs, int Count>
struct reductions
    : dv::graph<dv::mesh<dv::axis<ranks, 2>>, dv::input<x<0>, dv::tensor<float, Count>>, dv::repeat<layer, Pairs>, dv::output<x<Pairs>>> {};

template <int I> using round_trip =
    dv::group<dv::on<right, dv::let<ball<2 * I + 1>, relu(ball<2 * I>)>>, dv::on<left, dv::let<ball<2 * I + 2>, relu(ball<2 * I + 1>)>>>;
template <int RoundTrips>
struct ping_pong : dv::graph<dv::input<x<0>, dv::tensor<float, 1>>, dv::on<left, dv::let<ball<0>, relu(x<0>)>>,
                             dv::repeat<round_trip, RoundTrips>, dv::output<ball<2 * RoundTrips>>> {};

template <dv::transport By>
using by = dv::options<BENCH_MACHINE, dv::collective_transport<By>, dv::channel_transport<By>, dv::in_flight<2>>;
}  // namespace app

constexpr int repeats = 15, runs_in_a_row = 40;

__global__ void relu_by_hand(const float* from, float* to, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) to[i] = fmaxf(from[i], 0.0f);
}
void relu(const float* from, float* to, int n, cudaStream_t on) { relu_by_hand<<<(n + 255) / 256, 256, 0, on>>>(from, to, n); }

struct variant {
    std::string name;
    bool by_hand = false, replayed = false;
    std::function<void()> issue, wait;
    std::vector<double> milliseconds = {};
};

// What is launched by hand, and the same captured.
class by_hand {
public:
    template <class Launch>
    by_hand(Launch launch, std::vector<variant>& all) {
        bench::must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        launch(stream_);  // connects what NCCL connects at its first use
        bench::must(cudaStreamSynchronize(stream_));
        cudaGraph_t captured{};
        bench::must(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
        launch(stream_);
        bench::must(cudaStreamEndCapture(stream_, &captured));
        bench::must(cudaGraphInstantiate(&instance_, captured, 0));
        bench::must(cudaGraphDestroy(captured));
        const auto wait = [s = stream_] { bench::must(cudaStreamSynchronize(s)); };
        all.push_back({"NCCL by hand", true, false, [=, s = stream_] { launch(s); }, wait});
        all.push_back({"NCCL by hand, CUDA graph", true, true, [s = stream_, g = instance_] { bench::must(cudaGraphLaunch(g, s)); }, wait});
    }
    by_hand(const by_hand&) = delete;
    ~by_hand() {
        bench::must(cudaGraphExecDestroy(instance_));
        bench::must(cudaStreamDestroy(stream_));
    }

private:
    cudaStream_t stream_{};
    cudaGraphExec_t instance_{};
};

template <class G, dv::transport By, class Rank, class... Arguments>
void add_planned(std::vector<variant>& all, Rank& rank, const char* name, dv::device_pointer<float> x, const Arguments&... arguments) {
    const auto step = std::make_shared<dv::executor<G, app::by<By>>>(rank, arguments...);
    step->bind(dv::name<app::x<0>>, x);
    const auto last = std::make_shared<dv::ticket<G>>();
    all.push_back({name, false, sizeof...(Arguments) > 0, [=] { *last = step->run(); }, [=] { last->wait(); }});
}

// `parts`: the messages of a run.
void print(const std::string& what, int parts, const std::vector<variant>& all) {
    std::printf("%s\n", what.c_str());
    for (const variant& v : all) {
        double hand = 0;
        for (const variant& w : all)
            if (w.by_hand && w.replayed == v.replayed) hand = 1000 * bench::median(w.milliseconds);
        const double time = 1000 * bench::median(v.milliseconds);
        std::printf("  %-32s %9.2f us a run, %7.2f us a message, ratio %5.2f\n", v.name.c_str(), time, time / parts, time / hand);
    }
    std::fflush(stdout);
}

// What the two ranks share, in memory that a child process has too.
struct shared {
    bench::meeting meet{2};
    char bytes[1 << 16];

    void broadcast(int rank, void* to, std::size_t n, int root) {
        for (std::size_t at = 0; at < n; at += sizeof bytes) {
            const std::size_t part = std::min(n - at, sizeof bytes);
            if (rank == root) std::memcpy(bytes, static_cast<const char*>(to) + at, part);
            meet();
            if (rank != root) std::memcpy(static_cast<char*>(to) + at, bytes, part);
            meet();
        }
    }
};

// The ranks of this process, and for each a communicator and memory for what is done by hand.
class ranks_here {
public:
    ranks_here(dv::cuda::world world, shared& both, int first, int last) : both{both}, world_{std::move(world)} {
        ncclUniqueId id;
        if (first == 0) bench::must(ncclGetUniqueId(&id));
        if (first == last) both.broadcast(first, &id, sizeof id, 0);
        bench::must(ncclGroupStart());
        for (int r = first; r <= last; ++r) {
            bench::must(cudaSetDevice(r));
            bench::must(cudaMalloc(reinterpret_cast<void**>(&memory[r]), std::size_t{1} << 22));
            bench::must(cudaMemset(memory[r], 0, std::size_t{1} << 22));
            bench::must(ncclCommInitRank(&comms[r], 2, id, r));
        }
        bench::must(ncclGroupEnd());
    }
    ranks_here(const ranks_here&) = delete;
    ~ranks_here() {
        for (float* p : memory) bench::must(cudaFree(p));
        for (ncclComm_t c : comms)
            if (c != nullptr) bench::must(ncclCommDestroy(c));
    }
    template <class Body>
    void run(Body body) {
        world_.run(body);
    }

    shared& both;
    ncclComm_t comms[2]{};
    float* memory[2]{};

private:
    dv::cuda::world world_;
};

// `launch(rank, communicator, memory, stream)` is the same by hand.
template <class G, class Launch>
void measure(const std::string& what, int parts, std::int64_t count, ranks_here& here, const Launch& launch) {
    here.run([&](auto& rank) {
        const int r = rank.index();
        bench::must(cudaSetDevice(r));
        const dv::device_pointer<float> x{here.memory[r], count};
        std::vector<variant> all;
        {
            const by_hand hand{[=, comm = here.comms[r], m = here.memory[r]](cudaStream_t s) { launch(r, comm, m, s); }, all};
            add_planned<G, dv::transport::nccl>(all, rank, "NCCL", x);
            add_planned<G, dv::transport::nccl>(all, rank, "NCCL, replayed", x, dv::replay);
            add_planned<G, dv::transport::automatic>(all, rank, "automatic", x);
            add_planned<G, dv::transport::automatic>(all, rank, "automatic, replayed", x, dv::replay);
            add_planned<G, dv::transport::peer_copy>(all, rank, "copy engines", x);
            add_planned<G, dv::transport::peer_copy>(all, rank, "copy engines, replayed", x, dv::replay);
            bench::time_in_turn(all, here.both.meet, repeats, runs_in_a_row);
        }
        if (r == 0) print(what, parts, all);
        here.both.meet();
        all.clear();
    });
}

template <int Pairs, int Count>
void measure_reductions(ranks_here& here) {
    measure<app::reductions<Pairs, Count>>(
        std::to_string(Pairs) + " all_reduces of " + std::to_string(Count * sizeof(float)) + " bytes, each with a small kernel behind it",
        Pairs, Count, here, [](int, ncclComm_t comm, float* m, cudaStream_t s) {
            for (int k = 0; k < Pairs; ++k) {
                bench::must(ncclAllReduce(m, m + Count, Count, ncclFloat, ncclAvg, comm, s));
                relu(m + Count, m, Count, s);
            }
        });
}
template <int RoundTrips>
void measure_ping_pong(ranks_here& here) {
    measure<app::ping_pong<RoundTrips>>("4 bytes to and fro, " + std::to_string(RoundTrips) + " times", 2 * RoundTrips, 1, here,
                                        [](int rank, ncclComm_t comm, float* m, cudaStream_t s) {
                                            for (int k = 0; k < 2 * RoundTrips; ++k) {
                                                if (k % 2 == rank) {
                                                    relu(m + 1, m, 1, s);
                                                    bench::must(ncclSend(m, 1, ncclFloat, 1 - rank, comm, s));
                                                } else
                                                    bench::must(ncclRecv(m + 1, 1, ncclFloat, 1 - rank, comm, s));
                                            }
                                        });
}
void measure_all(ranks_here&& here) {
    measure_reductions<50, 1024>(here);
    measure_reductions<50, 16384>(here);
    measure_reductions<1, 1024>(here);
    measure_ping_pong<20>(here);
    measure_ping_pong<1>(here);
}

// The ranks as processes, made before this one has called CUDA. Gives whether both ended well; where one does not, the other is stopped.
bool measure_processes(shared& both) {
    pid_t ranks[2];
    for (int rank = 0; rank < 2; ++rank) {
        ranks[rank] = fork();
        if (ranks[rank] != 0) continue;
        if (bench::gpus() < 2) std::_Exit(0);
        if (rank == 0) std::printf("Ranks as processes\n");
        bench::must_end([&] {
            const auto broadcast = [&, rank](void* bytes, std::size_t n, int root) { both.broadcast(rank, bytes, n, root); };
            measure_all({dv::cuda::world::from_broadcast(rank, 2, broadcast), both, rank, rank});
        });
        std::fflush(stdout);
        std::_Exit(0);
    }
    bool good = true;
    for (int status = 0; wait(&status) > 0;) {
        if (status == 0) continue;
        good = false;
        for (const pid_t rank : ranks) kill(rank, SIGKILL);
    }
    return good;
}
}  // namespace

int main() {
    void* const memory = mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench::must(memory != MAP_FAILED, "mmap");
    shared& both = *new (memory) shared;
    if (!measure_processes(both)) return 1;
    if (bench::gpus() < 2) return std::printf("skipped, it takes 2 GPUs\n"), 0;
    std::printf("Ranks as threads\n");
    measure_all({dv::cuda::world::local(2), both, 0, 1});
    return 0;
}
