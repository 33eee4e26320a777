// Values bound to inputs: `bind` copies host memory, so that later changes by the caller have no effect; borrowed memory and device memory
// is used in place.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/binding/bound_copies.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include "support/expect.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <thread>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {
namespace app {
using namespace dv::ops;
struct x;
struct y;
using row = dv::tensor<float, 4>;

std::atomic<bool> gate = true;  // closed while false
struct behind_gate {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        while (!gate.load()) std::this_thread::sleep_for(1ms);
        std::copy(from.begin(), from.end(), to.begin());
    }
};
struct doubled : dv::graph<dv::input<x, row>, dv::let<y, add(x, x)>, dv::output<y>> {};
// The second input is copied in behind an operation that takes as long as a test wants.
struct late : dv::graph<dv::input<x, row>, dv::let<y, behind_gate(x)>, dv::output<y>> {};
struct from_pinned : dv::graph<dv::input<x, row, dv::pinned>, dv::let<y, from_host(x)>, dv::output<y>> {};
using large = dv::tensor<float, dv::bound_copies::most_bytes_of_several / 4 + 1>;
struct of_large : dv::graph<dv::input<x, large>, dv::let<y, add(x, x)>, dv::output<y>> {};
struct of_scalar : dv::graph<dv::input<x, dv::scalar<float>>, dv::let<y, fill<row>(x)>, dv::output<y>> {};
}  // namespace app
using namespace app;
using floats = std::vector<float>;
using support::message;
using in_turn = dv::options<dv::overlap<false>>;  // one worker: an input waits behind the operations of the run before
const floats ones(4, 1.0f);

template <class V>
concept can_be_borrowed = requires(V&& values) { dv::borrowed(std::forward<V>(values)); };

// Memory that counts its allocations.
class counting_memory final : public dv::memory {
public:
    int allocated = 0, alive = 0;
    void* allocate(std::int64_t bytes) override { return ++allocated, ++alive, ::operator new(static_cast<std::size_t>(bytes)); }
    void release(void* p) noexcept override { --alive, ::operator delete(p); }
    void* allocate_host(std::int64_t bytes) override { return allocate(bytes); }
    void release_host(void* p) noexcept override { release(p); }
    void to_host(void* to, const void* from, std::int64_t bytes) override { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }
    void from_host(void* to, const void* from, std::int64_t bytes) override { to_host(to, from, bytes); }
};
}  // namespace

TEST_CASE_TEMPLATE("memory that ends or changes behind bind", Options, dv::options<>, in_turn, dv::options<dv::in_flight<3>>) {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<late, Options> step{rank};
        gate = false;
        {
            floats mine(4, 7.0f);
            step.bind(dv::name<x>, mine);
            std::fill(mine.begin(), mine.end(), 8.0f);
        }
        const auto t = step.run();
        const floats other(4, 9.0f);  // perhaps where `mine` was
        CHECK(t.inputs_released());          // nothing of the caller's is read
        gate = true;
        CHECK(t.read(dv::name<y>).host() == floats(4, 7.0f));
    });
}

TEST_CASE("one buffer, refilled between runs") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<doubled, dv::options<dv::in_flight<3>>> step{rank};
        for (int round = 0; round < 50; ++round) {
            floats mine(4);
            std::vector<dv::ticket<doubled>> tickets;
            for (int k = 0; k < 3; ++k) {
                std::fill(mine.begin(), mine.end(), static_cast<float>(round + k));
                tickets.push_back(step.bind(dv::name<x>, mine).run());
            }
            for (int k = 0; k < 3; ++k) CHECK(tickets[k].read(dv::name<y>).host() == floats(4, 2.0f * static_cast<float>(round + k)));
        }
    });
}

TEST_CASE("a binding that is not repeated serves all later runs") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<doubled> step{rank};
        step.bind(dv::name<x>, floats{1, 2, 3, 4});
        for (int k = 0; k < 5; ++k) CHECK(step.run().read(dv::name<y>).host() == floats{2, 4, 6, 8});
    });
}

TEST_CASE("containers, spans, arrays, pointers and scalars") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<doubled> step{rank};
        const auto sum = [&] { return step.run().read(dv::name<y>).host(); };
        floats list{1, 2, 3, 4};
        step.bind(dv::name<x>, list);
        CHECK(sum() == floats{2, 4, 6, 8});
        step.bind(dv::name<x>, std::span{list}.first(4));
        CHECK(sum() == floats{2, 4, 6, 8});
        step.bind(dv::name<x>, std::array<float, 4>{4, 3, 2, 1});
        CHECK(sum() == floats{8, 6, 4, 2});
        const float plain[4] = {1, 1, 1, 1};
        step.bind(dv::name<x>, plain);
        CHECK(sum() == floats(4, 2.0f));
        step.bind(dv::name<x>, list.data(), 4);
        CHECK(sum() == floats{2, 4, 6, 8});
        step.bind(dv::name<x>, dv::borrowed(plain)).bind(dv::name<x>, dv::borrowed(std::span<const float, 4>{plain}));
        CHECK(sum() == floats(4, 2.0f));

        dv::executor<of_scalar> fills{rank};
        float value = 3;
        fills.bind(dv::name<x>, value);
        value = 4;
        CHECK(fills.run().read(dv::name<y>).host() == floats(4, 3.0f));
        fills.bind(dv::name<x>, 5.0f);
        CHECK(fills.run().read(dv::name<y>).host() == floats(4, 5.0f));
        fills.bind(dv::name<x>, dv::borrowed(&value, 1));
        CHECK(fills.run().read(dv::name<y>).host() == floats(4, 4.0f));
    });
}

TEST_CASE("borrowed memory and device memory are read where they are") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<late, in_turn> step{rank};
        floats mine(4, 1.0f);
        gate = false;
        step.bind(dv::name<x>, ones);
        const auto before = step.run();  // holds up the copy of the next run
        dv::executor<late, in_turn> other{rank};
        other.bind(dv::name<x>, dv::borrowed(mine));
        const auto t = other.run();
        CHECK(before.inputs_released());
        CHECK(!t.inputs_released());
        std::fill(mine.begin(), mine.end(), 2.0f);
        gate = true;
        CHECK(t.read(dv::name<y>).host() == floats(4, 2.0f));
        CHECK(t.inputs_released());

        gate = false;
        other.bind(dv::name<x>, dv::device_pointer{mine.data(), 4});
        const auto u = other.run();
        CHECK(!u.inputs_released());  // the operation reads it
        std::fill(mine.begin(), mine.end(), 3.0f);
        gate = true;
        CHECK(u.read(dv::name<y>).host() == floats(4, 3.0f));
        CHECK(u.inputs_released());
    });
}

TEST_CASE("an input in pinned memory is copied wherever its values are") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<from_pinned> step{rank};
        const floats mine{1, 2, 3, 4};
        step.bind(dv::name<x>, dv::device_pointer{mine.data(), 4});
        CHECK(step.run().read(dv::name<y>).host() == mine);
        step.bind(dv::name<x>, ones);
        CHECK(step.run().read(dv::name<y>).host() == ones);
    });
}

TEST_CASE("what cannot be bound is refused by name") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<doubled> step{rank};
        CHECK(message([&] { step.bind(dv::name<x>, static_cast<const float*>(nullptr), 4); }) ==
              "dovetail: input `x` is bound to a null pointer, on rank 0");
        CHECK(message([&] { step.bind(dv::name<x>, floats(5)); }) == "dovetail: input `x` is bound to 5 elements and has 4, on rank 0");
        CHECK(message([&] { step.run(); }) == "dovetail: input `x` is not bound on rank 0");
        step.bind(dv::name<x>, ones);
        CHECK(step.run().read(dv::name<y>)[0] == 2.0f);
    });
    static_assert(!can_be_borrowed<floats> && !can_be_borrowed<std::array<float, 4>>);  // about to be destroyed
    static_assert(can_be_borrowed<floats&> && can_be_borrowed<const floats&> && can_be_borrowed<std::span<const float>>);
}

TEST_CASE("the copies of an input: a few, kept, and never one that a run still reads") {
    const auto memory = std::make_shared<counting_memory>();
    std::int64_t read = -1, waited = 0;  // runs up to `read` have read their inputs
    const auto has_read = [&](std::int64_t run) { return run <= read; };
    const auto wait = [&](std::int64_t run) { ++waited, read = run; };
    {
        dv::bound_copies copies;
        for (std::int64_t run = 0; run < 1000; ++run) {
            CHECK(copies.next(memory, 64, 2, has_read, wait) != nullptr);
            copies.read_by(run);
        }
        CHECK(memory->allocated == 3);  // two runs in flight, and the one being bound
        CHECK(waited == 997);
        read = 999;
        char* const before = copies.next(memory, 64, 2, has_read, wait);
        CHECK(copies.next(memory, 64, 2, has_read, wait) == before);  // bound twice, read by no run
        CHECK(waited == 997);
    }
    CHECK(memory->alive == 0);
    dv::bound_copies large;
    constexpr std::int64_t bytes = dv::bound_copies::most_bytes_of_several + 1;
    large.next(memory, bytes, 2, has_read, wait);
    large.read_by(2000);
    large.next(memory, bytes, 2, has_read, wait);
    CHECK(memory->allocated == 4);
    CHECK(read == 2000);
}

TEST_CASE("to bind a large input again waits for the run that reads it, up to the time limit") {
    dv::host::world{1}.run([](auto& rank) {
        gate = false;
        dv::executor<late, in_turn> before{rank};
        dv::executor<of_large, in_turn> step{rank, 50ms};
        const floats values(static_cast<std::size_t>(large::size), 1.0f);
        before.bind(dv::name<x>, ones).run();
        const auto t = step.bind(dv::name<x>, values).run();
        CHECK(t.inputs_released());
        support::has(
            message([&] { step.bind(dv::name<x>, values); }),
            "timeout after 0.05 s: run 0 of `of_large` has not read its inputs, and input `x` cannot be bound again: rank 0 is in operation `behind_gate` of `y`");
        gate = true;
        t.wait_for(10s);
        step.bind(dv::name<x>, values);
    });
}
