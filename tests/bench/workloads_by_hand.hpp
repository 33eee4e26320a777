// The tensor-parallel chain and the gradients of workloads.cpp written by hand with cuBLAS, NCCL, and copy engines: a rank puts its blocks
// into the other ranks' memory and writes a word in pinned host memory behind each; the others wait for the word on their stream.
#pragma once

#include "bench/measure.hpp"

#include <dovetail/core/element.hpp>

#include <cuda.h>

#include <cstdint>
#include <vector>

// out = the sum of n blocks of `part` halves, in float.
void sum_blocks(dovetail::half* out, const dovetail::half* blocks, std::int64_t part, int n, cudaStream_t on);

namespace bench {

using dovetail::half;

inline void must(CUresult status) { must(status == CUDA_SUCCESS, "a call of the CUDA driver"); }

// A function of the driver, found at run time so that nothing links its library.
template <class F>
F* driver_function(const char* name) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    must(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
    must(result == cudaDriverEntryPointSuccess, name);
    return reinterpret_cast<F*>(found);
}

// Row-major c (m x n) = a (m x k) b (k x n), of which a or b may be stored transposed.
inline void row_major_product(cublasHandle_t blas, cudaDataType type, cublasOperation_t a_is, cublasOperation_t b_is, std::int64_t m,
                              std::int64_t n, std::int64_t k, const void* a, const void* b, void* c) {
    const float one = 1, zero = 0;
    const int width = static_cast<int>(n), rows = static_cast<int>(m), depth = static_cast<int>(k);
    must(cublasGemmEx(blas, b_is, a_is, width, rows, depth, &one, b, type, b_is == CUBLAS_OP_N ? width : depth, a, type,
                      a_is == CUBLAS_OP_N ? depth : rows, &zero, c, type, width, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

// What the ranks share: where each has its blocks, and a word for each pair of them and each message.
struct shared_by_hand {
    static constexpr int messages = 256;
    explicit shared_by_hand(int ranks) : ranks{ranks}, stage(static_cast<std::size_t>(ranks)) {
        for (auto& r : result) r.resize(static_cast<std::size_t>(ranks));
        const std::size_t bytes = static_cast<std::size_t>(ranks * ranks * messages) * sizeof(unsigned);
        must(cudaHostAlloc(reinterpret_cast<void**>(&words), bytes, cudaHostAllocPortable | cudaHostAllocMapped));
        std::fill_n(words, ranks * ranks * messages, 0u);
    }
    ~shared_by_hand() { static_cast<void>(cudaFreeHost(words)); }
    CUdeviceptr word(int to, int from, int message) const {
        return reinterpret_cast<CUdeviceptr>(words + (to * ranks + from) * messages + message);
    }

    int ranks;
    std::vector<half*> stage, result[2];
    unsigned* words = nullptr;
};

inline constexpr int few_ctas = 8;  // of NCCL's kernels, where they are to take few SMs from the products

// Lets a rank copy to the memory of the others.
inline void enable_peers(int rank, int ranks) {
    for (int other = 0; other < ranks; ++other)
        if (other != rank) static_cast<void>(cudaDeviceEnablePeerAccess(other, 0));
    static_cast<void>(cudaGetLastError());
}
// Makes a communicator of all ranks, and one whose kernels have few CTAs.
inline void connect(int rank, int ranks, const ncclUniqueId& id, ncclComm_t& all, ncclComm_t& gentle) {
    must(ncclCommInitRank(&all, ranks, id, rank));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = few_ctas;
    must(ncclCommSplit(all, 0, rank, &gentle, &config));
}
inline int multiprocessors_of(int rank) {
    cudaDeviceProp device{};
    must(cudaGetDeviceProperties(&device, rank));
    return device.multiProcessorCount;
}

class by_hand {
public:
    static constexpr int layers = 4, gradients = 12;
    static constexpr std::int64_t side = 8192, hidden = 4096;  // of the chain's matrices; of the weights whose gradients are summed

    // `x` is what the chain begins with, `tokens` the activations, and the slope of the last layer, of the backward pass.
    by_hand(shared_by_hand& all, int rank, const ncclUniqueId& id, const half* x, const half* tokens, const half* weight, meeting& meet)
        : all_{all}, rank_{rank}, input_{x}, tokens_{tokens}, weight_{weight}, blas_{product_handle()} {
        int low = 0, high = 0;
        must(cudaDeviceGetStreamPriorityRange(&low, &high));
        must(cudaStreamCreateWithPriority(&compute_, cudaStreamNonBlocking, low));
        for (cudaStream_t* s : {&reduce_, &gather_}) must(cudaStreamCreateWithPriority(s, cudaStreamNonBlocking, high));
        must(cudaStreamCreateWithFlags(&mine_, cudaStreamNonBlocking));
        must(cublasSetStream(blas_, compute_));
        must(cublasSetMathMode(blas_, CUBLAS_DEFAULT_MATH));
        for (auto& e : events_) must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
        enable_peers(rank, all.ranks);
        for (half** p : {&partial_[0], &partial_[1], &all.result[0][at(rank)], &all.result[1][at(rank)]}) *p = on_device<half>(side * side);
        slope_[0] = on_device<half>(side * hidden), slope_[1] = on_device<half>(side * hidden);
        all.stage[at(rank)] = on_device<half>(2 * side * side);
        meet();
        connect(rank, all.ranks, id, comm_, gentle_comm_);
        sms_ = multiprocessors_of(rank);
    }
    ~by_hand() {
        must(cudaDeviceSynchronize());
        must(ncclCommDestroy(gentle_comm_));
        must(ncclCommDestroy(comm_));
        for (half* p : {partial_[0], partial_[1], slope_[0], slope_[1], result(0), result(1), all_.stage[at(rank_)]})
            static_cast<void>(cudaFree(p));
    }
    void wait() const { must(cudaStreamSynchronize(mine_)); }

    // The products of the chain, in chunks of rows, without communication.
    void products(int chunks) {
        begin();
        for (int l = 0; l < layers; ++l)
            for (int k = 0; k < chunks; ++k) multiply(l, k, chunks);
        end();
    }
    // Each product, and behind it its all_reduce: on one stream, or on two in chunks.
    void chain_by_nccl(int chunks, bool beside) { chain_by(comm_, chunks, beside); }
    // NCCL's kernels of few CTAs; the products leave them as many SMs, or not.
    void chain_by_few_ctas(int chunks, bool leave_sms) {
        if (leave_sms) must(cublasSetSmCountTarget(blas_, sms_ - few_ctas));
        chain_by(gentle_comm_, chunks, true);
        must(cublasSetSmCountTarget(blas_, 0));
    }
    // all_reduce = puts of blocks, a sum on each rank, puts of the sums. The products leave so many SMs to the sums.
    void chain_by_copies(int chunks, int spared = 0) {
        if (spared > 0) must(cublasSetSmCountTarget(blas_, sms_ - spared));
        begin();
        for (int l = 0; l < layers; ++l)
            for (int k = 0; k < chunks; ++k) {
                if (l > 0) must(cudaStreamWaitEvent(compute_, reduced(k), 0));
                multiply(l, k, chunks);
                join(reduce_, made(k), compute_);
                const std::int64_t from = block(k, chunks), count = block(1, chunks);
                reduce_by_copies(k, l % 2 * side * side + from, partial_[l % 2] + from, count, l % 2, from);
                must(cudaEventRecord(reduced(k), gather_));
            }
        end();
        must(cublasSetSmCountTarget(blas_, 0));
    }

    void backward_alone() {
        begin();
        for (int l = 0; l < gradients; ++l) gradient_products(l);
        end();
    }
    void backward_by_nccl(bool beside) { backward_by(comm_, beside); }
    void backward_by_few_ctas() { backward_by(gentle_comm_, true); }
    void backward_by_copies() {
        begin();
        for (int l = 0; l < gradients; ++l) {
            half* const made_here = gradient_products(l);
            join(reduce_, made(l % 8), compute_);
            reduce_by_copies(64 + l, l % 8 * hidden * hidden, made_here, hidden * hidden, 0, of_gradient(l));
        }
        end();
    }

private:
    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
    half* result(int i) const { return all_.result[i][at(rank_)]; }
    static std::int64_t block(int k, int chunks) { return k * (side / chunks) * side; }
    static std::int64_t of_gradient(int l) { return l % 4 * hidden * hidden; }
    cudaEvent_t made(int k) const { return events_[4 + k]; }
    cudaEvent_t reduced(int k) const { return events_[12 + k]; }
    cudaEvent_t summed(int message) const { return events_[20 + message % 12]; }
    static void join(cudaStream_t after, cudaEvent_t e, cudaStream_t before) {
        must(cudaEventRecord(e, before));
        must(cudaStreamWaitEvent(after, e, 0));
    }
    void begin() {
        join(compute_, events_[0], mine_);
        for (cudaStream_t s : {reduce_, gather_}) must(cudaStreamWaitEvent(s, events_[0], 0));
    }
    void end() {
        join(mine_, events_[1], compute_);
        join(mine_, events_[2], reduce_);
        join(mine_, events_[3], gather_);
    }
    void chain_by(ncclComm_t comm, int chunks, bool beside) {
        begin();
        for (int l = 0; l < layers; ++l)
            for (int k = 0; k < chunks; ++k) {
                const cudaStream_t on = beside ? reduce_ : compute_;
                if (l > 0 && beside) must(cudaStreamWaitEvent(compute_, reduced(k), 0));
                multiply(l, k, chunks);
                if (beside) join(on, made(k), compute_);
                const std::int64_t from = block(k, chunks);
                all_reduce(partial_[l % 2] + from, result(l % 2) + from, block(1, chunks), ncclSum, comm, on);
                if (beside) must(cudaEventRecord(reduced(k), reduce_));
            }
        end();
    }
    void backward_by(ncclComm_t comm, bool beside) {
        begin();
        for (int l = 0; l < gradients; ++l) {
            const cudaStream_t on = beside ? reduce_ : compute_;
            half* const made_here = gradient_products(l);
            if (beside) join(on, made(l % 8), compute_);
            all_reduce(made_here, result(0) + of_gradient(l), hidden * hidden, ncclAvg, comm, on);
        }
        end();
    }
    void product(cublasOperation_t a_is, cublasOperation_t b_is, std::int64_t m, std::int64_t n, std::int64_t k, const half* a,
                 const half* b, half* c) {
        row_major_product(blas_, CUDA_R_16F, a_is, b_is, m, n, k, a, b, c);
    }
    void multiply(int layer, int chunk, int chunks) {
        const half* const x = layer == 0 ? input_ : result((layer - 1) % 2);
        const std::int64_t from = block(chunk, chunks);
        product(CUBLAS_OP_N, CUBLAS_OP_N, side / chunks, side, side, x + from, weight_, partial_[layer % 2] + from);
    }
    // The gradient of a layer's weights, and the slope of the layer before.
    half* gradient_products(int l) {
        const half* const slope = l == 0 ? tokens_ : slope_[(l + 1) % 2];
        half* const gradient = partial_[0] + of_gradient(l);
        product(CUBLAS_OP_T, CUBLAS_OP_N, hidden, hidden, side, tokens_, slope, gradient);
        product(CUBLAS_OP_N, CUBLAS_OP_T, side, hidden, hidden, slope, weight_, slope_[l % 2]);
        return gradient;
    }
    static void all_reduce(const half* from, half* to, std::int64_t count, ncclRedOp_t how, ncclComm_t comm, cudaStream_t on) {
        must(ncclAllReduce(from, to, static_cast<std::size_t>(count), ncclHalf, how, comm, on));
    }
    void put(int to, half* target, const half* source, std::int64_t count, int message, cudaStream_t on) {
        must(cudaMemcpyAsync(target, source, static_cast<std::size_t>(count) * sizeof(half), cudaMemcpyDeviceToDevice, on));
        if (to != rank_) must(write_word_(on, all_.word(to, rank_, message), number_, 0));
    }
    void wait_for_others(int message, cudaStream_t on) {
        for (int from = 0; from < all_.ranks; ++from)
            if (from != rank_) must(wait_for_word_(on, all_.word(rank_, from, message), number_, CU_STREAM_WAIT_VALUE_GEQ));
    }
    void reduce_by_copies(int message, std::int64_t stage, const half* from, std::int64_t count, int to, std::int64_t offset) {
        const std::int64_t part = count / all_.ranks;
        ++number_;
        for (int d = 1; d <= all_.ranks; ++d) {
            const int other = (rank_ + d) % all_.ranks;
            put(other, all_.stage[at(other)] + stage + rank_ * part, from + other * part, part, message, reduce_);
        }
        wait_for_others(message, reduce_);
        half* const sum = result(to) + offset + rank_ * part;
        sum_blocks(sum, all_.stage[at(rank_)] + stage, part, all_.ranks, reduce_);
        join(gather_, summed(message), reduce_);
        for (int d = 1; d < all_.ranks; ++d) {
            const int other = (rank_ + d) % all_.ranks;
            put(other, all_.result[to][at(other)] + offset + rank_ * part, sum, part, 128 + message, gather_);
        }
        wait_for_others(128 + message, gather_);
    }

    shared_by_hand& all_;
    const int rank_;
    const half *const input_, *const tokens_, *const weight_;
    cublasHandle_t blas_;
    ncclComm_t comm_{}, gentle_comm_{};
    int sms_ = 0;
    cudaStream_t compute_{}, reduce_{}, gather_{}, mine_{};
    cudaEvent_t events_[32]{};
    half *partial_[2]{}, *slope_[2]{};
    using word_function = CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    word_function* const write_word_ = driver_function<word_function>("cuStreamWriteValue32");
    word_function* const wait_for_word_ = driver_function<word_function>("cuStreamWaitValue32");
    unsigned number_ = 0;  // of the last message
};

}  // namespace bench
