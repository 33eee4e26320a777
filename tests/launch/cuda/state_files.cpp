// Files of states on the simulated GPU: what two ranks save from device memory, after their runs, is loaded by one GPU and by host threads;
// a device that fails while states are loaded loses them.
#include "support/expect.hpp"
#include "support/simulated_cuda.hpp"
#include "support/state_files.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
using namespace std::chrono_literals;
using support::expect;
using support::has;
using support::message;

namespace state_files {
using namespace dv::ops;
struct tp;
struct x;
struct weights;
struct bias;
using floats = std::vector<float>;
using vector = dv::tensor<float, 8>;
template <int Width> using block = dv::tensor<float, 8 / Width, 3>;

struct add_slowly {
    static constexpr dv::tensor_type result(dv::tensor_type to, dv::tensor_type) { return to; }
    template <class To>
    static void launch(dv::host::stream, dv::inout<To> to, dv::in<To> x) {
        std::this_thread::sleep_for(10ms);
        for (int i = 0; i < To::size; ++i) to[i] += x[i];
    }
};
template <int Width>
struct training : dv::graph<
    dv::mesh<dv::axis<tp>>,
    dv::input<x, block<Width>>,
    dv::state<weights, block<Width>, zeros>,
    dv::state<bias, vector, dv::from_store, dv::replicated<tp>>,
    dv::update<weights, add_slowly(weights, x)>,
    dv::update<bias, add(bias, bias)>> {};

// Row r of the rank's rows holds times * r.
template <int Width>
floats rows_of(int index, float times) {
    floats all;
    for (int r = index * 8 / Width; r < (index + 1) * 8 / Width; ++r) all.insert(all.end(), 3, times * static_cast<float>(r));
    return all;
}
// The rank has what two runs on two ranks have left.
template <int Width>
void expect_loaded(auto& rank, const std::vector<std::string>& paths) {
    dv::store store{rank};
    dv::executor<training<Width>> step{rank, store, 60s};
    step.bind(dv::name<x>, rows_of<Width>(rank.index(), 1));
    has(message([&] { step.run(); }), "state `bias` is to come from the store, which does not hold it");
    store.load(paths, dv::along<tp>);
    expect(store.template read<block<Width>>(dv::name<weights>), rows_of<Width>(rank.index(), 2), "weights", rank.index(), 0);
    expect(store.template read<vector>(dv::name<bias>), floats(8, 4.0f), "bias", rank.index(), 0);
    step.run();
    expect(store.template read<block<Width>>(dv::name<weights>), rows_of<Width>(rank.index(), 3), "weights", rank.index(), 1);
    expect(store.template read<vector>(dv::name<bias>), floats(8, 8.0f), "bias", rank.index(), 1);
}

// Copies before one of them fails; negative: none does.
std::atomic<int> good_copies = -1;
decltype(dv::cuda::api::memcpy) real_copy = nullptr;
cudaError_t failing_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return good_copies-- == 0 ? cudaErrorIllegalAddress : real_copy(to, from, bytes, kind);
}
}  // namespace state_files
using namespace state_files;

TEST_CASE("states of two GPUs are saved after their runs, and loaded by one, two and by host threads") {
    const support::folder in;
    const std::vector<std::string> paths{in / "0", in / "1"};
    {
        const simulated::scope simulation;
        simulated::run(2, [&](auto& rank) {
            dv::store store{rank};
            dv::executor<training<2>> step{rank, store, 60s};
            store.template write<vector>(dv::name<bias>, floats(8, 1.0f));
            step.bind(dv::name<x>, rows_of<2>(rank.index(), 1));
            step.run();
            step.run();
            store.save(paths[static_cast<std::size_t>(rank.index())], dv::along<tp>);
        });
        simulated::run(1, [&](auto& rank) { expect_loaded<1>(rank, paths); });
        simulated::run(2, [&](auto& rank) { expect_loaded<2>(rank, paths); });
    }
    dv::host::world{4}.run([&](auto& rank) { expect_loaded<4>(rank, paths); });
}

TEST_CASE("a copy that fails: a save leaves the file as it was, a load loses the states until the next one") {
    const support::folder in;
    const simulated::scope simulation;
    real_copy = dv::cuda::calls.memcpy;
    dv::cuda::calls.memcpy = &failing_copy;
    simulated::run(1, [&](auto& rank) {
        dv::store store{rank};
        const floats ones(24, 1.0f);
        store.template write<block<1>>(dv::name<weights>, ones);
        store.template write<vector>(dv::name<bias>, floats(8, 1.0f));
        store.save(in / "file");
        const std::string before = support::contents(in / "file");
        good_copies = 1;
        has(message([&] { store.save(in / "file"); }), "cudaMemcpy");
        CHECK(support::contents(in / "file") == before);
        CHECK(in.names().size() == 1);
        good_copies = 1;
        has(message([&] { store.load(in / "file"); }), "cudaMemcpy");
        has(message([&] { static_cast<void>(store.template read<vector>(dv::name<bias>)); }),
            "state `bias` is lost: its contents were being replaced: rank 0, between host and device: cudaMemcpy");
        has(message([&] { store.save(in / "file"); }), "is lost");
        good_copies = -1;
        store.load(in / "file");
        CHECK(store.template read<block<1>>(dv::name<weights>) == ones);
    });
}
