// What the workloads of beside_by_hand.hpp are made of: streams, communicators, and puts of copy engines into the other ranks' memory,
// each with a word in pinned host memory behind it, for which the receiver waits on its stream.
#pragma once

#include "bench/workloads_by_hand.hpp"

namespace bench {

// The streams and communicators of one rank, and puts into the memory of the others. All ranks are made together.
class rank_by_hand {
public:
    static constexpr int most_ranks = 4, most_chunks = 2;
    void wait() const { must(cudaStreamSynchronize(mine_)); }

protected:
    rank_by_hand(shared_by_hand& all, int rank, const ncclUniqueId& id, meeting& meet) : all_{all}, rank_{rank}, blas_{product_handle()} {
        int low = 0, high = 0;
        must(cudaDeviceGetStreamPriorityRange(&low, &high));
        must(cudaStreamCreateWithPriority(&compute_, cudaStreamNonBlocking, low));
        for (cudaStream_t* s : {&first_, &second_, &to_[0], &to_[1], &to_[2]})
            must(cudaStreamCreateWithPriority(s, cudaStreamNonBlocking, high));
        must(cudaStreamCreateWithFlags(&mine_, cudaStreamNonBlocking));
        must(cublasSetStream(blas_, compute_));
        for (auto& e : events_) must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
        enable_peers(rank, all.ranks);
        meet();
        connect(rank, all.ranks, id, comm_, gentle_comm_);
        sms_ = multiprocessors_of(rank);
    }
    ~rank_by_hand() {
        must(cudaDeviceSynchronize());
        must(ncclCommDestroy(gentle_comm_));
        must(ncclCommDestroy(comm_));
    }
    rank_by_hand(const rank_by_hand&) = delete;
    rank_by_hand& operator=(const rank_by_hand&) = delete;

    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
    int ranks() const { return all_.ranks; }
    int ahead(int d) const { return (rank_ + d) % all_.ranks; }
    cudaEvent_t event(int k) const { return events_[4 + k]; }
    static void join(cudaStream_t after, cudaEvent_t e, cudaStream_t before) {
        must(cudaEventRecord(e, before));
        must(cudaStreamWaitEvent(after, e, 0));
    }
    void begin() {
        ++number_;
        join(compute_, events_[0], mine_);
        for (cudaStream_t s : {first_, second_}) must(cudaStreamWaitEvent(s, events_[0], 0));
    }
    void end() {
        join(mine_, events_[1], compute_);
        join(mine_, events_[2], first_);
        join(mine_, events_[3], second_);
    }
    template <class T>
    static void copy(T* to, const T* from, std::int64_t count, cudaStream_t on) {
        must(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T), cudaMemcpyDeviceToDevice, on));
    }
    // A block for another rank, and the word that tells it.
    template <class T>
    void put(int other, T* to, const T* from, std::int64_t count, int message, cudaStream_t on) {
        copy(to, from, count, on);
        must(write_word_(on, all_.word(other, rank_, message), number_, 0));
    }
    void wait_for_others(int message, cudaStream_t on) {
        for (int d = 1; d < ranks(); ++d) must(wait_for_word_(on, all_.word(rank_, ahead(d), message), number_, CU_STREAM_WAIT_VALUE_GEQ));
    }

    shared_by_hand& all_;
    const int rank_;
    cublasHandle_t blas_;
    ncclComm_t comm_{}, gentle_comm_{};
    int sms_ = 0;
    // Communication is on the first and the second, and what is to go to all ranks at once on a stream for each of the others.
    cudaStream_t compute_{}, first_{}, second_{}, to_[most_ranks - 1]{}, mine_{};

private:
    cudaEvent_t events_[8]{};
    using word_function = CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    word_function* const write_word_ = driver_function<word_function>("cuStreamWriteValue32");
    word_function* const wait_for_word_ = driver_function<word_function>("cuStreamWaitValue32");
    unsigned number_ = 0;  // of the run
};

}  // namespace bench
