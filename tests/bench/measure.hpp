// What the GPU benches share: medians, the meeting of the threads before a measurement, statuses that must be good, reports of dv::tuned.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;

inline double median(std::vector<double> t) {
    std::nth_element(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(t.size() / 2), t.end());
    return t[t.size() / 2];
}

inline void must(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "%s failed\n", what);
    std::abort();  // other threads wait for this one
}
inline void must(cudaError_t status) { must(status == cudaSuccess, cudaGetErrorString(status)); }
inline void must(ncclResult_t status) { must(status == ncclSuccess, ncclGetErrorString(status)); }
inline void must(cublasStatus_t status) { must(status == CUBLAS_STATUS_SUCCESS, cublasGetStatusString(status)); }

// The body of a rank. Whatever it throws ends the program, since the other ranks wait for this one.
template <class Body>
void must_end(Body body) {
    try {
        body();
    } catch (const std::exception& e) {
        must(false, e.what());
    }
}

inline int gpus() {
    int n = 0;
    return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

// Threads wait for each other without sleeping, so that they go on within a microsecond.
class meeting {
public:
    explicit meeting(int threads) : threads_{threads} {}
    void operator()() {
        const int round = round_.load();
        if (come_.fetch_add(1) + 1 == threads_) {
            come_.store(0);
            round_.store(round + 1);
        } else
            while (round_.load() == round) {}
    }

private:
    const int threads_;
    std::atomic<int> come_ = 0, round_ = 0;
};

// Times variants in turn, on all threads that meet: `runs` runs are issued in a row, and the last one is waited for. A variant has `issue`,
// `wait` and `milliseconds`, to which the time of one run is added; two repeats before the first warm up.
template <class Variant>
void time_in_turn(std::vector<Variant>& all, meeting& meet, int repeats, int runs = 1) {
    for (int repeat = -2; repeat < repeats; ++repeat)
        for (Variant& v : all) {
            must(cudaDeviceSynchronize());
            meet();
            const auto start = clock::now();
            for (int k = 0; k < runs; ++k) v.issue();
            v.wait();
            const std::chrono::duration<double, std::milli> taken = clock::now() - start;
            if (repeat >= 0) v.milliseconds.push_back(taken.count() / runs);
            meet();
        }
}

// What dv::tuned reports of a variant, which is empty for the others: a line for each plan that it compared.
inline void print_tuning(const std::string& name, const std::string& report) {
    std::istringstream lines{report};
    for (std::string line; std::getline(lines, line);) std::printf("    %s compared %s\n", name.c_str(), line.c_str());
}

template <class T>
T* on_device(std::int64_t count) {
    T* p = nullptr;
    must(cudaMalloc(reinterpret_cast<void**>(&p), static_cast<std::size_t>(count) * sizeof(T)));
    return p;
}

// What one hand-written product needs: a handle with the workspace that cuBLAS recommends for this GPU.
inline cublasHandle_t product_handle() {
    constexpr std::size_t bytes = std::size_t{32} << 20;
    cublasHandle_t handle{};
    void* workspace = nullptr;
    must(cublasCreate(&handle));
    must(cudaMalloc(&workspace, bytes));
    must(cublasSetWorkspace(handle, workspace, bytes));
    return handle;
}

}  // namespace bench
