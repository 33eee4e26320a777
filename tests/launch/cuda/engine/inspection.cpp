// Inspection of the values of runs, on the simulated GPU: if a value is not finite, all ranks name the operation that computed it; values
// are written to files after a run. On streams and replayed.
#include "support/expect.hpp"
#include "support/observed.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>

#include <atomic>
#include <limits>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace inspection_test {

using namespace dv::ops;
struct x; struct y; struct z; struct w; struct total; struct left; struct right; struct dp;
using vector = dv::tensor<float, 8>;
using floats = std::vector<float>;

template <class Work>
void push(dv::cuda::stream s, Work work) {
    simulated::of(static_cast<cudaStream_t>(s.handle))->push(std::move(work));
}
struct reciprocal {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        push(s, [from, to] {
            for (std::int64_t i = 0; i < X::size; ++i) to[i] = 1 / from[i];
        });
    }
};
struct difference {
    static constexpr dv::tensor_type result(dv::tensor_type t, dv::tensor_type) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> a, dv::in<X> b, dv::out<X> to) {
        push(s, [a, b, to] {
            for (std::int64_t i = 0; i < X::size; ++i) to[i] = a[i] - b[i];
        });
    }
};
struct channels : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<y, reciprocal(x)>>,
    dv::on<right, dv::let<z, difference(y, y)>>,
    dv::let<total, all_reduce<sum>(y, z)>,
    dv::output<total>> {};
struct stateful : dv::graph<
    dv::input<x, vector>,
    dv::state<w, vector, dv::from_store>,
    dv::let<y, difference(x, w)>,
    dv::output<y>> {};
struct scattered : dv::graph<
    dv::mesh<dv::axis<dp, 2>>,
    dv::input<x, vector>,
    dv::let<y, reduce_scatter<sum, dp>(x)>,
    dv::output<y>> {};
struct summed : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::let<y, all_reduce<sum, dp>(x)>, dv::output<y>> {};
using block = dv::tensor<float, 64>;
struct joined : dv::graph<
    dv::input<x, block>,
    dv::let<y, reciprocal(x)>,
    dv::let<z, reciprocal(y)>,
    dv::let<w, concat<y, z>>,
    dv::let<total, reciprocal(w)>,
    dv::output<total>> {};
using options = dv::options<dv::in_flight<2>>;
using support::has, support::message;
}  // namespace inspection_test
using namespace inspection_test;

TEST_CASE("the first operation that makes an infinity is named on every rank") {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const simulated::scope simulation;
        std::string seen[2];
        const std::string thrown = message([&] {
            dv::cuda::world::local(2).run([&](auto& rank) {
                dv::executor<channels, options> step{rank, how, dv::check_finite, 20s};
                seen[rank.index()] = message([&] {
                    for (int run = 0; run < 5; ++run) {
                        floats mine(8, 2.0f);
                        if (run == 3) mine[6] = 0;
                        const auto t = step.bind(dv::name<x>, mine).run();
                        if (run < 3) CHECK(t.read(dv::name<total>).host() == floats(8, 0.5f));
                    }
                });
            });
        });
        CHECK(thrown == "nothing thrown");  // the ranks were told
        CHECK(seen[0] ==
              "dovetail: operation `reciprocal` of `y` failed on rank 0 (role `left`), run 3: element 6 of its result `y` is infinite");
        has(seen[1],
            "rank 1 stops, because operation `reciprocal` of `y` failed on rank 0 (role `left`), run 3: element 6 of its result `y` is infinite");
    }
}

// Ranks in processes get texts of the others without control characters.
TEST_CASE("it is named with its operation and statement where ranks exchange texts over NCCL, too") {
    const simulated::scope simulation;
    std::string seen[2], operation[2], statement[2];
    simulated::on_own_communicators(2, [&](ncclComm_t mine, int me) {
        dv::cuda::world::adopt(mine, me).run([&](auto& rank) {
            dv::executor<channels, options> step{rank, dv::check_finite, 20s};
            floats given(8, 2.0f);
            given[6] = 0;
            try {
                step.bind(dv::name<x>, given).run().wait();
            } catch (const dv::operation_error& e) {
                seen[me] = e.what();
                operation[me] = e.operation;
                statement[me] = e.statement;
            }
        });
    });
    const std::string failed = "operation `reciprocal` of `y` failed on rank 0 (role `left`), run 0: "
                               "element 6 of its result `y` is infinite";
    CHECK(seen[0] == "dovetail: " + failed);
    has(seen[1], "rank 1 stops, because " + failed);
    for (const int rank : {0, 1}) {
        CHECK(operation[rank] == "reciprocal");
        CHECK(statement[rank] == "y");
    }
}

namespace inspection_test {
std::atomic<int> loaded = 0;  // element types, as bits
}

// On a GPU the first launch of a kernel loads it, which may wait for a rank that waits for the loading.
TEST_CASE("the kernels of the check are loaded when the executor is made") {
    const simulated::scope simulation;
    dv::cuda::finite_check_kernel = [](cudaStream_t, dv::element e, const void*, std::int64_t, unsigned long long*) {
        loaded |= 1 << static_cast<int>(e);
    };
    dv::cuda::world::local(2).run([](auto& rank) {
        const dv::executor<channels, options> unchecked{rank, 20s};
        const dv::executor<channels, options> checked{rank, dv::check_finite, 20s};
        for (const auto e : {dv::element::float16, dv::element::bfloat16, dv::element::float32, dv::element::float64})
            CHECK((loaded >> static_cast<int>(e) & 1) == 1);
    });
}

TEST_CASE("a state that holds not a number, and an input that does") {
    const simulated::scope simulation;
    const float none = std::numeric_limits<float>::quiet_NaN();
    has(message([&] {
            dv::cuda::world::local(1).run([&](auto& rank) {
                dv::store store{rank};
                store.template write<vector>(dv::name<w>, floats{1, 1, none, 1, 1, 1, 1, 1});
                dv::executor<stateful> step{rank, store, dv::check_finite};
                step.bind(dv::name<x>, floats(8, 1.0f)).run();
            });
        }),
        "operation `difference` of `y` failed on rank 0, run 0: element 2 of the state `w` that it reads is NaN");
    has(message([&] {
            dv::cuda::world::local(1).run([&](auto& rank) {
                dv::store store{rank};
                store.template write<vector>(dv::name<w>, floats(8, 1.0f));
                dv::executor<stateful> step{rank, store, dv::check_finite};
                step.bind(dv::name<x>, floats{1, 1, 1, 1, 1, 1, 1, none}).run();
            });
        }),
        "operation `input` of `x` failed on rank 0, run 0: element 7 of its result `x` is NaN");
}

// Memory is not zero here but not a number, as if other values had been in it before.
TEST_CASE("of a reduction by copy engines, blocks that nobody has written are not looked at") {
    const auto reduce = []<class Graph>(Graph*, std::size_t results) {
        for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
            const simulated::scope simulation;
            dv::cuda::calls.memset = [](void* p, int, std::size_t n) { return std::memset(p, 0xff, n), cudaSuccess; };
            dv::cuda::world::local(2).run([&](auto& rank) {
                dv::executor<Graph, dv::options<dv::collective_transport<dv::transport::peer_copy>>> step{rank, how, dv::check_finite, 20s};
                for (int run = 0; run < 3; ++run) {
                    const auto t = step.bind(dv::name<x>, floats(8, static_cast<float>(run))).run();
                    CHECK(t.read(dv::name<y>).host() == floats(results, static_cast<float>(2 * run)));
                }
            });
        }
    };
    reduce(static_cast<scattered*>(nullptr), 4);
    reduce(static_cast<summed*>(nullptr), 8);
}

TEST_CASE("values of the first runs, on streams and replayed") {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const simulated::scope simulation;
        const support::dumping values{"y,total"};
        dv::cuda::world::local(2).run([&](auto& rank) {
            dv::executor<channels, options> step{rank, how, 20s};
            for (int run = 0; run < 6; ++run) step.bind(dv::name<x>, floats(8, static_cast<float>(run + 1))).run();
        });
        CHECK(values.files().size() == 2 * 4 * 2);
        for (const std::string& name : values.files())
            CHECK(values.read<float>(name, "{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }") ==
                  floats(8, 1 / static_cast<float>(name[name.find("run") + 3] - '0' + 1)));
    }
}

TEST_CASE("what is made of parts, before it is read as a whole") {
    floats both(128, 0.25f);
    std::fill(both.begin() + 64, both.end(), 4.0f);
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const simulated::scope simulation;
        const support::dumping whole{"w"};
        dv::cuda::world::local(1).run([&](auto& rank) {
            dv::executor<joined, options> step{rank, how, dv::check_finite, 20s};
            step.bind(dv::name<x>, floats(64, 4.0f)).run();
        });
        CHECK(whole.read<float>("joined.w.run0.rank0.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (128,), }") == both);
    }
}
