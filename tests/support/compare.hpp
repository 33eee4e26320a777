// Runs a graph on the host and on GPUs, on streams and replayed, with one run or several in flight, and compares the bytes of the results.
// On the host it may be another graph, of the same meaning.
// The GPUs are real or simulated: `run(ranks, body)` calls body on each rank.
#pragma once

#include "exercise.hpp"
#include "samples.hpp"

#include <dovetail/launch/host/world.hpp>

#include <doctest/doctest.h>

#include <string>

namespace support {

template <class G, class O, class OnHost = G, class Run>
void compare(int ranks, int ahead, const std::string& what, Run run) {
    constexpr int runs = 5;
    std::vector<outputs> wanted(static_cast<std::size_t>(ranks)), streams = wanted, replayed = wanted;
    dv::host::world{ranks}.run(
        [&](auto& rank) { wanted[static_cast<std::size_t>(rank.index())] = exercise<OnHost, O>(rank, runs, ahead); });
    run(ranks, [&](auto& rank) {
        streams[static_cast<std::size_t>(rank.index())] = exercise<G, O>(rank, runs, ahead);
        replayed[static_cast<std::size_t>(rank.index())] = exercise<G, O>(rank, runs, ahead, dv::replay);
    });
    CAPTURE(what);
    CHECK(streams == wanted);
    CHECK(replayed == wanted);
}
template <class G, class Run>
void compare_all(int ranks, const std::string& what, Run run) {
    compare<G, samples::sequential>(ranks, 1, what, run);
    compare<G, samples::overlapped>(ranks, 1, what, run);
    compare<G, samples::several>(ranks, 3, what, run);
}
// With channels by peer copy.
template <class G, class Run>
void compare_copies(int ranks, const std::string& what, Run run) {
    compare<G, samples::copied_in_turn>(ranks, 1, what, run);
    compare<G, samples::copied>(ranks, 1, what, run);
    compare<G, samples::several_copied>(ranks, 3, what, run);
}

}  // namespace support
