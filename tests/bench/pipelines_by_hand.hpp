// A stage of the pipeline of pipelines.cpp written by hand with cuBLAS, in the order of 1F1B: activations and slopes go to the neighbours
// by NCCL, on a communicator and a stream for each direction, or by copy engines, with a word in pinned host memory behind each.
#pragma once

#include "bench/workloads_by_hand.hpp"

namespace bench {

class stage_by_hand {
public:
    static constexpr int micro_batches = 8, layers = 4;
    static constexpr std::int64_t tokens = 4096, width = 4096;

    // `x` goes into the first stage as each micro-batch. All stages are made together.
    stage_by_hand(shared_by_hand& all, int stage, const ncclUniqueId (&ids)[2], const half* x, const half* weight, meeting& meet)
        : all_{all}, stage_{stage}, input_{x}, weight_{weight}, blas_{product_handle()} {
        int low = 0, high = 0;
        must(cudaDeviceGetStreamPriorityRange(&low, &high));
        must(cudaStreamCreateWithPriority(&compute_, cudaStreamNonBlocking, low));
        for (cudaStream_t& s : moving_) must(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, high));
        must(cudaStreamCreateWithFlags(&mine_, cudaStreamNonBlocking));
        must(cublasSetStream(blas_, compute_));
        for (auto& e : events_) must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
        for (const int other : {stage - 1, stage + 1})
            if (other >= 0 && other < all.ranks) static_cast<void>(cudaDeviceEnablePeerAccess(other, 0));
        static_cast<void>(cudaGetLastError());
        activations_ = on_device<half>((layers + 1) * micro_batches * size);
        slopes_ = on_device<half>((layers + 1) * micro_batches * size);
        gradients_ = on_device<half>(layers * width * width);
        all.result[forward][at(stage)] = activations_;
        all.result[backward][at(stage)] = slopes_ + layers * micro_batches * size;
        meet();
        for (const int d : {forward, backward}) must(ncclCommInitRank(&comm_[d], all.ranks, ids[d], stage));
    }
    ~stage_by_hand() {
        must(cudaDeviceSynchronize());
        for (const ncclComm_t c : comm_) must(ncclCommDestroy(c));
        for (half* p : {activations_, slopes_, gradients_}) static_cast<void>(cudaFree(p));
    }
    void run(bool by_nccl) {
        by_nccl_ = by_nccl;
        ++number_;
        join(compute_, events_[0], mine_);
        for (const cudaStream_t s : moving_) must(cudaStreamWaitEvent(s, events_[0], 0));
        const int behind = all_.ranks - 1 - stage_, ahead = behind < micro_batches ? behind : micro_batches;
        for (int m = 0; m < ahead; ++m) go_forward(m);
        for (int m = 0; m < micro_batches; ++m) {
            if (ahead + m < micro_batches) go_forward(ahead + m);
            go_backward(m);
        }
        join(mine_, events_[1], compute_);
        for (const int d : {forward, backward}) join(mine_, events_[2 + d], moving_[d]);
    }
    void wait() const { must(cudaStreamSynchronize(mine_)); }

private:
    enum direction { forward, backward };
    static constexpr std::int64_t size = tokens * width;

    static std::size_t at(int stage) { return static_cast<std::size_t>(stage); }
    static std::int64_t of(int layer, int m) { return (layer * micro_batches + m) * size; }
    bool is_last() const { return stage_ == all_.ranks - 1; }
    static void join(cudaStream_t after, cudaEvent_t e, cudaStream_t before) {
        must(cudaEventRecord(e, before));
        must(cudaStreamWaitEvent(after, e, 0));
    }
    // Row-major c (4096 x 4096) = a b, or that added to c, of which a or b may be stored transposed.
    void product(cublasOperation_t a_is, cublasOperation_t b_is, const half* a, const half* b, half* c, bool added = false) {
        const float one = 1, of_c = added ? 1 : 0;
        static_assert(tokens == width);
        must(cublasGemmEx(blas_, b_is, a_is, width, width, width, &one, b, CUDA_R_16F, width, a, CUDA_R_16F, width, &of_c, c, CUDA_R_16F,
                          width, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    }
    void go_forward(int m) {
        if (stage_ > 0) receive(forward, m, activations_ + of(0, m));
        for (int l = 0; l < layers; ++l)
            product(CUBLAS_OP_N, CUBLAS_OP_N, l == 0 && stage_ == 0 ? input_ : activations_ + of(l, m), weight_,
                    activations_ + of(l + 1, m));
        if (!is_last()) send(forward, m, activations_ + of(layers, m));
    }
    void go_backward(int m) {
        if (is_last())  // in the place of the relu
            must(cudaMemcpyAsync(slopes_ + of(layers, m), activations_ + of(layers, m), size * sizeof(half), cudaMemcpyDeviceToDevice,
                                 compute_));
        else
            receive(backward, m, slopes_ + of(layers, m));
        for (int l = layers - 1; l >= 0; --l) {
            product(CUBLAS_OP_N, CUBLAS_OP_T, slopes_ + of(l + 1, m), weight_, slopes_ + of(l, m));
            product(CUBLAS_OP_T, CUBLAS_OP_N, l == 0 && stage_ == 0 ? input_ : activations_ + of(l, m), slopes_ + of(l + 1, m),
                    gradients_ + l * width * width, m > 0);
            if (l == 0 && stage_ > 0) send(backward, m, slopes_ + of(0, m));
        }
    }
    int neighbour(direction d, bool ahead) const { return (d == forward) == ahead ? stage_ + 1 : stage_ - 1; }
    static int message(direction d, int m) { return d * micro_batches + m; }
    void receive(direction d, int m, half* to) {
        const int from = neighbour(d, false);
        if (!by_nccl_) return must(wait_for_word_(compute_, all_.word(stage_, from, message(d, m)), number_, CU_STREAM_WAIT_VALUE_GEQ));
        must(ncclRecv(to, size, ncclHalf, from, comm_[d], moving_[d]));
        join(compute_, events_[4 + message(d, m)], moving_[d]);
    }
    void send(direction d, int m, const half* from) {
        const int to = neighbour(d, true);
        join(moving_[d], events_[4 + message(d, m)], compute_);
        if (by_nccl_) return must(ncclSend(from, size, ncclHalf, to, comm_[d], moving_[d]));
        must(cudaMemcpyAsync(all_.result[d][at(to)] + m * size, from, size * sizeof(half), cudaMemcpyDeviceToDevice, moving_[d]));
        must(write_word_(moving_[d], all_.word(to, stage_, message(d, m)), number_, 0));
    }

    shared_by_hand& all_;
    const int stage_;
    const half *const input_, *const weight_;
    cublasHandle_t blas_;
    ncclComm_t comm_[2]{};
    cudaStream_t compute_{}, moving_[2]{}, mine_{};
    cudaEvent_t events_[4 + 2 * micro_batches]{};
    half *activations_ = nullptr, *slopes_ = nullptr, *gradients_ = nullptr;
    bool by_nccl_ = false;
    unsigned number_ = 0;  // of the run
    using word_function = CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    word_function* const write_word_ = driver_function<word_function>("cuStreamWriteValue32");
    word_function* const wait_for_word_ = driver_function<word_function>("cuStreamWaitValue32");
};

}  // namespace bench
