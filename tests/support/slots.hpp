// The slots of buffers for successive runs, from the options and not from the plan.
#pragma once

#include <dovetail/cost/plan_options.hpp>
#include <dovetail/ir/program.hpp>

#include <string>
#include <vector>

namespace support {

// Inputs and outputs have a copy for each run in flight, what a channel receives one for each of its slots, anything else one. What
// shares bytes, or lies at equal offsets, has as many as any of it needs. Empty where that is so.
inline std::string broken_slots(const dovetail::ir::program& p, const dovetail::plan_options& s) {
    namespace dv = dovetail;
    const auto buffers = static_cast<std::size_t>(p.buffers.size());
    std::vector<int> needed(buffers, 1), set(buffers);
    for (std::size_t b = 0; b < buffers; ++b) {
        const dv::ir::buffer& x = p.buffers[static_cast<int>(b)];
        set[b] = static_cast<int>(b);
        if (x.output || x.where == dv::ir::storage::input) needed[b] = s.in_flight;
    }
    for (const dv::ir::participation& x : p.participations) {
        const dv::ir::member& m = p.members[x.member];
        if (m.kind != dv::op_kind::transfer || m.local || x.group_index != 1) continue;
        int& here = needed[static_cast<std::size_t>(p.accesses[x.first_access].buffer)];
        here = here > s.channel_slots ? here : s.channel_slots;
    }
    // Sets: those of one owner, and those of one number.
    const auto join = [&](int a, int b) {
        const int from = set[static_cast<std::size_t>(a)], to = set[static_cast<std::size_t>(b)];
        for (int& x : set)
            if (x == from) x = to;
    };
    std::vector<int> first(static_cast<std::size_t>(p.symmetric_sets), -1);
    for (int b = 0; b < p.buffers.size(); ++b) {
        if (p.buffers[b].alias >= 0) join(b, p.buffers[b].alias);
        if (p.buffers[b].symmetric_set < 0) continue;
        int& other = first[static_cast<std::size_t>(p.buffers[b].symmetric_set)];
        if (other >= 0) join(b, other);
        else other = b;
    }
    std::vector<int> most(buffers, 1);
    for (std::size_t b = 0; b < buffers; ++b) {
        int& m = most[static_cast<std::size_t>(set[b])];
        m = m > needed[b] ? m : needed[b];
    }
    for (std::size_t b = 0; b < buffers; ++b)
        if (p.buffers[static_cast<int>(b)].slots != most[static_cast<std::size_t>(set[b])])
            return "buffer " + std::to_string(b) + " has " + std::to_string(p.buffers[static_cast<int>(b)].slots) + " copies, and needs " +
                   std::to_string(most[static_cast<std::size_t>(set[b])]);
    return {};
}

}  // namespace support
