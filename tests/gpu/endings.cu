// Long use and failures on GPUs: many runs without growth of memory, a stream of the caller, operations that fail or cannot be captured, a
// rank that never runs. Errors name operation and rank, and the process continues.
#include "gpu/compare.hpp"
#include "gpu/graphs.hpp"
#include "support/expect.hpp"

#include <nccl.h>
#include <algorithm>
#include <cstring>
#include <cuda/std/mdspan>
#include <filesystem>
#include <fstream>

namespace dv = dovetail;
using namespace std::chrono_literals;
using support::has, support::message, support::report;

namespace {
std::int64_t resident_kilobytes() {
    std::ifstream in{"/proc/self/status"};
    for (std::string line; std::getline(in, line);)
        if (line.rfind("VmRSS:", 0) == 0) return std::stoll(line.substr(6));
    return 0;
}
std::int64_t open_files() {
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return std::distance(begin(all), end(all));
}
std::int64_t used_on_device() {
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    return static_cast<std::int64_t>(total - free);
}

template <class... Extra>
void many(int ranks, int runs, Extra... extra) {
    if (!gpu::enough(ranks, "many runs")) return;
    dv::cuda::world::local(ranks).run([&](auto& rank) {
        dv::executor<samples::descent, samples::several> step{rank, 60s, extra...};
        step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.0f);
        std::int64_t host = 0, device = 0, files = 0;
        dv::ticket<samples::descent> last;
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < runs; ++k) {
            last = step.run();
            if (k == runs / 10) {
                last.wait();
                const std::lock_guard lock{report()};  // reading the list of files opens one
                host = resident_kilobytes();
                device = used_on_device();
                files = open_files();
            }
        }
        const auto y = last.read(dv::name<samples::y>).host();
        const auto spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const std::lock_guard lock{report()};
        CHECK(y == std::vector<float>(8, 1.0f));
        host = resident_kilobytes() - host;
        device = used_on_device() - device;
        files = open_files() - files;
        CHECK(host < 4096);
        CHECK(device < (4 << 20));
        CHECK(files == 0);
        if (rank.index() != 0) return;
        MESSAGE(runs << " runs on " << ranks << " GPUs" << std::string{sizeof...(extra) > 0 ? ", replayed" : ""} << ": "
                     << 1e6 * spent / runs << " us a run; grown by " << host << " KiB on the host, " << device << " bytes on the device, "
                     << files << " open files");
    });
}
}  // namespace

TEST_CASE("many runs, no growth") {
    many(1, 10000);
    many(4, 10000);
    many(1, 100000, dv::replay);
    many(4, 100000, dv::replay);
}

TEST_CASE("the caller's stream") {
    if (!gpu::enough(1, "enqueue")) return;
    dv::cuda::world::local(1).run([](auto& rank) {
        for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
            dv::executor<samples::counter> step{rank, how};
            cudaStream_t mine{};
            REQUIRE(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking) == cudaSuccess);
            float* x = nullptr;
            REQUIRE(cudaMalloc(reinterpret_cast<void**>(&x), sizeof(float)) == cudaSuccess);
            step.bind(dv::name<samples::x>, dv::device_pointer{x, 1});
            float got = 0;
            for (int k = 1; k <= 3; ++k) {
                const float next = static_cast<float>(k);
                cudaMemcpyAsync(x, &next, sizeof next, cudaMemcpyHostToDevice, mine);
                const auto t = step.enqueue(mine);
                const auto y = t.read(dv::name<samples::y>);
                cudaMemcpyAsync(&got, y.data(), sizeof got, cudaMemcpyDeviceToHost, mine);
                cudaStreamSynchronize(mine);
                CHECK(got == static_cast<float>(k * (k + 1) / 2));
            }
            cudaStreamDestroy(mine);
            cudaFree(x);
        }
    });
}

TEST_CASE("times of steps") {
    if (!gpu::enough(2, "times")) return;
    const auto& plan = dv::plan::planned<samples::crossing_pair, samples::overlapped>::plan;
    const auto roles = dv::plan::by_rank(plan.roles);
    dv::cuda::world::local(2).run([&](auto& rank) {
        dv::executor<samples::crossing_pair, samples::overlapped> step{rank, dv::record_times};
        step.bind(dv::name<samples::x>, std::vector<float>(8, 2.0f));
        for (int k = 0; k < 3; ++k) {
            const auto t = step.run();
            const auto& times = t.times();
            const std::lock_guard lock{report()};
            CHECK(static_cast<int>(times.size()) == plan.roles[roles[rank.index()]].steps);
            std::int64_t longest = 0;
            for (const auto& s : times) {
                CHECK(s.end_ns >= s.start_ns);
                longest = std::max(longest, s.end_ns - s.start_ns);
            }
            CHECK(longest > 0);  // times that were never read are zero
        }
    });
}

TEST_CASE("operations that fail") {
    if (!gpu::enough(2, "failures")) return;
    const auto play = [](auto graph) {
        return message([&] {
            dv::cuda::world::local(2).run([&](auto& rank) {
                dv::executor<decltype(graph)> step{rank, 30s};
                step.bind(dv::name<gpu::x>, std::vector<float>(6, 1.0f));
                step.run().wait();
                step.run().wait();
            });
        });
    };
    has(play(gpu::one_operation<gpu::throws>{}), "operation `throws` of `y` failed on rank");
    has(play(gpu::one_operation<gpu::refused>{}), "operation `refused` of `y` failed on rank");
    CHECK(play(gpu::one_operation<gpu::waits>{}) == "nothing thrown");
}

TEST_CASE("operations that cannot be captured") {
    if (!gpu::enough(2, "captures")) return;
    const auto play = [](dv::replay_mode how) {
        return message([&] {
            dv::cuda::world::local(2).run([&](auto& rank) {
                dv::executor<gpu::one_operation<gpu::waits>> step{rank, 30s, how};
                step.bind(dv::name<gpu::x>, std::vector<float>(6, 1.0f));
                for (int k = 0; k < 3; ++k) {
                    const auto y = step.run().read(dv::name<gpu::z>).host();
                    const std::lock_guard lock{report()};
                    CHECK(y == std::vector<float>(6, 4.0f));
                }
                has(step.replay_fallback_reason(), "operation `waits` of `y` cannot be captured");
            });
        });
    };
    CHECK(play(dv::replay_or_streams) == "nothing thrown");
    has(play(dv::replay), "operation `waits` of `y` cannot be captured on rank");
}

TEST_CASE("a rank that does not come") {
    if (!gpu::enough(2, "a rank that stays away")) return;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const auto start = std::chrono::steady_clock::now();
        const std::string text = message([&] {
            dv::cuda::world::local(2).run([&](auto& rank) {
                dv::executor<samples::descent> step{rank, 30s, how};
                step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.5f);
                step.run().wait();
                if (rank.index() == 1)
                    std::this_thread::sleep_for(3s);
                else
                    step.run().wait_for(1s);
            });
        });
        has(text, "rank 0 has not ended operation `all_reduce");
        has(text, "rank 1 has nothing to do");
        CHECK(std::chrono::steady_clock::now() - start < 60s);
    }
    // The process goes on.
    gpu::compare<samples::descent, samples::overlapped>(2, 1, "after an abort");
}

TEST_CASE("out of memory, and worlds that do not fit") {
    has(message([] { dv::cuda::world::local(99); }), "rank");
    has(message([] { dv::cuda::world::local(2, {0, 0}); }), "ranks 0 and 1 are both to use device 0");
    if (!gpu::enough(1, "out of memory")) return;
    const auto before = used_on_device();
    has(message([] {
            dv::cuda::world::local(1).run([](auto& rank) { static_cast<void>(dv::block{rank.device_memory(), std::int64_t{1} << 44}); });
        }),
        "bytes wanted");
    CHECK(used_on_device() - before < (64 << 20));
}

TEST_CASE("an adopted communicator") {
    if (!gpu::enough(1, "adoption")) return;
    cudaSetDevice(0);
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    ncclComm_t comm{};
    REQUIRE(ncclCommInitRank(&comm, 1, id, 0) == ncclSuccess);
    dv::cuda::world::adopt(comm, 0).run([](auto& rank) {
        dv::executor<samples::descent> step{rank};
        step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.0f);
        CHECK(step.run().read(dv::name<samples::y>).host() == std::vector<float>(8, 1.0f));
    });
    CHECK(ncclCommDestroy(comm) == ncclSuccess);
}

namespace {
using many_floats = dv::tensor<float, 1 << 20>;
struct doubled : dv::graph<dv::input<samples::x, many_floats>, dv::let<samples::y, dv::ops::add(samples::x, samples::x)>,
                           dv::output<samples::y>> {};
}  // namespace

// Each run reads memory that the stream's next work changes, and the outputs of all runs stay.
TEST_CASE("a held rank whose outputs are copied behind enqueued runs") {
    if (!gpu::enough(1, "a held rank")) return;
    constexpr int n = 1 << 20, runs = 200;
    cudaSetDevice(0);
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    ncclComm_t comm{};
    REQUIRE(ncclCommInitRank(&comm, 1, id, 0) == ncclSuccess);
    cudaStream_t mine{};
    float *given = nullptr, *copied = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaMalloc(&given, n * sizeof(float)) == cudaSuccess);
    REQUIRE(cudaMalloc(&copied, std::size_t{runs} * n * sizeof(float)) == cudaSuccess);
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        dv::cuda::held_rank rank = dv::cuda::world::adopt(comm, 0).hold();
        dv::executor<doubled> step{*rank, how};
        const auto byte = [how](int k) { return (how == dv::replay_mode::never ? 1 : 2) + k % 100; };
        for (int k = 0; k < runs; ++k) {
            cudaMemsetAsync(given, byte(k), n * sizeof(float), mine);
            step.bind(dv::name<samples::x>, dv::device_pointer{given, n});
            const cuda::std::mdspan<float, cuda::std::extents<int, n>> to{copied + std::int64_t{k} * n};
            if (k % 3 == 0) {  // the others are copied behind the run
                step.bind_output(dv::name<samples::y>, to).enqueue(mine);
                step.unbind_output(dv::name<samples::y>);
            } else {
                step.enqueue(mine).enqueue_copy(dv::name<samples::y>, to);
            }
        }
        CHECK(cudaStreamSynchronize(mine) == cudaSuccess);
        std::vector<float> got(std::size_t{runs} * n);
        CHECK(cudaMemcpy(got.data(), copied, got.size() * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
        int different = 0;
        for (int k = 0; k < runs; ++k) {
            float x = 0;
            std::memset(&x, byte(k), sizeof x);
            const auto first = got.begin() + std::int64_t{k} * n;
            different += std::all_of(first, first + n, [&](float y) { return y == 2 * x; }) ? 0 : 1;
        }
        CHECK(different == 0);
        CHECK(step.replay_fallback_reason() == "");
        rank.end();
    }
    CHECK(cudaFree(given) == cudaSuccess);
    CHECK(cudaFree(copied) == cudaSuccess);
    CHECK(cudaStreamDestroy(mine) == cudaSuccess);
    CHECK(ncclCommDestroy(comm) == ncclSuccess);
}
