// Many runs of one executor, of which three are in flight, for tests that look at each of them.
#pragma once

#include <deque>

namespace gpu {

// bind(k) stands before run k, and read(ticket, k) gets its ticket when two more runs have been issued, or none is left.
template <class Executor, class Bind, class Read>
void run_in_flight(Executor& step, int runs, const Bind& bind, const Read& read) {
    std::deque<decltype(step.run())> open;
    int next = 0;
    const auto read_oldest = [&] {
        read(open.front(), next++);
        open.pop_front();
    };
    for (int k = 0; k < runs; ++k) {
        bind(k);
        open.push_back(step.run());
        if (open.size() == 3) read_oldest();
    }
    while (!open.empty()) read_oldest();
}

}  // namespace gpu
