// Steps that are one launch, as most are, each in one line of the cache: what a run costs is what stands between its launches.
#pragma once

#include "command_list.hpp"
#include "pointers.hpp"

namespace dovetail::cuda {

struct alignas(64) plain_step {
    launch_function<stream> launch = nullptr;  // null: another kind of step
    void* const* pointers = nullptr;
    stream at = {};
};

// By step; `streams` are those of the rank.
inline std::vector<plain_step> plain_steps(const command_list& list, const pointer_table& pointers, span<const ir::step> steps,
                                           const cudaStream_t* streams) {
    std::vector<plain_step> plain(static_cast<std::size_t>(steps.size()));
    for (int i = 0; i < steps.size(); ++i) {
        if (list.first[i] + 1 != list.first[i + 1]) continue;
        const command& only = list.commands[static_cast<std::size_t>(list.first[i])];
        if (only.kind != command_kind::call) continue;
        plain[i] = {only.launch, pointers.from(only.from), only.at};
        plain[i].at.handle = streams[steps[i].stream];
    }
    return plain;
}

}  // namespace dovetail::cuda
