// The commands of a step on one rank, resolved when the executor is made: the pointers of each of its members and, for communication, the
// partner ranks.
#pragma once

#include "../engine/engine.hpp"
#include "collectives.hpp"

#include <algorithm>

namespace dovetail::host {

struct command {
    int member = 0;
    op_kind kind = op_kind::compute;
    int first_access = 0;
    int pointers = 0;    // arguments and results
    int workspace = -1;  // buffer number
    communication move = {};
    std::vector<int> partners;  // ranks by member of the communication; empty: no partners
    int mine = 0;               // index of this rank among them
    int blocks = 1;             // local_reduce: of the result, of which it makes block `mine`
    // Communication whose participants are all on this rank: first access and number of pointers, by group index.
    bool local = false;
    std::vector<int> accesses, counts;
};

// Communication that stays on the rank is one command, whatever the number of its participants.
inline std::vector<command> commands_of(const ir::program& p, const geometry& where, int rank, const ir::step& s) {
    std::vector<command> commands;
    for (const ir::participation& participation : p.participations.subspan(s.first_participation, s.participations)) {
        const ir::member& m = p.members[participation.member];
        const span<const ir::access> accesses = p.accesses.subspan(participation.first_access, participation.accesses);
        command a;
        a.member = participation.member;
        a.kind = m.kind;
        a.first_access = participation.first_access;
        a.pointers = participation.accesses;
        // The buffer of a discarded result is also scratch memory, but it has a type.
        if (a.pointers > 0 && !p.buffers[accesses[a.pointers - 1].buffer].type.valid()) a.workspace = accesses[--a.pointers].buffer;
        if (is_communication(m.kind)) {
            a.move = {
                m.kind, accesses.empty() ? element::none : p.buffers[accesses[0].buffer].type.type, m.reduce, m.root, m.offset, m.zero_edge,
                m.op};
            a.local = m.local;
            if (m.local) {
                const auto same = std::find_if(commands.begin(), commands.end(), [&](const command& b) { return b.member == a.member; });
                command& whole = same != commands.end() ? *same : commands.emplace_back(a);
                if (participation.group_index >= static_cast<int>(whole.accesses.size())) {
                    whole.accesses.resize(static_cast<std::size_t>(participation.group_index) + 1, 0);
                    whole.counts.resize(static_cast<std::size_t>(participation.group_index) + 1, 0);
                }
                whole.accesses[participation.group_index] = participation.first_access;
                whole.counts[participation.group_index] = a.pointers;
                continue;
            }
            a.partners = where.partners(p, p.tasks[s.task], participation.member, rank);
            a.mine = index_among(a.partners, rank);
        } else if (ir::has_own_block_in_place(m)) {
            const std::vector<int> with = where.partners(p, p.tasks[s.task], participation.member, rank);
            a.blocks = static_cast<int>(with.size());
            a.mine = index_among(with, rank);
        }
        commands.push_back(std::move(a));
    }
    return commands;
}

// Executes commands without partners, and computes the pointers of the others.
class command_runner {
public:
    command_runner(const executable_plan<stream>& i, const buffer_addresses& m, int rank) : executable_{i}, memory_{m}, rank_{rank} {}

    void execute(const command& a, const run_state& f, int kind) const {
        if (a.kind == op_kind::input) return copy_input(a, f);
        if (a.local) return communicate_locally(a, f);
        if (a.kind == op_kind::to_host || a.kind == op_kind::from_host)
            return detail::move(address(a.first_access + 1, f), address(a.first_access, f), bytes(a.first_access + 1));
        if (a.kind == op_kind::local_reduce) return reduce_blocks(a, f);
        launch(a, f, kind);
    }
    participant participant_of(int first, int count, const run_state& f) const {
        participant s;
        int arguments = 0, results = 0;
        for (int i = first; i < first + count; ++i) {
            const access_mode mode = executable_.program.accesses[i].mode;
            if (reads(mode)) {
                if (arguments++ == 0) s.send = address(i, f);
                s.send_bytes += bytes(i);
            }
            if (writes(mode)) {
                if (results++ == 0) s.recv = address(i, f);
                s.recv_bytes += bytes(i);
            }
        }
        for (int i = 0; i < arguments && arguments > 1; ++i) s.sent.push_back(address(first + i, f));
        for (int i = 0; i < results && results > 1; ++i) s.received.push_back(address(first + arguments + i, f));
        return s;
    }

private:
    void launch(const command& a, const run_state& f, int kind) const {
        const auto function = a.member < executable_.launches.size() ? executable_.launches[a.member] : nullptr;
        if (function == nullptr) throw failure{"the executable plan holds no launch function for it"};
        void* few[16];
        std::vector<void*> many(a.pointers > 16 ? static_cast<std::size_t>(a.pointers) : 0);
        void** pointers = many.empty() ? few : many.data();
        for (int i = 0; i < a.pointers; ++i) pointers[i] = address(a.first_access + i, f);
        stream s{rank_, kind, nullptr, 0};
        if (a.workspace >= 0) {
            s.workspace = memory_.at(a.workspace, f.run, f.bound);
            s.workspace_bytes = executable_.program.buffers[a.workspace].bytes;
        }
        function(s, pointers);
    }
    void reduce_blocks(const command& a, const run_state& f) const {
        const int result = a.first_access + a.pointers - 1;
        const std::int64_t block = bytes(result) / a.blocks, all = bytes(a.first_access);
        std::vector<const void*> from;
        for (std::int64_t at = 0; at < all; at += block) from.push_back(static_cast<const char*>(address(a.first_access, f)) + at);
        const element type = executable_.program.buffers[executable_.program.accesses[a.first_access].buffer].type.type;
        detail::reduce(type, executable_.program.members[a.member].reduce, from, static_cast<char*>(address(result, f)) + a.mine * block,
                       block);
    }
    void copy_input(const command& a, const run_state& f) const {
        const int symbol = executable_.program.buffers[executable_.program.accesses[a.first_access].buffer].symbol;
        detail::move(address(a.first_access, f), f.bound[memory_.input_of(symbol)].data, bytes(a.first_access));
    }
    void communicate_locally(const command& a, const run_state& f) const {
        std::vector<participant> participants;
        for (std::size_t i = 0; i < a.accesses.size(); ++i) participants.push_back(participant_of(a.accesses[i], a.counts[i], f));
        std::vector<char> scratch;
        move_data(a.move, participants, scratch);
    }
    void* address(int access, const run_state& f) const {
        const ir::access& a = executable_.program.accesses[access];
        return static_cast<char*>(memory_.at(a.buffer, f.run, f.bound)) + ir::offset_of(executable_.program, a);
    }
    std::int64_t bytes(int access) const { return ir::bytes_of(executable_.program, executable_.program.accesses[access]); }

    const executable_plan<stream>& executable_;
    const buffer_addresses& memory_;
    int rank_;
};

// Whether a step reads, or writes, a buffer in that kind of storage.
inline bool touches(const ir::program& p, const ir::step& s, ir::storage where, access_mode how) {
    for (const ir::participation& participation : p.participations.subspan(s.first_participation, s.participations))
        for (const ir::access& a : p.accesses.subspan(participation.first_access, participation.accesses))
            if (p.buffers[a.buffer].where == where && (how == access_mode::read ? reads(a.mode) : writes(a.mode))) return true;
    return false;
}

}  // namespace dovetail::host
