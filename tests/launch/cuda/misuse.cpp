// Mistakes of users and failures of the environment, on the simulated GPU: an exception that names cause, operation and rank within a
// bounded time; nothing is leaked, and the process continues. Many runs do not grow.
#include "support/expect.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

#include <filesystem>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace misuse {

using namespace dv::ops;
struct x; struct y; struct z; struct w; struct count; struct weight; struct dp; struct left; struct right;
using vector = dv::tensor<float, 8>;
using floats = std::vector<float>;
const floats ones(8, 1.0f);

simulated::stream& on(dv::cuda::stream s) { return *simulated::of(static_cast<cudaStream_t>(s.handle)); }
struct same_shape {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
};
struct twice : same_shape {
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        on(s).push([from, to] {
            for (std::int64_t i = 0; i < X::size; ++i) to[i] = 2 * from[i];
        });
    }
};
struct add_to {
    static constexpr dv::tensor_type result(dv::tensor_type t, dv::tensor_type) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::inout<X> sum, dv::in<X> more) {
        on(s).push([sum, more] {
            for (std::int64_t i = 0; i < X::size; ++i) sum[i] += more[i];
        });
    }
};
struct same : same_shape {
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        on(s).push([from, to] { std::copy(from.begin(), from.end(), to.begin()); });
    }
};
struct threes {
    template <class X>
    static void launch(dv::cuda::stream s, dv::out<X> to) {
        on(s).push([to] { std::fill(to.begin(), to.end(), 3.0f); });
    }
};
// Goes wrong where the test says so.
enum class trouble { none, throws, refused, synchronises, slow };
inline std::atomic<trouble> now = trouble::none;
inline std::atomic<int> on_rank = -1;  // -1: all
inline std::atomic<bool> others_issued = true;
inline thread_local bool spoilt = false;  // the capture of this thread
inline thread_local int this_rank = -1;
struct troubled : same_shape {
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        const trouble t = on_rank < 0 || on_rank == this_rank ? now.load() : trouble::none;
        while (t == trouble::throws && !others_issued) std::this_thread::yield();
        if (t == trouble::throws) throw std::runtime_error{"on purpose"};
        if (t == trouble::refused) simulated::last_error = cudaErrorInvalidConfiguration;
        if (t == trouble::synchronises) static_cast<void>(dv::cuda::calls.stream_synchronize(static_cast<cudaStream_t>(s.handle)));
        const bool slow = t == trouble::slow;
        on(s).push([from, to, slow] {
            if (slow) std::this_thread::sleep_for(300ms);
            std::copy(from.begin(), from.end(), to.begin());
        });
    }
};
struct reduced : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp>>,
    dv::let<y, all_reduce<sum, dp>(troubled(x))>,
    dv::let<z, twice(y)>,
    dv::output<z>> {};
struct other : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp>>,
    dv::let<y, all_reduce<maximum, dp>(x)>,
    dv::output<y>> {};
struct two_roles : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<y, troubled(x)>>,
    dv::on<right, dv::let<z, twice(y)>>,
    dv::output<z>> {};
struct two_roles_reversed : dv::graph<
    dv::input<x, vector>,
    dv::on<right, dv::let<y, twice(x)>>,
    dv::on<left, dv::let<z, twice(y)>>,
    dv::output<z>> {};
struct counting : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp>>,
    dv::state<count, vector, threes>,
    dv::state<weight, vector, threes>,
    dv::update<count, add_to(count, all_reduce<sum, dp>(troubled(x)))>,
    dv::let<y, same(count)>,
    dv::let<z, same(weight)>,
    dv::output<y, z>> {};
struct continued : dv::graph<
    dv::input<x, vector>,
    dv::state<count, vector, dv::from_store>,
    dv::update<count, add_to(count, x)>,
    dv::let<w, same(count)>,
    dv::output<w>> {};
// Reads a state, and does not communicate.
struct counted : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::state<count, vector, dv::from_store>,
    dv::let<w, same(count)>,
    dv::output<w>> {};
struct rooted : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::let<y, reduce<sum, dp, root_index<1>>(x)>,
    dv::output<y>> {};
using several = dv::options<dv::in_flight<3>>;

using support::has, support::message;
void holds(bool b, const std::string& what) {
    const std::lock_guard lock{support::report()};
    CAPTURE(what);
    CHECK(b);
}
struct alive {
    std::size_t memory = 0, objects = 0;
    static alive all() {
        const std::lock_guard lock{simulated::here().mutex};
        return {simulated::here().memory.size() + simulated::here().pinned.size(), simulated::here().objects.size()};
    }
};
// Simulates CUDA while it lives, with the trouble given.
struct scene : simulated::scope {
    alive before = alive::all();
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    explicit scene(trouble t = trouble::none, int rank = -1) {
        now = t;
        on_rank = rank;
        others_issued = true;
    }
    ~scene() {
        now = trouble::none;
        CHECK(alive::all().memory == before.memory);
        CHECK(std::chrono::steady_clock::now() - start < 60s);
    }
};
template <class Body>
std::string run(int ranks, Body body) {
    return message([&] {
        dv::cuda::world::local(ranks).run([&](dv::cuda::rank& rank) {
            this_rank = rank.index();
            body(rank);
        });
    });
}
// The world works.
void works() {
    now = trouble::none;
    CHECK(run(2, [](auto& rank) {
              dv::executor<reduced> step{rank};
              step.bind(dv::name<x>, ones);
              holds(step.run().read(dv::name<z>).host() == floats(8, 4.0f), "the sum");
          }) == "nothing thrown");
}

}  // namespace misuse

using namespace misuse;

TEST_CASE("ranks made from different graphs, or with other options") {
    const scene s;
    has(run(2, [](auto& rank) {
            if (rank.index() == 0) dv::executor<reduced> step{rank};
            else dv::executor<other> step{rank};
        }),
        "the plans of executor 0 differ: rank 1 (`other`) against rank 0 (`reduced`)");
    has(run(3, [](auto& rank) {
            if (rank.index() == 1) dv::executor<reduced, several> step{rank};
            else dv::executor<reduced> step{rank};
        }),
        "the plans of executor 0 differ: rank 1 (`reduced`, 3 runs in flight) against rank 0 (`reduced`)");
    has(run(2, [](auto& rank) {
            if (rank.index() == 1) dv::executor<reduced> step{rank};
            else dv::executor<reduced> step{rank, dv::replay};
        }),
        "replayed");
    has(run(3, [](auto& rank) { dv::executor<two_roles> step{rank}; }),
        "the world has 3 ranks and the graph needs 2: role `left` x 1, role `right` x 1");
    works();
}

TEST_CASE("executors called in different order; a rank that makes fewer, leaves or throws") {
    const scene s;
    has(run(2, [](auto& rank) {
            dv::executor<reduced> a{rank};
            dv::executor<other> b{rank};
            a.bind(dv::name<x>, ones);
            b.bind(dv::name<x>, ones);
            if (rank.index() == 0) a.run().wait();
            else b.run().wait();
        }),
        "executors are called in different order: run number 0 of rank");
    has(run(2, [](auto& rank) {
            dv::executor<reduced> a{rank};
            if (rank.index() == 0) dv::executor<other> b{rank};
        }),
        "rank 0 waits for all ranks at executor 1 (`other`), and rank 1 has left");
    std::string seen;
    CHECK(run(3, [&](auto& rank) {
              dv::executor<reduced> step{rank};
              step.bind(dv::name<x>, ones);
              if (rank.index() == 2) {
                  step.run().wait();
                  throw dv::failure{"no patience"};
              }
              std::vector<dv::ticket<reduced>> tickets;
              const std::string text = message([&] {
                  for (int k = 0; k < 2; ++k) tickets.push_back(step.run());
                  for (const auto& t : tickets) t.wait();
              });
              if (rank.index() == 0) seen = text;
              // What an abort lets go of has not ended well, whoever asks and how often.
              if (tickets.size() == 2)
                  for (int k = 0; k < 3; ++k) {
                      has(message([&] { tickets[1].wait(); }), "no patience");
                      has(message([&] { static_cast<void>(tickets[1].ready()); }), "no patience");
                      has(message([&] { tickets[1].read(dv::name<z>); }), "no patience");
                      holds(tickets[1].inputs_released(), "the inputs are free");
                      std::this_thread::sleep_for(5ms);
                  }
          }) == "dovetail: no patience");
    has(seen, "rank 0 stops, because rank 2 left with an exception: no patience");
    // One that leaves without an exception is missed where it is needed.
    has(run(2, [](auto& rank) {
            dv::executor<reduced> step{rank};
            step.bind(dv::name<x>, ones);
            step.run().wait();
            if (rank.index() == 1) return;
            step.run().wait();
        }),
        "a rank has left and takes no part any more: rank 0 has not ended operation `all_reduce");
    works();
}

TEST_CASE("inputs that are missing or too small") {
    const scene s;
    const std::string text = run(2, [](auto& rank) {
        dv::executor<two_roles> step{rank};
        has(message([&] { step.bind(dv::name<x>, floats(7)); }),
            rank.index() == 0 ? "input `x` is bound to 7 elements and has 8, on rank 0 (role `left`)" : "nothing thrown");
        step.run().wait();
    });
    has(text, "input `x` is not bound on rank 0 (role `left`)");
    works();
}

TEST_CASE("an operation that throws or whose launch is refused is named on all ranks; later runs are refused") {
    for (const trouble t : {trouble::throws, trouble::refused})
        for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
            {
                const scene s{t, 1};  // already where each operation is launched once, before any run
                const std::string early = run(2, [&](auto& rank) { dv::executor<reduced> step{rank, 20s, how}; });
                has(early, "operation `troubled` of `y` failed on rank 1, before the first run: ");
            }
            const scene s{trouble::none, 1};
            std::string seen[2], later[2];
            const std::string thrown = run(2, [&](auto& rank) {
                dv::executor<reduced> step{rank, 20s, how};
                now = t;
                step.bind(dv::name<x>, ones);
                seen[rank.index()] = message([&] { step.run().wait(); });
                later[rank.index()] = message([&] { step.run(); });
                if (rank.index() == 1) step.run().wait();
            });
            for (const std::string& text : {seen[0], seen[1], later[0], later[1], thrown}) {
                has(text, "operation `troubled` of `y`");
                has(text, "rank 1");
                has(text, t == trouble::throws ? "on purpose" : "invalid configuration");
            }
        }
    const scene s;
    works();
}

TEST_CASE("later runs ask at their end: the error names the first operation whose launch may have been refused") {
    const scene s;
    const std::string thrown = run(1, [&](auto& rank) {
        dv::executor<reduced> step{rank, 20s};
        for (int i = 0; i < 4; ++i) {
            now = i < 3 ? trouble::none : trouble::refused;
            step.bind(dv::name<x>, ones).run().wait();
        }
    });
    has(thrown, "a launch of this operation or of one before it, back to operation `troubled` of `y`: invalid configuration");
    works();
}

TEST_CASE("no device memory: the bytes wanted and free, and nothing stays") {
    const scene s;
    static decltype(dv::cuda::calls.malloc) real = nullptr;
    static std::size_t limit = 0;
    real = dv::cuda::calls.malloc;
    limit = std::size_t{40} << 20;  // cuBLAS's memory fits, the arena does not
    dv::cuda::calls.malloc = [](void** p, std::size_t bytes) { return bytes > limit ? cudaErrorMemoryAllocation : real(p, bytes); };
    using large = dv::tensor<float, 16'000'000>;
    struct greedy : dv::graph<dv::input<x, large>, dv::mesh<dv::axis<dp>>, dv::let<y, all_reduce<sum, dp>(twice(x))>, dv::output<y>> {};
    for (const int ranks : {1, 2}) {
        const std::string text = run(ranks, [](auto& rank) { dv::executor<greedy> step{rank}; });
        has(text, "cudaMalloc on rank ");
        has(text, "bytes wanted, 12345 of 54321 free");
    }
    works();
}

TEST_CASE("an operation that cannot be captured is named; runs go to streams where that is allowed") {
    const scene s{trouble::synchronises};
    dv::cuda::calls.stream_synchronize = [](cudaStream_t on) {
        if (on != nullptr && simulated::of(on)->capturing != nullptr) {
            spoilt = true;
            return cudaErrorStreamCaptureUnsupported;
        }
        while (on != nullptr && !simulated::of(on)->empty()) std::this_thread::yield();
        return cudaSuccess;
    };
    dv::cuda::calls.stream_is_capturing = [](cudaStream_t, cudaStreamCaptureStatus* status) {
        *status = spoilt ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
        return cudaSuccess;
    };
    const auto play = [](dv::replay_mode how) {
        return run(2, [&](auto& rank) {
            dv::executor<reduced> step{rank, 20s, how};
            step.bind(dv::name<x>, ones);
            for (int k = 0; k < 3; ++k) holds(step.run().read(dv::name<z>).host() == floats(8, 4.0f), "the sum");
            has(step.replay_fallback_reason(), "operation `troubled` of `y` cannot be captured on rank");
        });
    };
    CHECK(play(dv::replay_or_streams) == "nothing thrown");
    has(play(dv::replay), "operation `troubled` of `y` cannot be captured on rank");
}

TEST_CASE("destruction with work in flight, in order and while unwinding; moves; two aborts") {
    {
        const scene s{trouble::slow};
        CHECK(run(2, [](auto& rank) {
                  dv::executor<reduced, several> step{rank};
                  step.bind(dv::name<x>, ones);
                  for (int k = 0; k < 3; ++k) step.run();
              }) == "nothing thrown");
    }
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const scene s{trouble::slow};
        const std::string thrown = run(2, [&](auto& rank) {
            dv::executor<reduced, several> step{rank, how};
            step.bind(dv::name<x>, ones);
            const auto t = step.run();
            if (rank.index() == 0) throw dv::failure{"unwinding"};
            message([&] { t.wait(); });
            step.run().wait();
        });
        CHECK(thrown == "dovetail: unwinding");
    }
    {
        const scene s;
        CHECK(run(1, [](auto& rank) {
                  dv::executor<reduced> a{rank};
                  a.bind(dv::name<x>, ones);
                  const auto before = a.run();
                  dv::executor<reduced> b{std::move(a)}, c{rank};
                  has(message([&] { a.run(); }), "an executor that was moved from");
                  c = std::move(b);
                  holds(before.read(dv::name<z>).host() == floats(8, 2.0f), "before the moves");
                  holds(c.run().read(dv::name<z>).host() == floats(8, 2.0f), "after them");
              }) == "nothing thrown");
    }
    {
        const scene s{trouble::throws};  // on both ranks at once
        const std::string thrown = run(2, [](auto& rank) {
            dv::executor<reduced> step{rank};
            step.bind(dv::name<x>, ones);
            step.run().wait();
        });
        has(thrown, "operation `troubled` of `y` failed on rank");
    }
    const scene s;
    works();
}

TEST_CASE("run from two threads") {
    const scene s;
    const std::string thrown = run(1, [](auto& rank) {
        dv::executor<reduced> step{rank};
        step.bind(dv::name<x>, ones);
        std::atomic<bool> found = false;
        std::string text;
        const auto play = [&] {
            for (int i = 0; i < 20000 && !found; ++i)
                try {
                    step.run();
                } catch (const dv::usage_error& e) {
                    if (!found.exchange(true)) text = e.what();
                }
        };
        std::thread second{play};
        play();
        second.join();
        has(text, "the executor of `reduced` on rank 0 is used by two threads at once");
    });
    CHECK(thrown == "nothing thrown");
}

TEST_CASE("a graph with a role on another rank than a graph before it is refused on all ranks") {
    const scene s;
    CHECK(run(2, [](auto& rank) {
              dv::executor<two_roles> step{rank};
              has(message([&] { dv::executor<two_roles_reversed>{rank}; }),
                  "role `right` is on rank 1 in `two_roles` and on rank 0 in `two_roles_reversed`, of which executors are made on rank 0: "
                  "list the roles in one order, by dv::roles<...> in both graphs and without dv::roles_by_links");
              holds(rank.is(dv::name<right>) == (rank.index() == 1), "the role of the first graph");
              step.bind(dv::name<x>, ones);
              step.run().wait();
          }) == "nothing thrown");
}

TEST_CASE("results off the root and on other ranks are not read; slots are not overwritten") {
    const scene s;
    CHECK(run(2, [](auto& rank) {
              dv::executor<rooted> step{rank};
              step.bind(dv::name<x>, ones);
              const auto t = step.run();
              if (rank.index() == 1) holds(t.read(dv::name<y>).host() == floats(8, 2.0f), "the sum on the root");
              else has(message([&] { t.read(dv::name<y>); }), "output `y` is on the root of its reduce only, and not on rank 0");
              t.wait();
              dv::executor<two_roles> channel{rank};
              channel.bind(dv::name<x>, ones);
              const auto u = channel.run();
              if (channel.is(dv::name<left>)) has(message([&] { u.read(dv::name<z>); }), "output `z` is not on rank 0 (role `left`)");
              u.wait();
          }) == "nothing thrown");
    CHECK(run(2, [](auto& rank) {
              dv::executor<reduced, several> step{rank, 200ms};
              std::vector<dv::ticket<reduced>> t;
              for (int k = 1; k <= 3; ++k) t.push_back(step.bind(dv::name<x>, floats(8, static_cast<float>(k))).run());
              for (const int k : {2, 0, 1})
                  holds(t[static_cast<std::size_t>(k)].read(dv::name<z>).host() == floats(8, 4.0f * static_cast<float>(k + 1)),
                        "a run of three");
              {
                  auto held = t[0].read(dv::name<z>);
                  has(message([&] { step.run(); }), "needs the slot of run 0, whose result this thread still holds by a reading, on rank");
                  const auto elsewhere = std::move(held).for_another_thread();
                  has(message([&] { step.run(); }), "needs the slot of run 0, whose result is still held by a reading on rank");
              }
              for (int k = 0; k < 3; ++k) step.run();
              has(message([&] { t[0].read(dv::name<z>); }), "the results of run 0 of `reduced` are gone: run 3 uses their slot");
          }) == "nothing thrown");
}

TEST_CASE("states: shared through a store, lost by a run that did not end, and by nothing else") {
    {
        const scene s;
        CHECK(run(2, [](auto& rank) {
                  dv::store store{rank};
                  dv::executor<counting> one{rank, store};
                  one.bind(dv::name<x>, ones);
                  for (int k = 1; k <= 3; ++k)
                      holds(one.run().read(dv::name<y>).host() == floats(8, 3.0f + 2.0f * static_cast<float>(k)), "a count");
                  holds(store.read<vector>(dv::name<count>) == floats(8, 9.0f), "the store");
              }) == "nothing thrown");
        CHECK(run(1, [](auto& rank) {
                  dv::store store{rank};
                  dv::executor<continued> two{rank, store};
                  two.bind(dv::name<x>, ones);
                  has(message([&] { two.run(); }), "state `count` is to come from the store, which does not hold it");
                  dv::executor<counting> one{rank, store};
                  one.bind(dv::name<x>, ones);
                  for (int k = 0; k < 3; ++k) {
                      const auto t = one.run();
                      const auto u = two.run();
                      holds(t.read(dv::name<y>).host() == floats(8, 4.0f + 2.0f * static_cast<float>(k)), "the first");
                      holds(u.read(dv::name<w>).host() == floats(8, 5.0f + 2.0f * static_cast<float>(k)), "the second");
                  }
                  two.write_state(dv::name<count>, floats(8, 0.5f));
                  holds(two.run().read(dv::name<w>).host() == floats(8, 1.5f), "after it was written");
              }) == "nothing thrown");
    }
    {
        const scene s{trouble::none, 1};
        others_issued = false;
        std::string counts[2];
        std::atomic<int> here = 0;
        has(run(2, [&](auto& rank) {
                dv::executor<counting> step{rank};
                step.bind(dv::name<x>, ones);
                step.run().wait();
                for (++here; here < 2;) std::this_thread::yield();
                now = trouble::throws;
                message([&] {
                    const auto t = step.run();
                    others_issued = true;
                    t.wait();
                });
                counts[rank.index()] = message([&] { step.read_state(dv::name<count>); });
                holds(step.read_state(dv::name<weight>) == floats(8, 3.0f), "a state that nothing updates");
                step.write_state(dv::name<count>, ones);
                holds(step.read_state(dv::name<count>) == ones, "a state that was written");
                step.run();
            }),
            "operation `troubled` of `count` failed on rank");
        for (const std::string& text : counts)
            has(text, "state `count` is lost: a run of `counting` did not end: operation `troubled` of `count` failed on rank");
    }
    {
        // A rank whose runs have ended keeps its states when another one ends the world.
        const scene s;
        std::atomic<bool> over = false;
        CHECK(run(2, [&](auto& rank) {
                  dv::executor<counting> step{rank};
                  step.bind(dv::name<x>, ones);
                  step.run().wait();
                  if (rank.index() == 1) {
                      over = true;
                      throw dv::failure{"elsewhere"};
                  }
                  while (!over) std::this_thread::yield();
                  std::string text = "nothing thrown";
                  for (int i = 0; i < 2000 && text.find("elsewhere") == std::string::npos; ++i) {
                      std::this_thread::sleep_for(1ms);
                      if (!rank.state()->world->aborted()) continue;
                      text = message([&] { step.run(); });
                  }
                  has(text, "rank 0 stops, because rank 1 left with an exception: elsewhere");
                  holds(step.read_state(dv::name<count>) == floats(8, 5.0f), "a state whose runs have ended");
              }) == "dovetail: elsewhere");
    }
}

TEST_CASE("a run that takes a state from one that was aborted has not ended, though it does not communicate") {
    const scene s;
    std::atomic<bool> issued = false;
    CHECK(run(2, [&](auto& rank) {
              dv::store store{rank};
              dv::executor<counting> first{rank, store};
              dv::executor<counted> second{rank, store};
              first.bind(dv::name<x>, ones);
              first.run().wait();
              second.run().wait();
              if (rank.index() == 1) {
                  while (!issued) std::this_thread::yield();
                  throw dv::failure{"elsewhere"};
              }
              const auto a = first.run();
              const auto b = second.run();
              issued = true;
              while (!rank.state()->world->aborted()) std::this_thread::yield();
              std::this_thread::sleep_for(1s);  // the streams are empty
              has(message([&] { b.read(dv::name<w>); }), "elsewhere");
              has(message([&] { static_cast<void>(store.read<vector>(dv::name<count>)); }), "state `count` is lost");
          }) == "dovetail: elsewhere");
}

TEST_CASE("a run that is not issued in time is as if nobody had asked for it") {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        for (const bool recorded : {false, true}) {
            const scene s{trouble::slow};
            const std::string thrown = run(1, [&](auto& rank) {
                dv::executor<counting, several> step{rank, how, 100ms};
                step.record_times(recorded);
                const floats given(8, 1.0f);  // copied when it is the run's turn: two may be on their way
                step.bind(dv::name<x>, dv::borrowed(given));
                int late = 0;
                dv::ticket<counting> last;
                for (int issued = 0; issued < 6;)
                    try {
                        last = step.run();
                        ++issued;
                    } catch (const dv::timeout&) {
                        ++late;
                    }
                last.wait_for(30s);
                holds(late > 0, "it takes longer than the limit");
                holds(last.run() == 5, "the runs are numbered");
                holds(last.read(dv::name<y>).host() == floats(8, 9.0f), "each run counts once");
                holds(step.read_state(dv::name<count>) == floats(8, 9.0f), "the state");
            });
            CHECK(thrown == "nothing thrown");
        }
}

TEST_CASE("no limit at all") {
    const scene s;
    const std::string thrown = run(2, [](auto& rank) {
        dv::executor<reduced> step{rank, std::chrono::hours::max()};
        step.bind(dv::name<x>, ones);
        step.run().wait();
        const auto t = step.run();
        t.wait_for(std::chrono::nanoseconds::max());
        t.wait_for(std::chrono::duration<double>::max());
        holds(t.read(dv::name<z>).host() == floats(8, 4.0f), "the sum");
    });
    CHECK(thrown == "nothing thrown");
}

TEST_CASE("recorded runs whose tickets are dropped leave nothing behind") {
    const scene s;
    CHECK(run(1, [](auto& rank) {
              dv::executor<counting, several> step{rank, dv::record_times};
              step.bind(dv::name<x>, floats(8, 0.0f));
              for (int k = 0; k < 100; ++k) step.run();
              const alive early = alive::all();
              for (int k = 0; k < 1000; ++k) step.run();
              holds(alive::all().objects < early.objects + 1000, "a few sets of events, and anchors that they hold");
              holds(step.run().times().size() > 3, "times");
          }) == "nothing thrown");
}

TEST_CASE("many runs leave nothing behind") {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const scene s;
        CHECK(run(2, [&](auto& rank) {
                  dv::executor<counting, several> step{rank, how};
                  step.bind(dv::name<x>, floats(8, 0.0f));
                  alive early;
                  std::ptrdiff_t files = 0;
                  const auto open_files = [] {
                      return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
                  };
                  for (int k = 0; k < 10000; ++k) {
                      const auto t = step.run();
                      if (k % 100 == 99) t.wait();
                      if (k == 999) early = alive::all(), files = open_files();
                  }
                  const alive late = alive::all();
                  holds(late.memory <= early.memory + 2 && late.objects <= early.objects + 2, "memory, streams, events and graphs");
                  holds(open_files() <= files + 1, "file descriptors");
                  holds(step.read_state(dv::name<count>) == floats(8, 3.0f), "the state");
              }) == "nothing thrown");
    }
}
