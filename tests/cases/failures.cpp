// What must fail well at run time, with graphs of the language on the host backend: an exception that says what, where and on
// which rank, and a process that goes on.
#include "support/dlpack.hpp"
#include "support/on_host.hpp"

#include <dovetail/launch/store_core.hpp>

#include <sys/resource.h>
#include <atomic>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

using namespace samples;
using namespace std::chrono_literals;
using floats = std::vector<float>;

namespace {

using support::has, support::message;

const floats ones(8, 1.0f);

// A state that runs write before they read it, and a graph that reads it.
struct written;
struct overwriting : dv::graph<dv::input<x, vector>, dv::state<written, vector>, dv::update<written, copy(x)>> {};
struct look_at_written : dv::graph<dv::state<written, vector, dv::from_store>, dv::let<y, copy(written)>, dv::output<y>> {};

struct trips;
inline std::atomic<bool> tripping = false, issued = false;

// Copies; while the switch is on, throws on the second position, once the first has issued its run.
struct tripwire {
    static constexpr dv::tensor_type result(dv::tensor_type t, dv::tensor_type) { return t; }
    template <class X, class L>
    static void launch(dv::host::stream, dv::in<X> from, dv::in<L> position, dv::out<X> to) {
        if (tripping && position[0] == 1) {
            while (!issued) std::this_thread::yield();
            throw std::runtime_error{"tripped"};
        }
        std::copy(from.begin(), from.end(), to.begin());
    }
};
// Counts on every position, with a reduction that a position may not come to.
struct counted : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp>>,
    dv::state<count, vector, zeros>,
    dv::state<weight, vector, constant<3>>,
    dv::update<count, add(count, all_reduce<sum, dp>(tripwire(x, dv::axis_index<dp>)))>,
    dv::let<y, add(count, weight)>,
    dv::output<y>> {};
struct counted_on_shards : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::state<count, vector, zeros, dv::replicated<dp>>,
    dv::shard_update<dv::update<count, add(count, all_reduce<sum, dp>(tripwire(x, dv::axis_index<dp>)))>>> {};
// The update comes before what a position may not do.
struct counted_before : dv::graph<
    dv::input<x, vector, dv::replicated<dp>>,
    dv::mesh<dv::axis<dp>>,
    dv::state<count, vector, zeros, dv::replicated<dp>>,
    dv::state<weight, vector, constant<3>>,
    dv::update<count, add(count, x)>,
    dv::let<y, tripwire(add(count, weight), dv::axis_index<dp>)>,
    dv::output<y>> {};
struct continued : dv::graph<
    dv::state<count, vector, dv::from_store>,
    dv::let<y, copy(count)>,
    dv::output<y>> {};

// On the second position it fails, or takes longer than anybody waits; the first needs nothing of it.
inline std::atomic<bool> stalling = false;
inline std::atomic<int> stalls = 0;  // that have begun
struct fails_or_stalls {
    static constexpr dv::tensor_type result(dv::tensor_type t, dv::tensor_type) { return t; }
    template <class X, class L>
    static void launch(dv::host::stream, dv::in<X> from, dv::in<L> position, dv::out<X> to) {
        if (position[0] == 1 && !stalling) throw std::runtime_error{"unheard"};
        if (position[0] == 1) ++stalls;
        while (position[0] == 1 && stalling) std::this_thread::sleep_for(1ms);
        std::copy(from.begin(), from.end(), to.begin());
    }
};
// Issues a run that stalls, and waits until its operation has begun: an abort leaves out what has not.
auto stalled_run(auto& step) {
    const int before = stalls;
    auto ticket = step.run();
    while (stalls == before) std::this_thread::yield();
    return ticket;
}
struct reads_too_far {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        for (std::int64_t i = 0; i < X::size; ++i) to[i] = from[i + 1] - from[i];
    }
};
struct differences : dv::graph<dv::input<x, vector>, dv::let<y, reads_too_far(x)>, dv::output<y>> {};
inline std::atomic<bool> gate = true;  // closed while false
struct one_more {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::inout<X> x) {
        while (!gate) std::this_thread::sleep_for(1ms);
        for (auto& e : x) e += 1;
    }
};
struct slow_state : dv::graph<
    dv::state<count, vector, zeros>,
    dv::update<count, one_more(count)>,
    dv::let<y, copy(count)>,
    dv::output<y>> {};
struct each_alone : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp>>,
    dv::let<y, fails_or_stalls(x, dv::axis_index<dp>)>,
    dv::output<y>> {};
struct doubling : dv::graph<dv::input<x, vector>, dv::let<y, add(x, x)>, dv::output<y>> {};

struct refuses {
    template <class X>
    static void launch(dv::host::stream, dv::out<X>) { throw std::runtime_error{"no entropy"}; }
};
struct seeded : dv::graph<
    dv::state<count, vector, refuses>,
    dv::let<y, copy(count)>,
    dv::output<y>> {};

// Filled by an operation that waits for the test.
struct filled_late {
    template <class X>
    static void launch(dv::host::stream, dv::out<X> x) {
        ++stalls;
        while (stalling) std::this_thread::sleep_for(1ms);
        for (auto& e : x) e = 1;
    }
};
struct late : dv::graph<
    dv::state<count, vector, filled_late>,
    dv::let<y, copy(count)>,
    dv::output<y>> {};

// More than any machine has.
using vast = dv::tensor<double, (std::int64_t{1} << 46)>;
struct take_all {
    static constexpr dv::tensor_type result(dv::tensor_type) { return vast::type; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<vast>) {}
};
struct first_of {
    static constexpr dv::tensor_type result(dv::tensor_type) { return vector::type; }
    template <class Y>
    static void launch(dv::host::stream, dv::in<vast>, dv::out<Y>) {}
};
struct greedy : dv::graph<dv::input<x, vector>, dv::let<y, first_of(take_all(x))>, dv::output<y>> {};

struct on_two_axes : dv::graph<
    dv::mesh<dv::axis<dp>, dv::axis<tp>>,
    dv::input<x, vector>,
    dv::let<y, all_reduce<sum, tp>(x)>,
    dv::output<y>> {};

// From a position that exists in wide worlds only.
struct from_the_third : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::let<y, broadcast<dp, root_index<2>>(x)>,
    dv::output<y>> {};

struct to_the_third : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::let<y, permute<dp, pair<0, 2>, pair<1, 0>>(x)>,
    dv::output<y>> {};

}  // namespace

TEST_CASE("worlds that do not fit") {
    const auto making = [](auto graph, int ranks, auto... extra) {
        return message([&] { dv::host::world{ranks}.run([&](auto& rank) { dv::executor<decltype(graph)> step{rank, extra...}; }); });
    };
    has(making(ring_of_three{}, 2), "the world has 2 ranks and the graph needs 3: role `left` x 1, role `middle` x 1, role `right` x 1");
    has(making(dv::single_rank<ring_of_three>{}, 2), "the world has 2 ranks and the graph needs 1");
    has(making(sums{}, 3), "the world has 3 ranks and the graph needs 4");
    has(making(roles_and_meshes{}, 3), "the world has 3 ranks, which fits no width of axis `dp`: the graph needs 2 x width");
    has(making(on_two_axes{}, 6), "axes `dp` and `tp` are both open");
    has(making(on_two_axes{}, 6, dv::width<dp>(4)), "the world has 6 ranks, which fits no width of axis `tp`: the graph needs 4 x width");
    has(making(on_two_axes{}, 6, dv::width<dp>(0)), "width 0 given for axis `dp`: it must be at least 1");
    has(making(on_two_axes{}, 6, dv::axis_width{dv::width<left>(2)}), "width given for `left`, which is no axis of the graph");
    has(making(on_two_axes{}, 6, dv::width<dp>(1 << 30)), "width 1073741824 given for axis `dp`, and the world has 6 ranks");
    has(making(sums{}, 4, dv::width<dp>(2)), "width 2 given for axis `dp`, whose width is 4");
    CHECK(making(sums{}, 4, dv::width<dp>(4)) == "nothing thrown");
    CHECK(making(on_two_axes{}, 6, dv::width<dp>(2)) == "nothing thrown");
    CHECK(making(on_two_axes{}, 6, dv::width<dp>(2), dv::width<tp>(3)) == "nothing thrown");
    has(making(on_two_axes{}, 6, dv::width<dp>(2), dv::width<tp>(2)), "the world has 6 ranks and the graph needs 4");
    has(making(from_the_third{}, 2), "operation `broadcast<dp, root_index<2>>` has its root at index 2 of 2: one role x 2");
    CHECK(making(from_the_third{}, 3) == "nothing thrown");
    has(making(to_the_third{}, 2), "operation `permute<dp, pair<0, 2>, pair<1, 0>>` names position 2 of 2: one role x 2");
    CHECK(making(to_the_third{}, 3) == "nothing thrown");
}

TEST_CASE("a store of another rank") {
    std::optional<dv::store> first;
    std::mutex mutex;
    has(message([&] {
            dv::host::world{2}.run([&](auto& rank) {
                {
                    const std::lock_guard lock{mutex};
                    if (!first) first.emplace(rank);
                }
                const dv::executor<counted> step{rank, *first};
            });
        }),
        "the store given to the executor of `counted` on rank ");
    const int owner = first->core()->rank;
    CHECK((owner == 0 || owner == 1));
    has(message([&] { dv::host::world{2}.run([&](auto& rank) { const dv::executor<counted> step{rank, *first}; }); }),
        " is that of rank " + std::to_string(owner) + ": each rank has its own");
}

TEST_CASE("one store, two threads or two worlds at once") {
    dv::host::world{1}.run([](auto& rank) {
        dv::store store{rank};
        std::atomic<bool> inside = false;
        dv::executor<slow_state> step{rank, store};
        gate = false;
        step.run();
        std::thread reader{[&] {
            inside = true;
            static_cast<void>(store.read<vector>(dv::name<count>));  // waits for the run
        }};
        while (!inside) std::this_thread::yield();
        std::this_thread::sleep_for(20ms);
        has(message([&] { static_cast<void>(store.read<vector>(dv::name<count>)); }), "the store of rank 0 is used by two threads at once");
        has(message([&] { step.run(); }), "the store of rank 0 is used by two threads at once");
        has(message([&] { dv::executor<slow_state> another{rank, store}; }), "the store of rank 0 is used by two threads at once");
        gate = true;
        reader.join();
        step.run().wait();
        CHECK(store.read<vector>(dv::name<count>) == floats(8, 2.0f));
    });
    std::optional<dv::store> shared;
    dv::host::world{1}.run([&](auto& rank) {
        shared.emplace(rank);
        dv::executor<slow_state> step{rank, *shared};
        step.run().wait();
        dv::host::world{1}.run([&](auto& other) {
            has(message([&] { dv::executor<slow_state> beside{other, *shared}; }),
                "the store of rank 0 is used by executors of two worlds at once");
        });
        step.run().wait();
    });
    // One world after the other.
    dv::host::world{1}.run([&](auto& rank) {
        dv::executor<slow_state> step{rank, *shared};
        CHECK(step.run().read(dv::name<y>).host() == floats(8, 3.0f));
    });
}

TEST_CASE("a run that would wait for the thread that asks for it") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<doubling> step{rank};
        step.bind(dv::name<x>, ones);
        const auto start = std::chrono::steady_clock::now();
        {
            const auto held = step.run().read(dv::name<y>);
            CHECK_THROWS_AS(step.run(), dv::usage_error);
            CHECK(held[0] == 2.0f);
        }
        CHECK(std::chrono::steady_clock::now() - start < 10s);
        // Another thread lets go of it.
        auto held = step.run().read(dv::name<y>).for_another_thread();
        std::thread reader{[mine = std::move(held)] {
            std::this_thread::sleep_for(30ms);
            CHECK(mine[7] == 2.0f);
        }};
        auto t = step.run();  // waits until the closure is gone, which the thread destroys
        reader.join();
        t.wait();
    });
}

TEST_CASE("what nobody was told is thrown by world.run") {
    const auto running = [](std::chrono::milliseconds limit, auto&& body) {
        dv::host::world{2}.run([&](auto& rank) {
            dv::executor<each_alone> step{rank, limit};
            step.bind(dv::name<x>, ones);
            body(rank, step);
        });
    };
    stalling = false;
    try {
        running(10s, [](auto&, auto& step) { step.run(); });
        FAIL("the failure is lost");
    } catch (const dv::operation_error& e) {
        CHECK(e.rank == 1);
        CHECK(e.operation == "fails_or_stalls");
        CHECK(e.statement == "y");
        has(e.what(), "operation `fails_or_stalls` of `y` failed on rank 1, run 0: unheard");
    }
    // Who was told and goes on, goes on.
    CHECK(message([&] {
              running(10s, [](auto& rank, auto& step) {
                  const std::string told = message([&] { step.run().wait(); });
                  if (rank.index() == 1) has(told, "unheard");
              });
          }) == "nothing thrown");
    stalling = true;
    try {
        running(100ms, [](auto& rank, auto& step) {
            if (rank.index() == 0) step.run().wait_for(10s);
            if (rank.index() == 1)
                has(message([&, t = stalled_run(step)] { t.wait_for(1ms); }), "timeout after 0.00 s");  // of this, not of a hang
        });
        FAIL("the hang is lost");
    } catch (const dv::timeout& e) {
        CHECK(e.rank == 1);
        has(e.what(),
            "timeout after 0.10 s: rank 1 destroyed the executor of `each_alone` with work in flight: rank 1 is in operation `fails_or_stalls` of `y`");
    }
    stalling = false;
    std::this_thread::sleep_for(20ms);  // the position that was left to itself ends
}

TEST_CASE("who destroys an executor behind a wait that was too long tells the others what it waited for") {
    stalling = true;
    try {
        dv::host::world{2}.run([&](auto& rank) {
            dv::executor<each_alone> step{rank, 10s};
            step.bind(dv::name<x>, ones);
            if (rank.index() == 1) stalled_run(step).wait_for(1ms);
            std::string told = "nothing thrown";
            for (int i = 0; i < 2000 && told == "nothing thrown"; ++i) told = message([&] { step.run().wait(); });
            has(told, "rank 1 destroyed the executor of `each_alone` with work in flight, behind a timeout after 0.00 s: run 0 of "
                      "`each_alone` has not");
        });
        FAIL("the timeout is lost");
    } catch (const dv::timeout& e) {
        CHECK(e.rank == 1);
    }
    stalling = false;
    std::this_thread::sleep_for(20ms);  // the position that was left to itself ends
}

TEST_CASE("... and nothing of a wait for a run that has ended since") {
    const std::string text = message([] {
        dv::host::world{2}.run([&](auto& rank) {
            dv::executor<each_alone> step{rank, 10s};
            step.bind(dv::name<x>, ones);
            if (rank.index() == 1) {
                stalling = true;
                const auto t = stalled_run(step);
                has(message([&] { t.wait_for(1ms); }), "timeout after 0.00 s");
                stalling = false;
                t.wait();
                stalling = true;
                stalled_run(step);
                throw dv::failure{"elsewhere"};
            }
            std::string told = "nothing thrown";
            for (int i = 0; i < 2000 && told == "nothing thrown"; ++i) {
                std::this_thread::sleep_for(1ms);
                told = message([&] { step.run().wait(); });
            }
            has(told, "rank 1 destroyed the executor of `each_alone` with work in flight");
            CHECK(told.find("behind a timeout") == std::string::npos);
        });
    });
    has(text, "elsewhere");
    stalling = false;
    std::this_thread::sleep_for(20ms);  // the position that was left to itself ends
}

TEST_CASE("two threads that make executors of one rank") {
    stalling = true;
    dv::host::world{1}.run([](auto& rank) {
        const int before = stalls;
        std::thread first{[&] { dv::executor<late>{rank}; }};
        while (stalls == before) std::this_thread::yield();
        CHECK(message([&] { dv::executor<doubling>{rank}; }) ==
              "dovetail: executors of rank 0 are made by two threads at once");
        stalling = false;
        first.join();
        dv::executor<doubling>{rank};
    });
}

TEST_CASE("an element that a result or an argument does not have") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<doubling> step{rank};
        const auto result = step.bind(dv::name<x>, ones).run().read(dv::name<y>);
        CHECK(result[7] == 2.0f);
        has(message([&] { static_cast<void>(result[8]); }), "element 8 of output `y` is read, which has 8 elements, on rank 0");
        has(message([&] { static_cast<void>(result[-1]); }), "element -1 of output `y` is read");
    });
    has(message([] {
            dv::host::world{1}.run([](auto& rank) {
                dv::executor<differences> step{rank};
                step.bind(dv::name<x>, ones).run().wait();
            });
        }),
        "operation `reads_too_far` of `y` failed on rank 0, run 0: element 8 of a view of 8 elements");
}

TEST_CASE("ranks made from different graphs, or that make a different number of executors") {
    has(message([] {
            dv::host::world{2}.run([](auto& rank) {
                if (rank.index() == 0) dv::executor<crossing_pair, overlapped> step{rank};
                else dv::executor<ping_pong, overlapped> step{rank};
            });
        }),
        "the plans of executor 0 differ: rank 1 (`ping_pong`, machine slow_links) against rank 0 (`crossing_pair`, machine slow_links)");
    // One graph, other options.
    has(message([] {
            dv::host::world{3}.run([](auto& rank) {
                dv::executor<counted> first{rank};
                if (rank.index() == 2) dv::executor<counted, dv::options<dv::in_flight<2>>> step{rank};
                else dv::executor<counted> step{rank};
            });
        }),
        "the plans of executor 1 differ: rank 2 (`counted`, 2 runs in flight) against rank 0 (`counted`)");
    // The same plan, of which one rank wants to compare others.
    has(message([] {
            dv::host::world{2}.run([](auto& rank) {
                if (rank.index() == 1) dv::executor<crossing_pair, overlapped> step{rank, dv::tuned};
                else dv::executor<crossing_pair, overlapped> step{rank};
            });
        }),
        "the plans of executor 0 differ: rank 1 (`crossing_pair`, machine slow_links, tuned) against rank 0 (`crossing_pair`, machine "
        "slow_links)");
    has(message([] {
            dv::host::world{2}.run([](auto& rank) {
                dv::executor<crossing_pair, overlapped> first{rank};
                if (rank.index() == 0) dv::executor<ping_pong, overlapped> second{rank};
            });
        }),
        "rank 0 waits for all ranks at executor 1 (`ping_pong`), and rank 1 has left");
    has(message([] {
            dv::host::world{2}.run([](auto& rank) {
                if (rank.index() == 1) std::this_thread::sleep_for(500ms);
                dv::executor<crossing_pair, overlapped> step{rank, 50ms};
            });
        }),
        "timeout: rank 0 waits for all ranks at executor 0 (`crossing_pair`), and these have not come: rank 1");
}

TEST_CASE("an input is needed on the ranks whose role uses it, and nowhere else") {
    const auto play = [](int who) {
        return message([&] {
            dv::host::world{2}.run([&](auto& rank) {
                dv::executor<pipeline<2, 2>> step{rank};
                if (rank.index() != who) step.bind(dv::name<hop<0, 0>>, ones).bind(dv::name<hop<0, 1>>, ones);
                step.bind(dv::name<bias_of_stage>, ones);
                step.run().wait();
            });
        });
    };
    CHECK(play(1) == "nothing thrown");  // the second stage has no use for it
    has(play(0), "input `hop<0, 0>` is not bound on rank 0 (role `stage<0>`)");
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<dv::single_rank<crossing_pair>> step{rank};
        has(message([&] { step.bind(dv::name<x>, floats(7)); }), "input `x` is bound to 7 elements and has 8, on rank 0");
        has(message([&] { step.bind(dv::name<x>, floats(9)); }), "input `x` is bound to 9 elements and has 8, on rank 0");
        has(message([&] { step.bind(dv::name<x>, ones.data(), 0); }), "input `x` is bound to 0 elements and has 8");
        has(message([&] { step.run(); }), "input `x` is not bound on rank 0");
    });
}

TEST_CASE("after an abort with an update issued the state is lost, and said to be") {
    dv::host::world{2}.run([](auto& rank) {
        dv::store store{rank};
        dv::executor<counted> step{rank, store};
        step.bind(dv::name<x>, ones);
        CHECK(step.run().read(dv::name<y>).host() == floats(8, 5.0f));
        const std::string early = message([&] { store.read<vector>(dv::name<total>); });
        has(early, "state `total` was never initialised");
    });
    tripping = true, issued = false;
    std::string seen[2], later[2], weights[2], counts[2], stored[2], written[2];
    const std::string thrown = message([&] {
        dv::host::world{2}.run([&](auto& rank) {
            const int me = rank.index();
            dv::store store{rank};
            dv::executor<counted> step{rank, store, 10s};
            step.bind(dv::name<x>, ones);
            seen[me] = message([&] {
                const auto t = step.run();
                if (me == 0) issued = true;
                t.wait();
            });
            later[me] = message([&] { step.run().wait(); });
            counts[me] = message([&] { step.read_state(dv::name<count>); });
            weights[me] = message([&] { CHECK(step.read_state(dv::name<weight>) == floats(8, 3.0f)); });
            stored[me] = message([&] { static_cast<void>(store.read<vector>(dv::name<count>)); });
            written[me] = message([&] {
                store.write<vector>(dv::name<count>, ones);
                CHECK(step.read_state(dv::name<count>) == ones);
            });
            if (me == 1) step.run();
        });
    });
    tripping = false;
    has(thrown, "operation `tripwire` of `count` failed on rank 1, run 0: tripped");
    has(seen[0], "rank 0 stops, because operation `tripwire` of `count` failed on rank 1, run 0: tripped");
    for (const int me : {0, 1}) {
        has(seen[me], "tripped");
        has(later[me], "tripped");
        const std::string lost =
            "state `count` is lost: run 0 of `counted` did not end: operation `tripwire` of `count` failed on rank 1, run 0: tripped";
        has(counts[me], lost);
        has(stored[me], lost);
        CHECK(weights[me] == "nothing thrown");
        CHECK(written[me] == "nothing thrown");
    }
}

TEST_CASE("a state that is updated on shards is good again when it is written") {
    std::vector<std::optional<dv::store>> stores(2);
    dv::host::world world{2};
    tripping = true, issued = false;
    has(message([&] {
            world.run([&](auto& rank) {
                dv::executor<counted_on_shards> step{rank, stores[static_cast<std::size_t>(rank.index())].emplace(rank), 10s};
                step.bind(dv::name<x>, ones);
                const auto t = step.run();
                if (rank.index() == 0) issued = true;
                t.wait();
            });
        }),
        "tripped");
    tripping = false;
    world.run([&](auto& rank) {
        dv::store& store = *stores[static_cast<std::size_t>(rank.index())];
        has(message([&] { store.read<vector>(dv::name<count>); }), "state `count` is lost");
        store.write<vector>(dv::name<count>, ones);
        dv::executor<counted_on_shards> step{rank, store};
        step.bind(dv::name<x>, ones);
        step.run().wait();
        CHECK(step.read_state(dv::name<count>) == floats(8, 3.0f));
    });
}

TEST_CASE("a state that a run has updated before it failed is lost, on the rank where it failed and for later executors") {
    std::optional<dv::store> stores[2];
    std::string seen[2], counts[2], weights[2], saved[2], later[2];
    floats values[2];
    tripping = true, issued = false;
    message([&] {
        dv::host::world{2}.run([&](auto& rank) {
            const int me = rank.index();
            dv::executor<counted_before> step{rank, stores[me].emplace(rank)};
            seen[me] = message([&] { step.bind(dv::name<x>, ones).run().wait(); });
            if (me == 0) issued = true;  // its run has ended
            counts[me] = message([&] { values[me] = step.read_state(dv::name<count>); });
            weights[me] = message([&] { static_cast<void>(step.read_state(dv::name<weight>)); });
        });
    });
    tripping = false;
    dv::host::world{2}.run([&](auto& rank) {
        const int me = rank.index();
        later[me] = message([&] { const dv::executor<counted_before> step{rank, *stores[me]}; });
        saved[me] = message([&] { stores[me]->save("/dev/null/none"); });
    });
    const std::string lost = "state `count` is lost: run 0 of `counted_before` did not end: operation `tripwire` of `y` failed on rank 1";
    for (const std::string* text : {&seen[0], &counts[0], &weights[0], &weights[1]}) CHECK(*text == "nothing thrown");
    has(seen[1], "operation `tripwire` of `y` failed on rank 1, run 0: tripped");
    CHECK(values[0] == ones);
    for (const std::string& text : {counts[1], later[1], saved[1]}) has(text, lost);
}

TEST_CASE("where the rank on which an operation failed has dropped its ticket, the call of the world throws that failure") {
    tripping = true, issued = false;
    const auto body = [](auto& rank) {
        dv::executor<counted> step{rank, 10s};
        step.bind(dv::name<x>, ones);
        const auto t = step.run();
        if (rank.index() == 1) return;
        issued = true;
        t.wait();
    };
    bool of_another = false;
    std::string text;
    try {
        dv::host::world{2}.run(body);
    } catch (const dv::peer_error&) {
        of_another = true;
    } catch (const dv::operation_error& e) {
        text = e.what();
    }
    tripping = false;
    CHECK(!of_another);
    CHECK(text == "dovetail: operation `tripwire` of `count` failed on rank 1, run 0: tripped");
}

TEST_CASE("while the executor of a failed run exists, a state on shards is said to be lost, and can be written") {
    tripping = true, issued = false;
    std::string seen[2], read[2], written[2];
    static_cast<void>(message([&] {
        dv::host::world{2}.run([&](auto& rank) {
            const int me = rank.index();
            dv::store store{rank};
            dv::executor<counted_on_shards> step{rank, store, 10s};
            step.bind(dv::name<x>, ones);
            seen[me] = message([&] {
                const auto t = step.run();
                if (me == 0) issued = true;
                t.wait();
            });
            read[me] = message([&] { step.read_state(dv::name<count>); });
            written[me] = message([&] {
                store.write<vector>(dv::name<count>, ones);
                CHECK(step.read_state(dv::name<count>) == ones);
            });
            if (me == 1) step.run();
        });
    }));
    tripping = false;
    for (const int me : {0, 1}) {
        has(seen[me], "tripped");
        has(read[me], "state `count` is lost: run 0 of `counted_on_shards` did not end");
        CHECK(written[me] == "nothing thrown");
    }
}

TEST_CASE("a state that is lost is good again when it is written") {
    dv::host::world world{1};
    world.run([](auto& rank) {
        const auto memory = rank.device_memory();
        dv::detail::store_core store{memory, 0};
        auto& s = store.at(&dv::tag_of<count>, vector::type);
        CHECK(!store.any_invalid());
        CHECK(!store.adopt(s, true));
        CHECK(store.any_invalid());
        has(store.why_invalid(s), "is to come from the store, which does not hold it");
        CHECK(store.adopt(s, false));
        store.initialised(s);
        CHECK(!store.any_invalid());
        CHECK(store.why_invalid(s).empty());
        CHECK(!store.adopt(s, true));
        store.lose(s, "run 3 of `counted` did not end: boom");
        store.lose(s, "another");
        CHECK(store.why_invalid(s) == "is lost: run 3 of `counted` did not end: boom");
        floats to(8);
        has(message([&] { store.read(s, to.data()); }), "state `count` is lost: run 3 of `counted` did not end: boom");
        has(message([&] { store.adopt(s, true); }), "state `count` is lost: run 3");
        store.write(s, ones.data());
        store.read(s, to.data());
        CHECK(to == ones);
        CHECK(!store.any_invalid());
        CHECK(!store.adopt(s, true));
    });
}

TEST_CASE("a state without an initialiser has no value before a run writes it") {
    dv::host::world{1}.run([](auto& rank) {
        dv::store store{rank};
        dv::executor<overwriting> step{rank, store};
        dv::executor<look_at_written> look{rank, store};
        const std::string never = "state `written` was never initialised";
        has(message([&] { look.run(); }), "rank 0: state `written` is to come from the store, which does not hold it");
        has(message([&] { static_cast<void>(store.template read<vector>(dv::name<written>)); }), never);
        has(message([&] { static_cast<void>(step.read_state(dv::name<written>)); }), never);
        has(message([&] { store.save("/dev/null/none"); }), never);
        step.bind(dv::name<x>, ones);
        step.run();
        CHECK(look.run().read(dv::name<y>).host() == ones);
        CHECK(store.template read<vector>(dv::name<written>) == ones);
        CHECK(!store.core()->any_invalid());
        // Written by the program, it has a value without a run; another executor leaves it as it is.
        dv::store other{rank};
        dv::executor<overwriting> late{rank, other};
        late.write_state(dv::name<written>, ones);
        dv::executor<overwriting> later{rank, other};
        CHECK(other.template read<vector>(dv::name<written>) == ones);
    });
}

TEST_CASE("values for a state: as many as it has") {
    dv::host::world{1}.run([](auto& rank) {
        dv::store store{rank};
        has(message([&] { store.write<vector>(dv::name<count>, floats(9)); }), "state `count` has 8 elements, and 9 were given");
        store.write<vector>(dv::name<count>, ones);
        dv::executor<continued> step{rank, store};
        has(message([&] { step.write_state(dv::name<count>, floats(3)); }), "state `count` has 8 elements, and 3 were given");
        CHECK(step.run().read(dv::name<y>).host() == ones);
    });
}

TEST_CASE("no limit at all") {
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<crossing_pair, overlapped> step{rank, std::chrono::hours::max()};
        step.bind(dv::name<x>, ones);
        step.run().wait();
        const auto t = step.run();
        t.wait_for(std::chrono::nanoseconds::max());
        t.wait_for(std::chrono::duration<double>::max());
    });
}

TEST_CASE("the wrong executor's run is refused, and the right one's goes on") {
    std::atomic<bool> first = false;
    dv::host::world{2}.run([&](auto& rank) {
        dv::executor<crossing_pair, overlapped> step{rank};
        dv::executor<ping_pong, overlapped> other{rank};
        step.bind(dv::name<x>, ones);
        other.bind(dv::name<x>, ones);
        if (rank.index() == 1) {
            while (!first) std::this_thread::yield();
            has(message([&] { other.run(); }),
                "`ping_pong`: executors are called in different order: run number 0 of rank 1 is executor 1, of rank 0 executor 0");
        }
        const auto t = step.run();
        first = true;
        t.wait();
        const auto u = other.run();
        u.wait();
        if (rank.is(dv::name<right>)) CHECK(u.read(dv::name<d>).host() == floats(8, 5.0f));
    });
}

TEST_CASE("an initialiser that throws") {
    has(message([] { dv::host::world{1}.run([](auto& rank) { dv::executor<seeded> step{rank}; }); }),
        "the initialiser of state `count` failed on rank 0: no entropy");
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATION_ENDS_THE_PROCESS  // where there is no memory
#endif
#endif
#if !defined(ALLOCATION_ENDS_THE_PROCESS)
TEST_CASE("no threads for all ranks") {
    std::int64_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    rlimit little = before;
    little.rlim_cur = static_cast<rlim_t>(pages) * 4096 + (rlim_t{256} << 20);  // room for some stacks
    REQUIRE(setrlimit(RLIMIT_AS, &little) == 0);
    const std::string text =
        message([] { dv::host::world{500}.run([](auto& rank) { dv::executor<on_two_axes> step{rank, dv::width<dp>(500)}; }); });
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    has(text, "the thread of rank "), has(text, " of 500 cannot be created: ");
}

TEST_CASE("no memory when the executor is made") {
    dv::host::world world{1};
    const std::string text = message([&] { world.run([](auto& rank) { dv::executor<greedy> step{rank}; }); });
    has(text, "out of host memory: ");
    has(text, std::to_string(vast::bytes / 1'000'000'000'000));
    has(text, "bytes wanted");
    // The world goes on.
    world.run([](auto& rank) {
        dv::executor<dv::single_rank<crossing_pair>> step{rank};
        step.bind(dv::name<x>, ones);
        CHECK(step.run().read(dv::name<d>).host() == ones);
    });
}
#endif

TEST_CASE("what is used against the rules") {
    dv::host::world{1}.run([](auto& rank) {
        has(message([&] { static_cast<void>(rank.is(dv::name<left>)); }), "rank 0 does not know its role before an executor is made on it");
        const dv::ticket<crossing_pair> none;
        has(message([&] { none.wait(); }), "a ticket of no run");
        has(message([&] { static_cast<void>(none.ready()); }), "a ticket of no run");
        has(message([&] { static_cast<void>(none.run()); }), "a ticket of no run");
        using step_type = dv::executor<dv::single_rank<crossing_pair>, overlapped>;
        step_type a{rank};
        CHECK(rank.is(dv::name<left>));
        has(message([&] { static_cast<void>(rank.is(dv::name<x>)); }),
            "rank 0 is asked whether it plays `x`, which is no role of the graphs of its executors: left, right");
        a.bind(dv::name<x>, ones);
        has(message([&] { a.enqueue(nullptr); }), "enqueue: the backend of `single_rank<crossing_pair>` has no streams; use run");
        // Moved by construction and by assignment, with runs in flight.
        const auto before = a.run();
        step_type b{std::move(a)};
        has(message([&] { a.run(); }), "an executor that was moved from");
        step_type other{rank};
        other.bind(dv::name<x>, floats(8, 2.0f));
        const auto theirs = other.run();
        other = std::move(b);
        CHECK(before.read(dv::name<d>).host() == ones);
        CHECK(other.run().read(dv::name<d>).host() == ones);
        CHECK(theirs.read(dv::name<c>).host() == floats(8, 8.0f));
    });
}

TEST_CASE("a reading that was moved from") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<dv::single_rank<crossing_pair>> step{rank};
        step.bind(dv::name<x>, ones);
        auto from = step.run().read(dv::name<d>);
        const auto to = std::move(from);
        const std::string moved = "a reading that was moved from";
        has(message([&] { static_cast<void>(from[0]); }), moved);
        has(message([&] { static_cast<void>(from.host()); }), moved);
        has(message([&] { static_cast<void>(from.data()); }), moved);
        has(message([&] { static_cast<void>(std::move(from).for_another_thread()); }), moved);
        has(message([&] { from.copy_to(DLTensor{}); }), moved);
        CHECK(to.host() == ones);
    });
}
