// Whether NCCL's symmetric windows and its collectives without CTAs, from 2.30.7 on, beat puts by copy engines and NCCL with few CTAs: each
// collective alone and beside a product, and the tensor-parallel chain; whether values are right, also behind a kernel that lets the next
// one begin early; and whether ncclCommAbort ends what waits for a rank that never comes. Ends where nothing moves for 60 s.
#include <nccl.h>

#if NCCL_VERSION_CODE < NCCL_VERSION(2, 30, 7)
#include <cstdio>

int main() { return std::printf("skipped: it takes NCCL 2.30.7, and was compiled with %d\n", NCCL_VERSION_CODE), 0; }
#else
#include "bench/nccl_windows.hpp"

#include <unistd.h>

#include <cmath>
#include <memory>
#include <thread>

namespace {

constexpr int repeats = 21, warm_ups = 2;

class measured : public rank {
public:
    using rank::rank;
    void measure(const collective& c) {
        for (int w = 0; w < ways; ++w)
            if (can(c, w)) verify(c, static_cast<way>(w));
        std::vector<double> product, alone[ways], beside[ways], host[ways];
        for (int repeat = -warm_ups; repeat < repeats; ++repeat) {
            const bool counts = repeat >= 0;
            const double p = timed("product", true, 1, 0, [] {});
            if (counts) product.push_back(p);
            for (int w = 0; w < ways; ++w) {
                if (!can(c, w)) continue;
                const auto issue = [&] { this->issue(c, static_cast<way>(w), comm_); };
                const double a = timed(all_ways[w].name, false, c.in_a_row, c.in_a_row, issue), h = host_;
                const double b = timed(all_ways[w].name, true, c.in_a_row, c.in_a_row, issue);
                if (counts) alone[w].push_back(a / c.in_a_row), beside[w].push_back(b), host[w].push_back(h / c.in_a_row);
            }
        }
        if (me > 0) return;
        std::printf("%s (%d in a row); product alone %.0f us\n", c.name, c.in_a_row, bench::median(product));
        for (int w = 0; w < ways; ++w)
            if (can(c, w))
                std::printf("    %-26s %8.1f us alone, a product beside it longer by %7.1f us, host %5.1f us a call\n", all_ways[w].name,
                            bench::median(alone[w]), bench::median(beside[w]) - bench::median(product), bench::median(host[w]));
        std::fflush(stdout);
    }
    void check_in_a_row(const collective& c, way w) {
        if (!can(c, w)) return;
        doing = "2000 checked collectives in a row", ++moves;
        must(cudaMemset(wrong_, 0, sizeof(unsigned)));
        must(cudaDeviceSynchronize());
        meet_();
        for (unsigned k = 0; k < 2000; ++k) {
            const unsigned seed = k * 5;
            fill<<<32, 256, 0, comm_>>>(c.what == gather ? to + me * c.count : from, c.count, seed + static_cast<unsigned>(me), 5000);
            issue(c, w, comm_);
            check<<<32, 256, 0, comm_>>>(to, c.count, c.what, static_cast<int>(n), seed, wrong_);
        }
        unsigned wrong = 0;
        must(cudaMemcpyAsync(&wrong, wrong_, sizeof wrong, cudaMemcpyDefault, comm_));
        must(cudaStreamSynchronize(comm_));
        std::printf("2000 x (kernel, %s, kernel that checks), %s, rank %zu: %s%u wrong values\n", c.name, all_ways[w].name, me,
                    wrong ? "!!! WRONG VALUES: " : "", wrong);
        std::fflush(stdout);
        meet_();
    }
    void measure_chains() {
        struct variant {
            const char* name;
            int reduce_by, gather_by;
        };
        static constexpr variant variants[] = {{"products alone", ways, ways},
                                               {"all_reduce", plain, ways},
                                               {"all_reduce, max 8 CTAs", few, ways},
                                               {"all_reduce, window", window, ways},
                                               {"all_reduce, window, max 8 CTAs", window_eight, ways},
                                               {"reduce_scatter, window; all_gather, zero CTA", window, zero},
                                               {"reduce_scatter, window, max 8 CTAs; all_gather, zero CTA", window_eight, zero},
                                               {"reduce_scatter, window, max 8 CTAs; all_gather by puts", window_eight, puts},
                                               {"reduce_scatter by puts and a sum; all_gather, zero CTA", puts, zero},
                                               {"reduce_scatter by puts and a sum; all_gather by puts", puts, puts}};
        constexpr std::size_t count = std::size(variants);
        const auto possible = [](const variant& v) {
            return (v.reduce_by == ways || usable[v.reduce_by]) && (v.gather_by == ways || usable[v.gather_by]);
        };
        std::vector<double> times[count];
        std::vector<number> right(side * side), got(side * side);
        for (int repeat = -warm_ups; repeat < repeats; ++repeat)
            for (std::size_t v = 0; v < count; ++v) {
                if (!possible(variants[v])) continue;
                if (repeat == -1) must(cudaMemset(to, 0, buffer_bytes));
                const double t = timed(variants[v].name, false, 8, 1, [&] { chain(variants[v].reduce_by, variants[v].gather_by); });
                if (repeat >= 0) times[v].push_back(t);
                if (repeat != -1 || v == 0) continue;
                must(cudaMemcpy(v == 1 ? right.data() : got.data(), result(layers - 1), side * side * sizeof(number), cudaMemcpyDefault));
                double largest = 0, off = 0;
                for (std::size_t i = 0; v > 1 && i < side * side; ++i) {
                    const double a = static_cast<double>(__bfloat162float(right[i])), b = static_cast<double>(__bfloat162float(got[i]));
                    largest = std::max(largest, std::abs(a)), off = b == b ? std::max(off, std::abs(a - b)) : 1e30;
                }
                if (v > 1 && !(off <= .03 * largest))
                    std::printf("!!! WRONG VALUES: chain, %s, rank %zu: off by %g of %g\n", variants[v].name, me, off, largest);
            }
        if (me > 0) return;
        std::printf("chain of %zu layers (product 8192 x 8192 x 7168, 128 MiB reduced) in %zu chunks\n", layers, chunks);
        for (std::size_t v = 0; v < count; ++v)
            if (possible(variants[v]))
                std::printf("    %-58s %8.1f us, %.3f of the products\n", variants[v].name, bench::median(times[v]),
                            bench::median(times[v]) / bench::median(times[0]));
        std::fflush(stdout);
    }
    // All ranks but the last issue; then all abort. What it writes is read by another thread, since all of it may hang.
    void abort_waiting(way w, std::atomic<double>& returned, std::atomic<double>& ended) {
        must(cudaSetDevice(device()));
        if (me + 1 < n) issue(collectives[0], w, comm_);
        std::this_thread::sleep_for(std::chrono::seconds{1});
        const auto start = bench::clock::now();
        const auto since = [start] { return std::chrono::duration<double>{bench::clock::now() - start}.count(); };
        std::thread{[this, w, since, &returned] {
            if (cudaSetDevice(device()) == cudaSuccess && ncclCommAbort(comms_[w]) == ncclSuccess) returned = since();
        }}.detach();
        while (cudaStreamQuery(comm_) == cudaErrorNotReady) std::this_thread::sleep_for(std::chrono::milliseconds{1});
        ended = since();
    }

private:
    bool can(const collective& c, int w) const {
        return usable[w] && ((w != puts && w != by_call) || c.what == gather || c.what == exchange);
    }
    void verify(const collective& c, way w) {
        doing = c.name, ++moves;
        must(cudaMemset(to, 0xff, buffer_bytes));
        fill<<<1024, 256>>>(c.what == gather ? to + me * c.count : from, c.what == exchange ? n * c.count : c.count,
                            static_cast<unsigned>(me), 0);
        must(cudaDeviceSynchronize());
        meet_();
        issue(c, w, comm_);
        must(cudaStreamSynchronize(comm_));
        const std::size_t got_count = c.what == scatter ? c.count / n : c.what == reduce ? c.count : n * c.count;
        std::vector<number> got(got_count);
        must(cudaMemcpy(got.data(), to, got_count * sizeof(number), cudaMemcpyDefault));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < got_count; ++i) {
            const auto block = static_cast<unsigned>(i / c.count);
            unsigned right = c.what == gather     ? value(block, i % c.count)
                             : c.what == exchange ? value(block, me * c.count + i % c.count)
                                                  : 0;
            for (unsigned r = 0; c.what >= scatter && r < n; ++r) right += value(r, c.what == scatter ? me * got_count + i : i);
            if (__bfloat162float(got[i]) != static_cast<float>(right)) ++wrong;
        }
        if (wrong > 0) std::printf("!!! WRONG VALUES: %s, %s, rank %zu: %zu of %zu\n", c.name, all_ways[w].name, me, wrong, got_count);
        meet_();
    }
};

void end_where_nothing_moves() {
    for (int seen = -1, seconds = 0;; std::this_thread::sleep_for(std::chrono::seconds{1})) {
        seconds = seen == moves ? seconds + 1 : 0, seen = moves;
        if (seconds < 60) continue;
        std::printf("!!! nothing has moved for 60 s: %s\n", doing.load());
        std::fflush(stdout);
        _exit(3);
    }
}

// How long the streams take to end, and the calls to return, where all ranks abort in a collective for which one never comes.
bool abort_all(std::vector<std::unique_ptr<measured>>& all, way w) {
    struct seen {
        std::atomic<double> returned = -1, ended = -1;
    };
    static std::vector<std::unique_ptr<seen[]>> kept;  // threads that never end write here
    seen* const of = kept.emplace_back(new seen[all.size()]).get();
    for (auto& r : all) std::thread{[&r, w, of] { r->abort_waiting(w, of[r->me].returned, of[r->me].ended); }}.detach();
    std::this_thread::sleep_for(std::chrono::seconds{1});
    bool ended = false, returned = false;
    for (int tenths = 0; tenths < 100 && !(ended && returned); ++tenths) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        ended = std::all_of(of, of + all.size(), [](const seen& s) { return s.ended >= 0; });
        returned = std::all_of(of, of + all.size(), [](const seen& s) { return s.returned >= 0; });
    }
    std::printf("all_gather for which the last rank never comes, %s, all abort: %s, %s\n", all_ways[w].name,
                ended ? "all streams ended" : "!!! STREAMS DID NOT END in 10 s",
                returned ? "all aborts returned" : "!!! ABORTS DID NOT RETURN");
    for (std::size_t r = 0; r < all.size(); ++r)
        std::printf("    rank %zu: stream ended after %.3f s, ncclCommAbort returned after %.3f s (-1: not)\n", r, of[r].ended.load(),
                    of[r].returned.load());
    std::fflush(stdout);
    return ended && returned;
}

}  // namespace

int main() {
    const int gpus = std::min(bench::gpus(), 8);
    if (gpus < 2) return std::printf("skipped: it takes 2 GPUs\n"), 0;
    setenv("NCCL_NVLS_ENABLE", "0", 0);  // multicast can put GPUs that others share out of service
    int version = 0;
    cudaDeviceProp device{};
    must(ncclGetVersion(&version));
    must(cudaGetDeviceProperties(&device, 0));
    std::printf("%d x %s, NCCL %d, built for %d; medians of %d of the slowest rank\n", gpus, device.name, version, NCCL_VERSION_CODE,
                repeats);
    std::fflush(stdout);
    std::thread{end_where_nothing_moves}.detach();
    ncclUniqueId ids[ways];
    for (ncclUniqueId& id : ids) must(ncclGetUniqueId(&id));
    bench::shared_by_hand words{gpus};
    bench::meeting meet{gpus};
    static std::vector<std::unique_ptr<measured>> all;
    std::vector<rank*> ranks;
    for (int r = 0; r < gpus; ++r) ranks.push_back(all.emplace_back(std::make_unique<measured>(r, gpus, ranks, words, meet)).get());
    std::vector<std::thread> threads;
    for (auto& r : all)
        threads.emplace_back([&r, &ids] {
            r->open(ids);
            for (const collective& c : collectives) r->measure(c);
            for (const way w : {plain, window, window_few, zero})
                for (const int c : {1, 5}) r->check_in_a_row(collectives[c], w);
            r->measure_chains();
        });
    for (std::thread& t : threads) t.join();
    for (const way w : {plain, window, zero})
        if (!abort_all(all, w)) break;
    _exit(0);  // what hangs is not waited for
}
#endif
