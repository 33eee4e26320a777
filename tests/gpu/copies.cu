// Channels, and collectives in two levels, by peer copy between the GPUs of one process: results equal to the host's, on streams and
// replayed, in many runs and with large values; and a rank that never runs.
#include "gpu/compare.hpp"
#include "gpu/graphs.hpp"
#include "gpu/in_flight.hpp"
#include "support/expect.hpp"

#include <chrono>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {
template <class G>
void compare_copies(int ranks, const char* what) {
    if (gpu::enough(ranks, what)) support::compare_copies<G>(ranks, what, gpu::on_gpus);
}
}  // namespace

TEST_CASE("channels by peer copy") {
    compare_copies<samples::crossing_pair>(2, "crossing_pair");
    compare_copies<samples::ping_pong>(2, "ping_pong");
    compare_copies<samples::ring_of_three>(3, "ring_of_three");
    compare_copies<samples::there_and_back>(3, "there_and_back");
    compare_copies<samples::read_twice>(3, "read_twice");
    compare_copies<samples::channel_first>(2, "channel_first");
    compare_copies<samples::collective_first>(2, "collective_first");
    compare_copies<samples::pipeline<4, 8>>(4, "pipeline");
    compare_copies<samples::roles_and_meshes>(4, "roles_and_meshes");
    compare_copies<samples::shaped<0>>(2, "nothing");
    compare_copies<samples::shaped<1001>>(2, "an odd number");
    compare_copies<samples::shaped<(1 << 22) + 1>>(2, "16 MiB");
}

TEST_CASE("collectives in two levels, as if the four GPUs were on two hosts") {
    compare_copies<samples::hosts_first>(4, "hosts_first");
    compare_copies<samples::hosts_last>(4, "hosts_last");
    compare_copies<samples::from_a_host>(4, "from_a_host");
}

TEST_CASE("ten thousand runs, several in flight") {
    if (!gpu::enough(3, "ten thousand runs")) return;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        dv::cuda::world::local(3).run([&](auto& rank) {
            constexpr int runs = 10000;
            dv::executor<samples::ring_of_three, samples::several_copied> step{rank, 60s, how};
            int wrong = 0;
            const auto bind = [&](int k) { step.bind(dv::name<samples::x>, std::vector<float>(8, static_cast<float>(k % 1000))); };
            const auto read = [&](const dv::ticket<samples::ring_of_three>& ticket, int run) {
                ticket.wait();
                if (rank.index() != 0) return;
                const std::vector<float> wanted(8, static_cast<float>(5 * (run % 1000)));
                wrong += ticket.read(dv::name<samples::d>).host() == wanted ? 0 : 1;
            };
            const auto start = std::chrono::steady_clock::now();
            gpu::run_in_flight(step, runs, bind, read);
            const auto spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            const std::lock_guard lock{support::report()};
            CHECK(wrong == 0);
            if (rank.index() == 0)
                MESSAGE(runs << std::string{how == dv::replay_mode::always ? " replays: " : " runs: "} << 1e6 * spent / runs
                             << " us a run");
        });
}

TEST_CASE("a partner that does not come") {
    if (!gpu::enough(3, "a partner that stays away")) return;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        for (const int late : {0, 2}) {
            const auto start = std::chrono::steady_clock::now();
            std::string text = "nothing thrown";
            try {
                dv::cuda::world::local(3).run([&](auto& rank) {
                    dv::executor<samples::ring_of_three, samples::copied> step{rank, 30s, how};
                    step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f));
                    step.run().wait();
                    if (rank.index() == late) std::this_thread::sleep_for(2s);
                    else step.run().wait_for(500ms);
                });
            } catch (const std::exception& e) {
                text = e.what();
            }
            CAPTURE(text);
            CHECK(text.find("has not ended operation `transfer") != std::string::npos);
            CHECK(text.find("rank " + std::to_string(late) + " has nothing to do") != std::string::npos);
            CHECK(std::chrono::steady_clock::now() - start < 15s);
        }
    gpu::compare<samples::ring_of_three, samples::copied>(3, 1, "after an abort");
}
