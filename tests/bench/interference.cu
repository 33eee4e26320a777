// How much a computation and a task on another stream slow each other, on one GPU, by what limits the computation: a product, `y += x` of
// vectors, and kernels that are almost only launch. The tasks beside them: a kernel that stands for NCCL's, and copies from and to host
// memory. Each is timed alone, and while the other one goes on throughout.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

void check(cudaError_t e) {
    if (e == cudaSuccess) return;
    std::printf("%s\n", cudaGetErrorString(e));
    std::exit(1);
}

// Different numbers between -0.5 and 0.5: equal ones take less power, so that products are faster.
__global__ void fill(__half* p, std::size_t n) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n; i += std::size_t{gridDim.x} * blockDim.x) {
        unsigned x = static_cast<unsigned>(i) * 2654435761u;
        x = (x ^ x >> 15) * 2246822519u;
        p[i] = __float2half(static_cast<float>((x ^ x >> 13) & 0xffff) / 65536.f - .5f);
    }
}
__global__ void add_to(const float4* x, float4* y, std::size_t n) {
    const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i >= n) return;
    const float4 a = x[i], b = y[i];
    y[i] = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
__global__ void tiny(float* x) { x[threadIdx.x] += 1; }
// Stands for a kernel of NCCL: few blocks of as many threads, which move bytes at the pace of a link, `per_block` nanoseconds for each
// 40 KiB of a block, and slower where they cannot keep it. The vectors are swept as often as that takes.
constexpr int threads = 640, unrolled = 4;
__global__ void __launch_bounds__(threads) copy_as_a_link(const float4* x, float4* y, std::size_t n, std::size_t wrap, long per_block) {
    const std::size_t part = n / gridDim.x, step = threads * unrolled;
    long begin = 0, now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    for (std::size_t done = 0; done < part; done += step) {
        const std::size_t at = (blockIdx.x * part + done) % (wrap - step) + threadIdx.x;
        float4 moved[unrolled];
        for (int k = 0; k < unrolled; ++k) moved[k] = x[at + k * threads];
        for (int k = 0; k < unrolled; ++k) y[at + k * threads] = moved[k];
        const long due = begin + static_cast<long>(done / step + 1) * per_block;
        do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
        while (now < due);
    }
}

struct task {
    std::string name;
    std::function<void()> issue;
    cudaStream_t stream;
};

cudaEvent_t event() {
    cudaEvent_t e;
    check(cudaEventCreate(&e));
    return e;
}

// Milliseconds of one of `times` issues in a row, behind one that warms up. `meanwhile` is called before the device is waited for.
float milliseconds(const task& t, int times, const std::function<void()>& meanwhile = [] {}) {
    static const cudaEvent_t from = event(), to = event();
    t.issue();
    check(cudaEventRecord(from, t.stream));
    for (int i = 0; i < times; ++i) t.issue();
    check(cudaEventRecord(to, t.stream));
    check(cudaEventSynchronize(to));
    meanwhile();
    check(cudaDeviceSynchronize());
    float ms = 0;
    check(cudaEventElapsedTime(&ms, from, to));
    return ms / static_cast<float>(times);
}
// The same, while `other` goes on: 0 where it ended before.
float beside(const task& t, float alone, const task& other, float other_alone) {
    static const cudaEvent_t end = event();
    const int times = std::max(4, static_cast<int>(20 / alone));
    const int enough = static_cast<int>(static_cast<float>(times + 1) * alone * 5 / other_alone) + 6;
    for (int i = 0; i < enough; ++i) other.issue();
    check(cudaEventRecord(end, other.stream));
    bool covered = false;
    const float ms = milliseconds(t, times, [&] { covered = cudaEventQuery(end) == cudaErrorNotReady; });
    return covered ? ms : 0;
}
float median(std::vector<float> of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
}

void measure(const task& work, const task& other) {
    std::vector<float> alone, slowed, other_alone, other_slowed;
    for (int k = 0; k < 7; ++k) {
        alone.push_back(milliseconds(work, 20));
        other_alone.push_back(milliseconds(other, 10));
        slowed.push_back(beside(work, alone.back(), other, other_alone.back()));
        other_slowed.push_back(beside(other, other_alone.back(), work, alone.back()));
    }
    const auto shown = [](const std::vector<float>& a, const std::vector<float>& b) {
        const float x = median(a), y = median(b);
        char text[64];
        if (y > 0)
            std::snprintf(text, sizeof text, "%7.3f -> %7.3f ms (%.3f)", x, y, y / x);
        else
            std::snprintf(text, sizeof text, "%7.3f -> (not covered)    ", x);
        return std::string{text};
    };
    std::printf("    %-20s beside %-20s: %s; that one %s\n", work.name.c_str(), other.name.c_str(), shown(alone, slowed).c_str(),
                shown(other_alone, other_slowed).c_str());
    std::fflush(stdout);
}

}  // namespace

int main() {
    int runtime = 0;
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaRuntimeGetVersion(&runtime));
    std::printf("%s, %d multiprocessors, CUDA %d; medians of 7: alone -> beside the other (ratio)\n", device.name,
                device.multiProcessorCount, runtime);
    constexpr std::size_t n = 8192, bytes = std::size_t{512} << 20, copied = std::size_t{256} << 20, vectors = sizeof(float4);
    __half* matrix[3];
    for (__half*& m : matrix) {
        check(cudaMalloc(&m, n * n * sizeof(__half)));
        fill<<<1024, 256>>>(m, n * n);
    }
    float4* vector[4];
    for (float4*& v : vector) check(cudaMalloc(&v, bytes));
    float* small = nullptr;
    check(cudaMalloc(&small, 4096));
    void* host = nullptr;
    check(cudaMallocHost(&host, copied));
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t compute, communication;
    check(cudaStreamCreateWithPriority(&compute, cudaStreamNonBlocking, least));
    check(cudaStreamCreateWithPriority(&communication, cudaStreamNonBlocking, greatest));
    cublasHandle_t blas;
    cublasCreate(&blas);
    cublasSetStream(blas, compute);
    const float one = 1, zero = 0;
    const auto product = [&](int columns) {
        cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, columns, n, &one, matrix[0], CUDA_R_16F, n, matrix[1], CUDA_R_16F, n, &zero,
                     matrix[2], CUDA_R_16F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    };
    const std::vector<task> works = {
        {"product 8192^3 half", [&] { product(n); }, compute},
        {"a quarter of it", [&] { product(n / 4); }, compute},
        {"y += x, 512 MiB each",
         [&] { add_to<<<static_cast<unsigned>(bytes / vectors / 256), 256, 0, compute>>>(vector[0], vector[1], bytes / vectors); },
         compute},
        {"100 tiny kernels",
         [&] {
             for (int i = 0; i < 100; ++i) tiny<<<1, 32, 0, compute>>>(small);
         },
         compute}};
    std::vector<task> others;
    // 300 GB/s together, in messages that take as long as a few products, and as long as a part of one.
    for (const unsigned blocks : {8u, 16u, 24u, 32u})
        for (const std::size_t mebibytes : {1024, 64}) {
            const std::size_t message = mebibytes << 20 >> 4;
            const long per_block = static_cast<long>(threads * unrolled * vectors * blocks / 300);
            others.push_back({std::to_string(mebibytes) + " MiB by " + std::to_string(blocks) + " blocks",
                              [&, blocks, message, per_block] {
                                  copy_as_a_link<<<blocks, threads, 0, communication>>>(vector[2], vector[3], message,
                                                                                        bytes / vectors, per_block);
                              },
                              communication});
        }
    const auto copy = [&](void* to, const void* from) { check(cudaMemcpyAsync(to, from, copied, cudaMemcpyDefault, communication)); };
    others.push_back({"host to device", [&] { copy(vector[2], host); }, communication});
    others.push_back({"device to host", [&] { copy(host, vector[2]); }, communication});
    for (const task& work : works)
        for (const task& other : others) measure(work, other);
}
