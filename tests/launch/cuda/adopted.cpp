// Worlds that use communicators of the caller, on the simulated GPU: results equal to the host's, and an end within the time limit if a
// rank fails, has another plan or never runs. These ranks have no connection except NCCL.
#include "support/exercise.hpp"
#include "support/expect.hpp"
#include "support/samples.hpp"
#include "support/says.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/launch/host/world.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {

using support::says;

template <class G, class O>
void compare(int ranks, int ahead, const char* what) {
    constexpr int runs = 4;
    std::vector<support::outputs> wanted(static_cast<std::size_t>(ranks)), streams = wanted, replayed = wanted;
    dv::host::world{ranks}.run(
        [&](auto& rank) { wanted[static_cast<std::size_t>(rank.index())] = support::exercise<G, O>(rank, runs, ahead); });
    const auto threw = simulated::run_adopted(ranks, [&](auto& rank) {
        streams[static_cast<std::size_t>(rank.index())] = support::exercise<G, O>(rank, runs, ahead);
        replayed[static_cast<std::size_t>(rank.index())] = support::exercise<G, O>(rank, runs, ahead, dv::replay);
    });
    CAPTURE(what);
    for (const auto& text : threw) CHECK(text == "");
    CHECK(streams == wanted);
    CHECK(replayed == wanted);
}
template <class Rank, class... Extra>
dv::executor<samples::descent> descending(Rank& rank, Extra... extra) {
    dv::executor<samples::descent> step{rank, extra...};
    step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.5f);
    return step;
}

}  // namespace

TEST_CASE("several ranks on communicators of the caller's") {
    const simulated::scope simulation;
    compare<samples::descent, samples::overlapped>(2, 1, "descent");
    compare<samples::ring_of_three, samples::several>(3, 3, "ring_of_three");
    compare<samples::ring_of_three, samples::several_copied>(3, 3, "ring_of_three, by peer copy");
    compare<samples::overlapping_collectives, samples::overlapped>(3, 1, "overlapping_collectives");
    compare<samples::sums, samples::overlapped>(4, 1, "sums");
}

TEST_CASE("plans that differ are told to all ranks") {
    const simulated::scope simulation;
    const auto threw = simulated::run_adopted(3, [](auto& rank) {
        if (rank.index() == 1)
            dv::executor<samples::overlapping_collectives> step{rank, 20s};
        else
            dv::executor<samples::ring_of_three> step{rank, 20s};
    });
    for (const auto& text : threw) {
        CAPTURE(text);
        CHECK(says(text, "the plans of executor 0 differ: rank 1 (`overlapping_collectives`"));
    }
}

TEST_CASE("a rank that throws, or leaves, ends the others at their time limit, with the operation") {
    const simulated::scope simulation;
    for (const bool throws : {true, false})
        for (const auto how : {dv::replay_mode::never, dv::replay_mode::always}) {
            const auto start = std::chrono::steady_clock::now();
            const auto threw = simulated::run_adopted(3, [&](auto& rank) {
                auto step = descending(rank, 500ms, how);
                step.run().wait();
                if (rank.index() == 1 && throws) throw std::runtime_error{"on purpose"};
                if (rank.index() == 1) return;
                step.run().wait();
            });
            CAPTURE(throws);
            CHECK(std::chrono::steady_clock::now() - start < 20s);
            CHECK(threw[1] == (throws ? "on purpose" : ""));
            for (const int r : {0, 2}) {
                CAPTURE(threw[static_cast<std::size_t>(r)]);
                CHECK(says(threw[static_cast<std::size_t>(r)], "timeout"));
                CHECK(says(threw[static_cast<std::size_t>(r)],
                           "rank " + std::to_string(r) + " has not ended operation `all_reduce` of `b` (run 1 of `"));
            }
        }
}

TEST_CASE("a rank that does not come to an executor") {
    const simulated::scope simulation;
    const auto threw = simulated::run_adopted(3, [](auto& rank) {
        if (rank.index() == 2) return std::this_thread::sleep_for(1s);
        descending(rank, 300ms);
    });
    CHECK(threw[2] == "");
    for (const int r : {0, 1}) {
        CAPTURE(threw[static_cast<std::size_t>(r)]);
        CHECK(says(threw[static_cast<std::size_t>(r)], "timeout: rank " + std::to_string(r) + " waits for all ranks at "));
        CHECK(says(threw[static_cast<std::size_t>(r)], "; NCCL does not tell which have not come"));
    }
}

TEST_CASE("communicators that cannot be adopted") {
    const simulated::scope simulation;
    ncclUniqueId id{};
    static_cast<void>(dv::cuda::calls.get_unique_id(&id));
    ncclComm_t mine = nullptr;
    static_cast<void>(dv::cuda::calls.comm_init_rank(&mine, 1, id, 0, nullptr));
    const auto message = [&](int device) -> std::string {
        try {
            dv::cuda::world::adopt(mine, device);
        } catch (const dv::world_error& e) {
            return e.what();
        }
        return "nothing thrown";
    };
    CHECK(message(0) == "nothing thrown");
    CHECK(message(1) == "dovetail: the communicator given is on device 0, not 1");
    dv::cuda::calls.comm_user_rank = [](const ncclComm_t, int*) { return ncclInvalidArgument; };
    CHECK(says(message(0), "dovetail: the communicator given is not usable: "));
    CHECK(says(message(0), "ncclCommUserRank: "));
    static_cast<void>(dv::cuda::calls.comm_destroy(mine));
}

namespace {

// What an extension keeps between calls: the rank, and its executors.
struct extension {
    dv::cuda::held_rank held;
    simulated::rank on{*held};
    dv::executor<samples::descent> step;

    extension(ncclComm_t comm, int device, std::chrono::nanoseconds limit)
        : held{dv::cuda::world::adopt(comm, device).hold()}, step{on, limit} {
        step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.5f);
    }
};

}  // namespace

TEST_CASE("a rank that is held keeps its executors from call to call, whichever thread calls") {
    const simulated::scope simulation;
    std::vector<float> wanted(8);
    simulated::run(2, [&](auto& rank) {
        auto step = descending(rank);
        for (int k = 0; k < 4; ++k) step.run().wait();
        if (rank.index() == 0) wanted = step.read_state(dv::name<samples::weight>);
    });
    std::vector<std::vector<float>> found(2);
    const auto threw = simulated::on_own_communicators(2, [&](ncclComm_t mine, int r) {
        extension kept{mine, r, 20s};
        for (int call = 0; call < 4; ++call) std::thread{[&] { kept.step.run().wait(); }}.join();
        found[static_cast<std::size_t>(r)] = kept.step.read_state(dv::name<samples::weight>);
        kept.held.end();
        CHECK(support::message([&] { kept.step.run(); }) ==
              "dovetail: rank " + std::to_string(r) + " has left its world: the executor of `descent` cannot run any more");
        CHECK(support::message([&] { *kept.held; }) == "dovetail: rank " + std::to_string(r) + " has left its world");
        kept.held.end();  // nothing more to end
    });
    CHECK(threw == std::vector<std::string>(2));
    CHECK(found == std::vector<std::vector<float>>(2, wanted));
}

TEST_CASE("a held rank that leaves with an exception ends its own runs at once, and the other's at its time limit") {
    const simulated::scope simulation;
    const auto start = std::chrono::steady_clock::now();
    const auto threw = simulated::on_own_communicators(2, [&](ncclComm_t mine, int r) {
        extension kept{mine, r, 500ms};
        kept.step.run().wait();
        if (r == 1) throw dv::usage_error{"on purpose"};
        kept.step.run().wait();
    });
    CHECK(threw[1] == "dovetail: on purpose");
    CHECK(says(threw[0], "timeout"));
    CHECK(says(threw[0], "rank 0 has not ended operation `all_reduce` of `b` (run 1 of `"));
    CHECK(std::chrono::steady_clock::now() - start < 20s);
}

TEST_CASE("the end of a held rank throws the error that a dropped ticket kept") {
    const simulated::scope simulation;
    const auto threw = simulated::on_own_communicators(1, [&](ncclComm_t mine, int r) {
        extension kept{mine, r, 20s};
        kept.step.run().wait();
        kept.held->state()->world->abort({0, "rank 0: on purpose", {}, {}});
        kept.held.end();
    });
    CHECK(says(threw[0], "on purpose"));
}

TEST_CASE("ranks that are threads of the process cannot be held, and one that cannot join is not") {
    const simulated::scope simulation;
    CHECK(support::message([] { dv::cuda::world::local(2).hold(); }) ==
          "dovetail: the ranks of this world are 2 threads of this process, which `run` calls; a rank is held in a world of processes");
    const auto threw = simulated::on_own_communicators(1, [](ncclComm_t mine, int r) {
        auto world = dv::cuda::world::adopt(mine, r);
        dv::cuda::calls.comm_split = [](ncclComm_t, int, int, ncclComm_t*, ncclConfig_t*) { return ncclSystemError; };
        world.hold();
    });
    CHECK(says(threw[0], "rank 0 cannot join the world: ncclCommSplit"));
}

TEST_CASE("the end of a held rank waits for its runs, also without a limit, and says it if they do not end") {
    for (const bool late : {false, true}) {
        const simulated::scope simulation;
        const auto threw = simulated::on_own_communicators(2, [&](ncclComm_t mine, int r) {
            extension kept{mine, r, late ? 300ms : std::chrono::nanoseconds::max()};
            kept.step.run().wait();
            if (r == 1) std::this_thread::sleep_for(late ? 1500ms : 100ms);
            const auto t = kept.step.run();
            const std::string ended = support::message([&] { kept.held.end(); });
            const std::string waited = support::message([&] { t.wait(); });
            CAPTURE(ended);
            CAPTURE(waited);
            CHECK((ended == "nothing thrown") == !late);
            CHECK((waited == "nothing thrown") == !late);
            if (late && r == 0) CHECK(says(ended, "timeout"));
        });
        CHECK(threw[0] == "");
    }
}

TEST_CASE("states of a run that the end of a held rank cut off are lost, also when the executor is destroyed afterwards") {
    const simulated::scope simulation;
    const auto threw = simulated::on_own_communicators(2, [&](ncclComm_t mine, int r) {
        auto held = dv::cuda::world::adopt(mine, r).hold();
        simulated::rank on{*held};
        dv::store kept{on};
        {
            dv::executor<samples::descent> step{on, kept, 300ms};
            step.bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.5f);
            step.run().wait();
            if (r == 1) return;
            step.run();
            CHECK(says(support::message([&] { held.end(); }), "timeout"));
        }
        CHECK(says(support::message([&] { kept.save("not_written.safetensors"); }), "was destroyed with work in flight"));
    });
    CHECK(threw[0] == "");
}

TEST_CASE("a store goes on with the next held rank, though executors of the one before still exist") {
    const simulated::scope simulation;
    const auto threw = simulated::on_own_communicators(1, [&](ncclComm_t mine, int r) {
        auto first = dv::cuda::world::adopt(mine, r).hold();
        simulated::rank on_first{*first};
        dv::store kept{on_first};
        auto step = std::make_unique<dv::executor<samples::descent>>(on_first, kept);
        step->bind(dv::name<samples::x>, std::vector<float>(8, 0.5f)).bind(dv::name<samples::rate>, 0.5f);
        step->run().wait();
        const auto before = step->read_state(dv::name<samples::weight>);
        auto second = dv::cuda::world::adopt(mine, r).hold();
        simulated::rank on_second{*second};
        CHECK(support::message([&] { dv::executor<samples::descent>{on_second, kept}; }) ==
              "dovetail: the store of rank 0 is used by executors of two worlds at once");
        first.end();
        dv::executor<samples::descent> next{on_second, kept};
        CHECK(next.read_state(dv::name<samples::weight>) == before);
    });
    CHECK(threw[0] == "");
}

TEST_CASE("a world's rank is held or run once at a time") {
    const simulated::scope simulation;
    const auto threw = simulated::on_own_communicators(1, [&](ncclComm_t mine, int r) {
        auto world = dv::cuda::world::adopt(mine, r);
        auto held = world.hold();
        const auto is_in_use = [&] {
            CHECK(support::message([&] { world.hold(); }) == "dovetail: rank 0 is held or runs, and `hold` would use it: end it first");
            CHECK(support::message([&] { world.run([](auto&) {}); }) ==
                  "dovetail: rank 0 is held or runs, and `run` would use it: end it first");
        };
        is_in_use();
        held.end();
        world.run([&](auto&) { is_in_use(); });
        world.hold();
    });
    CHECK(threw[0] == "");
}
