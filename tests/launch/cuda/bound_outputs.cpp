// Outputs bound to memory of a GPU that belongs to the caller, on the simulated GPU: operations or copies write them there, on streams and
// replayed, and nothing else of the rank is executed beside such a run.
#include "support/callers_gpu.hpp"
#include "support/expect.hpp"
#include "support/samples.hpp"

#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
using namespace samples;
using namespace std::chrono_literals;
using support::floats, support::gate, support::has, support::message, support::synchronise, support::target;

namespace {

std::atomic<bool> opened = true;
struct behind_gate {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        while (!opened.load()) std::this_thread::sleep_for(1ms);
        std::copy(from.begin(), from.end(), to.begin());
    }
};
struct late_on_second {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream s, dv::in<X> from, dv::out<X> to) {
        if (s.rank == 1) std::this_thread::sleep_for(5ms);
        std::copy(from.begin(), from.end(), to.begin());
    }
};
struct h;
struct z;
struct doubled : dv::graph<dv::input<x, vector>, dv::let<y, add(x, x)>, dv::output<y>> {};
// Two streams: `y` is made on the compute stream, `h` on the copy stream.
struct late_beside : dv::graph<dv::input<x, vector>, dv::input<z, vector>, dv::let<y, behind_gate(add(x, x))>, dv::let<h, to_host(z)>,
                               dv::output<y, h>> {};
// The other way round; `h` comes first, and `y` beside `a`.
struct fetched_late : dv::graph<dv::input<x, vector>, dv::input<z, vector>, dv::let<h, behind_gate(z)>,
                                dv::after<h, dv::let<y, to_host(x)>>, dv::let<a, add(h, h)>, dv::output<a, y>> {};
struct counted : dv::graph<dv::state<c, vector, zeros>, dv::update<c, add(c, c)>> {};  // on the compute stream alone
// `total` is what NCCL or copy engines move beside `b`; `a` what they read.
struct gathered_late : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, dv::tensor<float, 64>>, dv::let<a, late_on_second(add(x, x))>,
                          dv::let<total, all_gather<dp>(a)>, dv::let<b, relu(relu(relu(relu(x))))>, dv::output<a, b, total>> {};
const dv::replay_mode ways[] = {dv::replay_mode::never, dv::replay_mode::always};

floats all(float v) { return floats(8, v); }

}  // namespace

TEST_CASE("an output is made where it is bound, of other memory in each run") {
    for (const auto how : ways) {
        const simulated::scope simulation;
        simulated::run(1, [&](auto& rank) {
            dv::executor<doubled, samples::several> step{rank, how, 20s};
            const simulated::own_stream mine;
            target first, second;
            step.bind(dv::name<x>, all(1.0f)).bind_output(dv::name<y>, first.tensor);
            {
                const auto y_there = step.run().read(dv::name<y>);
                CHECK(y_there.data() == first.data);
                CHECK(first.values() == all(2.0f));
            }
            step.bind(dv::name<x>, all(2.0f)).bind_output(dv::name<y>, second.data, 8).enqueue(mine.s);
            step.bind(dv::name<x>, all(3.0f)).bind_output(dv::name<y>, first.tensor).enqueue(mine.s);
            synchronise(mine);
            CHECK(second.values() == all(4.0f));
            CHECK(first.values() == all(6.0f));
            step.bind(dv::name<x>, all(4.0f)).unbind_output(dv::name<y>);
            CHECK(step.run().read(dv::name<y>).host() == all(8.0f));
            CHECK(first.values() == all(6.0f));
        });
    }
}

TEST_CASE("runs that write the same memory, or read what another executor writes, do so in turn") {
    for (const auto how : ways)
        for (const bool between : {false, true}) {
            const simulated::scope simulation;
            opened = true;
            simulated::run(1, [&](auto& rank) {
                dv::executor<late_beside, samples::several> step{rank, how, 20s};
                dv::executor<late_beside, samples::several> next{rank, how, 20s};
                dv::executor<counted, samples::several> other{rank, how, 20s};
                target made;
                step.bind(dv::name<z>, all(0.0f)).bind_output(dv::name<y>, made.tensor);
                next.bind(dv::name<x>, all(0.0f)).bind(dv::name<z>, dv::device_pointer{made.data, 8});
                for (int k = 0; k < 5; ++k) {
                    const float v = static_cast<float>(k + 1);
                    opened = k == 0;  // the first runs are captured
                    step.bind(dv::name<x>, all(v)).run();
                    if (between) other.run();
                    const auto seen = next.run();
                    const auto again = step.bind(dv::name<x>, all(10.0f * v)).run();
                    std::this_thread::sleep_for(5ms);
                    CHECK((k == 0 || !seen.ready()));
                    opened = true;
                    CHECK(seen.read(dv::name<h>).host() == all(2.0f * v));
                    again.wait();
                    CHECK(made.values() == all(20.0f * v));
                }
            });
        }
}

TEST_CASE("an input is not overwritten before an earlier run has read it") {
    const simulated::scope simulation;
    simulated::run(1, [&](auto& rank) {
        dv::executor<fetched_late, samples::several> first{rank, 20s};
        dv::executor<doubled, samples::several> second{rank, 20s};
        target mine;
        second.bind(dv::name<x>, all(5.0f)).bind_output(dv::name<y>, mine.tensor);
        first.bind(dv::name<x>, dv::device_pointer{mine.data, 8}).bind(dv::name<z>, all(0.0f));
        for (int k = 0; k < 20; ++k) {
            std::fill_n(mine.data, 8, 1.0f);
            opened = false;
            const auto seen = first.run();
            const auto made = second.run();
            std::this_thread::sleep_for(1ms);
            CHECK(!made.ready());
            opened = true;
            CHECK(seen.read(dv::name<y>).host() == all(1.0f));
            made.wait();
            CHECK(mine.values() == all(10.0f));
        }
    });
}

template <class O>
void bind_on_one_rank() {
    for (const auto how : ways) {
        const simulated::scope simulation;
        simulated::here().unlike.clear();
        simulated::run(2, [&](auto& rank) {
            dv::executor<gathered_late, O> step{rank, how, 20s};
            const target all_of{rank.index(), 128}, read{rank.index(), 64};
            if (rank.index() == 0) step.bind_output(dv::name<total>, all_of.data, 128).bind_output(dv::name<a>, read.data, 64);
            for (int k = 0; k < 3; ++k) {
                const float v = static_cast<float>(k + rank.index());
                const auto t = step.bind(dv::name<x>, floats(64, v)).run();
                t.wait();
                floats wanted(64, static_cast<float>(2 * k));
                wanted.resize(128, static_cast<float>(2 * k + 2));
                support::expect(rank.index() == 0 ? all_of.values() : t.read(dv::name<total>).host(), wanted, "total", rank.index(), k);
                if (rank.index() == 0) support::expect(read.values(), floats(64, 2 * v), "a", 0, k);
            }
        });
        CHECK(simulated::here().unlike.empty());  // NCCL's registered memory is passed by all ranks or by none
    }
}
TEST_CASE("what NCCL moves is bound on one rank and not on the other") { bind_on_one_rank<samples::overlapped>(); }
TEST_CASE("what copy engines move is bound on one rank and not on the other") { bind_on_one_rank<samples::copied>(); }

std::atomic<int> captures = 0;
decltype(dv::cuda::api::stream_begin_capture) real_capture = nullptr;
TEST_CASE("no rank captures its communication again because of where it alone has bound an output") {
    const simulated::scope simulation;
    captures = 0;
    std::atomic<int> again = 0;
    real_capture = std::exchange(dv::cuda::calls.stream_begin_capture, [](cudaStream_t s, cudaStreamCaptureMode mode) {
        ++captures;
        return real_capture(s, mode);
    });
    simulated::run(2, [&](auto& rank) {
        dv::executor<gathered_late, samples::overlapped> step{rank, dv::replay, 20s};
        const target first{rank.index(), 64}, second{rank.index(), 64};
        int captured = 0;
        for (int k = 0; k < 6; ++k) {
            const target& to = k % 2 == 0 ? first : second;
            if (rank.index() == 0) step.bind_output(dv::name<b>, to.data, 64);
            const auto t = step.bind(dv::name<x>, floats(64, static_cast<float>(k))).run();
            t.wait();
            t.read(dv::name<total>).host();  // the other rank has captured its own, too
            if (k == 0) captured = captures;
            again += captures - captured;
            if (rank.index() == 0) support::expect(to.values(), floats(64, static_cast<float>(k)), "b", 0, k);
        }
    });
    CHECK(captures > 0);
    CHECK(again == 0);
}

TEST_CASE("memory that is not the rank's GPU's is refused") {
    const simulated::scope simulation;
    simulated::run(1, [&](auto& rank) {
        dv::executor<doubled, overlapped> step{rank, 20s};
        floats host(8);
        target other{1}, managed;
        dv::cuda::check(dv::cuda::calls.set_device(1), "cudaSetDevice");
        const target on_second;
        dv::cuda::check(dv::cuda::calls.set_device(0), "cudaSetDevice");
        has(message([&] { step.bind_output(dv::name<y>, on_second.data, 8); }),
            "output `y` is bound to memory of GPU 1, and the rank is on GPU 0, on rank 0");
        has(message([&] { step.bind_output(dv::name<y>, host.data(), 8); }),
            "output `y` is bound to memory of the host, and the rank is on GPU 0, on rank 0");
        has(message([&] { step.bind_output(dv::name<y>, other.tensor); }),
            "output `y` is bound to a tensor on GPU 1, and the rank is on GPU 0, on rank 0");
        has(message([&] { step.bind(dv::name<x>, on_second.data, 8); }),
            "input `x` is bound to memory of GPU 1, and the rank is on GPU 0, on rank 0");
        has(message([&] { step.bind(dv::name<x>, dv::device_pointer{on_second.data, 8}); }),
            "input `x` is bound to memory of GPU 1, and the rank is on GPU 0, on rank 0");
        step.bind(dv::name<x>, dv::device_pointer{managed.data, 8}).bind_output(dv::name<y>, managed.tensor);
        has(message([&] { step.run(); }), "output `y` is bound to memory to which input `x` is bound too, on rank 0");
    });
}

TEST_CASE("an error of CUDA before a bind is told as what it is") {
    const simulated::scope simulation;
    simulated::run(1, [](auto& rank) {
        dv::executor<doubled, overlapped> step{rank, 20s};
        const target result;
        dv::cuda::calls.pointer_get_attributes = [](cudaPointerAttributes*, const void*) { return cudaErrorIllegalAddress; };
        has(message([&] { step.bind_output(dv::name<y>, result.data, 8); }),
            "rank 0, cudaPointerGetAttributes of memory that is bound: an illegal memory access was encountered (700)");
        dv::cuda::calls.pointer_get_attributes = [](cudaPointerAttributes*, const void*) { return cudaErrorInvalidValue; };
        has(message([&] { step.bind_output(dv::name<y>, result.data, 8); }), "bound to memory of the host");
    });
}

TEST_CASE("recorded runs write where outputs are bound") {
    for (const auto how : ways) {
        const simulated::scope simulation;
        simulated::run(1, [&](auto& rank) {
            dv::executor<doubled, samples::several> step{rank, how, dv::record_times, 20s};
            target first, second;
            for (int k = 0; k < 6; ++k) {
                target& to = k % 2 == 0 ? first : second;
                const float v = static_cast<float>(k);
                const auto t = step.bind(dv::name<x>, all(v)).bind_output(dv::name<y>, to.tensor).run();
                CHECK(!t.times().empty());
                CHECK(to.values() == all(2.0f * v));
            }
        });
    }
}
