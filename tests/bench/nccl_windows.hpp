// A rank that does collectives as NCCL offers them, with and without symmetric windows, with few CTAs or none, and by puts; and the
// tensor-parallel chain of them.
#pragma once

#include "bench/workloads_by_hand.hpp"

#include <cuda_bf16.h>

#include <functional>
#include <string>
#include <vector>

namespace {

using bench::must;
using number = __nv_bfloat16;
constexpr std::size_t side = 8192, depth = 7168, mebi = std::size_t{1} << 20, buffer_bytes = 256 * mebi, layers = 4, chunks = 4;

// How a collective is done: by a communicator of its own, or by puts.
enum way { plain, few, window, window_few, window_eight, zero, by_call, puts, ways = puts + 1 };
struct way_config {
    const char* name;
    int most_ctas, policy;
    bool with_window;
};
constexpr way_config all_ways[ways] = {{"NCCL", 0, NCCL_CTA_POLICY_DEFAULT, false},
                                       {"max 8 CTAs", 8, NCCL_CTA_POLICY_DEFAULT, false},
                                       {"window", 0, NCCL_CTA_POLICY_DEFAULT, true},
                                       {"window, max 4 CTAs", 4, NCCL_CTA_POLICY_DEFAULT, true},
                                       {"window, max 8 CTAs", 8, NCCL_CTA_POLICY_DEFAULT, true},
                                       {"window, zero CTA", 0, NCCL_CTA_POLICY_ZERO, true},
                                       {"window, zero CTA by call", 0, NCCL_CTA_POLICY_DEFAULT, true},  // from 2.32 on
                                       {"puts", 0, 0, false}};
enum kind { gather, exchange, scatter, reduce };
struct collective {
    const char* name;
    kind what;
    std::size_t count;  // of a rank's block, of each block, of all that is reduced
    int in_a_row;
};
constexpr collective collectives[] = {
    {"all_gather 32 MiB a rank", gather, 16 * mebi, 1},   {"all_gather 64 KiB a rank", gather, mebi / 32, 20},
    {"all_to_all 32 MiB blocks", exchange, 16 * mebi, 1}, {"reduce_scatter 128 MiB", scatter, 64 * mebi, 1},
    {"all_reduce 128 MiB", reduce, 64 * mebi, 1},         {"all_reduce 64 KiB", reduce, mebi / 32, 20}};

// Small whole numbers, whose sums over 8 ranks are exact.
__host__ __device__ inline unsigned value(unsigned seed, std::size_t i) {
    return (static_cast<unsigned>(i) * 2654435761u >> 28) + seed % 16 + 1;
}
__device__ void spin(long nanoseconds) {
    long begin = 0, now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now < begin + nanoseconds);
}
__global__ void delay(long nanoseconds) { spin(nanoseconds); }
// Lets the next kernel begin at once, if that one wants to, and writes only then.
__global__ void fill(number* p, std::size_t n, unsigned seed, long late) {
    cudaTriggerProgrammaticLaunchCompletion();
    spin(late);
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n; i += std::size_t{gridDim.x} * blockDim.x)
        p[i] = __float2bfloat16(static_cast<float>(value(seed, i)));
}
// Counts what a collective of n numbers got wrong.
__global__ void check(const number* p, std::size_t n, kind what, int ranks, unsigned seed, unsigned* wrong) {
    const std::size_t all = what == gather ? n * static_cast<unsigned>(ranks) : n;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < all; i += std::size_t{gridDim.x} * blockDim.x) {
        unsigned right = what == gather ? value(seed + static_cast<unsigned>(i / n), i % n) : 0;
        for (int r = 0; what != gather && r < ranks; ++r) right += value(seed + static_cast<unsigned>(r), i);
        if (__bfloat162float(p[i]) != static_cast<float>(right)) atomicAdd(wrong, 1u);
    }
}
__global__ void fill_random(number* p, std::size_t n, unsigned seed) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n; i += std::size_t{gridDim.x} * blockDim.x) {
        unsigned x = (static_cast<unsigned>(i) + seed) * 2654435761u;
        x = (x ^ x >> 15) * 2246822519u;
        p[i] = __float2bfloat16(static_cast<float>((x ^ x >> 13) & 0xffff) / 65536.f - .5f);
    }
}
__global__ void sum(number* out, const number* blocks, std::size_t part, int n) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < part / 8; i += std::size_t{gridDim.x} * blockDim.x) {
        float sums[8] = {};
        for (int j = 0; j < n; ++j) {
            const uint4 v = reinterpret_cast<const uint4*>(blocks + static_cast<std::size_t>(j) * part)[i];
            for (int k = 0; k < 8; ++k) sums[k] += __bfloat162float(reinterpret_cast<const number*>(&v)[k]);
        }
        uint4 r;
        for (int k = 0; k < 4; ++k) reinterpret_cast<__nv_bfloat162*>(&r)[k] = __floats2bfloat162_rn(sums[2 * k], sums[2 * k + 1]);
        reinterpret_cast<uint4*>(out)[i] = r;
    }
}

std::atomic<const char*> doing = "starting";
std::atomic<int> moves = 0;
std::atomic<bool> usable[ways];

class rank {
public:
    rank(int r, int ranks, std::vector<rank*>& all, bench::shared_by_hand& words, bench::meeting& meet)
        : me{static_cast<std::size_t>(r)}, n{static_cast<std::size_t>(ranks)}, meet_{meet}, all_{all}, words_{words} {}
    void open(const ncclUniqueId* ids) {
        must(cudaSetDevice(device()));
        for (int other = 0; other < device_count(); ++other)
            if (other != device()) must(cudaDeviceEnablePeerAccess(other, 0));
        int low = 0, high = 0;
        must(cudaDeviceGetStreamPriorityRange(&low, &high));
        must(cudaStreamCreateWithPriority(&compute_, cudaStreamNonBlocking, low));
        for (cudaStream_t* s : {&comm_, &gather_}) must(cudaStreamCreateWithPriority(s, cudaStreamNonBlocking, high));
        for (cudaEvent_t& e : events_) must(cudaEventCreateWithFlags(&e, &e < events_ + 2 ? cudaEventDefault : cudaEventDisableTiming));
        must(cublasSetStream(blas_ = bench::product_handle(), compute_));
        for (number** p : {&from, &to}) must(ncclMemAlloc(reinterpret_cast<void**>(p), buffer_bytes));
        for (number** p : {&x_, &weight_, &made_, &stage}) *p = bench::on_device<number>(static_cast<std::int64_t>(2 * side * side));
        for (number* p : {x_, weight_}) fill_random<<<1024, 256>>>(p, side * side, static_cast<unsigned>(me) * 12345);
        wrong_ = bench::on_device<unsigned>(1);
        must(cudaDeviceSynchronize());
        meet_();
        for (int w = 0; w < puts; ++w) open(static_cast<way>(w), ids[w]);
        usable[puts] = true;
        meet_();
    }

    const std::size_t me, n;
    number *from{}, *to{}, *stage{};
    double taken = 0;

protected:
    int device() const { return static_cast<int>(me); }
    int device_count() const { return static_cast<int>(n); }
    void issue(const collective& c, way w, cudaStream_t on) {
        const ncclComm_t comm = comms_[w];
#if NCCL_VERSION_CODE >= 23200
        ncclCollConfig_t call = NCCL_COLLCONFIG_INITIALIZER;
        call.CTAPolicy = NCCL_CTA_POLICY_ZERO;
        if (w == by_call && c.what == gather)
            return must(ncclAllGatherConfig(to + me * c.count, to, c.count, ncclBfloat16, comm, on, &call));
        if (w == by_call) return must(ncclAlltoAllConfig(from, to, c.count, ncclBfloat16, comm, on, &call));
#endif
        if (w == puts) {
            ++number_;
            for (std::size_t d = 1; d < n; ++d) {
                const std::size_t other = (me + d) % n;
                put(other, all_[other]->to + me * c.count, c.what == gather ? to + me * c.count : from + other * c.count, c.count, 0, on);
            }
            if (c.what == exchange) put(me, to + me * c.count, from + me * c.count, c.count, 0, on);
            return wait_for_others(0, on);
        }
        if (c.what == gather) must(ncclAllGather(to + me * c.count, to, c.count, ncclBfloat16, comm, on));
        if (c.what == exchange) must(ncclAlltoAll(from, to, c.count, ncclBfloat16, comm, on));
        if (c.what == scatter) must(ncclReduceScatter(from, to, c.count / n, ncclBfloat16, ncclSum, comm, on));
        if (c.what == reduce) must(ncclAllReduce(from, to, c.count, ncclBfloat16, ncclSum, comm, on));
    }
    // Microseconds on the slowest rank, from when the GPU comes to the first of `times` issues to when it is done.
    double timed(const char* what, bool product, int hidden, int times, const std::function<void()>& issue) {
        doing = what, ++moves;
        must(cudaDeviceSynchronize());
        meet_();
        delay<<<1, 1, 0, comm_>>>(50'000 * hidden);
        must(cudaEventRecord(events_[0], comm_));
        const auto start = bench::clock::now();
        for (int k = 0; k < times; ++k) issue();
        host_ = std::chrono::duration<double, std::micro>{bench::clock::now() - start}.count();
        if (product) {
            must(cudaStreamWaitEvent(compute_, events_[0], 0));
            multiply(x_, made_, side, side);
            join(comm_, 2, compute_);
        }
        must(cudaEventRecord(events_[1], comm_));
        must(cudaStreamSynchronize(comm_));
        float milliseconds = 0;
        must(cudaEventElapsedTime(&milliseconds, events_[0], events_[1]));
        taken = 1e3 * static_cast<double>(milliseconds);
        meet_();
        double slowest = 0;
        for (const rank* r : all_) slowest = std::max(slowest, r->taken);
        meet_();
        return slowest;
    }
    number* result(std::size_t layer) const { return to + layer % 2 * side * side; }
    // all_reduce = reduce_scatter, by puts a put of each block and a sum, and all_gather on a third stream. gather_by == ways: all_reduces;
    // reduce_by == ways: the products alone.
    void chain(int reduce_by, int gather_by) {
        constexpr std::size_t count = side * side / chunks;
        const std::size_t part = count / n;
        for (cudaStream_t s : {compute_, gather_}) must(cudaStreamWaitEvent(s, events_[0], 0));
        for (std::size_t l = 0; l < layers; ++l)
            for (std::size_t k = 0; k < chunks; ++k) {
                const std::size_t at = l % 2 * side * side + k * count, made = 4 + k, summed = 8 + k, reduced = 12 + k;
                if (l > 0 && reduce_by != ways) must(cudaStreamWaitEvent(compute_, events_[reduced], 0));
                multiply(l == 0 ? x_ + k * count : result(l - 1) + k * count, from + at, side / chunks, depth);
                if (reduce_by == ways) continue;
                join(comm_, made, compute_);
                if (gather_by == ways) {
                    must(ncclAllReduce(from + at, to + at, count, ncclBfloat16, ncclSum, comms_[reduce_by], comm_));
                    must(cudaEventRecord(events_[reduced], comm_));
                    continue;
                }
                number* const mine = to + at + me * part;
                ++number_;
                if (reduce_by == puts) {
                    for (std::size_t d = 1; d <= n; ++d) {
                        const std::size_t other = (me + d) % n;
                        put(other, all_[other]->stage + at + me * part, from + at + other * part, part, 1 + static_cast<int>(k), comm_);
                    }
                    wait_for_others(1 + static_cast<int>(k), comm_);
                    sum<<<264, 512, 0, comm_>>>(mine, stage + at, part, static_cast<int>(n));
                } else
                    must(ncclReduceScatter(from + at, mine, part, ncclBfloat16, ncclSum, comms_[reduce_by], comm_));
                join(gather_, summed, comm_);
                if (gather_by == puts) {
                    for (std::size_t d = 1; d < n; ++d)
                        put((me + d) % n, all_[(me + d) % n]->to + at + me * part, mine, part, 9 + static_cast<int>(k), gather_);
                    wait_for_others(9 + static_cast<int>(k), gather_);
                } else
                    must(ncclAllGather(mine, to + at, part, ncclBfloat16, comms_[gather_by], gather_));
                must(cudaEventRecord(events_[reduced], gather_));
            }
        join(comm_, 2, compute_);
        join(comm_, 3, gather_);
    }

    bench::meeting& meet_;
    ncclComm_t comms_[ways]{};
    cudaStream_t comm_{};
    unsigned* wrong_{};
    double host_ = 0;  // microseconds that the issues timed last took

private:
    void open(way w, const ncclUniqueId& id) {
        doing = all_ways[w].name, ++moves;
        if (w == by_call && NCCL_VERSION_CODE < 23200) return;
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        if (all_ways[w].most_ctas > 0) config.maxCTAs = all_ways[w].most_ctas;
        config.CTAPolicy = all_ways[w].policy;
        must(ncclCommInitRankConfig(&comms_[w], device_count(), id, device(), &config));
        if (me == 0) usable[w] = true;
        meet_();
        for (number* p : {from, to}) {
            ncclWindow_t win = nullptr;
            const ncclResult_t status =
                all_ways[w].with_window ? ncclCommWindowRegister(comms_[w], p, buffer_bytes, &win, NCCL_WIN_COLL_SYMMETRIC) : ncclSuccess;
            if (!all_ways[w].with_window || (status == ncclSuccess && win != nullptr)) continue;
            usable[w] = false;
            std::printf("%s: no window on rank %zu, %s: left out\n", all_ways[w].name, me, ncclGetErrorString(status));
        }
    }
    void put(std::size_t other, number* target, const number* source, std::size_t count, int message, cudaStream_t on) {
        must(cudaMemcpyAsync(target, source, count * sizeof(number), cudaMemcpyDefault, on));
        if (other != me) must(write_word_(on, words_.word(static_cast<int>(other), device(), message), number_, 0));
    }
    void wait_for_others(int message, cudaStream_t on) {
        for (std::size_t other = 0; other < n; ++other)
            if (other != me)
                must(wait_for_word_(on, words_.word(device(), static_cast<int>(other), message), number_, CU_STREAM_WAIT_VALUE_GEQ));
    }
    // Row-major: `rows` rows of 8192 numbers, of which the first `inner` are multiplied.
    void multiply(const number* x, number* out, std::size_t rows, std::size_t inner) {
        const float one = 1.f / 64, none = 0;
        must(cublasGemmEx(blas_, CUBLAS_OP_N, CUBLAS_OP_N, side, static_cast<int>(rows), static_cast<int>(inner), &one, weight_,
                          CUDA_R_16BF, side, x, CUDA_R_16BF, side, &none, out, CUDA_R_16BF, side, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    }
    void join(cudaStream_t after, std::size_t event, cudaStream_t before) {
        must(cudaEventRecord(events_[event], before));
        must(cudaStreamWaitEvent(after, events_[event], 0));
    }

    std::vector<rank*>& all_;
    bench::shared_by_hand& words_;
    cublasHandle_t blas_{};
    cudaStream_t compute_{}, gather_{};
    cudaEvent_t events_[16]{};
    number *x_{}, *weight_{}, *made_{};
    unsigned number_ = 0;  // of the last message
    using word_function = CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    word_function* const write_word_ = bench::driver_function<word_function>("cuStreamWriteValue32");
    word_function* const wait_for_word_ = bench::driver_function<word_function>("cuStreamWaitValue32");
};

}  // namespace
