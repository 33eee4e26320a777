// A machine on which the planner has copy engines move all channels, and collectives of 1 MiB and more.
#pragma once

#include <dovetail/dovetail.hpp>

namespace support {

struct near_peers {
    static constexpr dovetail::machine_description description = [] {
        dovetail::machine_description m = dovetail::machine::h200_nvlink::description;
        m.name = "near_peers";
        m.peer_latency = 0;
        return m;
    }();
};

}  // namespace support
