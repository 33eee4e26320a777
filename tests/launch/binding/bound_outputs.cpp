// Outputs bound to memory of the caller, which runs write, on the host backend. The same on a simulated GPU: launch/cuda/bound_outputs.
#include "support/dlpack.hpp"
#include "support/expect.hpp"
#include "support/samples.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>

#include <atomic>
#include <thread>

namespace dv = dovetail;
using namespace samples;
using namespace std::chrono_literals;
using support::has;
using support::message;
using floats = std::vector<float>;

namespace {
namespace app {
using namespace dv::ops;
using samples::vector;
struct x;
struct y;
struct z;
struct h;
struct first;
struct second;

std::atomic<bool> gate = true;  // closed while false
struct behind_gate {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        while (!gate.load()) std::this_thread::sleep_for(1ms);
        std::copy(from.begin(), from.end(), to.begin());
    }
};
struct doubled : dv::graph<dv::input<x, vector>, dv::let<y, add(x, x)>, dv::output<y>> {};
struct late : dv::graph<dv::input<x, vector>, dv::let<y, behind_gate(add(x, x))>, dv::output<y>> {};
// `y` is made in the memory of `h`, which is also read before.
struct in_place : dv::graph<dv::input<x, vector>, dv::let<h, add(x, x)>, dv::let<y, relu(h)>, dv::output<y>> {};
struct two : dv::graph<dv::input<x, vector>, dv::let<y, add(x, x)>, dv::let<z, multiply(y, x)>, dv::output<y, z>> {};
struct joined : dv::graph<dv::input<x, dv::tensor<float, 128>>, dv::let<first, relu(rows<0, 2>(x))>,
                          dv::let<second, add(rows<1, 2>(x), rows<1, 2>(x))>, dv::let<y, concat<first, second>>,
                          dv::output<y>> {};
// Two streams: `y` is made on the compute stream, `h` on the copy stream.
struct late_beside : dv::graph<dv::input<x, vector>, dv::input<z, vector>, dv::let<y, behind_gate(add(x, x))>, dv::let<h, to_host(z)>,
                               dv::output<y, h>> {};
// The other way round; `h` comes first, and `y` beside `first`.
struct fetched_late : dv::graph<dv::input<x, vector>, dv::input<z, vector>, dv::let<h, behind_gate(z)>,
                                dv::after<h, dv::let<y, to_host(x)>>, dv::let<first, add(h, h)>, dv::output<first, y>> {};
struct on_host : dv::graph<dv::input<x, vector>, dv::let<y, to_host(x)>, dv::output<y>> {};
struct reduced_to_first : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, vector>, dv::let<y, reduce<sum, tp, root_index<0>>(x)>,
                                    dv::output<y>> {};
struct sent : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<h, add(x, x)>>, dv::on<right, dv::let<y, copy(h)>>,
                        dv::output<h, y>> {};
using two_in_flight = dv::options<slow_links, dv::in_flight<2>>;
}  // namespace app

floats all(float v) { return floats(8, v); }

}  // namespace

TEST_CASE("a run writes an output where it is bound, and a reading reads it there") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::doubled> step{rank};
        floats mine(8, -1.0f);
        step.bind(dv::name<app::x>, all(1.0f)).bind_output(dv::name<app::y>, mine.data(), 8);
        const auto t = step.run();
        {
            const auto y = t.read(dv::name<app::y>);
            CHECK(mine == all(2.0f));
            CHECK(y.data() == mine.data());
            CHECK(y.host() == mine);
        }
        step.bind(dv::name<app::x>, all(2.0f));
        step.run().wait();
        CHECK(mine == all(4.0f));
        step.unbind_output(dv::name<app::y>).bind(dv::name<app::x>, all(3.0f));
        CHECK(step.run().read(dv::name<app::y>).host() == all(6.0f));
        CHECK(mine == all(4.0f));
    });
}

TEST_CASE("DLPack's tensors are written") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::doubled> step{rank};
        step.bind(dv::name<app::x>, all(1.0f));
        floats mine(8, -1.0f);
        std::int64_t shape[] = {8};
        DLManagedTensor managed{{mine.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0}, nullptr, nullptr};
        step.bind_output(dv::name<app::y>, managed.dl_tensor).run().wait();
        CHECK(mine == all(2.0f));
        std::fill(mine.begin(), mine.end(), -1.0f);
        step.bind_output(dv::name<app::y>, &managed).run().wait();
        CHECK(mine == all(2.0f));
    });
}

TEST_CASE("values that share their memory with an output lie where it is bound") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::in_place> step{rank};
        floats mine(8, -1.0f);
        step.bind(dv::name<app::x>, all(-1.0f)).bind_output(dv::name<app::y>, mine.data(), 8).run().wait();
        CHECK(mine == all(0.0f));
        dv::executor<app::joined> rows{rank};
        floats from(128), to(128, -1.0f), wanted;
        for (int i = 0; i < 128; ++i) from[static_cast<std::size_t>(i)] = static_cast<float>(i - 32);
        for (const float v : from) wanted.push_back(wanted.size() < 64 ? std::max(0.0f, v) : 2.0f * v);
        rows.bind(dv::name<app::x>, from).bind_output(dv::name<app::y>, to.data(), 128).run().wait();
        CHECK(to == wanted);
    });
}

TEST_CASE("runs in flight write the same memory in turn, and other executors of the rank read it in turn") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::late_beside, app::two_in_flight> step{rank, 20s};
        dv::executor<app::late_beside, app::two_in_flight> next{rank, 20s};
        floats mine(8, -1.0f);
        step.bind(dv::name<app::z>, all(0.0f)).bind_output(dv::name<app::y>, mine.data(), 8);
        next.bind(dv::name<app::x>, all(0.0f)).bind(dv::name<app::z>, dv::device_pointer{mine.data(), 8});
        for (int k = 0; k < 20; ++k) {
            app::gate = false;
            const auto a = step.bind(dv::name<app::x>, all(1.0f)).run();
            const auto b = next.run();
            const auto c = step.bind(dv::name<app::x>, all(2.0f)).run();
            const auto d = next.run();
            std::this_thread::sleep_for(1ms);
            CHECK(!b.ready());
            app::gate = true;
            CHECK(b.read(dv::name<app::h>).host() == all(2.0f));
            CHECK(d.read(dv::name<app::h>).host() == all(4.0f));
            CHECK(mine == all(4.0f));
        }
    });
}

TEST_CASE("an input is not overwritten before an earlier run has read it") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::fetched_late, app::two_in_flight> first{rank, 20s};
        dv::executor<app::doubled> second{rank, 20s};
        floats mine(8);
        second.bind(dv::name<app::x>, all(5.0f)).bind_output(dv::name<app::y>, mine.data(), 8);
        first.bind(dv::name<app::x>, dv::device_pointer{mine.data(), 8}).bind(dv::name<app::z>, all(0.0f));
        for (int k = 0; k < 20; ++k) {
            std::fill(mine.begin(), mine.end(), 1.0f);
            app::gate = false;
            const auto a = first.run();
            const auto b = second.run();
            std::this_thread::sleep_for(1ms);
            CHECK(!b.ready());
            app::gate = true;
            CHECK(a.read(dv::name<app::y>).host() == all(1.0f));
            b.wait();
            CHECK(mine == all(10.0f));
        }
    });
}

TEST_CASE("ranks without the output ignore the binding") {
    dv::host::world{2}.run([](auto& rank) {
        floats h(8, -1.0f), y(8, -1.0f);
        {
            dv::executor<app::sent, samples::copied> step{rank};
            step.bind(dv::name<app::x>, all(1.0f)).bind_output(dv::name<app::h>, h.data(), 8).bind_output(dv::name<app::y>, y.data(), 8);
            step.run().wait();
            support::expect(h, all(rank.index() == 0 ? 2.0f : -1.0f), "h", rank.index(), 0);
            support::expect(y, all(rank.index() == 1 ? 2.0f : -1.0f), "y", rank.index(), 0);
        }
        floats r(8, -1.0f);
        dv::executor<app::reduced_to_first> step{rank};
        step.bind(dv::name<app::x>, all(1.0f)).bind_output(dv::name<app::y>, r.data(), 8).run().wait();
        support::expect(r, all(rank.index() == 0 ? 2.0f : -1.0f), "y", rank.index(), 0);
    });
}

TEST_CASE("memory that does not fit is refused by name") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::two> step{rank};
        floats mine(16), odd(3);
        step.bind(dv::name<app::x>, dv::device_pointer{mine.data(), 8});
        const auto bound = [&](float* to, std::int64_t count) {
            return message([&] { step.bind_output(dv::name<app::y>, to, count); });
        };
        has(bound(mine.data(), 7), "output `y` is bound to a tensor of shape [7], and has shape [8], on rank 0");
        has(bound(nullptr, 8), "output `y` is bound to a null pointer, on rank 0");
        has(bound(reinterpret_cast<float*>(reinterpret_cast<char*>(mine.data()) + 1), 8),
            "output `y` is bound to a tensor at an address that is no multiple of the size of its elements, on rank 0");
        step.bind_output(dv::name<app::y>, mine.data() + 7, 8);
        has(message([&] { step.run(); }), "output `y` is bound to memory to which input `x` is bound too, on rank 0");
        step.bind_output(dv::name<app::y>, mine.data() + 8, 8).bind_output(dv::name<app::z>, mine.data() + 8, 8);
        has(message([&] { step.run(); }), "output `z` is bound to memory to which output `y` is bound too, on rank 0");
        step.unbind_output(dv::name<app::z>);
        CHECK(step.run().read(dv::name<app::z>).host() == all(0.0f));

        dv::executor<app::on_host> host{rank};
        has(message([&] { host.bind_output(dv::name<app::y>, odd.data(), 8); }),
            "output `y` lies in host memory and cannot be bound: read it, on rank 0");
    });
}

TEST_CASE("a reading holds an output where it was bound") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::doubled, app::two_in_flight> step{rank};
        floats mine(8), more(8);
        step.bind(dv::name<app::x>, all(1.0f)).bind_output(dv::name<app::y>, mine.data(), 8);
        {
            const auto y = step.run().read(dv::name<app::y>);
            has(message([&] { step.run(); }),
                "output `y` of run 0 would be overwritten where it was bound, and a reading holds it, on rank 0");
            step.bind_output(dv::name<app::y>, more.data(), 8).run().wait();
            CHECK(y.host() == more);
        }
        step.bind_output(dv::name<app::y>, mine.data(), 8).run().wait();
    });
}

TEST_CASE("what a later run has written over cannot be read as an earlier run's") {
    floats mine(8), more(8);
    dv::host::world{1}.run([&](auto& rank) {
        dv::executor<app::two, app::two_in_flight> step{rank};
        const auto first = step.bind(dv::name<app::x>, all(1.0f)).bind_output(dv::name<app::y>, mine.data(), 8).run();
        {
            const auto other = first.read(dv::name<app::z>);  // not of `y`, which the next run writes
            step.bind(dv::name<app::x>, all(2.0f)).run().wait();
            CHECK(other.host() == all(2.0f));
        }
        has(message([&] { static_cast<void>(first.read(dv::name<app::y>)); }),
            "the results of run 0 of `two` are gone: run 1 writes where they were bound, on rank 0");
        CHECK(first.read(dv::name<app::z>).host() == all(2.0f));
        const auto third = step.bind_output(dv::name<app::y>, more.data(), 8).run();
        step.bind_output(dv::name<app::y>, mine.data(), 8).run().wait();
        CHECK(third.read(dv::name<app::y>).host() == all(4.0f));
    });
}
