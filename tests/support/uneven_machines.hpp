// Machines whose pairs of GPUs differ.
#pragma once

#include <dovetail/dovetail.hpp>

namespace support {

// Eight GPUs in two squares of four, each joined to its like in the other square, as in a hybrid cube mesh: a copy of 400 MB takes 4.5 ms
// to a GPU beside it, 8.8 ms to its like in the other square, and 53.2 ms to all others.
inline constexpr int cube_gpus = 8;
struct links_of_cube {
    dovetail::gpu_pair list[cube_gpus * cube_gpus] = {};

    static constexpr dovetail::gpu_pair beside{88'900'000'000, 10'000'000}, across{45'500'000'000, 10'000'000};
    static constexpr dovetail::gpu_pair far{7'520'000'000, 20'000'000};

    constexpr links_of_cube() {
        for (int from = 0; from < cube_gpus; ++from)
            for (int to = 0; to < cube_gpus; ++to)
                if (from != to) list[from * cube_gpus + to] = link(from, to);
    }
    static constexpr dovetail::gpu_pair link(int from, int to) {
        if (from / 4 != to / 4) return from % 4 == to % 4 ? across : far;
        return (from ^ to) % 2 == 1 ? beside : far;
    }
};

struct cube_of_gpus {
    static constexpr links_of_cube links{};
    static constexpr dovetail::machine_description description = [] {
        dovetail::machine_description m = dovetail::machine::h200_nvlink::description;
        m.name = "cube_of_gpus";
        m.links = links.list;
        return m;
    }();
};

// Hosts of five GPUs in a row: a copy to one that is not a neighbour is slow, and goes over those between.
struct links_in_a_row {
    dovetail::gpu_pair list[25] = {};

    constexpr links_in_a_row() {
        for (int from = 0; from < 5; ++from)
            for (int to = 0; to < 5; ++to) list[from * 5 + to] = {from - to == 1 || to - from == 1 ? 800'000'000 : 8'000'000, 1'000};
    }
};
struct row_of_gpus {
    static constexpr links_in_a_row links{};
    static constexpr dovetail::machine_description description = [] {
        dovetail::machine_description m = dovetail::machine::h200_nvlink::description;
        m.name = "row_of_gpus";
        m.links = links.list;
        return m;
    }();
};

}  // namespace support
