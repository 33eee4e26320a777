// The workloads of workloads_beside.cpp written by hand: by NCCL on a stream of its own, and by copy engines, which put blocks to one rank
// after the other unless it says otherwise.
#pragma once

#include "bench/rank_by_hand.hpp"

#include <utility>

// out = the sum of n blocks of `part` floats.
void sum_blocks(float* out, const float* blocks, std::int64_t part, int n, cudaStream_t on);
// What is negative becomes zero.
void clear_negatives(dovetail::half* x, std::int64_t count, cudaStream_t on);

namespace bench {

// An all_gather of 64 MiB a rank beside a product of 8192^3.
class gather_by_hand : public rank_by_hand {
public:
    gather_by_hand(shared_by_hand& all, int rank, const ncclUniqueId& id, const half* x, const half* weight, meeting& meet)
        : rank_by_hand{all, rank, id, meet}, input_{x}, weight_{weight} {
        all.result[0][at(rank)] = on_device<half>(all.ranks * block);
    }
    ~gather_by_hand() {
        must(cudaDeviceSynchronize());
        for (half* p : {held_, product_, result(rank_)}) static_cast<void>(cudaFree(p));
    }
    void product_alone() {
        begin();
        multiply();
        end();
    }
    void by_nccl() { gather_by(comm_); }
    // NCCL's kernels of few CTAs; the product leaves them as many SMs, or not.
    void by_few_ctas(bool leave_sms) {
        if (leave_sms) must(cublasSetSmCountTarget(blas_, sms_ - few_ctas));
        gather_by(gentle_comm_);
        must(cublasSetSmCountTarget(blas_, 0));
    }
    void by_copies(bool at_once) {
        begin();
        for (int d = 1; d < ranks(); ++d) {
            const cudaStream_t on = at_once ? to_[d - 1] : first_;
            if (at_once) join(on, event(0), mine_);
            put(ahead(d), result(ahead(d)) + rank_ * block, held_, block, 0, on);
        }
        copy(result(rank_) + rank_ * block, held_, block, second_);
        multiply();
        for (int d = 1; at_once && d < ranks(); ++d) join(first_, event(d), to_[d - 1]);
        wait_for_others(0, first_);
        end();
    }

private:
    static constexpr std::int64_t side = by_hand::side, block = side / 2 * side;

    half* result(int rank) const { return all_.result[0][at(rank)]; }
    void multiply() { row_major_product(blas_, CUDA_R_16F, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, input_, weight_, product_); }
    void gather_by(ncclComm_t comm) {
        begin();
        must(ncclAllGather(held_, result(rank_), block, ncclHalf, comm, first_));
        multiply();
        end();
    }

    const half *const input_, *const weight_;
    half *const held_ = on_device<half>(block), *const product_ = on_device<half>(side * side);
};

// An all_reduce of 10000 x 1000 floats beside a product of 1000^3.
class small_by_hand : public rank_by_hand {
public:
    small_by_hand(shared_by_hand& all, int rank, const ncclUniqueId& id, const float* weight, meeting& meet)
        : rank_by_hand{all, rank, id, meet}, weight_{weight} {
        all.stage[at(rank)] = on_device<half>(2 * count);
        all.result[0][at(rank)] = on_device<half>(2 * count);
        must(cudaMemset(held_, 0, count * sizeof(float)));
        must(ncclCommSplit(comm_, 0, rank, &replayed_comm_, nullptr));
    }
    ~small_by_hand() {
        must(cudaDeviceSynchronize());
        if (graph_ != nullptr) must(cudaGraphExecDestroy(graph_));
        must(ncclCommDestroy(replayed_comm_));
        for (float* p : {held_, product_, stage(rank_), result(rank_)}) static_cast<void>(cudaFree(p));
    }
    void product_alone() {
        begin();
        multiply();
        end();
    }
    void by_nccl(int chunks, bool beside_product) { reduce_by(comm_, chunks, beside_product); }
    // The same as a CUDA graph, captured at the second call: the first connects the ranks.
    void by_nccl_replayed() {
        if (!std::exchange(connected_, true)) return reduce_by(replayed_comm_, 1, true);
        if (graph_ == nullptr) {
            cudaGraph_t captured{};
            must(cudaStreamBeginCapture(mine_, cudaStreamCaptureModeThreadLocal));
            reduce_by(replayed_comm_, 1, true);
            must(cudaStreamEndCapture(mine_, &captured));
            must(cudaGraphInstantiateWithFlags(&graph_, captured, cudaGraphInstantiateFlagUseNodePriority));
            must(cudaGraphDestroy(captured));
        }
        must(cudaGraphLaunch(graph_, mine_));
    }
    // Puts of blocks, a sum on each rank, puts of the sums.
    void by_copies(int chunks, bool beside_product) {
        begin();
        const std::int64_t part = count / chunks / ranks();
        for (int k = 0; k < chunks; ++k) {
            for (int d = 1; d < ranks(); ++d)
                put(ahead(d), stage(ahead(d)) + of(k, rank_) * part, held_ + of(k, ahead(d)) * part, part, k, first_);
            copy(stage(rank_) + of(k, rank_) * part, held_ + of(k, rank_) * part, part, second_);
        }
        if (beside_product) multiply();
        for (int k = 0; k < chunks; ++k) {
            float* const sum = result(rank_) + of(k, rank_) * part;
            wait_for_others(k, second_);
            sum_blocks(sum, stage(rank_) + of(k, 0) * part, part, ranks(), second_);
            join(first_, event(k), second_);
            for (int d = 1; d < ranks(); ++d) put(ahead(d), result(ahead(d)) + of(k, rank_) * part, sum, part, most_chunks + k, first_);
        }
        for (int k = 0; k < chunks; ++k) wait_for_others(most_chunks + k, first_);
        end();
    }

private:
    static constexpr std::int64_t count = 10000 * 1000, side = 1000;

    // Where the ranks share floats, the pointers are those of halves.
    float* stage(int rank) const { return reinterpret_cast<float*>(all_.stage[at(rank)]); }
    float* result(int rank) const { return reinterpret_cast<float*>(all_.result[0][at(rank)]); }
    std::int64_t of(int chunk, int rank) const { return chunk * ranks() + rank; }
    void multiply() { row_major_product(blas_, CUDA_R_32F, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, weight_, weight_, product_); }
    void reduce_by(ncclComm_t comm, int chunks, bool beside_product) {
        begin();
        const std::int64_t each = count / chunks;
        for (int k = 0; k < chunks; ++k)
            must(ncclAllReduce(held_ + k * each, result(rank_) + k * each, static_cast<std::size_t>(each), ncclFloat, ncclSum, comm,
                               first_));
        if (beside_product) multiply();
        end();
    }

    const float* const weight_;
    float *const held_ = on_device<float>(count), *const product_ = on_device<float>(side * side);
    ncclComm_t replayed_comm_{};  // not used outside of the graph once that is made
    cudaGraphExec_t graph_ = nullptr;
    bool connected_ = false;
};

// A layer of experts: tokens go to the rank of their expert, through two products, and back; whole or in micro-batches, each of which has
// a part of the tokens for each rank.
class experts_by_hand : public rank_by_hand {
public:
    experts_by_hand(shared_by_hand& all, int rank, const ncclUniqueId& id, const half* tokens, const half* weight, std::int64_t width,
                    meeting& meet)
        : rank_by_hand{all, rank, id, meet}, tokens_{tokens}, weight_{weight}, width_{width} {
        all.stage[at(rank)] = on_device<half>(rows * hidden);
        all.result[0][at(rank)] = on_device<half>(rows * hidden);
        must(cudaMemset(stage(rank), 0, rows * hidden * sizeof(half)));
    }
    ~experts_by_hand() {
        must(cudaDeviceSynchronize());
        for (half* p : {inside_, worked_, stage(rank_), result(rank_)}) static_cast<void>(cudaFree(p));
    }
    void products_alone(int batches) {
        begin();
        for (int k = 0; k < batches; ++k) work_on(k, batches);
        end();
    }
    void by_nccl(int batches) {
        begin();
        const std::int64_t piece = rows * hidden / ranks() / batches;
        const auto batch = [&](half* from, int k) { return from + k * ranks() * piece; };
        for (int k = 0; k < batches; ++k) {
            exchange(tokens_ + k * piece, batches * piece, batch(stage(rank_), k), piece, piece);
            must(cudaEventRecord(event(k), first_));
        }
        for (int k = 0; k < batches; ++k) {
            must(cudaStreamWaitEvent(compute_, event(k), 0));
            work_on(k, batches);
            join(first_, event(most_chunks + k), compute_);
            exchange(batch(worked_, k), piece, result(rank_) + k * piece, batches * piece, piece);
        }
        end();
    }
    void by_copies(int batches) {
        begin();
        const std::int64_t piece = rows * hidden / ranks() / batches;
        const auto of_tokens = [&](int rank, int k) { return (rank * batches + k) * piece; };
        const auto of_batch = [&](int rank, int k) { return (k * ranks() + rank) * piece; };
        for (int k = 0; k < batches; ++k) {
            for (int d = 1; d < ranks(); ++d)
                put(ahead(d), stage(ahead(d)) + of_batch(rank_, k), tokens_ + of_tokens(ahead(d), k), piece, k, first_);
            copy(stage(rank_) + of_batch(rank_, k), tokens_ + of_tokens(rank_, k), piece, second_);
            must(cudaEventRecord(event(k), second_));
        }
        for (int k = 0; k < batches; ++k) {
            must(cudaStreamWaitEvent(compute_, event(k), 0));
            wait_for_others(k, compute_);
            work_on(k, batches);
            join(second_, event(most_chunks + k), compute_);
            must(cudaStreamWaitEvent(first_, event(most_chunks + k), 0));
            for (int d = 1; d < ranks(); ++d)
                put(ahead(d), result(ahead(d)) + of_tokens(rank_, k), worked_ + of_batch(ahead(d), k), piece, most_chunks + k, second_);
            copy(result(rank_) + of_tokens(rank_, k), worked_ + of_batch(rank_, k), piece, first_);
        }
        for (int k = 0; k < batches; ++k) wait_for_others(most_chunks + k, second_);
        end();
    }

private:
    static constexpr std::int64_t rows = by_hand::side, hidden = by_hand::hidden;

    half* stage(int rank) const { return all_.stage[at(rank)]; }
    half* result(int rank) const { return all_.result[0][at(rank)]; }
    void work_on(int k, int batches) {
        const std::int64_t each = rows / batches;
        half* const inside = inside_ + k * each * width_;
        row_major_product(blas_, CUDA_R_16F, CUBLAS_OP_N, CUBLAS_OP_N, each, width_, hidden, stage(rank_) + k * each * hidden, weight_,
                          inside);
        clear_negatives(inside, each * width_, compute_);
        row_major_product(blas_, CUDA_R_16F, CUBLAS_OP_N, CUBLAS_OP_T, each, hidden, width_, inside, weight_, worked_ + k * each * hidden);
    }
    // A block to each rank and one from each; blocks lie so far apart.
    void exchange(const half* from, std::int64_t apart_from, half* to, std::int64_t apart_to, std::int64_t count) {
        must(ncclGroupStart());
        for (int other = 0; other < ranks(); ++other) {
            must(ncclSend(from + other * apart_from, static_cast<std::size_t>(count), ncclHalf, other, comm_, first_));
            must(ncclRecv(to + other * apart_to, static_cast<std::size_t>(count), ncclHalf, other, comm_, first_));
        }
        must(ncclGroupEnd());
    }

    const half *const tokens_, *const weight_;
    const std::int64_t width_;
    half *const inside_ = on_device<half>(rows * width_), *const worked_ = on_device<half>(rows * hidden);
};

}  // namespace bench
