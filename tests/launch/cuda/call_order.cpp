// Several executors on the same simulated GPUs, in turn and in flight, on streams and replayed in all combinations: each computes what it
// computes alone. Events at the end of each run order them.
#include "support/simulated_cuda.hpp"
#include "support/turns.hpp"

namespace dv = dovetail;
using namespace turns;
using namespace std::chrono_literals;
using support::expect;

namespace {

struct on_one_stream : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::state<count, vector, zeros>,
    dv::let<y, copy(count)>,
    dv::output<y>> {};

// The receiver is late on the stream of its computation; another graph's values come on the stream of communication.
struct slow_copy {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        std::this_thread::sleep_for(50ms);
        std::copy(from.begin(), from.end(), to.begin());
    }
};
struct late : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>>,
    dv::on<right, dv::let<b, slow_copy(x)>, dv::let<c, add(a, b)>>,
    dv::output<c>> {};
struct one_way : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<a, add(x, x)>, dv::let<b, add(a, a)>, dv::let<c, add(b, b)>>,
    dv::on<right, dv::let<d, add(a, a)>, dv::let<e, add(b, d)>, dv::let<f, add(c, e)>>,
    dv::output<f>> {};
static_assert(!dv::plan::planned<late, sequential>::plan.overlapped && dv::plan::planned<one_way, overlapped>::plan.overlapped);

template <class Options, class Others = Options>
void called_in_turn(dv::replay_mode one, dv::replay_mode other, int ahead) {
    const simulated::scope simulation;
    simulated::run(2, [&](auto& rank) {
        dv::executor<crossing_pair, Options> first{rank, one, 60s};
        dv::executor<channel_first, Others> second{rank, other, 60s};
        std::vector<dv::ticket<crossing_pair>> of_first;
        std::vector<dv::ticket<channel_first>> of_second;
        for (int round = 0; round < 6; ++round) {
            of_first.clear();
            of_second.clear();
            const auto value = [&](int k) { return static_cast<float>(3 * round + k + 1); };
            for (int k = 0; k < ahead; ++k) {
                of_first.push_back(first.bind(dv::name<x>, floats(8, value(k))).run());
                // Not always in turn: the same order on both ranks, and that is all.
                for (int again = 0; again < (round + k) % 3; ++again)
                    of_second.push_back(second.bind(dv::name<x>, floats(8, value(k))).run());
            }
            for (int k = 0; k < ahead; ++k) {
                const float v = value(k);
                const auto& t = of_first[static_cast<std::size_t>(k)];
                if (rank.is(dv::name<left>)) expect(t.read(dv::name<c>).host(), floats(8, 2 * v + v * v), "c", rank.index(), round);
                else expect(t.read(dv::name<d>).host(), floats(8, 2 * v - v * v), "d", rank.index(), round);
            }
            if (!of_second.empty()) {
                int k = ahead - 1;
                while ((round + k) % 3 == 0) --k;
                const float v = value(k);
                if (rank.is(dv::name<right>))
                    expect(of_second.back().read(dv::name<c>).host(), floats(8, 2 * v), "c of the second", rank.index(), round);
                else
                    expect(of_second.back().read(dv::name<d>).host(), floats(8, 4 * v + 2 * v * v), "d of the second", rank.index(), round);
            }
        }
    });
}

}  // namespace

TEST_CASE("two graphs that communicate") {
    for (const auto one : {dv::replay_mode::never, dv::replay_mode::always})
        for (const auto other : {dv::replay_mode::never, dv::replay_mode::always}) {
            called_in_turn<sequential>(one, other, 1);
            called_in_turn<overlapped>(one, other, 1);
            called_in_turn<dv::options<slow_links, dv::in_flight<6>, dv::channel_slots<2>>>(one, other, 3);
            called_in_turn<overlapped, sequential>(one, other, 1);
        }
}

TEST_CASE("communication of two graphs on two streams comes in the order of their runs") {
    const simulated::scope simulation;
    simulated::run(2, [&](auto& rank) {
        dv::executor<late, sequential> first{rank, 60s};
        dv::executor<one_way, overlapped> second{rank, 60s};
        for (int round = 1; round < 4; ++round) {
            const float v = static_cast<float>(round);
            const auto t = first.bind(dv::name<x>, floats(8, v)).run();
            const auto u = second.bind(dv::name<x>, floats(8, 100 * v)).run();
            t.wait(), u.wait();
            if (!rank.is(dv::name<right>)) continue;
            expect(t.read(dv::name<c>).host(), floats(8, 3 * v), "c", rank.index(), round);
            expect(u.read(dv::name<f>).host(), floats(8, 1600 * v), "f", rank.index(), round);
        }
    });
}

TEST_CASE("two graphs that share a state through a store") {
    for (const auto one : {dv::replay_mode::never, dv::replay_mode::always})
        for (const auto other : {dv::replay_mode::never, dv::replay_mode::always}) {
            const simulated::scope simulation;
            simulated::run(2, [&](auto& rank) {
                dv::store store{rank};
                dv::executor<accumulate, overlapped> micro{rank, store, one, 60s};
                dv::executor<apply, overlapped> step{rank, store, other, 60s};
                float wanted = 0;
                for (int k = 0; k < 5; ++k) {
                    float sum = 0;
                    for (int m = 0; m < 3; ++m) {
                        micro.bind(dv::name<x>, floats(8, static_cast<float>(2 * rank.index() + m + k))).run();
                        for (int l = 0; l < 2; ++l) sum += static_cast<float>(2 * l + m + k);
                    }
                    wanted -= sum / 2;
                    expect(step.run().read(dv::name<y>).host(), floats(8, wanted), "weights", rank.index(), k);
                    if (k % 2 == 0) expect(store.template read<vector>(dv::name<gradient>), floats(8, 0.0f), "gradients", rank.index(), k);
                }
            });
        }
}

TEST_CASE("what runs between two runs does not part them") {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const simulated::scope simulation;
        simulated::run(2, [&](auto& rank) { another_between_two_runs(rank, how); });
        simulated::run(2, [&](auto& rank) { another_between_two_on_a_store(rank, how); });
    }
}

TEST_CASE("what follows a replayed run is behind it on every stream") {
    const simulated::scope simulation;
    simulated::run(2, [&](auto& rank) {
        dv::executor<two_sums, overlapped> first{rank, dv::replay, 60s}, last{rank, 60s};
        dv::executor<on_one_stream, overlapped> between{rank, 60s};
        first.bind(dv::name<x>, floats(8, 1.0f)).run().wait();
        last.bind(dv::name<x>, floats(8, 10.0f)).run().wait();
        between.run().wait();
        for (int run = 1; run < 4; ++run) {
            if (rank.index() == 1) std::this_thread::sleep_for(50ms);
            const auto t = first.run();
            between.run();
            const auto u = last.run();
            t.wait_for(10s);
            expect(t.read(dv::name<y>).host(), floats(8, 4.0f), "replayed", rank.index(), run);
            expect(u.read(dv::name<y>).host(), floats(8, 40.0f), "on streams", rank.index(), run);
        }
    });
}

// So that a side stream which a step does not join is seen wherever runs are replayed.
TEST_CASE("the simulated GPU ends no capture of which a stream has not joined the first one again") {
    const simulated::scope simulation;
    const dv::cuda::api& gpu = dv::cuda::calls;
    cudaStream_t first{}, side{};
    cudaEvent_t fork{}, join{};
    for (cudaStream_t* s : {&first, &side}) gpu.stream_create(s, cudaStreamNonBlocking, 0);
    for (cudaEvent_t* e : {&fork, &join}) gpu.event_create(e, cudaEventDisableTiming);
    for (const bool joins : {false, true}) {
        const char from[4] = {1, 2, 3, 4};
        char to[4] = {};
        cudaGraph_t captured{};
        gpu.stream_begin_capture(first, cudaStreamCaptureModeThreadLocal);
        gpu.event_record(fork, first);
        gpu.stream_wait_event(side, fork, 0);
        gpu.memcpy_async(to, from, sizeof to, cudaMemcpyDefault, side);
        gpu.event_record(join, side);
        if (joins) gpu.stream_wait_event(first, join, 0);
        CHECK(gpu.stream_end_capture(first, &captured) == (joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined));
        if (captured != nullptr) gpu.graph_destroy(captured);
    }
    for (const cudaEvent_t e : {fork, join}) gpu.event_destroy(e);
    for (const cudaStream_t s : {first, side}) gpu.stream_destroy(s);
}
