// Ranks on a simulated GPU, behind the table of calls. The launch layer is tried on it where there is no GPU, and every call can be made to
// fail.
#pragma once

#include "simulated_gpu.hpp"

#include <dovetail/launch/cuda/engine/context.hpp>
#include <dovetail/launch/cuda/engine/finite_check.hpp>
#include <dovetail/launch/cuda/progress/progress_word.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/engine/engine.hpp>
#include <dovetail/launch/world/local_peers.hpp>

namespace simulated {

// A rank that runs operations written for the host on the simulated GPU, by the GPU's engine.
class rank {
public:
    using stream = dv::host::stream;
    explicit rank(dv::cuda::rank& on) : on_{on} {}
    int index() const { return on_.index(); }
    template <class Name>
    bool is(Name n) const { return on_.is(n); }
    std::shared_ptr<dv::memory> device_memory() const { return on_.device_memory(); }
    std::shared_ptr<dv::engine> make_engine(const dv::executable_plan<stream>& from, dv::engine_options o) {
        return on_.make_engine(of_kernels(from), std::move(o));
    }
    std::shared_ptr<dv::engine> make_engine(const dv::executable_plan<stream>& first, const dv::executable_plan<stream>& second,
                                            dv::engine_options o) {
        return on_.make_engine(of_kernels(first), of_kernels(second), std::move(o));
    }

private:
    struct kept {
        dv::vec<dv::launch_function<dv::cuda::stream>> launches, initialisers;
    };
    dv::executable_plan<dv::cuda::stream> of_kernels(const dv::executable_plan<stream>& from) {
        const auto& made = plans_.emplace_back(std::make_unique<kept>());
        for (int m = 0; m < from.launches.size(); ++m) made->launches.push(as_kernel(from.launches[m], pointers_of(from.program, m)));
        for (const auto f : from.initialisers) made->initialisers.push(as_kernel(f, 1));
        return {from.name,       from.graph, from.program, from.plan, from.s, made->launches.view(), made->initialisers.view(),
                from.from_store, from.hash};
    }
    static int pointers_of(const dv::ir::program& p, int member) {
        for (const dv::ir::participation& t : p.participations)
            if (t.member == member) return t.accesses;
        return 0;
    }
    dv::cuda::rank& on_;
    std::vector<std::unique_ptr<kept>> plans_;
};

// While it lives, CUDA is simulated.
struct scope {
    scope() {
        dv::cuda::calls = table();
        dv::cuda::local_reduction_kernel = &reduce_here;
        dv::cuda::finite_check_kernel = &check_here;
        dv::cuda::progress_word_kernel = &write_here;
    }
    ~scope() { dv::cuda::calls = dv::cuda::api{}; }
};

template <class Body>
void run(int ranks, Body body) {
    dv::cuda::world::local(ranks).run([&](dv::cuda::rank& r) {
        rank me{r};
        body(me);
    });
}

// The same ranks, as if each were a process: nobody uses another's pointers.
struct apart final : dv::launch::peers {
    apart(int n, int abroad) : all{n}, abroad{abroad} {}
    dv::launch::local_peers all;
    const int abroad;  // a rank on another host; -1: none
    int size() const override { return all.size(); }
    std::vector<std::string> exchange(int r, const std::string& what, const std::string& mine, std::chrono::nanoseconds limit) override {
        const bool names_host = r == abroad && what.rfind("the peer copies of", 0) == 0;
        return all.exchange(r, what, names_host ? "abroad" + mine.substr(mine.find(' ')) : mine, limit);
    }
    void abort(const dv::launch::abort_reason& why) override { all.abort(why); }
    bool aborted() const noexcept override { return all.aborted(); }
    dv::launch::abort_reason why() const override { return all.why(); }
    void attend(int r, std::function<void()> at_stop, std::function<void()> each_period) override {
        all.attend(r, std::move(at_stop), std::move(each_period));
    }
    void unattend(int r) noexcept override { all.unattend(r); }
    void leave(int r) noexcept override { all.leave(r); }
    bool gone(int r) const noexcept override { return all.gone(r); }
    void watch(int r, std::shared_ptr<const dv::launch::progress> p) override { all.watch(r, std::move(p)); }
    std::string describe() const override { return all.describe(); }
    std::string call_order_mismatch(int r, std::int64_t at, int e) override {
        return all.call_order_mismatch(r, at, e);
    }
};
template <class Body>
void run_apart(int ranks, Body body, int abroad = -1) {
    const auto control = std::make_shared<apart>(ranks, abroad);
    ncclUniqueId id{};
    dv::cuda::check(dv::cuda::calls.get_unique_id(&id), "ncclGetUniqueId");
    // Until nobody uses another's memory any more: what is in use then, a process gives back at its end.
    std::vector<std::shared_ptr<dv::cuda::context>> kept(static_cast<std::size_t>(ranks));
    std::mutex guard;
    std::exception_ptr first;
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
            const auto failed = [&](const std::string& text) {
                control->abort(
                    {r, "rank " + std::to_string(r) + " left with an exception: " + text, {}, {}, true, std::current_exception()});
                const std::lock_guard lock{guard};
                if (!first) first = std::current_exception();
            };
            try {
                ncclComm_t all = nullptr;
                dv::cuda::check(dv::cuda::calls.comm_init_rank(&all, ranks, id, r, nullptr), "ncclCommInitRankConfig");
                kept[static_cast<std::size_t>(r)] = std::make_shared<dv::cuda::context>(control, r, ranks, r, all);
                dv::cuda::rank on{kept[static_cast<std::size_t>(r)]};
                try {
                    rank me{on};
                    body(me);
                } catch (const std::exception& e) {
                    failed(e.what());
                }
            } catch (const std::exception& e) {
                failed(e.what());
            }
            control->leave(r);
        });
    for (auto& t : threads) t.join();
    if (first) std::rethrow_exception(first);
}

// A stream of the program's own, to enqueue runs on.
struct own_stream {
    own_stream() { dv::cuda::check(dv::cuda::calls.stream_create(&s, cudaStreamNonBlocking, 0), "cudaStreamCreate"); }
    own_stream(const own_stream&) = delete;
    ~own_stream() { static_cast<void>(dv::cuda::calls.stream_destroy(s)); }
    cudaStream_t s = nullptr;
};

// Calls body(communicator, rank) on a thread for each rank, with communicators of the caller's. What each threw, in words; empty where it
// ended well, and the communicator was left as it was.
template <class Body>
std::vector<std::string> on_own_communicators(int ranks, Body body) {
    ncclUniqueId id{};
    dv::cuda::check(dv::cuda::calls.get_unique_id(&id), "ncclGetUniqueId");
    std::vector<std::string> threw(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
            try {
                ncclComm_t mine = nullptr;
                dv::cuda::check(dv::cuda::calls.set_device(r), "cudaSetDevice");
                dv::cuda::check(dv::cuda::calls.comm_init_rank(&mine, ranks, id, r, nullptr), "ncclCommInitRankConfig");
                body(mine, r);
                int still = 0;
                dv::cuda::check(dv::cuda::calls.comm_count(mine, &still), "ncclCommCount");
                dv::cuda::check(dv::cuda::calls.comm_destroy(mine), "ncclCommDestroy");
                if (still != ranks) throw std::runtime_error{"another communicator"};
            } catch (const std::exception& e) {
                threw[static_cast<std::size_t>(r)] = e.what();
            }
        });
    for (auto& t : threads) t.join();
    return threw;
}

// Ranks that adopt such communicators.
template <class Body>
std::vector<std::string> run_adopted(int ranks, Body body) {
    return on_own_communicators(ranks, [&](ncclComm_t mine, int r) {
        dv::cuda::world::adopt(mine, r).run([&](dv::cuda::rank& on) {
            rank me{on};
            body(me);
        });
    });
}

}  // namespace simulated
