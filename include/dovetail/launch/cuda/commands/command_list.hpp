// The commands of all steps of one rank, resolved when the executor is made. A step executes its section of the list.
#pragma once

#include "../../../plan/registered.hpp"
#include "../api/services.hpp"
#include "../engine/context.hpp"
#include "communication_commands.hpp"
#include "local_commands.hpp"

namespace dovetail::cuda {

class command_list {
public:
    std::vector<command> commands;
    std::vector<int> first;                 // index of each step's first command, and the end
    std::vector<int> lists;                 // pointers of local reductions
    std::int64_t scratch_bytes = 0;         // for in-place communication; its pointer follows those of the accesses
    std::int64_t largest = 0;               // the largest message
    std::vector<ncclComm_t> communicators;  // those used with which the arena may be registered

    command_list(const executable_plan<stream>& from, const geometry& where, int rank, int role, context& on, const peer_copies& copies,
                 bool replayed)
        : executable_{from}, accesses_{from.program}, where_{where}, peer_copies_{copies}, rank_{rank}, on_{on}, replayed_{replayed} {
        const ir::role_plan& r = from.plan.roles[role];
        make_communicators(from.plan);
        for (const ir::step& s : from.plan.steps.subspan(r.first_step, r.steps)) {
            first.push_back(static_cast<int>(commands.size()));
            add(s);
        }
        first.push_back(static_cast<int>(commands.size()));
    }
    int scratch() const { return accesses_.scratch(); }

private:
    // Every rank makes the communicators in the order of the plan, also if it is not a member.
    void make_communicators(const dovetail::plan::plan& plan) {
        by_communicator_.resize(static_cast<std::size_t>(accesses_.program.communicators.size()), nullptr);
        std::vector<bool> seen(by_communicator_.size(), false);
        bool uses_nccl = false;
        std::vector<ncclComm_t> unregistrable;  // they also transfer memory outside the arena
        for (const int v : plan.order) {
            const ir::task& task = accesses_.program.tasks[v];
            for (int m = task.first_member; m < task.first_member + task.members; ++m) {
                const ir::member& member = accesses_.program.members[m];
                if (member.local || member.communicator < 0 || !collective::passes_between_members(member.kind)) continue;
                if (peer_copies_.first_flag(v) >= 0) continue;
                if (!std::exchange(uses_nccl, true)) all_ = communicator(communicator_split::of_all(where_.ranks()));
                const bool by_one_call = collective::by_one_call(member.kind);
                if (by_one_call && !seen[member.communicator]) {
                    seen[member.communicator] = true;
                    by_communicator_[member.communicator] = communicator_of(task, m);
                }
                if (!dovetail::plan::may_be_registered(accesses_.program, plan, v, m))
                    unregistrable.push_back(by_one_call ? by_communicator_[member.communicator] : all_);
            }
        }
        std::erase_if(communicators,
                      [&](ncclComm_t c) { return std::find(unregistrable.begin(), unregistrable.end(), c) != unregistrable.end(); });
    }
    ncclComm_t communicator_of(const ir::task& task, int m) {
        communicator_split d;
        d.color.assign(static_cast<std::size_t>(where_.ranks()), -1);
        d.key.assign(static_cast<std::size_t>(where_.ranks()), 0);
        bool several = false;
        for (const ir::participation& p : accesses_.program.participations.subspan(task.first_participation, task.participations)) {
            if (p.member != m) continue;
            for (int position = 0; position < where_.mesh_size(p.role); ++position) {
                const int r = where_.rank_at(p.role, position);
                const std::vector<int> with = where_.partners(accesses_.program, task, m, r);
                several = several || with.size() > 1;
                d.color[r] = *std::min_element(with.begin(), with.end());
                d.key[r] = index_among(with, r);
            }
        }
        return several ? communicator(d) : nullptr;
    }
    ncclComm_t communicator(const communicator_split& d) {
        const ncclComm_t made = on_.nccl.of(d, replayed_);
        if (made != nullptr && std::find(communicators.begin(), communicators.end(), made) == communicators.end())
            communicators.push_back(made);
        return made;
    }

    void add(const ir::step& s) {
        communication_commands others{accesses_, where_, peer_copies_, rank_, all_, by_communicator_, own_blocks_};
        std::vector<int> done;
        for (const ir::participation& p : accesses_.program.participations.subspan(s.first_participation, s.participations)) {
            const ir::member& m = accesses_.program.members[p.member];
            if (!is_communication(m.kind))
                others.before.push_back(compute(s, p, m));
            else if (!m.local)
                others.add(s, p);
            else if (std::find(done.begin(), done.end(), p.member) == done.end()) {
                add_local_commands(accesses_, s, p.member, others.before, lists);
                done.push_back(p.member);
            }
        }
        scratch_bytes = std::max(scratch_bytes, others.scratch_bytes);
        largest = std::max(largest, others.largest);
        commands.insert(commands.end(), others.before.begin(), others.before.end());
        const bool nccl_group = others.calls.size() > 1 || (!others.calls.empty() && accesses_.program.tasks[s.task].members > 1);
        if (nccl_group) push(command_kind::group_start);
        commands.insert(commands.end(), others.calls.begin(), others.calls.end());
        if (nccl_group) push(command_kind::group_end);
        commands.insert(commands.end(), others.copies.begin(), others.copies.end());
    }
    void push(command_kind k) {
        command a;
        a.kind = k;
        commands.push_back(a);
    }
    command compute(const ir::step& s, const ir::participation& p, const ir::member& m) {
        command a;
        a.from = p.first_access;
        if (m.kind == op_kind::input) {
            a.kind = command_kind::copy_input;
            a.to = p.first_access;
            a.bytes = accesses_.bytes_of(p.first_access);
            a.input = accesses_.buffer_of(p.first_access).symbol;  // the engine replaces the symbol by the number of the input
            return a;
        }
        if (m.kind == op_kind::to_host || m.kind == op_kind::from_host) {
            a.kind = command_kind::copy;
            a.to = p.first_access + 1;
            a.bytes = accesses_.bytes_of(a.to);
            return a;
        }
        if (m.kind == op_kind::local_reduce) {
            a.kind = command_kind::local_reduce;
            a.to = p.first_access + p.accesses - 1;
            a.bytes = accesses_.bytes_of(a.to);
            if (ir::has_own_block_in_place(m)) {
                const std::vector<int> with = where_.partners(accesses_.program, accesses_.program.tasks[s.task], p.member, rank_);
                a.bytes /= static_cast<int>(with.size());
                a.to_offset = index_among(with, rank_) * a.bytes;
            }
            if (const auto own = own_blocks_.find(accesses_.program.accesses[a.from].buffer); own != own_blocks_.end()) {
                a.own_source = own->second.member;
                a.own_from = p.first_access + 1;
                a.own_offset = own->second.offset;
            }
            a.sources = a.bytes == 0 ? 0 : static_cast<int>(accesses_.bytes_of(a.from) / a.bytes);
            a.elements = accesses_.buffer_of(a.to).type.type;
            a.count = static_cast<std::size_t>(a.bytes / dovetail::bytes_of(a.elements));
            a.how = m.reduce;
            return a;
        }
        a.launch = p.member < executable_.launches.size() ? executable_.launches[p.member] : nullptr;
        if (a.launch == nullptr) throw failure{"the executable plan holds no launch function for it"};
        for (int i = p.first_access; i < p.first_access + p.accesses; ++i)
            if (accesses_.buffer_of(i).where == ir::storage::workspace && !accesses_.buffer_of(i).type.valid()) {
                a.to = i;
                a.at.workspace_bytes = accesses_.buffer_of(i).bytes;
            }
        a.at.blas = on_.blas();
        a.at.services = &services;
        if (m.op != nullptr) a.at.sms = m.op->sms;
        a.count = static_cast<std::size_t>(p.accesses);
        a.effect = m.op != nullptr && m.op->has_effect;
        return a;
    }

    const executable_plan<stream>& executable_;
    const access_table accesses_;
    const geometry& where_;
    const peer_copies& peer_copies_;
    const int rank_;
    context& on_;
    const bool replayed_;
    ncclComm_t all_ = nullptr;
    std::vector<ncclComm_t> by_communicator_;
    communication_commands::own_blocks own_blocks_;
};

}  // namespace dovetail::cuda
