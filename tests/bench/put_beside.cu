// What a put to another GPU takes beside a product, and which of its parts takes that: the copy, the word that the stream writes behind it,
// the word that it waits for, or the events that time them. Each is timed alone and behind the second of six products in a row, on a
// stream of high and of low priority, with the number of connections that CUDA takes by default and with 32.
#include "bench/workloads_by_hand.hpp"

#include <cuda_fp16.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace {

constexpr std::int64_t rows = 2048, side = 8192, bytes = std::int64_t{16} << 20;

// Different numbers between -0.5 and 0.5, as in interference.cu.
__global__ void fill(__half* p, std::int64_t n) {
    for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < n; i += std::int64_t{gridDim.x} * blockDim.x) {
        unsigned x = static_cast<unsigned>(i) * 2654435761u;
        x = (x ^ x >> 15) * 2246822519u;
        p[i] = __float2half(static_cast<float>((x ^ x >> 13) & 0xffff) / 65536.f - .5f);
    }
}
__half* filled(std::int64_t n) {
    __half* const p = bench::on_device<__half>(n);
    fill<<<1024, 256>>>(p, n);
    bench::must(cudaGetLastError());
    return p;
}
class products {
public:
    products() {
        int low = 0, high = 0;
        bench::must(cudaDeviceGetStreamPriorityRange(&low, &high));
        bench::must(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, low));
        bench::must(cublasSetStream(blas_, stream));
        bench::must(cudaDeviceSynchronize());
    }
    void issue() {
        const float one = 1, zero = 0;
        bench::must(cublasGemmEx(blas_, CUBLAS_OP_N, CUBLAS_OP_N, side, rows, side, &one, b_, CUDA_R_16F, side, a_, CUDA_R_16F, side, &zero,
                                 c_, CUDA_R_16F, side, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    }
    cudaStream_t stream{};

private:
    cublasHandle_t blas_ = bench::product_handle();
    __half *a_ = filled(rows * side), *b_ = filled(side * side), *c_ = filled(rows * side);
};

struct part {
    std::string name;
    std::function<void(cudaStream_t)> issue;
};

// Microseconds from the event before to the event behind, the median of some; `beside`: while products go on.
double timed(const part& what, products& all, bool beside, cudaStream_t on) {
    cudaEvent_t second{}, begin{}, end{};
    bench::must(cudaEventCreateWithFlags(&second, cudaEventDisableTiming));
    bench::must(cudaEventCreate(&begin));
    bench::must(cudaEventCreate(&end));
    std::vector<double> microseconds;
    for (int repeat = -2; repeat < 21; ++repeat) {
        for (int p = 0; p < (beside ? 6 : 0); ++p) {
            all.issue();
            if (p == 1) bench::must(cudaEventRecord(second, all.stream));
        }
        if (beside) bench::must(cudaStreamWaitEvent(on, second, 0));
        bench::must(cudaEventRecord(begin, on));
        what.issue(on);
        bench::must(cudaEventRecord(end, on));
        bench::must(cudaDeviceSynchronize());
        float milliseconds = 0;
        bench::must(cudaEventElapsedTime(&milliseconds, begin, end));
        if (repeat >= 0) microseconds.push_back(1000 * static_cast<double>(milliseconds));
    }
    bench::must(cudaEventDestroy(second));
    bench::must(cudaEventDestroy(begin));
    bench::must(cudaEventDestroy(end));
    return bench::median(microseconds);
}

void measure() {
    void* there = nullptr;
    bench::must(cudaSetDevice(1));
    bench::must(cudaMalloc(&there, bytes));
    bench::must(cudaSetDevice(0));
    static_cast<void>(cudaDeviceEnablePeerAccess(1, 0));
    static_cast<void>(cudaGetLastError());
    products all;
    const void* const here = filled(bytes / 2);
    unsigned* words = nullptr;
    bench::must(cudaMallocHost(reinterpret_cast<void**>(&words), 64));
    std::fill_n(words, 16, 0u);
    const auto write_value = bench::driver_function<CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned)>("cuStreamWriteValue32");
    const auto wait_value = bench::driver_function<CUresult(CUstream, CUdeviceptr, cuuint32_t, unsigned)>("cuStreamWaitValue32");
    const auto batch_mem_op =
        bench::driver_function<CUresult(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned)>("cuStreamBatchMemOp");
    const auto at = [&](int i) { return reinterpret_cast<CUdeviceptr>(words + i); };
    const auto three_words = [&](cudaStream_t s) {
        CUstreamBatchMemOpParams all[3] = {};
        for (CUstreamBatchMemOpParams& one : all)
            one.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = at(0), .value = 1, .flags = 0, .alias = 0};
        all[1].waitValue = {
            .operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, .address = at(8), .value = 0, .flags = CU_STREAM_WAIT_VALUE_EQ, .alias = 0};
        bench::must(batch_mem_op(s, 3, all, 0));
    };
    const auto copy = [&](cudaStream_t s) { bench::must(cudaMemcpyAsync(there, here, bytes, cudaMemcpyDefault, s)); };
    const auto write = [&](cudaStream_t s) { bench::must(write_value(s, at(0), 1, 0)); };
    const auto wait = [&](cudaStream_t s) { bench::must(wait_value(s, at(8), 0, CU_STREAM_WAIT_VALUE_EQ)); };
    const part parts[] = {
        {"nothing", [](cudaStream_t) {}},
        {"a word written", write},
        {"a word waited for, which is there", wait},
        {"a copy of 16 MiB", copy},
        {"the copy, a word written", [&](cudaStream_t s) { copy(s), write(s); }},
        {"a wait, the copy, a word written", [&](cudaStream_t s) { wait(s), copy(s), write(s); }},
        {"as one call for each word", [&](cudaStream_t s) { write(s), wait(s), write(s), copy(s), write(s), wait(s), write(s); }},
        {"all that dovetail issues for a put", [&](cudaStream_t s) { three_words(s), copy(s), three_words(s); }}};
    cudaEvent_t begin{}, end{};
    bench::must(cudaEventCreate(&begin));
    bench::must(cudaEventCreate(&end));
    all.issue();
    bench::must(cudaEventRecord(begin, all.stream));
    for (int k = 0; k < 10; ++k) all.issue();
    bench::must(cudaEventRecord(end, all.stream));
    bench::must(cudaDeviceSynchronize());
    float milliseconds = 0;
    bench::must(cudaEventElapsedTime(&milliseconds, begin, end));
    std::printf("  a product: %.1f us\n", 100 * static_cast<double>(milliseconds));
    int low = 0, high = 0;
    bench::must(cudaDeviceGetStreamPriorityRange(&low, &high));
    for (const int priority : {high, low}) {
        cudaStream_t s{};
        bench::must(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority));
        for (const part& p : parts)
            std::printf("  %-36s on a stream of %s priority: alone %7.1f us, beside products %7.1f us\n", p.name.c_str(),
                        priority == high ? "high" : "low ", timed(p, all, false, s), timed(p, all, true, s));
        bench::must(cudaStreamDestroy(s));
    }
}

}  // namespace

int main() {
    for (const char* connections : {"", "32"}) {  // read when CUDA begins: a process for each
        std::printf("CUDA_DEVICE_MAX_CONNECTIONS %s\n", *connections ? connections : "not set");
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            if (*connections) setenv("CUDA_DEVICE_MAX_CONNECTIONS", connections, 1);
            if (bench::gpus() < 2) return std::printf("skipped, it takes 2 GPUs\n"), 0;
            measure();
            return 0;
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0) return 1;
    }
    return 0;
}
