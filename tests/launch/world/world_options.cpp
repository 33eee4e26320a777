// What a world may say about NCCL: numbers of CTAs that exist.
#include <doctest/doctest.h>

#include <dovetail/launch/world/world_options.hpp>

namespace dv = dovetail;

TEST_CASE("numbers of CTAs are from none to any, the least not above the most") {
    CHECK(!dv::cuda::nccl_options{}.given());
    for (const auto& [least, most] : {std::pair{0, 0}, {4, 0}, {0, 4}, {4, 4}, {1, 32}}) {
        const dv::cuda::nccl_options options{least, most};
        CHECK_NOTHROW(options.check());
        CHECK(options.given() == (least != 0 || most != 0));
    }
    for (const auto& [least, most] : {std::pair{-1, 0}, {0, -1}, {5, 4}, {-4, -2}})
        CHECK_THROWS_AS((dv::cuda::nccl_options{least, most}.check()), dv::world_error);
}
