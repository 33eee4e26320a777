// Errors that must not stay silent on GPUs: memory that changes after bind, NaN in a minimum or maximum, values that are not finite,
// values written to files, and a failed run whose ticket was dropped.
#include "gpu/compare.hpp"
#include "support/expect.hpp"
#include "support/observed.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/world/cpu_affinity.hpp>
#include <dovetail/ops/ops.hpp>

#include <limits>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace values_test {

using namespace dv::ops;
struct x; struct y; struct z; struct low; struct high; struct total; struct left; struct right; struct dp;
constexpr std::int64_t size = 1 << 20;
using large = dv::tensor<float, size>;
template <class T> using four = dv::tensor<T, 4>;
using floats = std::vector<float>;

template <class X>
__global__ void invert(dv::in<X> from, dv::out<X> to) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < X::size) to[i] = 1 / from[i];
}
struct reciprocal {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        invert<X><<<static_cast<unsigned>((X::size + 255) / 256), 256, 0, static_cast<cudaStream_t>(s.handle)>>>(from, to);
        s.services->launched("invert");
    }
};
struct doubled : dv::graph<dv::input<x, large>, dv::let<y, add(x, x)>, dv::output<y>> {};
template <class T, int Width>
struct extremes : dv::graph<
    dv::mesh<dv::axis<dp, Width>>,
    dv::input<x, four<T>>,
    dv::let<low, all_reduce<minimum, dp>(x)>,
    dv::let<high, all_reduce<maximum, dp>(x)>,
    dv::output<low, high>> {};
struct by_roles : dv::graph<
    dv::input<x, large>,
    dv::on<left, dv::let<y, reciprocal(x)>>,
    dv::on<right, dv::let<z, subtract(y, y)>>,
    dv::let<total, all_reduce<sum>(y, z)>,
    dv::output<total>> {};
struct joined : dv::graph<
    dv::input<x, large>,
    dv::let<y, reciprocal(x)>,
    dv::let<z, reciprocal(y)>,
    dv::let<total, concat<y, z>>,
    dv::let<low, reciprocal(total)>,
    dv::let<high, add(low, total)>,
    dv::output<high>> {};
template <class X>
__global__ void read_too_far(dv::in<X> from, dv::out<X> to) {
    if (threadIdx.x == 0) to[0] = from[X::size + static_cast<std::int64_t>(blockIdx.x)];
}
struct reads_too_far {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    static constexpr bool has_effect = true;  // not launched before the first run
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        read_too_far<X><<<1, 32, 0, static_cast<cudaStream_t>(s.handle)>>>(from, to);
        s.services->launched("read_too_far");
    }
};
struct beyond : dv::graph<dv::input<x, large>, dv::let<y, reads_too_far(x)>, dv::output<y>> {};

using in_flight = dv::options<dv::in_flight<3>>;
using support::has, support::message;

template <class T, int Width>
void compare_extremes(const char* what) {
    if (!gpu::enough(Width, what)) return;
    const T none = std::numeric_limits<float>::quiet_NaN(), zero = 0.0f, minus = -0.0f;
    dv::cuda::world::local(Width).run([&](auto& rank) {
        dv::executor<extremes<T, Width>> step{rank};
        for (int of = 0; of < Width; ++of) {  // the rank that has not-a-number
            // Elements: a number everywhere but there; not-a-number everywhere but there; zeros of both signs; not-a-number everywhere.
            const bool mine = rank.index() == of;
            const std::vector<T> in{mine ? none : T(static_cast<float>(rank.index() + 1)), mine ? T(5.0f) : none, mine ? minus : zero,
                                    none};
            const auto t = step.bind(dv::name<x>, in).run();
            const std::vector<T> least = t.read(dv::name<low>).host(), most = t.read(dv::name<high>).host();
            const std::lock_guard lock{support::report()};
            CAPTURE(what);
            CAPTURE(of);
            CAPTURE(rank.index());
            if (Width > 1) {
                CHECK(static_cast<float>(least[0]) == (of == 0 ? 2.0f : 1.0f));
                CHECK(static_cast<float>(most[0]) == static_cast<float>(of == Width - 1 ? Width - 1 : Width));
                CHECK(std::signbit(static_cast<double>(least[2])));
                CHECK(!std::signbit(static_cast<double>(most[2])));
            }
            CHECK(static_cast<float>(least[1]) == 5.0f);
            CHECK(static_cast<float>(most[1]) == 5.0f);
            CHECK(static_cast<float>(least[3]) != static_cast<float>(least[3]));
            CHECK(static_cast<float>(most[3]) != static_cast<float>(most[3]));
        }
    });
}

}  // namespace values_test
using namespace values_test;

TEST_CASE("a rank's thread keeps to the CPUs near its GPU, and is free where that is not wanted") {
    if (!gpu::enough(2, "CPUs")) return;
    cpu_set_t before;
    REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof before, &before) == 0);
    for (const bool near : {true, false})
        dv::cuda::world::local(2).with({.near_gpu = near}).run([&](auto& rank) {
            char bus_id[32] = {};
            cpu_set_t mine, wanted = before;
            const bool known = cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, rank.index()) == cudaSuccess;
            const auto close = dv::launch::cpus_near(bus_id);
            if (near && close) wanted = dv::launch::cpus_to_keep_to(*close, before).value_or(before);
            const bool asked = pthread_getaffinity_np(pthread_self(), sizeof mine, &mine) == 0;
            const std::lock_guard lock{support::report()};
            CHECK(known);
            CHECK(asked);
            MESSAGE("rank " << rank.index() << ": " << CPU_COUNT(&mine) << " of " << CPU_COUNT(&before) << " CPUs");
            CHECK(CPU_EQUAL(&mine, &wanted));
        });
}

TEST_CASE("memory that changes behind bind: pageable, pinned, the device's") {
    if (!gpu::enough(1, "binding")) return;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        dv::cuda::world::local(1).run([&](auto& rank) {
            dv::executor<doubled, in_flight> step{rank, how};
            floats pageable(size);
            float *pinned = nullptr, *device = nullptr;
            REQUIRE(cudaMallocHost(reinterpret_cast<void**>(&pinned), size * sizeof(float)) == cudaSuccess);
            REQUIRE(cudaMalloc(reinterpret_cast<void**>(&device), size * sizeof(float)) == cudaSuccess);
            for (int round = 0; round < 200; ++round) {
                std::vector<dv::ticket<doubled>> tickets;
                for (int k = 0; k < 3; ++k) {
                    const float value = static_cast<float>(3 * round + k);
                    if (k == 1) {
                        std::fill_n(pinned, size, value);
                        step.bind(dv::name<x>, pinned, size);
                    } else {
                        std::fill(pageable.begin(), pageable.end(), value);
                        step.bind(dv::name<x>, pageable);
                    }
                    tickets.push_back(step.run());
                    std::fill_n(pinned, size, -1.0f);
                    std::fill(pageable.begin(), pageable.end(), -1.0f);
                }
                for (int k = 0; k < 3; ++k) {
                    const floats all = tickets[static_cast<std::size_t>(k)].read(dv::name<y>).host();
                    const float wanted = 2 * static_cast<float>(3 * round + k);
                    CHECK(std::all_of(all.begin(), all.end(), [&](float v) { return v == wanted; }));
                }
            }
            const floats ones(size, 1.0f);
            REQUIRE(cudaMemcpy(device, ones.data(), size * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
            CHECK(step.bind(dv::name<x>, device, size).run().read(dv::name<y>)[size - 1] == 2.0f);  // in place, without being told
            cudaFree(device);
            cudaFreeHost(pinned);
        });
}

TEST_CASE("not-a-number in a minimum and a maximum") {
    compare_extremes<dv::half, 1>("half, one rank"), compare_extremes<dv::half, 2>("half, two ranks"),
        compare_extremes<dv::half, 4>("half, four ranks");
    compare_extremes<dv::bfloat16, 2>("bfloat16, two ranks"), compare_extremes<dv::bfloat16, 4>("bfloat16, four ranks");
    compare_extremes<float, 2>("float, two ranks"), compare_extremes<float, 4>("float, four ranks");
    compare_extremes<double, 2>("double, two ranks"), compare_extremes<double, 4>("double, four ranks");
}

TEST_CASE("the first operation that makes an infinity") {
    if (!gpu::enough(2, "dv::check_finite")) return;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        std::string seen[2];
        CHECK(message([&] {
                  dv::cuda::world::local(2).run([&](auto& rank) {
                      dv::executor<by_roles, in_flight> step{rank, how, dv::check_finite, 30s};
                      seen[rank.index()] = message([&] {
                          for (int run = 0; run < 5; ++run) {
                              floats mine(size, 2.0f);
                              if (run == 3) mine[size / 2] = 0;
                              const auto t = step.bind(dv::name<x>, mine).run();
                              CHECK(t.read(dv::name<total>)[7] == 0.5f);
                          }
                      });
                  });
              }) == "nothing thrown");
        const std::string wanted = "operation `reciprocal` of `y` failed on rank 0 (role `left`), run 3: element " +
                                   std::to_string(size / 2) + " of its result `y` is infinite";
        CHECK(seen[0] == "dovetail: " + wanted);
        has(seen[1], "rank 1 stops, because " + wanted);
    }
}

TEST_CASE("values as files") {
    if (!gpu::enough(2, "DOVETAIL_DUMP")) return;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const support::dumping values{"y,total"};
        dv::cuda::world::local(2).run([&](auto& rank) {
            dv::executor<by_roles, in_flight> step{rank, how, 30s};
            for (int run = 0; run < 6; ++run) step.bind(dv::name<x>, floats(size, static_cast<float>(run + 1))).run();
        });
        CHECK(values.files().size() == 2 * 4 * 2);
        for (const std::string& name : values.files())
            CHECK((values.read<float>(name, "{'descr': '<f4', 'fortran_order': False, 'shape': (1048576,), }") ==
                   floats(size, 1 / static_cast<float>(name[name.find("run") + 3] - '0' + 1))));
    }
}

TEST_CASE("what is made of parts as a file") {
    if (!gpu::enough(1, "DOVETAIL_DUMP of a concat")) return;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
        const support::dumping whole{"total"};
        dv::cuda::world::local(1).run([&](auto& rank) {
            dv::executor<joined, in_flight> step{rank, how, dv::check_finite, 30s};
            for (int run = 0; run < 6; ++run) step.bind(dv::name<x>, floats(size, static_cast<float>(1 << run))).run();
        });
        CHECK(whole.files().size() == 4);
        for (int run = 0; run < 4; ++run) {
            floats both(2 * size, 1 / static_cast<float>(1 << run));
            std::fill(both.begin() + size, both.end(), static_cast<float>(1 << run));
            CHECK((whole.read<float>("joined.total.run" + std::to_string(run) + ".rank0.npy",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2097152,), }") == both));
        }
    }
}

// The last: after a trap the process cannot use the GPU any more.
TEST_CASE("an index beyond a view in a kernel, in a run whose ticket is dropped") {
    if (!gpu::enough(1, "a trap")) return;
    try {
        dv::cuda::world::local(1).run([&](auto& rank) {
            dv::executor<beyond> step{rank, 30s};
            step.bind(dv::name<x>, floats(size)).run();
        });
        FAIL("nothing thrown");
    } catch (const dv::operation_error& e) {
        has(e.what(), "failed on rank 0");
        MESSAGE(std::string{e.what()});
    }
}
