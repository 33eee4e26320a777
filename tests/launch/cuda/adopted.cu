// Worlds that use communicators of the caller, on the simulated GPU: results equal to the host's, and an end within the time limit if a
// rank fails, has another plan or never runs. These ranks have no connection except NCCL.
#include "support/exercise.hpp"
#include "support/samples.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/launch/host/world.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {

bool says(const std::string& text, const std::string& participation) { return text.find(participation) != std::string::npos; }

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
