// What puts between all GPUs of a host take, by how they meet: one after the other to the peers in turn, as collectives by copy engines
// issue them; to each peer on a stream of its own; of two collectives at once; all to one GPU, as it is where three have waited for it.
#include "bench/measure.hpp"

#include <string>

namespace {

constexpr int repeats = 15, warm_ups = 3, most_streams = 4;
constexpr std::size_t buffer_bytes = std::size_t{256} << 20, piece = std::size_t{2} << 20;

// A GPU with what it sends, what it receives, and its streams.
struct gpu {
    char *from{}, *to{};
    cudaStream_t stream[most_streams]{};
    cudaEvent_t begin[most_streams]{}, end[most_streams]{};
};
std::vector<gpu> all;

int count() { return static_cast<int>(all.size()); }

void open(int gpus) {
    all.resize(static_cast<std::size_t>(gpus));
    for (int r = 0; r < gpus; ++r) {
        bench::must(cudaSetDevice(r));
        for (int peer = 0; peer < gpus; ++peer)
            if (peer != r) bench::must(cudaDeviceEnablePeerAccess(peer, 0));
        gpu& g = all[static_cast<std::size_t>(r)];
        for (char** p : {&g.from, &g.to}) {
            bench::must(cudaMalloc(reinterpret_cast<void**>(p), buffer_bytes));
            bench::must(cudaMemset(*p, r + 1, buffer_bytes));
        }
        for (int s = 0; s < most_streams; ++s) {
            bench::must(cudaStreamCreateWithFlags(&g.stream[s], cudaStreamNonBlocking));
            bench::must(cudaEventCreate(&g.begin[s]));
            bench::must(cudaEventCreate(&g.end[s]));
        }
    }
}

// From GPU r to the one `ahead` of it, at an offset of a block for each pair.
void put(int r, int ahead, int stream, std::size_t bytes, std::size_t offset, std::size_t length) {
    const int to = (r + ahead) % count();
    const auto at = [&](int block) { return (static_cast<std::size_t>(block) * bytes + offset) % buffer_bytes; };
    const gpu& mine = all[static_cast<std::size_t>(r)];
    bench::must(
        cudaMemcpyAsync(all[static_cast<std::size_t>(to)].to + at(r), mine.from + at(to), length, cudaMemcpyDefault, mine.stream[stream]));
}

void wait_for_all() {
    for (int r = 0; r < count(); ++r) {
        bench::must(cudaSetDevice(r));
        bench::must(cudaDeviceSynchronize());
    }
}

// Prints the median of the longest time between the events around what `issue(r)` puts on so many streams of GPU r.
template <class Issue>
void time(const std::string& what, std::size_t bytes, int streams, Issue issue) {
    std::vector<double> microseconds;
    for (int repeat = -warm_ups; repeat < repeats - warm_ups; ++repeat) {
        wait_for_all();
        for (int r = 0; r < count(); ++r) {
            bench::must(cudaSetDevice(r));
            const gpu& g = all[static_cast<std::size_t>(r)];
            for (int s = 0; s < streams; ++s) bench::must(cudaEventRecord(g.begin[s], g.stream[s]));
            issue(r);
            for (int s = 0; s < streams; ++s) bench::must(cudaEventRecord(g.end[s], g.stream[s]));
        }
        wait_for_all();
        float longest = 0;
        for (const gpu& g : all)
            for (int s = 0; s < streams; ++s) {
                float milliseconds = 0;
                bench::must(cudaEventElapsedTime(&milliseconds, g.begin[s], g.end[s]));
                longest = std::max(longest, milliseconds);
            }
        if (repeat >= 0) microseconds.push_back(1e3 * static_cast<double>(longest));
    }
    const double median = bench::median(microseconds);
    std::printf("%-60s %8.1f us, %6.1f GB/s out of each\n", what.c_str(), median, static_cast<double>(bytes) / median / 1e3);
    std::fflush(stdout);
}

void time_all(std::size_t mebibytes) {
    const std::size_t bytes = mebibytes << 20, of_all = bytes * static_cast<std::size_t>(count() - 1);
    const std::string blocks = std::to_string(mebibytes) + " MiB, ";
    const auto whole = [&](int r, int ahead, int stream) { put(r, ahead, stream, bytes, 0, bytes); };
    const auto in_turn = [&](int r, int stream) {
        for (int ahead = 1; ahead < count(); ++ahead) whole(r, ahead, stream);
    };
    for (int ahead = 1; ahead < count(); ++ahead)
        time(blocks + "all ranks at once to r + " + std::to_string(ahead), bytes, 1, [&](int r) { whole(r, ahead, 0); });
    time(blocks + "rank 0 alone to 1", bytes, 1, [&](int r) { r == 0 ? whole(r, 1, 0) : void(); });
    time(blocks + "all ranks, one after the other on a stream", of_all, 1, [&](int r) { in_turn(r, 0); });
    time(blocks + "rank 0 only, one after the other", of_all, 1, [&](int r) { r == 0 ? in_turn(r, 0) : void(); });
    time(blocks + "all ranks, a stream for each peer", of_all, count() - 1, [&](int r) {
        for (int ahead = 1; ahead < count(); ++ahead) whole(r, ahead, ahead - 1);
    });
    time(blocks + "all ranks, two sets on two streams", 2 * of_all, 2, [&](int r) { in_turn(r, 0), in_turn(r, 1); });
    time(blocks + "all to rank 0 at once", bytes, 1, [&](int r) { r > 0 ? whole(r, count() - r, 0) : void(); });
    time(blocks + "all ranks, pieces of 2 MiB in turn", of_all, 1, [&](int r) {
        for (std::size_t offset = 0; offset < bytes; offset += piece)
            for (int ahead = 1; ahead < count(); ++ahead) put(r, ahead, 0, bytes, offset, piece);
    });
}

}  // namespace

int main() {
    const int gpus = std::min(bench::gpus(), most_streams + 1);
    if (gpus < 2) return std::printf("skipped: it takes 2 GPUs\n"), 0;
    open(gpus);
    for (const std::size_t mebibytes : {4, 16, 32, 64}) time_all(mebibytes);
}
