// The host backend on programs made by hand: runs, slots, errors, time-outs, shutdown.
#include "../handmade.hpp"
#include "support/expect.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <thread>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ITS_OWN_NEW  // clang's thread sanitizer brings operators new and delete that cannot be replaced
#endif
#endif

// Blocks that the program holds, counted here because sanitizers keep what is freed.
static std::atomic<std::int64_t> live_blocks = 0;
#if !defined(ITS_OWN_NEW)
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    void* p = std::malloc(bytes > 0 ? bytes : 1);
    if (p == nullptr) throw std::bad_alloc{};
    ++live_blocks;
    return p;
}
// Not inlined: g++ would warn that free does not match new.
[[gnu::noinline]] void operator delete(void* p) noexcept {
    if (p == nullptr) return;
    --live_blocks;
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
#endif

namespace {
using namespace handmade;
using dv::host::stream;
using namespace std::chrono_literals;
using support::has, support::message;

struct x;
struct y;
struct z;
struct w;
struct total;
struct counter;
struct sender;
struct receiver;
struct model;
struct other;
struct dp;
struct tp;
struct twice; struct broken; struct sleepy; struct increment;

const dv::operation twice_op{&dv::tag_of<twice>};
const dv::operation broken_op{&dv::tag_of<broken>};
const dv::operation sleepy_op{&dv::tag_of<sleepy>};
const dv::operation increment_op{&dv::tag_of<increment>};

constexpr int n = 5;

std::int64_t entries(const char* folder) {
    return std::distance(std::filesystem::directory_iterator{folder}, std::filesystem::directory_iterator{});
}

void run_twice(stream, void* const* p) {
    for (int i = 0; i < n; ++i) static_cast<float*>(p[1])[i] = 2 * static_cast<const float*>(p[0])[i];
}
void run_broken_on_one(stream s, void* const* p) {
    if (s.rank == 1) throw std::runtime_error{"boom"};
    run_twice(s, p);
}
void run_sleepy(stream s, void* const* p) {
    if (s.rank == 1) std::this_thread::sleep_for(400ms);
    run_twice(s, p);
}
void run_short_sleep(stream s, void* const* p) {
    std::this_thread::sleep_for(20ms);
    run_twice(s, p);
}
void run_increment(stream, void* const* p) { ++*static_cast<std::int32_t*>(p[0]); }


// x -> y = twice(x), on one role without a mesh.
struct single : maker {
    int in, out;
    explicit single(int in_flight = 1, dv::launch_function<stream> f = run_twice, const dv::operation* op = &twice_op) {
        s.in_flight = in_flight;
        name = &dv::tag_of<model>;
        role(nullptr);
        in = input(&dv::tag_of<x>, tensor<float>(n));
        out = value(&dv::tag_of<y>, tensor<float>(n), 0, true);
        compute(op, f, {in}, {out});
    }
};

// The ranks of dp: y = f(x), z = all_reduce(y).
struct reduced : maker {
    int in, mid, out;
    explicit reduced(dv::launch_function<stream> f = run_twice, const dv::operation* op = &twice_op, int in_flight = 1) {
        s.in_flight = in_flight;
        name = &dv::tag_of<model>;
        const int a = axis(&dv::tag_of<dp>);
        role(nullptr, {{a, 0}});
        in = input(&dv::tag_of<x>, tensor<float>(n));
        mid = value(&dv::tag_of<y>, tensor<float>(n));
        out = value(&dv::tag_of<z>, tensor<float>(n), 0, true);
        compute(op, f, {in}, {mid});
        ir::member m;
        m.kind = dv::op_kind::all_reduce;
        m.reduce = dv::reduction::sum;
        collective(m, 1u << a, mid, out);
    }
};

const std::vector<float> ones(n, 1.0f);
}  // namespace

TEST_CASE("one rank, one operation") {
    for (const bool sequential : {false, true}) {
        dv::host::world world{1};
        world.run([&](auto& rank) {
            single m;
            m.sequential = sequential;
            running r{rank, m};
            r.bind(0, ones);
            const auto t = r.run();
            CHECK(r.template read<float>(t, 1) == std::vector<float>(n, 2.0f));
            CHECK(t.inputs_released());
            CHECK(t.ready());
        });
    }
}

TEST_CASE("two roles send to each other, crossing") {
    for (const bool nccl_group : {false, true}) {
        dv::host::world world{2};
        world.run([&](auto& rank) {
            maker m;
            m.role(&dv::tag_of<sender>);
            m.role(&dv::tag_of<receiver>);
            const int a = m.input(&dv::tag_of<x>, tensor<float>(n), 0);
            const int b = m.input(&dv::tag_of<y>, tensor<float>(n), 1);
            const int a2 = m.buffer(m.p.buffers[a].symbol, 1, ir::storage::arena, true);
            const int b2 = m.buffer(m.p.buffers[b].symbol, 0, ir::storage::arena, true);
            if (nccl_group) {
                ir::member t1, t2;
                t1.kind = t2.kind = dv::op_kind::transfer;
                m.task(dv::stream_kind::communication, {t1, t2},
                       {{0, 0, maker::list({a}, {})},
                        {0, 1, maker::list({}, {b2})},
                        {1, 0, maker::list({}, {a2})},
                        {1, 1, maker::list({b}, {})}});
                for (int i = 0; i < m.p.participations.size(); ++i) {  // role 1 sends in the second member
                    if (m.p.participations[i].member == 3) m.p.participations[i].group_index = m.p.participations[i].role == 1 ? 0 : 1;
                }
            } else {
                m.transfer(a, a2);
                m.transfer(b, b2);
            }
            running r{rank, m};
            CHECK(rank.is(named<sender>{}) == (rank.index() == 0));
            const std::vector<float> mine(n, rank.index() == 0 ? 3.0f : 4.0f);
            r.bind(0, mine);
            r.bind(1, mine);
            const auto t = r.run();
            CHECK(r.template read<float>(t, rank.index() == 0 ? 1 : 0) == std::vector<float>(n, rank.index() == 0 ? 4.0f : 3.0f));
        });
    }
}

TEST_CASE("ten thousand runs do not grow, and stay right") {
    dv::host::world world{2};
    world.run([&](auto& rank) {
        reduced m{run_twice, &twice_op, 2};
        running r{rank, m};
        std::vector<float> in(n, 1.0f);
        r.bind(0, in);
        std::int64_t before = 0, descriptors = 0, threads = 0;
        bool right = true;
        for (int i = 0; i < 10000; ++i) {
            const auto t = r.run();
            if (i % 100 == 0) right = right && r.template read<float>(t, 2) == std::vector<float>(n, 4.0f);
            if (i == 2000) {
                before = live_blocks;
                descriptors = entries("/proc/self/fd");
                threads = entries("/proc/self/task");
            }
        }
        CHECK(right);
        r.e->drain();
        if (rank.index() == 0) {
            CHECK(live_blocks - before < 100);
            CHECK(entries("/proc/self/fd") <= descriptors + 1);  // the other rank may be counting too
            CHECK(entries("/proc/self/task") <= threads);
        }
    });
}

TEST_CASE("three runs in flight, read in any order; a held slot makes run wait") {
    dv::host::world world{2};
    world.run([&](auto& rank) {
        reduced m{run_short_sleep, &sleepy_op, 3};
        dv::engine_options o;
        o.time_limit = 10s;
        running r{rank, m, o};
        std::vector<std::vector<float>> in;
        std::vector<dv::basic_ticket> t;
        for (int i = 0; i < 3; ++i) in.push_back(std::vector<float>(n, static_cast<float>(i)));
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < 3; ++i) {
            r.bind(0, in[i]);
            t.push_back(r.run());
        }
        CHECK(std::chrono::steady_clock::now() - start < 50ms);  // asynchronous
        for (const int i : {2, 0, 1}) CHECK(r.template read<float>(t[i], 2) == std::vector<float>(n, 4.0f * static_cast<float>(i)));
        for (int i = 0; i < 3; ++i) r.run();
        has(message([&] { r.template read<float>(t[0], 2); }), "the results of run 0 of `model` are gone: run 3 uses their slot");
        r.e->drain();  // the inputs end before the executor does
    });
    dv::host::world one{1};
    one.run([&](auto& rank) {
        single m;
        dv::engine_options o;
        o.time_limit = 100ms;
        running r{rank, m, o};
        r.bind(0, ones);
        const auto t = r.run();
        t.wait();
        {
            dv::basic_reading held{r.e, t.record(), 1};
            has(message([&] { r.run(); }), "needs the slot of run 0, whose result this thread still holds by a reading, on rank 0");
            held.hold_for_another_thread();
            has(message([&] { r.run(); }), "needs the slot of run 0, whose result is still held by a reading on rank 0");
        }
        r.run().wait();
    });
}

TEST_CASE("an operation that throws is named on every rank, and later runs are refused") {
    dv::host::world world{3};
    std::string texts[3];
    const std::string thrown = message([&] {
        world.run([&](auto& rank) {
            reduced m{run_broken_on_one, &broken_op};
            running r{rank, m};
            r.bind(0, ones);
            dv::basic_ticket t;
            try {
                t = r.run();  // refused where another rank has failed already
                t.wait();
            } catch (const dv::operation_error& e) {
                CHECK(e.rank == 1);
                CHECK(e.operation == "broken");
                CHECK(e.statement == "y");
                texts[rank.index()] = e.what();
            }
            has(message([&] { r.run(); }), "boom");
            if (rank.index() == 1) t.wait();
        });
    });
    has(thrown, "operation `broken` of `y` failed on rank 1, run 0: boom");
    has(texts[0], "rank 0 stops, because operation `broken` of `y` failed on rank 1, run 0: boom");
    has(texts[2], "rank 2 stops, because operation `broken` of `y` failed on rank 1");
    // The world can be used again.
    world.run([&](auto& rank) {
        reduced m;
        running r{rank, m};
        r.bind(0, ones);
        CHECK(r.template read<float>(r.run(), 2) == std::vector<float>(n, 6.0f));
    });
}

TEST_CASE("a time-out names the operation that is stuck, its rank, and who has not come") {
    dv::host::world world{2};
    world.run([&](auto& rank) {
        reduced m{run_sleepy, &sleepy_op};
        running r{rank, m};
        r.bind(0, ones);
        const auto t = r.run();
        const std::string text = message([&] { t.wait_for(100ms); });
        if (rank.index() == 0) {
            has(text,
                "timeout after 0.10 s: run 0 of `model` has not ended: rank 0 is in operation `all_reduce` of `z` (run 0, stream comm) and waits for rank 1");
            has(text, "rank 1 is in operation `sleepy` of `y` (run 0, stream compute)");
        } else has(text, "rank 1 is in operation `sleepy` of `y`");
        t.wait();  // it was only slow
        CHECK(r.template read<float>(t, 2) == std::vector<float>(n, 4.0f));
    });
}

TEST_CASE("inputs: not bound, too small, in place, released") {
    dv::host::world world{1};
    world.run([&](auto& rank) {
        single m;
        running r{rank, m};
        has(message([&] { r.run(); }), "input `x` is not bound on rank 0");
        has(message([&] { r.bind(0, std::vector<float>(4)); }), "input `x` is bound to 4 elements and has 5, on rank 0");
        std::vector<float> mine(n, 7.0f);
        r.bind(0, mine, true);
        CHECK(r.template read<float>(r.run(), 1) == std::vector<float>(n, 14.0f));
        mine.assign(n, 8.0f);
        CHECK(r.template read<float>(r.run(), 1) == std::vector<float>(n, 16.0f));
    });
}

TEST_CASE("destruction with work in flight, in order and while unwinding") {
    dv::host::world world{2};
    world.run([&](auto& rank) {
        reduced m{run_sleepy, &sleepy_op};
        running r{rank, m};
        r.bind(0, ones);
        r.run();
    });
    const auto start = std::chrono::steady_clock::now();
    const std::string thrown = message([&] {
        world.run([&](auto& rank) {
            reduced m{run_sleepy, &sleepy_op, 2};
            auto e = rank.make_engine(m.executable(), {});
            e->bind(0, {ones.data(), n, dv::binding_source::copied});
            e->run();
            if (rank.index() == 0) {
                e->close(true);
                throw std::logic_error{"on purpose"};
            }
            dv::basic_ticket{e, e->run()}.wait();
        });
    });
    CHECK(thrown == "on purpose");
    CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("a rank that leaves early ends the waits of the others") {
    dv::host::world world{3};
    std::string seen;
    const std::string thrown = message([&] {
        world.run([&](auto& rank) {
            reduced m;
            running r{rank, m};
            r.bind(0, ones);
            if (rank.index() == 2) throw std::runtime_error{"no patience"};
            const std::string text = message([&] { r.run().wait(); });
            if (rank.index() == 0) seen = text;
        });
    });
    CHECK(thrown == "no patience");
    has(seen, "rank 0 stops, because rank 2 left with an exception: no patience");
    // Without an exception, it is missed at the next communication.
    world.run([&](auto& rank) {
        reduced m;
        running r{rank, m};
        r.bind(0, ones);
        if (rank.index() == 2) return;
        has(message([&] { r.run().wait(); }), "rank 2 has left and does not take part in operation `all_reduce` of `z` (run 0)");
    });
}

TEST_CASE("worlds and graphs that do not fit") {
    CHECK_THROWS_AS(dv::host::world{0}, dv::world_error);
    dv::host::world three{3};
    const auto two_roles = [](maker& m, int width) {
        const int a = m.axis(&dv::tag_of<dp>);
        m.role(&dv::tag_of<sender>, {{a, width}});
        m.role(&dv::tag_of<receiver>, {{a, width}});
        const int v = m.value(&dv::tag_of<y>, tensor<float>(n), 0, true);
        m.compute(&twice_op, run_twice, {v}, {v}, 0);
        const int u = m.value(&dv::tag_of<z>, tensor<float>(n), 1, true);
        m.compute(&twice_op, run_twice, {u}, {u}, 1);
    };
    has(message([&] {
            three.run([&](auto& rank) {
                maker m;
                two_roles(m, 1);
                running{rank, m};
            });
        }),
        "the world has 3 ranks and the graph needs 2: role `sender` x 1, role `receiver` x 1");
    has(message([&] {
            three.run([&](auto& rank) {
                maker m;
                two_roles(m, 0);
                running{rank, m};
            });
        }),
        "the world has 3 ranks, which fits no width of axis `dp`: the graph needs 2 x width");
    // Ranks that were made from different graphs.
    has(message([&] {
            three.run([&](auto& rank) {
                reduced m;
                if (rank.index() == 1) {
                    m.g.symbols[0].type = tensor<float>(n + 1);
                    m.name = &dv::tag_of<other>;
                }
                running{rank, m};
            });
        }),
        "the plans of executor 0 differ: rank 1 (`other`) against rank 0 (`model`)");
    // Executors called in different order.
    dv::host::world two{2};
    has(message([&] {
            two.run([&](auto& rank) {
                reduced m1, m2;
                running r1{rank, m1}, r2{rank, m2};
                r1.bind(0, ones);
                r2.bind(0, ones);
                auto& first = rank.index() == 0 ? r1 : r2;
                first.run().wait();
            });
        }),
        "executors are called in different order: run number 0 of rank");
    // Two axes of open width: one is given.
    dv::host::world six{6};
    for (const bool given : {true, false}) {
        const std::string text = message([&] {
            six.run([&](auto& rank) {
                maker m;
                const int a = m.axis(&dv::tag_of<dp>), b = m.axis(&dv::tag_of<tp>);
                m.role(nullptr, {{a, 0}, {b, 0}});
                const int c = m.symbol(&dv::tag_of<counter>, tensor<std::int32_t>(), 0, ir::symbol_kind::axis_index);
                m.g.symbols[c].index_axis = 1u << b;
                const int stream_buffer = m.buffer(c, 0, ir::storage::constant);
                const int out = m.value(&dv::tag_of<y>, tensor<std::int32_t>(), 0, true);
                m.compute(&twice_op, [](stream, void* const* p) { *static_cast<std::int32_t*>(p[1]) = *static_cast<std::int32_t*>(p[0]); },
                          {stream_buffer}, {out});
                dv::engine_options o;
                if (given) o.widths = {dv::width<tp>(3)};
                running r{rank, m, o};
                CHECK(r.template read<std::int32_t>(r.run(), 1)[0] == rank.index() % 3);
            });
        });
        if (given) CHECK(text == "nothing thrown");
        else has(text, "axes `dp` and `tp` are both open");
    }
}

TEST_CASE("states persist, are shared by executors, and must be initialised") {
    dv::host::world world{1};
    world.run([&](auto& rank) {
        const auto counting = [](maker& m, bool from_store) {
            m.role(nullptr);
            const int c = m.symbol(&dv::tag_of<counter>, tensor<std::int32_t>(), 0, ir::symbol_kind::state);
            const int b = m.buffer(c, 0, ir::storage::state);
            const int out = m.value(&dv::tag_of<y>, tensor<std::int32_t>(), 0, true);
            ir::member inc;
            inc.op = &increment_op;
            inc.symbol = c;
            m.task(dv::stream_kind::compute, {inc}, {{0, 0, {{b, dv::access_mode::update}}}}, run_increment);
            m.compute(&twice_op, [](stream, void* const* p) { *static_cast<std::int32_t*>(p[1]) = *static_cast<std::int32_t*>(p[0]); }, {b},
                      {out});
            m.initialisers.push(from_store ? nullptr : +[](stream, void* const* p) { *static_cast<std::int32_t*>(p[0]) = 10; });
            m.from_store.push(from_store);
        };
        dv::store store{rank};
        dv::engine_options o;
        o.store = store.core();
        maker late;
        counting(late, true);
        running r2{rank, late, o};
        has(message([&] { r2.run(); }), "state `counter` is to come from the store, which does not hold it");
        maker m1;
        counting(m1, false);
        running r1{rank, m1, o};
        for (int i = 1; i <= 3; ++i) {
            CHECK(r1.template read<std::int32_t>(r1.run(), 1)[0] == 10 + 2 * i - 1);
            CHECK(r2.template read<std::int32_t>(r2.run(), 1)[0] == 10 + 2 * i);
        }
        r1.run();
        CHECK(store.read<dv::scalar<std::int32_t>>(named<counter>{})[0] == 17);
        store.write<dv::scalar<std::int32_t>>(named<counter>{}, std::vector<std::int32_t>{100});
        CHECK(r1.template read<std::int32_t>(r1.run(), 1)[0] == 101);
    });
}

TEST_CASE("a time limit that is shorter than an operation ends nothing by itself, an ending executor does") {
    dv::host::world world{2};
    const auto start = std::chrono::steady_clock::now();
    const std::string thrown = message([&] {
        world.run([&](auto& rank) {
            reduced m{run_sleepy, &sleepy_op};
            dv::engine_options o;
            o.time_limit = 50ms;
            running r{rank, m, o};
            r.bind(0, ones);
            r.run().wait();
        });
    });
    has(thrown, "rank 1 is in operation `sleepy` of `y`");
    CHECK(std::chrono::steady_clock::now() - start < 3s);
}

TEST_CASE("a ticket and a reading outlive their executor, an executor its world") {
    dv::host::world world{1};
    std::shared_ptr<dv::engine> kept;
    world.run([&](auto& rank) {
        single m;
        dv::basic_ticket t;
        {
            running r{rank, m};
            r.bind(0, ones);
            t = r.run();
            kept = r.e;
        }
        t.wait();
        float first = 0;
        dv::basic_reading{kept, t.record(), 1}.copy(&first, 0, sizeof first);
        CHECK(first == 2.0f);
    });
    has(message([&] { kept->run(); }), "rank 0 has left its world: the executor of `model` cannot run any more");
    kept->close(false);
}

TEST_CASE("run from two threads is an exception, and times are recorded") {
    dv::host::world world{1};
    world.run([&](auto& rank) {
        single m{1, run_short_sleep, &sleepy_op};
        running r{rank, m};
        r.bind(0, ones);
        r.e->record_times(true);
        r.run();
        std::string text;
        {
            std::thread second{[&] { text = message([&] { for (int i = 0; i < 20; ++i) r.run(); }); }};
            const std::string here = message([&] { for (int i = 0; i < 20; ++i) r.run(); });
            second.join();
            text += here;
        }
        has(text, "is used by two threads at once");
        const auto t = r.run();
        const auto& times = t.times();
        REQUIRE(times.size() == 2);
        CHECK(times[1].end_ns - times[1].start_ns >= 19'000'000);
        CHECK(times[1].start_ns >= times[0].end_ns);
    });
}

TEST_CASE("links that take time") {
    dv::host::world world{2, dv::host::link{10ms, 1e6}};
    has(world.links(), "links are simulated");
    world.run([&](auto& rank) {
        reduced m;
        running r{rank, m};
        r.bind(0, ones);
        r.e->record_times(true);
        const auto t = r.run();
        const auto& times = t.times();
        CHECK(times[2].end_ns - times[2].start_ns >= 10'000'000);
    });
}
