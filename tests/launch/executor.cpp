// Executors of real graphs on host threads: names, bindings, states, roles and meshes, with the values of the sequential program.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include "support/expect.hpp"
#include "support/samples.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <thread>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {
namespace app {
using namespace dv::ops;
template <int> struct stage;
template <int> struct x;
template <int> struct y;
template <int> struct z;
struct a;
struct b;
struct c;
struct d;
struct in;
struct out;
struct dp;
struct tp;
struct count;
struct main_role;
struct staged;
struct back;

using row = dv::tensor<float, 4>;

struct slow_copy {  // long enough to be overtaken
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        std::this_thread::sleep_for(15ms);
        std::copy(from.begin(), from.end(), to.begin());
    }
};
struct fails {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<X>) {
        throw std::runtime_error{"no such file"};
    }
};
struct plus_one {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::inout<X> t) {
        for (auto& e : t) e += 1;
    }
};
struct with_scratch {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    static constexpr std::int64_t workspace(dv::tensor_type t) { return t.bytes(); }
    template <class X>
    static void launch(dv::host::stream s, dv::in<X> from, dv::out<X> to) {
        if (s.workspace == nullptr || s.workspace_bytes < X::bytes) throw std::runtime_error{"no workspace"};
        auto* scratch = static_cast<float*>(s.workspace);
        std::copy(from.begin(), from.end(), scratch);
        std::reverse_copy(scratch, scratch + X::size, to.begin());
    }
};

// A ring of three roles: each doubles and sends on; the first adds what comes back.
struct event_slot : dv::graph<
    dv::input<in, row>,
    dv::on<stage<0>, dv::let<y<0>, add(in, in)>, dv::let<out, add(y<2>, in)>>,
    dv::on<stage<1>, dv::let<y<1>, add(y<0>, y<0>)>>,
    dv::on<stage<2>, dv::let<y<2>, add(y<1>, y<1>)>>,
    dv::output<out>> {};

// Micro-batches through two stages.
template <int I> using first_stage = dv::let<y<I>, slow_copy(x<I>)>;
template <int I> using second_stage = dv::let<z<I>, add(slow_copy(y<I>), y<I>)>;
template <int I> using micro_batch = dv::input<x<I>, row>;
struct pipeline : dv::graph<
    dv::repeat<micro_batch, 4>,
    dv::on<stage<0>, dv::repeat<first_stage, 4>>,
    dv::on<stage<1>, dv::repeat<second_stage, 4>>,
    dv::output<dv::all<4, z>>> {};

// Three ways to the same sum along an axis of open width, beside the coordinate.
template <int Lanes>
struct sums : dv::graph<
    dv::mesh<dv::axis<dp, Lanes>>,
    dv::input<in, row>,
    dv::let<a, all_reduce<sum, dp>(in)>,
    dv::let<b, broadcast<dp, root_index<0>>(reduce<sum, dp, root_index<0>>(in))>,
    dv::let<c, all_gather<dp>(reduce_scatter<sum, dp>(in))>,
    dv::let<d, add(shift<dp, 1>(in), shift<dp, -1, zero_edge>(in))>,
    dv::output<a, b, c, d>> {};

// Over roles: scatter from a root that does not receive, gather on it.
struct spread : dv::graph<
    dv::input<in, row>,
    dv::on<main_role, dv::let<a, with_scratch(in)>>,
    dv::let<b, scatter<to<stage<0>, stage<1>>>(a)>,
    dv::on<stage<0>, dv::let<y<0>, add(b, b)>>,
    dv::on<stage<1>, dv::let<y<1>, add(add(b, b), b)>>,
    dv::let<out, gather<root<stage<1>>>(y<0>, y<1>)>,
    dv::let<c, all_reduce<maximum>(y<0>, y<1>)>,
    dv::output<out, c>> {};

struct counting : dv::graph<
    dv::state<count, dv::tensor<float, 2>, constant<10>>,
    dv::update<count, plus_one(count)>,
    dv::let<out, copy(count)>,
    dv::output<out>> {};
struct counting_on : dv::graph<
    dv::state<count, dv::tensor<float, 2>, dv::from_store>,
    dv::update<count, plus_one(count)>,
    dv::let<back, copy(count)>,
    dv::output<back>> {};

struct copies : dv::graph<
    dv::input<in, row, dv::pinned>,
    dv::let<a, add(from_host(in), from_host(in))>,
    dv::let<out, to_host(a)>,
    dv::output<out>> {};

// A state in one store, written slowly by one graph and read on the copy stream by another; a third uses its own store.
struct add_slowly {
    static constexpr dv::tensor_type result(dv::tensor_type to, dv::tensor_type) { return to; }
    template <class To>
    static void launch(dv::host::stream, dv::inout<To> to, dv::in<To> t) {
        std::this_thread::sleep_for(15ms);
        for (int i = 0; i < To::size; ++i) to[i] += t[i];
    }
};
struct writes_slowly : dv::graph<dv::input<in, row>, dv::state<count, row, zeros>, dv::update<count, add_slowly(count, in)>> {};
struct writes_another : dv::graph<dv::input<in, row>, dv::state<staged, row, zeros>, dv::update<staged, copy(in)>> {};
struct reads_by_copy : dv::graph<
    dv::input<in, row>,
    dv::state<count, row, dv::from_store>,
    dv::let<back, from_host(to_host(count))>,
    dv::let<out, copy(copy(in))>,
    dv::output<back, out>> {};
using slow_links = dv::options<samples::slow_links>;

// Copies when it is let.
struct gated_copy {
    static inline std::atomic<int> open = 0, started = 0;
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        ++started;
        while (open == 0) std::this_thread::sleep_for(1ms);
        --open;
        std::copy(from.begin(), from.end(), to.begin());
    }
};
struct gated : dv::graph<dv::input<in, row>, dv::let<out, gated_copy(in)>, dv::output<out>> {};

struct failing : dv::graph<
    dv::input<in, row>,
    dv::on<stage<0>, dv::let<y<0>, slow_copy(in)>>,
    dv::on<stage<1>, dv::let<y<1>, slow_copy(fails(y<0>))>>,
    dv::output<y<1>>> {};

// Graphs of one world, which have roles in common.
struct forth : dv::graph<dv::input<in, row>, dv::on<stage<0>, dv::let<a, add(in, in)>>, dv::on<stage<1>, dv::let<out, copy(a)>>,
                         dv::output<out>> {};
struct reversed : dv::graph<dv::input<in, row>, dv::on<stage<1>, dv::let<a, add(in, in)>>, dv::on<stage<0>, dv::let<out, copy(a)>>,
                            dv::output<out>> {};
struct reversed_in_order
    : dv::graph<dv::roles<stage<0>, stage<1>>, dv::input<in, row>, dv::on<stage<1>, dv::let<a, add(in, in)>>,
                dv::on<stage<0>, dv::let<out, copy(a)>>, dv::output<out>> {};
struct others : dv::graph<dv::input<in, row>, dv::on<main_role, dv::let<a, copy(in)>>, dv::on<stage<1>, dv::let<out, copy(a)>>,
                          dv::output<out>> {};
struct on_both : dv::graph<dv::on<stage<2>, dv::mesh<dv::axis<dp, 2>>, dv::input<in, row>, dv::let<out, copy(in)>>, dv::output<out>> {};
struct wider : dv::graph<dv::on<stage<1>, dv::mesh<dv::axis<dp, 2>>, dv::input<in, row>, dv::let<out, copy(in)>>, dv::output<out>> {};
}  // namespace app
using namespace app;

using support::message;
using values = std::vector<float>;
const values ramp{1, 2, 3, 4};
values times(float f, const values& v) {
    values w = v;
    for (float& e : w) e *= f;
    return w;
}
}  // namespace

TEST_CASE_TEMPLATE("a ring of roles, overlapped, sequential and single_rank", Options, dv::options<>, dv::options<dv::overlap<false>>) {
    dv::host::world{3}.run([](auto& rank) {
        dv::executor<event_slot, Options> step{rank};
        step.bind(dv::name<in>, ramp);
        for (int i = 0; i < 3; ++i) {
            const auto t = step.run();
            t.wait_for(10s);
            if (step.is(dv::name<stage<0>>)) CHECK(t.read(dv::name<out>).host() == times(9, ramp));
            else CHECK_THROWS_AS(t.read(dv::name<out>), dv::usage_error);
            CHECK(rank.is(dv::name<stage<2>>) == (rank.index() == 2));
        }
    });
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<dv::single_rank<event_slot>, Options> step{rank};
        step.bind(dv::name<in>, ramp);
        CHECK(step.run().read(dv::name<out>).host() == times(9, ramp));
        CHECK(step.is(dv::name<stage<2>>));
    });
}

TEST_CASE("a role is on the same ranks in all graphs of a world") {
    dv::host::world{2}.run([](auto& rank) {
        const std::string made = ", of which executors are made on rank 0: ";  // said by the first of the ranks, and told to all
        dv::executor<forth> step{rank};
        CHECK(message([&] { dv::executor<reversed>{rank}; }) ==
              "dovetail: role `stage<1>` is on rank 1 in `forth` and on rank 0 in `reversed`" + made +
                  "list the roles in one order, by dv::roles<...> in both graphs and without dv::roles_by_links");
        CHECK(message([&] { dv::executor<wider>{rank}; }) ==
              "dovetail: role `stage<1>` is on rank 1 in `forth` and on ranks 0 to 1 in `wider`" + made +
                  "give the role equally many ranks in both graphs");
        // Graphs that agree, or have no role in common, are not refused, also after these errors.
        dv::executor<reversed_in_order> back{rank};
        dv::executor<others> beside{rank};
        dv::executor<on_both> both{rank};
        CHECK(rank.is(dv::name<stage<0>>) == (rank.index() == 0));
        CHECK(rank.is(dv::name<stage<1>>) == (rank.index() == 1));
        CHECK(rank.is(dv::name<main_role>) == (rank.index() == 0));
        CHECK(rank.is(dv::name<stage<2>>));
        back.bind(dv::name<in>, ramp);
        const auto t = back.run();
        if (rank.is(dv::name<stage<0>>)) CHECK(t.read(dv::name<out>).host() == times(2, ramp));
        t.wait();
    });
    // Of an executor that exists no more, unless the other has its store.
    dv::host::world{2}.run([](auto& rank) {
        dv::store store{rank};
        { dv::executor<forth> step{rank, store}; }
        CHECK(rank.is(dv::name<stage<1>>) == (rank.index() == 1));
        CHECK(message([&] { dv::executor<reversed>(rank, store); }).find("role `stage<1>` is on rank 1 in `forth`") != std::string::npos);
        { dv::executor<reversed>{rank}; }
        CHECK(rank.is(dv::name<stage<1>>) == (rank.index() == 0));
        dv::executor<forth> again{rank};
        CHECK(rank.is(dv::name<stage<1>>) == (rank.index() == 1));
    });
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<dv::single_rank<forth>> one{rank};
        dv::executor<dv::single_rank<reversed>> other{rank};
        CHECK(rank.is(dv::name<stage<0>>));
        CHECK(rank.is(dv::name<stage<1>>));
    });
}

TEST_CASE("a pipeline with runs in flight") {
    dv::host::world{2}.run([](auto& rank) {
        using options = dv::options<dv::in_flight<3>, dv::channel_slots<2>>;
        dv::executor<pipeline, options> step{rank, 10s};
        for (int run = 0; run < 9; run += 3) {
            std::vector<dv::ticket<pipeline>> tickets;
            for (int k = 0; k < 3; ++k) {
                const auto f = static_cast<float>(run + k);
                step.bind(dv::name<x<0>>, times(f, ramp));  // about to die: taken over
                step.bind(dv::name<x<1>>, times(f + 1, ramp));
                step.bind(dv::name<x<2>>, std::array<float, 4>{f, f, f, f});
                step.bind(dv::name<x<3>>, times(f + 3, ramp));
                tickets.push_back(step.run());
            }
            if (rank.is(dv::name<stage<1>>))
                for (const int k : {2, 0, 1}) {
                    const auto f = static_cast<float>(run + k);
                    CHECK(tickets[k].read(dv::name<z<0>>).host() == times(2 * f, ramp));
                    CHECK(tickets[k].read(dv::name<z<2>>)[3] == 2 * f);
                    CHECK(tickets[k].read(dv::name<z<3>>).host() == times(2 * (f + 3), ramp));
                }
            dv::wait_all(tickets[0], tickets[1], tickets[2]);
        }
    });
}

TEST_CASE("collectives along an axis agree") {
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<sums<2>> step{rank};
        const values mine = times(static_cast<float>(rank.index() + 1), ramp);
        step.bind(dv::name<in>, mine.data(), 4);
        const auto t = step.run();
        CHECK(t.read(dv::name<a>).host() == times(3, ramp));
        CHECK(t.read(dv::name<b>).host() == times(3, ramp));
        CHECK(t.read(dv::name<c>).host() == times(3, ramp));
        CHECK(t.read(dv::name<d>).host() == times(rank.index() == 0 ? 4 : 1, ramp));
    });
    CHECK(message([] {
              dv::host::world{3}.run([](auto& rank) { dv::executor<sums<2>> step{rank}; });
          }).find("the world has 3 ranks and the graph needs 2") != std::string::npos);
}

TEST_CASE("scatter, gather and all_reduce over roles, with workspace; and single_rank") {
    const auto check = [](auto& step) {
        step.bind(dv::name<in>, ramp);
        const auto t = step.run();
        t.wait();
        if (step.is(dv::name<stage<1>>)) {
            CHECK(t.read(dv::name<out>).host() == values{8, 6, 6, 3});
            CHECK(t.read(dv::name<c>).host() == values{8, 6});
        }
    };
    dv::host::world{3}.run([&](auto& rank) {
        dv::executor<spread> step{rank};
        check(step);
    });
    dv::host::world{1}.run([&](auto& rank) {
        dv::executor<dv::single_rank<spread>> step{rank};
        check(step);
    });
}

TEST_CASE("a state shared by two graphs through a store") {
    dv::host::world{1}.run([](auto& rank) {
        dv::store store{rank};
        dv::executor<counting_on> two{rank, store};
        CHECK(message([&] { two.run(); }).find("`count` is to come from the store") != std::string::npos);
        dv::executor<counting> one{rank, store};
        for (int i = 1; i < 4; ++i) {
            const auto t = one.run();
            const auto u = two.run();
            CHECK(t.read(dv::name<out>)[0] == static_cast<float>(10 + 2 * i - 1));
            CHECK(u.read(dv::name<back>)[1] == static_cast<float>(10 + 2 * i));
        }
        CHECK(one.read_state(dv::name<count>) == values{16, 16});
        store.write<dv::tensor<float, 2>>(dv::name<count>, values{1, 2});
        CHECK(two.run().read(dv::name<back>).host() == values{2, 3});
        one.write_state(dv::name<count>, values{5, 6});
        CHECK(store.read<dv::tensor<float, 2>>(dv::name<count>) == values{5, 6});
        dv::executor<counting> own{rank};
        CHECK(own.run().read(dv::name<out>)[0] == 11.0f);
    });
}

TEST_CASE("a reader goes behind the writer of its states, whatever runs between them") {
    dv::host::world{1}.run([](auto& rank) {
        dv::store store{rank};
        dv::executor<writes_slowly, slow_links> writer{rank, store};
        dv::executor<writes_another, slow_links> other{rank};
        dv::executor<reads_by_copy, slow_links> reader{rank, store};
        writer.bind(dv::name<in>, ramp), other.bind(dv::name<in>, ramp), reader.bind(dv::name<in>, ramp);
        for (int run = 1; run < 4; ++run) {
            writer.run();
            other.run();
            CHECK(reader.run().read(dv::name<back>).host() == times(static_cast<float>(run), ramp));
        }
    });
}

TEST_CASE("pinned memory, and a pointer used in place") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<copies> step{rank};
        values mine = ramp;
        step.bind(dv::name<in>, dv::device_pointer{mine.data(), 4});
        CHECK(step.run().read(dv::name<out>).host() == times(2, ramp));
        for (float& e : mine) e *= 2;
        CHECK(step.run().read(dv::name<out>).host() == times(4, ramp));
        CHECK(message([&] { step.bind(dv::name<in>, mine.data(), 3); }).find("`in` is bound to 3 elements and has 4") != std::string::npos);
        dv::executor moved{std::move(step)};
        CHECK(moved.run().read(dv::name<out>).host() == times(4, ramp));
        CHECK_THROWS_AS(step.run(), dv::usage_error);
    });
}

TEST_CASE("inputs are not released while an operation may still read them") {
    dv::host::world{1}.run([](auto& rank) {
        using options = dv::options<dv::in_flight<2>>;
        dv::executor<gated, options> step{rank};
        gated_copy::open = gated_copy::started = 0;
        values mine = ramp;
        step.bind(dv::name<in>, dv::device_pointer{mine.data(), 4});
        const auto t = step.run();
        CHECK(!t.inputs_released());  // whether it has begun or not
        while (gated_copy::started < 1) std::this_thread::yield();
        CHECK(!t.inputs_released());
        const auto u = step.run();
        CHECK(!u.inputs_released());
        ++gated_copy::open;
        CHECK(t.read(dv::name<out>).host() == ramp);
        CHECK(t.inputs_released());
        while (gated_copy::started < 2) std::this_thread::yield();
        CHECK(!u.inputs_released());  // of the same memory
        ++gated_copy::open;
        u.wait();
        CHECK(u.inputs_released());
        for (float& e : mine) e = 0;
        CHECK(u.read(dv::name<out>).host() == ramp);
        // Host memory is copied first: it is released although the operation has not ended.
        step.bind(dv::name<in>, ramp);
        const auto v = step.run();
        while (gated_copy::started < 3) std::this_thread::yield();
        CHECK(v.inputs_released());
        CHECK(!v.ready());
        ++gated_copy::open;
        CHECK(v.read(dv::name<out>).host() == ramp);
    });
}

TEST_CASE("an operation that fails ends all ranks, an exception passes with work in flight") {
    CHECK(message([] {
              dv::host::world{2}.run([](auto& rank) {
                  dv::executor<failing> step{rank};
                  step.bind(dv::name<in>, ramp);
                  step.run().wait();
                  step.run().wait();
              });
          }) == "dovetail: operation `fails` of `y<1>` failed on rank 1 (role `stage<1>`), run 0: no such file");
    CHECK(message([] {
              dv::host::world{2}.run([](auto& rank) {
                  dv::executor<pipeline> step{rank};
                  step.bind(dv::name<x<0>>, ramp).bind(dv::name<x<1>>, ramp).bind(dv::name<x<2>>, ramp).bind(dv::name<x<3>>, ramp);
                  step.run();
                  if (rank.index() == 1) throw std::logic_error{"on purpose"};
                  step.run();
                  step.run().wait();
              });
          }) == "on purpose");
}

TEST_CASE("an executor is not copied, and names are checked when compiling") {
    static_assert(!std::is_copy_constructible_v<dv::executor<event_slot>>);
    static_assert(std::is_nothrow_move_constructible_v<dv::executor<event_slot>>);
    static_assert(dv::plan::symbol_of<event_slot, out> >= 0);
}
