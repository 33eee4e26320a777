// Inspection of the values of runs: dv::check_finite names the first operation that computes a value that is not finite, even if another
// rank notices it later; DOVETAIL_DUMP writes values to files that NumPy reads.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include "support/expect.hpp"
#include "support/observed.hpp"

#include <limits>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {
namespace app {
using namespace dv::ops;
struct x; struct w; struct y; struct z; struct s; struct total; struct left; struct right; struct dp;
template <int> struct h;
using row = dv::tensor<float, 4>;

struct reciprocal {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        for (std::int64_t i = 0; i < X::size; ++i) to[i] = 1 / from[i];
    }
};
// x -> 1 / x on the left; the right subtracts it from itself, and the left gets the sum of both.
struct channels : dv::graph<
    dv::input<x, row>,
    dv::on<left, dv::let<y, reciprocal(x)>>,
    dv::on<right, dv::let<z, subtract(y, y)>>,
    dv::let<total, all_reduce<sum>(y, z)>,
    dv::output<total>> {};
struct stateful : dv::graph<
    dv::input<x, row>,
    dv::state<w, row, dv::from_store>,
    dv::let<y, add(x, w)>,
    dv::update<w, add(w, x)>,
    dv::output<y>> {};
struct nested : dv::graph<dv::input<x, row>, dv::let<y, subtract(reciprocal(x), x)>, dv::output<y>> {};
struct rooted : dv::graph<
    dv::mesh<dv::axis<dp, 2>>,
    dv::input<x, row>,
    dv::let<y, reciprocal(x)>,
    dv::let<z, reduce<sum, dp, root_index<1>>(y)>,
    dv::output<z>> {};
template <class T>
struct of_type : dv::graph<dv::input<x, dv::tensor<T, 2, 3>>, dv::let<y, add(x, x)>, dv::output<y>> {};
struct in_blocks : dv::graph<dv::input<x, dv::tensor<float, 2, 64>>, dv::split<2, dv::let<h<1>, add(x, x)>, dv::let<y, add(h<1>, h<1>)>>,
                             dv::output<y>> {};
struct h_1;
struct alike_names : dv::graph<dv::input<x, row>, dv::let<h<1>, add(x, x)>, dv::let<h_1, add(h<1>, h<1>)>, dv::output<h_1>> {};
struct joined : dv::graph<dv::input<x, dv::tensor<float, 64>>, dv::let<y, add(x, x)>, dv::let<z, add(y, y)>, dv::let<s, concat<y, z>>,
                          dv::let<w, add(s, s)>, dv::output<w>> {};
template <int I> using layer = dv::let<h<I + 1>, add(h<I>, x)>;
struct family : dv::graph<dv::input<x, row>, dv::let<h<0>, add(x, x)>, dv::repeat<layer, 3>, dv::output<h<3>>> {};
}  // namespace app
using namespace app;
using support::dumping, support::has, support::message;
using floats = std::vector<float>;
}  // namespace

TEST_CASE_TEMPLATE("the first operation that makes an infinity, on another rank than its consequences", Options, dv::options<>,
                   dv::options<dv::overlap<false>>) {
    for (const int bad : {0, 2}) {
        bool reached = false;
        try {
            dv::host::world{2}.run([&](auto& rank) {
                dv::executor<channels, Options> step{rank, dv::check_finite, 20s};
                step.bind(dv::name<x>, floats{1, 2, 3, 4});
                for (int run = 0; run < 3; ++run) {
                    floats mine(4, 1.0f);
                    if (run == bad) mine[3] = 0;
                    step.bind(dv::name<x>, mine).run().wait();
                }
                reached = true;
            });
        } catch (const dv::operation_error& e) {
            CHECK(e.operation == "reciprocal");
            CHECK(e.statement == "y");
            CHECK(e.rank == 0);
            has(e.what(), "operation `reciprocal` of `y` failed on rank 0 (role `left`), run " + std::to_string(bad) +
                              ": element 3 of its result `y` is infinite");
        }
        CHECK(!reached);
    }
}

TEST_CASE("not a number in an input, in a state, in a nested result") {
    const float none = std::numeric_limits<float>::quiet_NaN();
    has(message([&] {
            dv::host::world{1}.run([&](auto& rank) {
                dv::executor<nested> step{rank, dv::check_finite};
                step.bind(dv::name<x>, floats{1, none, 3, 4}).run();
            });
        }),
        "operation `input` of `x` failed on rank 0, run 0: element 1 of its result `x` is NaN");
    has(message([&] {
            dv::host::world{1}.run([&](auto& rank) {
                dv::executor<nested> step{rank, dv::check_finite};
                step.bind(dv::name<x>, floats{1, 1, 0, 0}).run();
            });
        }),
        "operation `reciprocal` of `y` failed on rank 0, run 0: element 2 of its result is infinite");
    has(message([&] {
            dv::host::world{1}.run([&](auto& rank) {
                dv::store store{rank};
                store.write<row>(dv::name<w>, floats{1, 1, 1, none});
                dv::executor<stateful> step{rank, store, dv::check_finite};
                step.bind(dv::name<x>, floats(4, 1.0f)).run();
            });
        }),
        "run 0: element 3 of the state `w` that it reads is NaN");
}

TEST_CASE("what is finite runs on, and what is off the root is not looked at") {
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<rooted> step{rank, dv::check_finite};
        for (int run = 1; run < 4; ++run) {
            const auto t = step.bind(dv::name<x>, floats(4, static_cast<float>(run))).run();
            CHECK(t.ready());  // run has waited
            if (rank.index() == 1) CHECK(t.read(dv::name<z>).host() == floats(4, 2.0f / static_cast<float>(run)));
        }
    });
}

TEST_CASE_TEMPLATE("every floating type", T, dv::half, dv::bfloat16, float, double) {
    for (const float bad :
         {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
        has(message([&] {
                dv::host::world{1}.run([&](auto& rank) {
                    dv::executor<of_type<T>> step{rank, dv::check_finite};
                    std::vector<T> mine(6, T(1.0f));
                    step.bind(dv::name<x>, mine).run();
                    mine[5] = T(bad);
                    step.bind(dv::name<x>, mine).run();
                });
            }),
            std::string{"run 1: element 5 of its result `x` is "} + (bad != bad ? "NaN" : "infinite"));
}

TEST_CASE("ranks that differ in what they check are refused") {
    has(message([] {
            dv::host::world{2}.run([](auto& rank) {
                if (rank.index() == 0) dv::executor<rooted> step{rank, dv::check_finite};
                else dv::executor<rooted> step{rank};
            });
        }),
        "values checked");
}

TEST_CASE("values of the first runs as files of NumPy") {
    const dumping all{"total, y,unknown<1, 2>"};
    CHECK(support::printed([] {
              dv::host::world{2}.run([](auto& rank) {
                  dv::executor<channels> step{rank};
                  for (int run = 0; run < 6; ++run) step.bind(dv::name<x>, floats{1, 2, 4, static_cast<float>(run + 1)}).run().wait();
              });
          }) == "dovetail: DOVETAIL_DUMP: no operation that ran makes a value `unknown<1, 2>` or reads it as a whole\n");
    // `y` is made on the left and received on the right; `total` is on both.
    std::vector<std::string> wanted;
    for (const char* name : {"total", "y"})
        for (int run = 0; run < 4; ++run)
            for (int rank = 0; rank < 2; ++rank)
                wanted.push_back(std::string{"channels."} + name + ".run" + std::to_string(run) + ".rank" + std::to_string(rank) + ".npy");
    CHECK(all.files() == wanted);
    for (int run = 0; run < 4; ++run)
        for (int rank = 0; rank < 2; ++rank)
            CHECK(all.read<float>("channels.y.run" + std::to_string(run) + ".rank" + std::to_string(rank) + ".npy",
                                  "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }") ==
                  floats{1, 0.5f, 0.25f, 1 / static_cast<float>(run + 1)});
}

TEST_CASE("families, states and other element types as files") {
    {
        const dumping some{"h<2>,x"};
        dv::host::world{1}.run([](auto& rank) {
            dv::executor<family> step{rank};
            step.bind(dv::name<x>, floats(4, 1.0f)).run().wait();
        });
        CHECK(some.files() == std::vector<std::string>{"family.h_2.run0.rank0.npy", "family.x.run0.rank0.npy"});
        CHECK(some.read<float>("family.h_2.run0.rank0.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }") ==
              floats(4, 4.0f));
    }
    {
        const dumping members{"h"};
        dv::host::world{1}.run([](auto& rank) {
            dv::executor<family> step{rank};
            step.bind(dv::name<x>, floats(4, 1.0f)).run().wait();
        });
        CHECK(members.files().size() == 4);
    }
    {
        const dumping states{"w"};
        dv::host::world{1}.run([](auto& rank) {
            dv::store store{rank};
            store.write<row>(dv::name<w>, floats{1, 2, 3, 4});
            dv::executor<stateful> step{rank, store};
            step.bind(dv::name<x>, floats(4, 1.0f)).run().wait();
        });
        CHECK(states.read<float>("stateful.w.run0.rank0.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }") ==
              floats{2, 3, 4, 5});
    }
    const dumping typed{"y"};
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<of_type<dv::bfloat16>> step{rank};
        step.bind(dv::name<x>, std::vector<dv::bfloat16>(6, dv::bfloat16{1.5f})).run().wait();
        dv::executor<of_type<double>> wide{rank};
        wide.bind(dv::name<x>, std::vector<double>(6, 0.1)).run().wait();
    });
    CHECK(typed.read<float>("of_type_bfloat16.y.run0.rank0.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") ==
          floats(6, 3.0f));
    CHECK(typed.read<double>("of_type_double.y.run0.rank0.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }") ==
          std::vector<double>(6, 0.2));
}

TEST_CASE("two executors of one graph write files of their own") {
    const dumping both{"y"};
    dv::host::world{2}.run([](auto& rank) {
        for (const float given : {1.0f, 2.0f}) {
            dv::executor<channels> step{rank};
            step.bind(dv::name<x>, floats(4, given)).run().wait();
        }
    });
    CHECK(both.files() == std::vector<std::string>{"channels-2.y.run0.rank0.npy", "channels-2.y.run0.rank1.npy",
                                                   "channels.y.run0.rank0.npy", "channels.y.run0.rank1.npy"});
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }";
    for (const char* rank : {"0", "1"}) {
        CHECK(both.read<float>(std::string{"channels.y.run0.rank"} + rank + ".npy", header) == floats(4, 1.0f));
        CHECK(both.read<float>(std::string{"channels-2.y.run0.rank"} + rank + ".npy", header) == floats(4, 0.5f));
    }
}

TEST_CASE("blocks of a value have files of their own, and so have values whose names differ in other characters only") {
    {
        const dumping blocks{"h,y"};
        dv::host::world{1}.run([](auto& rank) {
            dv::executor<in_blocks> step{rank};
            floats given(128, 1.0f);
            std::fill(given.begin() + 64, given.end(), 2.0f);
            step.bind(dv::name<x>, given).run().wait();
        });
        CHECK(blocks.files() == std::vector<std::string>{"in_blocks.h_1_1_2.run0.rank0.npy", "in_blocks.h_1_2_2.run0.rank0.npy",
                                                         "in_blocks.y_1_2.run0.rank0.npy", "in_blocks.y_2_2.run0.rank0.npy"});
        const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 64), }";
        CHECK(blocks.read<float>("in_blocks.h_1_1_2.run0.rank0.npy", header) == floats(64, 2.0f));
        CHECK(blocks.read<float>("in_blocks.y_2_2.run0.rank0.npy", header) == floats(64, 8.0f));
    }
    const dumping alike{"h,h_1"};
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<alike_names> step{rank};
        step.bind(dv::name<x>, floats(4, 1.0f)).run().wait();
    });
    CHECK(alike.files() == std::vector<std::string>{"alike_names.h_1-2.run0.rank0.npy", "alike_names.h_1.run0.rank0.npy"});
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }";
    CHECK(alike.read<float>("alike_names.h_1.run0.rank0.npy", header) == floats(4, 2.0f));
    CHECK(alike.read<float>("alike_names.h_1-2.run0.rank0.npy", header) == floats(4, 4.0f));
}

TEST_CASE("what is made of parts is written as a whole when it is read") {
    const dumping whole{"s,z"};
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<joined> step{rank};
        step.bind(dv::name<x>, floats(64, 1.0f)).run().wait();
    });
    CHECK(whole.files() == std::vector<std::string>{"joined.s.run0.rank0.npy", "joined.z.run0.rank0.npy"});
    floats both(128, 2.0f);
    std::fill(both.begin() + 64, both.end(), 4.0f);
    CHECK(whole.read<float>("joined.s.run0.rank0.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (128,), }") == both);
}

TEST_CASE("the names of a list") {
    CHECK(dv::observe::names_in("y, weight<3>,grid<1, 2>,,") == std::vector<std::string>{"y", "weight<3>", "grid<1, 2>"});
    CHECK(dv::observe::is_meant("grid<1,2>", "grid<1, 2>"));
    CHECK(dv::observe::is_meant("grid", "grid<1, 2>"));
    CHECK(!dv::observe::is_meant("grid<1>", "grid<1, 2>"));
    CHECK(!dv::observe::is_meant("g", "grid"));
}
