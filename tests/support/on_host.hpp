// Runs a graph on the host backend with several options and compares the results with those that the caller expects.
#pragma once

#include "expect.hpp"
#include "samples.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>

namespace support {

namespace dv = dovetail;

// Expects that a call throws usage_error with this text.
template <class F>
void expect_refused(F&& f, const std::string& text) {
    std::string said = "nothing thrown";
    try {
        f();
    } catch (const dv::usage_error& e) {
        said = e.what();
    }
    const std::lock_guard lock{report()};
    CAPTURE(said);
    CHECK(said.find(text) != std::string::npos);
}

// check(step, ticket, rank, run) after every run; bind(step, rank, run) before it.
template <class G, class O, class Bind, class Check>
void run_with(int ranks, Bind bind, Check check, int runs) {
    dv::host::world world{ranks};
    world.run([&](auto& rank) {
        dv::executor<G, O> step{rank, std::chrono::seconds{60}};
        for (int k = 0; k < runs; ++k) {
            bind(step, rank.index(), k);
            auto ticket = step.run();
            check(step, ticket, rank.index(), k);
        }
    });
}

// Without overlap, with it, and with several runs in flight and two slots a channel.
template <class G, class Bind, class Check>
void run_all_ways(int ranks, Bind bind, Check check, int runs = 3) {
    run_with<G, samples::sequential>(ranks, bind, check, runs);
    run_with<G, samples::overlapped>(ranks, bind, check, runs);
    run_with<G, samples::several>(ranks, bind, check, runs);
}

// ... and all roles single_rank into one.
template <class G, class Bind, class Check>
void run_single_rank(int ranks, Bind bind, Check check, int runs = 3) {
    run_with<dv::single_rank<G>, samples::sequential>(ranks, bind, check, runs);
    run_with<dv::single_rank<G>, samples::overlapped>(ranks, bind, check, runs);
}

}  // namespace support
