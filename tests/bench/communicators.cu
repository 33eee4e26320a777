// What NCCL communicators cost a rank, on all GPUs of a host: the time until each is made, until its first all_reduce of 64 MiB has ended,
// and the memory of a GPU that it then holds. Further ones as dovetail makes them, by ncclCommSplit of the first, with NCCL's own number of
// CTAs and with few.
#include "bench/measure.hpp"

#include <thread>

namespace {

using milliseconds = std::chrono::duration<double, std::milli>;
constexpr std::int64_t count = std::int64_t{16} << 20;  // floats

// The most of all ranks.
struct cost {
    double made = 0, first_sum = 0;      // ms
    double mebi_made = 0, mebi_sum = 0;  // MiB of a GPU that other communicators did not hold before

    void raise_to(const cost& c) {
        made = std::max(made, c.made);
        first_sum = std::max(first_sum, c.first_sum);
        mebi_made = std::max(mebi_made, c.mebi_made);
        mebi_sum = std::max(mebi_sum, c.mebi_sum);
    }
};

double free_mebi() {
    std::size_t left = 0, all = 0;
    bench::must(cudaMemGetInfo(&left, &all));
    return static_cast<double>(left) / (1 << 20);
}

class rank_of_all {
public:
    rank_of_all(int rank, int ranks, bench::meeting& meet) : rank_{rank}, ranks_{ranks}, meet_{meet} {
        bench::must(cudaSetDevice(rank));
        bench::must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        data_ = bench::on_device<float>(count);
        bench::must(cudaMemset(data_, 0, sizeof(float) * count));
        bench::must(cudaDeviceSynchronize());
    }
    cost first(const ncclUniqueId& id) {
        return measure([&](ncclComm_t& to) { bench::must(ncclCommInitRank(&to, ranks_, id, rank_)); });
    }
    // max_ctas 0: NCCL's number.
    cost further(int max_ctas) {
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        if (max_ctas > 0) config.maxCTAs = max_ctas;
        return measure([&](ncclComm_t& to) { bench::must(ncclCommSplit(all_[0], 0, rank_, &to, &config)); });
    }
    void end() {
        for (auto c = all_.rbegin(); c != all_.rend(); ++c) bench::must(ncclCommDestroy(*c));
        bench::must(cudaFree(data_));
        bench::must(cudaStreamDestroy(stream_));
    }

private:
    template <class Make>
    cost measure(Make make) {
        cost c;
        ncclComm_t made{};
        meet_();
        const double before = free_mebi();
        meet_();
        auto start = bench::clock::now();
        make(made);
        c.made = milliseconds{bench::clock::now() - start}.count();
        meet_();
        c.mebi_made = before - free_mebi();
        meet_();
        start = bench::clock::now();
        bench::must(ncclAllReduce(data_, data_, count, ncclFloat, ncclSum, made, stream_));
        bench::must(cudaStreamSynchronize(stream_));
        c.first_sum = milliseconds{bench::clock::now() - start}.count();
        meet_();
        c.mebi_sum = before - free_mebi();
        all_.push_back(made);
        return c;
    }

    const int rank_, ranks_;
    bench::meeting& meet_;
    cudaStream_t stream_{};
    float* data_ = nullptr;
    std::vector<ncclComm_t> all_;
};

void communicators(int ranks) {
    struct row {
        const char* name;
        int max_ctas;
        cost most = {};
    };
    std::vector<row> rows{
        {"the first", 0}, {"split, the second", 0}, {"split, the third", 0}, {"split, at most 8 CTAs", 8}, {"split, at most 1 CTA", 1}};
    bench::meeting meet{ranks};
    std::vector<std::vector<cost>> by_rank(static_cast<std::size_t>(ranks));
    ncclUniqueId id{};
    bench::must(ncclGetUniqueId(&id));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
            rank_of_all mine{r, ranks, meet};
            for (const row& each : rows)
                by_rank[static_cast<std::size_t>(r)].push_back(&each == &rows[0] ? mine.first(id) : mine.further(each.max_ctas));
            meet();
            mine.end();
        });
    for (std::thread& t : threads) t.join();
    std::printf("%d GPUs, the most of all ranks\n", ranks);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const auto& costs : by_rank) rows[i].most.raise_to(costs[i]);
        const cost& c = rows[i].most;
        std::printf("  %-24s made in %8.2f ms, %7.1f MiB; its first all_reduce of 64 MiB in %8.2f ms, then it holds %7.1f MiB\n",
                    rows[i].name, c.made, c.mebi_made, c.first_sum, c.mebi_sum);
    }
}

}  // namespace

int main() {
    const int gpus = bench::gpus();
    if (gpus < 2) return std::printf("skipped, it takes 2 GPUs\n"), 0;
    communicators(2);
    if (gpus > 2) communicators(gpus);
    return 0;
}
