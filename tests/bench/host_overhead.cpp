// What a plan costs the host per instruction, with operations that do nothing: chains, fan-outs and diamonds of 10, 100 and
// 1,000 of them, run on the host backend and, interleaved in the same process, by hand: the same function pointers in the
// same order, called by a worker thread that a caller wakes and waits for. Prints nanoseconds an operation and the ratio.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>

#include <algorithm>
#include <cstdio>

namespace dv = dovetail;

namespace bench {

struct x;
struct last;
template <int> struct link;
template <int> struct arm;
template <int> struct left;
template <int> struct right;
template <int> struct joint;
using number = dv::scalar<float>;

// Operations that launch nothing. They are not free to remove: the launch goes through a pointer.
struct nothing {
    static constexpr dv::tensor_type result(dv::tensor_type a) { return a; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<X>) {}
};
struct nothing_of_two {
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type) { return a; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::in<X>, dv::out<X>) {}
};
struct nothing_at_all {
    static constexpr dv::tensor_type result(dv::tensor_type a) { return a; }
    static constexpr bool has_effect = true;
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<X>) {}
};

template <int I> using chained = dv::let<link<I + 1>, nothing(link<I>)>;
template <int N>
struct chain : dv::graph<dv::input<x, number>, dv::let<link<0>, nothing(x)>, dv::repeat<chained, N - 1>, dv::output<link<N - 1>>> {};

template <int I> using fanned = dv::let<arm<I>, nothing_at_all(x)>;
template <int N>
struct fan_out : dv::graph<dv::input<x, number>, dv::repeat<fanned, N>> {};

template <int I> using diamond_of = dv::group<dv::let<left<I>, nothing(joint<I>)>, dv::let<right<I>, nothing(joint<I>)>,
                                              dv::let<joint<I + 1>, nothing_of_two(left<I>, right<I>)>>;
template <int N>
struct diamonds : dv::graph<dv::input<x, number>, dv::let<joint<0>, nothing(x)>, dv::repeat<diamond_of, N / 3>, dv::output<joint<N / 3>>> {
};

using clock = std::chrono::steady_clock;

// The hand-written equivalent: a thread, a flag each way, an array of calls.
class by_hand {
public:
    using call = void (*)(dv::host::stream, void* const*);
    by_hand(std::vector<call> calls, std::vector<void*> pointers)
        : calls_{std::move(calls)}, pointers_{std::move(pointers)}, worker_{[this] { work(); }} {}
    ~by_hand() {
        {
            const std::lock_guard lock{mutex_};
            stop_ = true;
        }
        changed_.notify_all();
        worker_.join();
    }
    void run() {
        std::unique_lock lock{mutex_};
        ++wanted_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return done_ == wanted_; });
    }

private:
    void work() {
        std::unique_lock lock{mutex_};
        for (;;) {
            changed_.wait(lock, [&] { return stop_ || done_ < wanted_; });
            if (stop_) return;
            lock.unlock();
            for (const call c : calls_) c({}, pointers_.data());
            lock.lock();
            ++done_;
            changed_.notify_all();
        }
    }
    std::vector<call> calls_;
    std::vector<void*> pointers_;
    std::mutex mutex_;
    std::condition_variable changed_;
    long wanted_ = 0, done_ = 0;
    bool stop_ = false;
    std::thread worker_;
};

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

template <class G>
void measure(const char* shape, int operations) {
    dv::host::world world{1};
    world.run([&](auto& rank) {
        dv::executor<G> step{rank};
        step.bind(dv::name<x>, 1.0f);
        const auto& executable = dv::bound<G, dv::options<>, dv::host::stream>::value();
        std::vector<by_hand::call> calls;
        for (const auto f : executable.launches)
            if (f != nullptr) calls.push_back(f);
        float value = 0;
        by_hand hand{calls, std::vector<void*>(4, &value)};
        std::vector<double> planned, written;
        for (int round = 0; round < 60; ++round) {  // one after the other, so that both see the same machine
            const auto a = clock::now();
            step.run().wait();
            const auto b = clock::now();
            hand.run();
            const auto c = clock::now();
            if (round < 10) continue;
            planned.push_back(std::chrono::duration<double, std::nano>(b - a).count());
            written.push_back(std::chrono::duration<double, std::nano>(c - b).count());
        }
        const double p = median(planned), w = median(written);
        std::printf("| %s | %d | %.0f | %.1f | %.0f | %.1f | %.2f |\n", shape, operations, p, p / operations, w, w / operations, p / w);
    });
}

}  // namespace bench

int main() {
    std::printf(
        "| shape | operations | ns a run, dovetail | an operation | ns a run, by hand | an operation | ratio |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    bench::measure<bench::chain<10>>("chain", 10);
    bench::measure<bench::chain<100>>("chain", 100);
    bench::measure<bench::chain<1000>>("chain", 1000);
    bench::measure<bench::fan_out<10>>("fan-out", 10);
    bench::measure<bench::fan_out<100>>("fan-out", 100);
    bench::measure<bench::fan_out<1000>>("fan-out", 1000);
    bench::measure<bench::diamonds<9>>("diamonds", 10);
    bench::measure<bench::diamonds<99>>("diamonds", 100);
    bench::measure<bench::diamonds<999>>("diamonds", 1000);
}
