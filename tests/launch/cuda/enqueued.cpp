// Outputs copied behind enqueued runs, on the simulated GPU: the copies are ordered with the caller's stream and with later runs, and
// nothing of them waits on the host.
#include "support/callers_gpu.hpp"
#include "support/expect.hpp"
#include "support/samples.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/log.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
using namespace samples;
using namespace std::chrono_literals;
using support::floats, support::gate, support::synchronise, support::target;

namespace {

struct doubled : dv::graph<dv::input<x, vector>, dv::let<y, add(x, x)>, dv::output<y>> {};
struct sent : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<a, add(x, x)>>, dv::on<right, dv::let<b, copy(a)>>, dv::output<a, b>> {};
const dv::replay_mode ways[] = {dv::replay_mode::never, dv::replay_mode::always};

}  // namespace

TEST_CASE("an output is copied before the next run writes it, though the caller's stream is late") {
    for (const auto how : ways) {
        const simulated::scope simulation;
        simulated::run(1, [&](auto& rank) {
            dv::executor<doubled, overlapped> step{rank, how, 20s};
            const simulated::own_stream mine, other;
            target first, again, second;
            gate late;
            const auto t = step.bind(dv::name<x>, floats(8, 1.0f)).enqueue(mine.s);
            late.close(mine.s);
            t.enqueue_copy(dv::name<y>, first.tensor);
            t.enqueue_copy(dv::name<y>, again.tensor);
            const auto u = step.bind(dv::name<x>, floats(8, 2.0f)).enqueue(other.s);
            u.enqueue_copy(dv::name<y>, second.tensor);
            step.bind(dv::name<x>, floats(8, 3.0f));
            const auto last = step.run();
            std::this_thread::sleep_for(20ms);
            CHECK(!last.ready());
            CHECK(first.values() == floats(8, -1.0f));
            late.open();
            CHECK(last.read(dv::name<y>).host() == floats(8, 6.0f));
            synchronise(mine);
            CHECK(first.values() == floats(8, 2.0f));
            CHECK(again.values() == floats(8, 2.0f));
            synchronise(other);
            CHECK(second.values() == floats(8, 4.0f));
        });
    }
}

TEST_CASE("a copy that another rank makes into an output waits for the copy of the output") {
    for (const auto how : ways) {
        const simulated::scope simulation;
        simulated::run(2, [&](auto& rank) {
            dv::executor<sent, samples::copied> step{rank, how, 20s};
            const simulated::own_stream mine;
            target kept{rank.index()};
            gate late;
            const auto t = step.bind(dv::name<x>, floats(8, 1.0f)).enqueue(mine.s);
            if (rank.index() == 1) late.close(mine.s);
            if (rank.index() == 1)
                t.enqueue_copy(dv::name<b>, kept.tensor);
            else
                t.enqueue_copy(dv::name<a>, kept.tensor);
            const auto u = step.bind(dv::name<x>, floats(8, 2.0f)).run();
            std::this_thread::sleep_for(20ms);
            late.open();
            u.wait();
            synchronise(mine);
            CHECK(kept.values() == floats(8, 2.0f));
        });
    }
}

TEST_CASE("with several runs in flight, each is copied while a later one runs") {
    for (const auto how : ways) {
        const simulated::scope simulation;
        simulated::run(1, [&](auto& rank) {
            dv::executor<doubled, samples::several> step{rank, how, 20s};
            const simulated::own_stream mine;
            std::vector<std::unique_ptr<target>> to;
            gate late;
            late.close(mine.s);
            for (int k = 0; k < 100; ++k) {
                to.push_back(std::make_unique<target>());
                step.bind(dv::name<x>, floats(8, static_cast<float>(k))).enqueue(mine.s).enqueue_copy(dv::name<y>, to.back()->tensor);
                if (k == 1) late.open();  // a third run that is replayed would wait for the memory from which inputs are copied
            }
            synchronise(mine);
            for (int k = 0; k < 100; ++k) CHECK(to[static_cast<std::size_t>(k)]->values() == floats(8, static_cast<float>(2 * k)));
        });
    }
}

TEST_CASE("what cannot be copied behind a run is said") {
    const simulated::scope simulation;
    simulated::run(1, [&](auto& rank) {
        dv::executor<doubled, overlapped> step{rank, 20s};
        const simulated::own_stream mine;
        target to;
        step.bind(dv::name<x>, floats(8, 1.0f));
        const auto plain = step.run();
        CHECK(support::message([&] { plain.enqueue_copy(dv::name<y>, to.tensor); }) ==
              "dovetail: output `y` is to be copied behind run 0 of `doubled`, which was not enqueued on a stream, on rank 0: use enqueue "
              "for the run, or read for the output");
        const auto t = step.enqueue(mine.s);
        to.shape[0] = 4;
        CHECK(support::message([&] { t.enqueue_copy(dv::name<y>, to.tensor); }) ==
              "dovetail: output `y` is copied to a tensor of shape [4], and has shape [8], on rank 0");
        to.shape[0] = 8;
        const auto real = dv::cuda::calls.memcpy_async;
        dv::cuda::calls.memcpy_async = [](void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) { return cudaErrorInvalidValue; };
        const std::string refused = support::message([&] { t.enqueue_copy(dv::name<y>, to.tensor); });
        dv::cuda::calls.memcpy_async = real;
        support::has(refused, "output `y` of `doubled` cannot be copied behind run 1 on rank 0: cudaMemcpyAsync");
        t.enqueue_copy(dv::name<y>, to.tensor);  // nothing has changed
        synchronise(mine);
        CHECK(to.values() == floats(8, 2.0f));
        step.enqueue(mine.s);
        CHECK(support::message([&] { t.enqueue_copy(dv::name<y>, to.tensor); }) ==
              "dovetail: the results of run 1 of `doubled` are gone: run 2 uses their slot (runs in flight: 1)");
        CHECK(support::message([&] { dv::ticket<doubled>{}.enqueue_copy(dv::name<y>, to.tensor); }) == "dovetail: a ticket of no run");
    });
}

TEST_CASE("memory that a copy still reads is not freed") {
    for (const bool late : {false, true}) {
        const simulated::scope simulation;
        gate closed;
        target to;
        std::string warned;
        dv::log_to([&](dv::log_level level, const std::string& text) {
            if (level == dv::log_level::warning) warned += text;
        });
        simulated::run(1, [&](auto& rank) {
            const simulated::own_stream mine;
            {
                dv::executor<doubled, overlapped> step{rank, late ? 50ms : 20000ms};
                const auto t = step.bind(dv::name<x>, floats(8, 1.0f)).enqueue(mine.s);
                t.wait();
                closed.close(mine.s);
                t.enqueue_copy(dv::name<y>, to.tensor);
                std::thread opens{[&] {
                    std::this_thread::sleep_for(late ? 500ms : 50ms);
                    closed.open();
                }};
                opens.detach();
            }
            CHECK(closed.is_open() == !late);
            while (!closed.is_open()) std::this_thread::sleep_for(1ms);
            CHECK(std::dynamic_pointer_cast<dv::cuda::device_memory>(rank.device_memory())->abandoned() == late);
            synchronise(mine);
            CHECK(to.values() == floats(8, 2.0f));
        });
        dv::log_to(nullptr);
        CHECK(warned == (late ? "the executor of `doubled` on rank 0 ends while outputs are still being copied on a stream of the program; "
                                "memory of this rank is not freed any more"
                              : ""));
    }
}

TEST_CASE("a ticket that outlives its executor copies, and the memory is kept until then") {
    const simulated::scope simulation;
    simulated::run(1, [&](auto& rank) {
        const simulated::own_stream mine;
        target to;
        gate late;
        {
            auto ticket = [&] {
                dv::executor<doubled, overlapped> step{rank, 20s};
                auto t = step.bind(dv::name<x>, floats(8, 1.0f)).enqueue(mine.s);
                t.wait();
                return t;
            }();
            late.close(mine.s);
            ticket.enqueue_copy(dv::name<y>, to.tensor);
            std::thread{[&] {
                std::this_thread::sleep_for(50ms);
                late.open();
            }}.detach();
        }
        CHECK(late.is_open());  // the engine ended with its ticket
        synchronise(mine);
        CHECK(to.values() == floats(8, 2.0f));
    });
}

TEST_CASE("runs of another executor of the rank go behind the copies as well") {
    for (const auto how : ways) {
        const simulated::scope simulation;
        simulated::run(1, [&](auto& rank) {
            dv::executor<doubled, overlapped> first{rank, how, 20s}, second{rank, how, 20s};
            const simulated::own_stream mine;
            target between;
            gate late;
            const auto t = first.bind(dv::name<x>, floats(8, 1.0f)).enqueue(mine.s);
            late.close(mine.s);
            t.enqueue_copy(dv::name<y>, between.tensor);
            const auto u = second.bind(dv::name<x>, between.tensor).run();  // reads what the copy writes
            std::this_thread::sleep_for(20ms);
            late.open();
            CHECK(u.read(dv::name<y>).host() == floats(8, 4.0f));
        });
    }
}

TEST_CASE("a copy goes behind the run by the run's own events, whatever the handle of the stream stands for by now") {
    const simulated::scope simulation;
    simulated::run(1, [&](auto& rank) {
        dv::executor<doubled, overlapped> step{rank, 20s};
        const simulated::own_stream mine;
        target to;
        gate late;
        late.close(mine.s);
        static cudaStream_t caller = nullptr;
        static decltype(dv::cuda::calls.stream_wait_event) real = nullptr;
        static int waits = 0;
        caller = mine.s, real = dv::cuda::calls.stream_wait_event, waits = 0;
        const auto t = step.bind(dv::name<x>, floats(8, 1.0f)).enqueue(mine.s);
        dv::cuda::calls.stream_wait_event = [](cudaStream_t s, cudaEvent_t e, unsigned flags) {
            waits += s == caller;
            return real(s, e, flags);
        };
        t.enqueue_copy(dv::name<y>, to.tensor);
        dv::cuda::calls.stream_wait_event = real;
        CHECK(waits > 0);
        late.open();
        synchronise(mine);
        CHECK(to.values() == floats(8, 2.0f));
    });
}

TEST_CASE("a stream of another device is refused, and the world goes on") {
    const simulated::scope simulation;
    simulated::run(1, [&](auto& rank) {
        dv::executor<doubled, overlapped> step{rank, 20s};
        dv::cuda::check(dv::cuda::calls.set_device(1), "cudaSetDevice");
        const simulated::own_stream there;
        dv::cuda::check(dv::cuda::calls.set_device(0), "cudaSetDevice");
        const simulated::own_stream mine;
        target to;
        const std::string refused = "dovetail: the stream given for `doubled` on rank 0 is of device 1, the rank's is 0";
        CHECK(support::message([&] { step.bind(dv::name<x>, floats(8, 1.0f)).enqueue(there.s); }) == refused);
        step.enqueue(mine.s).enqueue_copy(dv::name<y>, to.tensor);
        synchronise(mine);
        CHECK(to.values() == floats(8, 2.0f));
    });
}

TEST_CASE("a stream that is being captured is refused, and the world goes on") {
    const simulated::scope simulation;
    simulated::run(1, [&](auto& rank) {
        dv::executor<doubled, overlapped> step{rank, 20s};
        const simulated::own_stream mine;
        target to;
        const std::string refused =
            "dovetail: the stream given for `doubled` on rank 0 is being captured: enqueue runs outside the capture, or capture them alone "
            "with dv::replay";
        const auto t = step.bind(dv::name<x>, floats(8, 1.0f)).enqueue(mine.s);
        dv::cuda::check(dv::cuda::calls.stream_begin_capture(mine.s, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
        CHECK(support::message([&] { step.enqueue(mine.s); }) == refused);
        CHECK(support::message([&] { t.enqueue_copy(dv::name<y>, to.tensor); }) == refused);
        cudaGraph_t captured = nullptr;
        dv::cuda::check(dv::cuda::calls.stream_end_capture(mine.s, &captured), "cudaStreamEndCapture");
        dv::cuda::check(dv::cuda::calls.graph_destroy(captured), "cudaGraphDestroy");
        t.enqueue_copy(dv::name<y>, to.tensor);
        synchronise(mine);
        CHECK(to.values() == floats(8, 2.0f));
    });
}

TEST_CASE("so is the legacy stream, while one is captured that waits for it") {
    const simulated::scope simulation;
    simulated::run(1, [&](auto& rank) {
        dv::executor<doubled, overlapped> step{rank, 20s};
        const auto asked = dv::cuda::calls.stream_is_capturing;
        dv::cuda::calls.stream_is_capturing = [](cudaStream_t, cudaStreamCaptureStatus*) { return cudaErrorStreamCaptureImplicit; };
        CHECK(support::message([&] { step.bind(dv::name<x>, floats(8, 1.0f)).enqueue(nullptr); }).find("is being captured: enqueue") !=
              std::string::npos);
        dv::cuda::calls.stream_is_capturing = asked;
        CHECK(step.run().read(dv::name<y>).host() == floats(8, 2.0f));
    });
}

TEST_CASE("an error of earlier work that the copy meets ends the runs") {
    const simulated::scope simulation;
    const std::string text = support::message([] {
        simulated::run(1, [&](auto& rank) {
            dv::executor<doubled, overlapped> step{rank, 20s};
            const simulated::own_stream mine;
            target to;
            const auto t = step.bind(dv::name<x>, floats(8, 1.0f)).enqueue(mine.s);
            t.wait();
            const auto real = dv::cuda::calls.memcpy_async;
            dv::cuda::calls.memcpy_async = [](void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) {
                return cudaErrorIllegalAddress;
            };
            const std::string said = support::message([&] { t.enqueue_copy(dv::name<y>, to.tensor); });
            dv::cuda::calls.memcpy_async = real;
            support::has(said, "or what was issued before it, failed on rank 0, behind run 0");
            support::has(support::message([&] { step.run(); }), "behind run 0");
        });
    });
    CHECK(text == "nothing thrown");
}
