// A unit for GPUs: where there is none, the world says so, which takes all that a world needs.
#include "program.hpp"

#include <dovetail/launch/cuda/world.hpp>

#include <cstdio>

int main() {
    try {
        float result = 0;
        dovetail::cuda::world::local(2).run([&](auto& rank) {
            const float got = app::run(rank);
            if (rank.index() == 1 || got != 0) result = got;
        });
        std::printf("%g\n", result);
        return result == 7 ? 0 : 1;
    } catch (const dovetail::world_error& e) {
        std::printf("%s\n", e.what());
        return 0;
    }
}
