// Executors on one simulated GPU are ordered against each other if they share states, even with others between them; if they share
// nothing, each keeps its own order from run to run.
#include "support/samples.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
using namespace samples;
using namespace std::chrono_literals;
using floats = std::vector<float>;

namespace {
struct add_slowly {
    static constexpr dv::tensor_type result(dv::tensor_type to, dv::tensor_type) { return to; }
    template <class To>
    static void launch(dv::host::stream, dv::inout<To> to, dv::in<To> x) {
        std::this_thread::sleep_for(50ms);
        for (int i = 0; i < To::size; ++i) to[i] += x[i];
    }
};
struct kept; struct of_another; struct shown;
struct writes_slowly : dv::graph<
    dv::input<x, vector>,
    dv::state<kept, vector, zeros>,
    dv::update<kept, add_slowly(kept, x)>> {};
struct between : dv::graph<
    dv::input<x, vector>,
    dv::state<of_another, vector, zeros>,
    dv::update<of_another, copy(x)>> {};
struct between_without_state : dv::graph<
    dv::input<x, vector>,
    dv::let<y, copy(x)>,
    dv::output<y>> {};
struct reads_by_copy : dv::graph<  // on the copy stream
    dv::input<x, vector>,
    dv::state<kept, vector, dv::from_store>,
    dv::let<shown, from_host(to_host(kept))>,
    dv::let<y, copy(copy(x))>,
    dv::output<shown, y>> {};

struct reads_own : dv::graph<  // writes on the compute stream what an earlier run reads on the copy stream
    dv::input<x, vector>,
    dv::state<kept, vector, zeros>,
    dv::let<shown, from_host(to_host(kept))>,
    dv::update<kept, add(kept, x)>,
    dv::let<y, copy(copy(x))>,
    dv::output<shown, y>> {};

template <class Between>
void read_behind_another() {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const simulated::scope simulation;
        simulated::run(1, [&](auto& rank) {
            dv::store store{rank};
            dv::executor<writes_slowly, overlapped> writer{rank, store, 60s};
            dv::executor<Between, overlapped> other{rank, how, 60s};
            dv::executor<reads_by_copy, overlapped> reader{rank, store, 60s};
            const floats ones(8, 1.0f);
            writer.bind(dv::name<x>, ones), other.bind(dv::name<x>, ones), reader.bind(dv::name<x>, ones);
            for (int run = 1; run < 4; ++run) {
                writer.run();
                other.run();
                CHECK(reader.run().read(dv::name<shown>).host() == floats(8, static_cast<float>(run)));
            }
        });
    }
}

std::atomic<int> slow_ends = 0;
struct slowly {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<X> to) {
        std::this_thread::sleep_for(50ms);
        for (int i = 0; i < X::size; ++i) to[i] = 0;
        ++slow_ends;
    }
};
struct rows; struct columns;
using grid = dv::mesh<dv::axis<rows, 2>, dv::axis<columns, 2>>;
struct reduces_slowly : dv::graph<grid, dv::input<x, vector>, dv::let<y, all_reduce<sum, rows, columns>(slowly(x))>, dv::output<y>> {};
struct reduces_rows : dv::graph<grid, dv::input<x, vector>, dv::let<y, all_reduce<sum, rows>(x)>, dv::output<y>> {};

std::atomic<int> waits = 0;
decltype(dv::cuda::api::stream_wait_event) real_wait = nullptr;
cudaError_t counted_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    ++waits;
    return real_wait(stream, event, flags);
}
// The waits of each of `runs` runs of one executor, with a run of another behind each, or alone.
template <class Between>
std::vector<int> waits_of_runs(bool alone, int runs) {
    const simulated::scope simulation;
    real_wait = dv::cuda::calls.stream_wait_event;
    dv::cuda::calls.stream_wait_event = &counted_wait;
    std::vector<int> counted;
    simulated::run(1, [&](auto& rank) {
        dv::executor<reads_own, overlapped> step{rank, 60s};
        dv::executor<Between, overlapped> other{rank, 60s};
        const floats ones(8, 1.0f);
        step.bind(dv::name<x>, ones), other.bind(dv::name<x>, ones);
        for (int run = 0; run < runs; ++run) {
            const int before = waits;
            step.run();
            counted.push_back(waits - before);
            if (!alone) other.run();
        }
    });
    return counted;
}
}  // namespace

TEST_CASE("a reader goes behind the writer of its states, whatever runs between them") {
    read_behind_another<between>();
    read_behind_another<between_without_state>();
}

TEST_CASE("an executor waits for its own earlier runs also where another ran in between") {
    const std::vector<int> alone = waits_of_runs<between_without_state>(true, 4);
    CHECK(alone[1] > alone[0]);  // there is something to wait for
    CHECK(waits_of_runs<between_without_state>(false, 4) == alone);
    CHECK(waits_of_runs<between>(false, 4) == alone);
}

TEST_CASE("communicators are split when the runs issued before have ended") {
    const simulated::scope simulation;
    static std::atomic<int> splits, early;
    splits = early = slow_ends = 0;
    static const auto split = dv::cuda::calls.comm_split;
    dv::cuda::calls.comm_split = [](ncclComm_t c, int color, int key, ncclComm_t* made, ncclConfig_t* how) {
        ++splits;
        early += slow_ends < 12;  // three runs on four ranks, each of which reduces
        return split(c, color, key, made, how);
    };
    simulated::run(4, [](auto& rank) {
        dv::executor<reduces_slowly> first{rank, 60s};
        first.bind(dv::name<x>, floats(8, 1.0f));
        for (int run = 0; run < 3; ++run) first.run();
        dv::executor<reduces_rows> second{rank, 60s};
        second.bind(dv::name<x>, floats(8, 1.0f));
        second.run().wait();
    });
    CHECK(splits == 4);
    CHECK(early == 0);
}
