// Three senders make a block of 200 MB each, a receiver squares all three: what Ray's Compiled Graphs show overlap with. On four GPUs
// of one process, in turn: dovetail with overlap off and on, by NCCL, by peer copies and by what its planner chooses, on streams and
// as a CUDA graph; NCCL by hand on one and on two streams; peer copies by hand. Prints medians, and ratios to what
// this work takes in the best order: the first block made and moved, then three products, each measured alone, with its launch and end.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/ops/ops.hpp>

#include "bench/measure.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

namespace dv = dovetail;

// In three_senders_kernels.cu.
void fill_halves(cudaStream_t s, dv::half* to, std::int64_t count, float value);
std::int64_t count_others(const dv::half* at, std::int64_t count, float value);  // elements that are not `value`

namespace {
namespace app {
using namespace dv::ops;
struct receiver;
template <int> struct sender;
template <int> struct value;
template <int> struct block;
template <int> struct product;

constexpr std::int64_t extent = 10'000;
using matrix = dv::tensor<dv::half, extent, extent>;

template <int I> using given = dv::input<value<I>, dv::scalar<float>>;
template <int I> using make  = dv::on<sender<I>, dv::let<block<I>, fill<matrix>(value<I>)>>;
template <int I> using use   = dv::let<product<I>, matmul(block<I>, block<I>)>;

struct three_senders : dv::graph<
    dv::repeat<given, 3>,
    dv::repeat<make, 3>,
    dv::on<receiver, dv::repeat<use, 3>>,
    dv::output<dv::all<3, product>>> {};

using machine = dv::machine::h200_nvlink;
template <dv::transport By> using off = dv::options<machine, dv::channel_transport<By>, dv::overlap<false>>;
template <dv::transport By> using on  = dv::options<machine, dv::channel_transport<By>>;

// Every product is exact in half precision up to one rounding, whatever the order of its sum.
constexpr float value_of(int i) { return static_cast<float>(i + 1) / 128.0f; }
constexpr float product_of(int i) { return static_cast<float>(extent) * value_of(i) * value_of(i); }
}  // namespace app

constexpr int receiver = 3;  // ranks are numbered by role in order of appearance
constexpr int repeats = 15;
constexpr std::size_t bytes = static_cast<std::size_t>(app::matrix::bytes);

struct variant {
    std::string name;
    std::function<void()> issue;                                // all that one rank does, behind and before the work on its stream
    std::function<const dv::half*(int)> product = nullptr;      // where the results lie on the receiver
    std::vector<double> milliseconds = {};                      // of the receiver
};

// What one rank needs to do the same by hand. The receiver's copies of the blocks are separate, as a plan's would be.
struct by_hand {
    int rank;
    ncclComm_t comm{};
    cublasHandle_t blas = nullptr;
    cudaStream_t compute{}, transfers{}, mine{};
    cudaEvent_t begin{}, moved[3]{}, done[2]{};
    dv::half *block[3]{}, *product[3]{};

    explicit by_hand(int r) : rank{r}, blas{bench::product_handle()} {
        int low = 0, high = 0;
        bench::must(cudaDeviceGetStreamPriorityRange(&low, &high));
        bench::must(cudaStreamCreateWithPriority(&compute, cudaStreamNonBlocking, low));
        bench::must(cudaStreamCreateWithPriority(&transfers, cudaStreamNonBlocking, high));
        bench::must(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
        for (cudaEvent_t* e : {&begin, &moved[0], &moved[1], &moved[2], &done[0], &done[1]})
            bench::must(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
        for (int i = 0; i < 3; ++i) {
            if (rank == i || rank == receiver) bench::must(cudaMalloc(reinterpret_cast<void**>(&block[i]), bytes));
            if (rank == receiver) bench::must(cudaMalloc(reinterpret_cast<void**>(&product[i]), bytes));
        }
        if (rank == receiver) {  // cuBLAS loads its kernels before anything waits for another rank
            fill_halves(compute, block[0], app::matrix::size, 0);
            multiply(0, compute);
            for (int peer = 0; peer < 3; ++peer) bench::must(peer_access(peer));
        }
        bench::must(cudaDeviceSynchronize());
    }
    static cudaError_t peer_access(int peer) {
        const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
        if (status != cudaErrorPeerAccessAlreadyEnabled) return status;
        static_cast<void>(cudaGetLastError());
        return cudaSuccess;
    }
    void multiply(int i, cudaStream_t s) const {
        constexpr int n = app::extent;
        const float one = 1, zero = 0;
        bench::must(cublasSetStream(blas, s));
        bench::must(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, block[i], CUDA_R_16F, n, block[i], CUDA_R_16F, n, &zero,
                                 product[i], CUDA_R_16F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    }
    void fill(cudaStream_t s) const { fill_halves(s, block[rank], app::matrix::size, app::value_of(rank)); }
    void send(cudaStream_t s) const { bench::must(ncclSend(block[rank], app::matrix::size, ncclHalf, receiver, comm, s)); }
    void receive(int i, cudaStream_t s) const { bench::must(ncclRecv(block[i], app::matrix::size, ncclHalf, i, comm, s)); }
    static void join(cudaStream_t after, cudaEvent_t e, cudaStream_t before) {
        bench::must(cudaEventRecord(e, before));
        bench::must(cudaStreamWaitEvent(after, e, 0));
    }

    // NCCL receives and products one after the other.
    void one_stream() const {
        if (rank != receiver) {
            fill(mine);
            return send(mine);
        }
        for (int i = 0; i < 3; ++i) {
            receive(i, mine);
            multiply(i, mine);
        }
    }
    // Receives on a stream of the highest priority, products behind them on another.
    void two_streams() const {
        if (rank != receiver) {
            fill(mine);
            return send(mine);
        }
        for (int i = 0; i < 3; ++i) {
            receive(i, transfers);
            join(compute, moved[i], transfers);
            multiply(i, compute);
        }
        join(mine, done[0], compute);
    }
};

// Peer copies by hand need the other ranks: an event of the sender behind its block, which the receiver's copy waits for. A wait that
// is issued before the record is none, hence the flags.
struct peer_copies {
    by_hand* ranks[4] = {};
    std::atomic<int> filled[3] = {};

    void issue(int rank, int run, int blocks, bool with_products) {
        by_hand& me = *ranks[rank];
        if (rank != receiver) {
            if (rank >= blocks) return;
            me.fill(me.mine);
            bench::must(cudaEventRecord(me.begin, me.mine));
            filled[rank].store(run);
            return;
        }
        for (int i = 0; i < blocks; ++i) {
            while (filled[i].load() != run) {}
            bench::must(cudaStreamWaitEvent(me.transfers, ranks[i]->begin, 0));
            bench::must(cudaMemcpyAsync(me.block[i], ranks[i]->block[i], bytes, cudaMemcpyDeviceToDevice, me.transfers));
            by_hand::join(me.compute, me.moved[i], me.transfers);
            if (with_products) me.multiply(i, me.compute);
        }
        by_hand::join(me.mine, me.done[0], me.compute);
    }
};

// How many of the channels of a plan go over the copy engine.
template <class Options>
int copied_channels() {
    int n = 0;
    for (const dv::ir::task& v : dv::plan::planned<app::three_senders, Options>::program.tasks)
        n += v.kind == dv::op_kind::transfer && v.stream == dv::stream_kind::copy ? 1 : 0;
    return n;
}

template <class Options, class Rank>
void add(std::vector<variant>& to, Rank& rank, cudaStream_t mine, const char* name) {
    const auto one = [&](const char* how, auto... arguments) {
        using executor = dv::executor<app::three_senders, Options>;
        const auto step = std::make_shared<executor>(rank, arguments...);
        step->bind(dv::name<app::value<0>>, app::value_of(0))
            .bind(dv::name<app::value<1>>, app::value_of(1))
            .bind(dv::name<app::value<2>>, app::value_of(2));
        const auto last = std::make_shared<dv::ticket<app::three_senders>>();
        to.push_back({std::string{"dovetail, "} + name + how, [=] { *last = step->enqueue(mine); }, [=](int i) -> const dv::half* {
            if (i == 0) return last->read(dv::name<app::product<0>>).data();
            if (i == 1) return last->read(dv::name<app::product<1>>).data();
            return last->read(dv::name<app::product<2>>).data();
        }});
    };
    one("");
    one(", CUDA graph", dv::replay);
    if (rank.index() == receiver)
        std::printf("dovetail, %-28s predicted %6.3f ms, %2.0f%% of the communication hidden, %d of 3 channels by peer copies\n", name,
                    static_cast<double>(dv::predicted_time<app::three_senders, Options>) / 1e9,
                    100 * dv::hidden_fraction<app::three_senders, Options>, copied_channels<Options>());
}
}  // namespace

TEST_CASE("three senders") {
    if (bench::gpus() < 4) return static_cast<void>(std::printf("skipped: it takes 4 GPUs\n"));
    ncclUniqueId id;
    bench::must(ncclGetUniqueId(&id));
    bench::meeting meet{4};
    peer_copies pulled;
    std::atomic<std::int64_t> wrong = 0;
    dv::cuda::world::local(4).run([&](auto& rank) {
        const int me = rank.index();
        bench::must(cudaSetDevice(me));
        by_hand hand{me};
        pulled.ranks[me] = &hand;
        meet();
        bench::must(ncclCommInitRank(&hand.comm, 4, id, me));
        meet();

        int run = 0;
        const auto made = [&](int i) { return static_cast<const dv::half*>(hand.product[i]); };
        std::vector<variant> all;
        all.push_back({"first block moved", [&] { pulled.issue(me, run, 1, false); }});
        all.push_back({"three products", [&] { for (int i = 0; me == receiver && i < 3; ++i) hand.multiply(i, hand.mine); }});
        all.push_back({"by hand, NCCL, one stream", [&] { hand.one_stream(); }, made});
        all.push_back({"by hand, NCCL, two streams", [&] { hand.two_streams(); }, made});
        all.push_back({"by hand, peer copies", [&] { pulled.issue(me, run, 3, true); }, made});
        using dv::transport;
        add<app::off<transport::nccl>>(all, rank, hand.mine, "NCCL, overlap off");
        add<app::on<transport::nccl>>(all, rank, hand.mine, "NCCL, overlap on");
        add<app::off<transport::peer_copy>>(all, rank, hand.mine, "peer copies, overlap off");
        add<app::on<transport::peer_copy>>(all, rank, hand.mine, "peer copies, overlap on");
        add<app::on<transport::automatic>>(all, rank, hand.mine, "as planned");

        for (int repeat = -2; repeat < repeats; ++repeat)  // the first two warm up
            for (variant& v : all) {
                ++run;
                if (repeat == repeats - 1 && me == receiver)  // what is checked below, this run has made
                    for (dv::half* p : hand.product) bench::must(cudaMemset(p, 0, bytes));
                bench::must(cudaDeviceSynchronize());
                meet();
                const auto start = bench::clock::now();
                v.issue();
                bench::must(cudaStreamSynchronize(hand.mine));
                const double spent = std::chrono::duration<double, std::milli>(bench::clock::now() - start).count();
                meet();
                if (repeat >= 0) v.milliseconds.push_back(spent);
                if (repeat == repeats - 1 && me == receiver && v.product != nullptr)
                    for (int i = 0; i < 3; ++i) wrong += count_others(v.product(i), app::matrix::size, app::product_of(i));
            }
        if (me == receiver) {
            const double bound = bench::median(all[0].milliseconds) + bench::median(all[1].milliseconds);
            std::printf("%-44s %9s %9s   %s\n", "", "median ms", "least ms", "of the bound");
            for (const variant& v : all)
                std::printf("%-44s %9.3f %9.3f   %.3f\n", v.name.c_str(), bench::median(v.milliseconds),
                            *std::min_element(v.milliseconds.begin(), v.milliseconds.end()), bench::median(v.milliseconds) / bound);
            std::printf("%-44s %9.3f\n", "bound: first block moved and three products", bound);
            std::fflush(stdout);
        }
        meet();
        all.clear();
        bench::must(cudaDeviceSynchronize());
        meet();
        bench::must(ncclCommDestroy(hand.comm));
    });
    CHECK(wrong == 0);
}
