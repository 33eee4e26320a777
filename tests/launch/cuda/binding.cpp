// Values bound to inputs, on the simulated GPU: for pageable, pinned and device memory, a run reads the values at the time of the bind,
// unless the memory was borrowed or is used in place.
#include "support/dlpack.hpp"
#include "support/expect.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>
#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#endif

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace binding_test {

using namespace dv::ops;
struct x;
struct y;
using vector = dv::tensor<float, 8>;
using floats = std::vector<float>;

inline std::atomic<bool> gate = true;  // closed while false
struct behind_gate {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> from, dv::out<X> to) {
        simulated::of(static_cast<cudaStream_t>(s.handle))->push([from, to] {
            while (!gate.load()) std::this_thread::sleep_for(1ms);
            std::copy(from.begin(), from.end(), to.begin());
        });
    }
};
struct late : dv::graph<dv::input<x, vector>, dv::let<y, behind_gate(x)>, dv::output<y>> {};
struct from_pinned : dv::graph<dv::input<x, vector, dv::pinned>, dv::let<y, from_host(x)>, dv::output<y>> {};

using in_turn = dv::options<dv::overlap<false>>;  // one stream: the copy of an input goes behind the operations before
using in_flight = dv::options<dv::in_flight<3>>;

// Host memory that the copy stream can read itself.
struct pinned_memory {
    float* data = nullptr;
    explicit pinned_memory(float value) {
        static_cast<void>(dv::cuda::calls.malloc_host(reinterpret_cast<void**>(&data), sizeof(float) * 8));
        std::fill_n(data, 8, value);
    }
    pinned_memory(const pinned_memory&) = delete;
    ~pinned_memory() { static_cast<void>(dv::cuda::calls.free_host(data)); }
};
struct device_memory {
    float* data = nullptr;
    explicit device_memory(float value) {
        static_cast<void>(dv::cuda::calls.malloc(reinterpret_cast<void**>(&data), sizeof(float) * 8));
        std::fill_n(data, 8, value);
    }
    device_memory(const device_memory&) = delete;
    ~device_memory() { static_cast<void>(dv::cuda::calls.free(data)); }
};

template <class Body>
void on_one(Body body) {
    const simulated::scope simulation;
    dv::cuda::world::local(1).run([&](auto& rank) { body(rank); });
}

}  // namespace binding_test
using namespace binding_test;

TEST_CASE("memory that changes behind bind: pageable and pinned, on streams and replayed") {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        on_one([&](auto& rank) {
            dv::executor<late, in_flight> step{rank, how};
            gate = true;
            step.bind(dv::name<x>, floats(8)).run().wait();
            for (int round = 0; round < 4; ++round) {
                floats pageable(8, static_cast<float>(round));
                pinned_memory pinned{static_cast<float>(round + 10)};
                gate = false;
                const auto first = step.bind(dv::name<x>, pageable).run();
                const auto second = step.bind(dv::name<x>, pinned.data, 8).run();
                CHECK(first.inputs_released());
                CHECK(second.inputs_released());
                std::fill_n(pinned.data, 8, -1.0f);
                std::fill(pageable.begin(), pageable.end(), -1.0f);
                gate = true;
                CHECK(first.read(dv::name<y>).host() == floats(8, static_cast<float>(round)));
                CHECK(second.read(dv::name<y>).host() == floats(8, static_cast<float>(round + 10)));
            }
        });
}

TEST_CASE("borrowed memory: pinned is read where it is, pageable when the run is issued") {
    on_one([](auto& rank) {
        dv::executor<late, in_turn> step{rank};
        floats pageable(8, 1.0f);
        pinned_memory pinned{2.0f};
        gate = true;
        step.bind(dv::name<x>, dv::borrowed(pageable)).run().wait();
        gate = false;
        const auto before = step.run();
        const auto direct = step.bind(dv::name<x>, dv::borrowed(pinned.data, 8)).run();
        CHECK(before.inputs_released());
        CHECK(!direct.inputs_released());
        std::fill_n(pinned.data, 8, 3.0f);
        std::fill(pageable.begin(), pageable.end(), 3.0f);
        gate = true;
        CHECK(direct.read(dv::name<y>).host() == floats(8, 3.0f));
        CHECK(direct.inputs_released());
    });
}

TEST_CASE("device memory is used in place, however it is given") {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        on_one([&](auto& rank) {
            dv::executor<late, in_turn> step{rank, how};
            gate = true;
            device_memory mine{1.0f}, other{5.0f};
            step.bind(dv::name<x>, mine.data, 8);  // a pointer that CUDA knows
            CHECK(step.run().read(dv::name<y>).host() == floats(8, 1.0f));
            gate = false;
            const auto t = step.bind(dv::name<x>, dv::device_pointer{mine.data, 8}).run();
            CHECK(!t.inputs_released());
            std::fill_n(mine.data, 8, 2.0f);
            gate = true;
            CHECK(t.read(dv::name<y>).host() == floats(8, 2.0f));
            CHECK(step.bind(dv::name<x>, other.data, 8).run().read(dv::name<y>).host() == floats(8, 5.0f));
            CHECK(step.bind(dv::name<x>, floats(8, 4.0f)).run().read(dv::name<y>).host() == floats(8, 4.0f));
        });
}

TEST_CASE("tensors of other libraries on the rank's GPU are used in place") {
    on_one([](auto& rank) {
        dv::executor<late, in_turn> step{rank};
        device_memory mine{1.0f};
        gate = true;
#if __has_include(<cuda/std/mdspan>)
        const cuda::std::mdspan<const float, cuda::std::extents<int, 8>> span{mine.data};
        CHECK(step.bind(dv::name<x>, span).run().read(dv::name<y>).host() == floats(8, 1.0f));
#else
        MESSAGE("not run: there is no cuda/std/mdspan here");
#endif
        std::int64_t shape[1] = {8};
        DLTensor tensor{};
        tensor.data = mine.data;
        tensor.device = {kDLCUDA, 0};
        tensor.ndim = 1;
        tensor.dtype = {kDLFloat, 32, 1};
        tensor.shape = shape;
        gate = false;
        const auto t = step.bind(dv::name<x>, tensor).run();
        CHECK(!t.inputs_released());
        std::fill_n(mine.data, 8, 2.0f);
        gate = true;
        const auto out = t.read(dv::name<y>);
        DLTensor described{};
        out.describe_in(described);
        CHECK(described.device.device_type == kDLCUDA);
        CHECK(described.device.device_id == 0);
        out.copy_to(tensor);
        CHECK(std::vector<float>(mine.data, mine.data + 8) == floats(8, 2.0f));
        tensor.device.device_id = 1;
        CHECK(support::message([&] { step.bind(dv::name<x>, tensor); }) ==
              "dovetail: input `x` is bound to a tensor on GPU 1, and the rank is on GPU 0, on rank 0");
    });
}

TEST_CASE("an input in pinned memory is copied wherever its values are") {
    on_one([](auto& rank) {
        dv::executor<from_pinned> step{rank};
        device_memory mine{7.0f};
        CHECK(step.bind(dv::name<x>, dv::device_pointer{mine.data, 8}).run().read(dv::name<y>).host() == floats(8, 7.0f));
        CHECK(step.bind(dv::name<x>, mine.data, 8).run().read(dv::name<y>).host() == floats(8, 7.0f));
        CHECK(step.bind(dv::name<x>, floats(8, 8.0f)).run().read(dv::name<y>).host() == floats(8, 8.0f));
    });
}

TEST_CASE("many bindings allocate nothing after the first") {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        on_one([&](auto& rank) {
            dv::executor<late, in_flight> step{rank, how};
            gate = true;
            floats mine(8);
            step.bind(dv::name<x>, mine).run().wait();
            const auto pinned = [] {
                const std::lock_guard lock{simulated::here().mutex};
                return simulated::here().pinned.size();
            };
            const std::size_t before = pinned();
            for (int k = 0; k < 1000; ++k) {
                std::fill(mine.begin(), mine.end(), static_cast<float>(k));
                const auto t = step.bind(dv::name<x>, mine).run();
                if (k % 100 == 99) CHECK(t.read(dv::name<y>).host() == mine);
            }
            CHECK(pinned() == before);
        });
}
