// One rank of a host world: its memory, its streams and the world that it belongs to.
#pragma once

#include "../engine/one_thread.hpp"
#include "host_memory.hpp"
#include "world_state.hpp"

namespace dovetail::host {

// What the engines of one rank share.
struct rank_state {
    std::shared_ptr<world_state> world;
    std::shared_ptr<monitor> signal = std::make_shared<monitor>();
    std::shared_ptr<memory> device = std::make_shared<host_memory>();
    stream_workers streams;
    int index = 0;
    launch::one_thread making;  // of executors, whose order all ranks have to keep
    int executors = 0;          // made so far
    std::int64_t runs = 0;      // issued so far, of executors that communicate
    std::mutex issuing;         // held while a run is issued: executors of the rank may be used by several threads
    std::vector<std::shared_ptr<run_state>> unfinished;
};

}  // namespace dovetail::host
