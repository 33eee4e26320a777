// The commands of a step on one GPU, as a flat list: launches, copies and NCCL calls. A command refers to memory by an index into the
// executor's table of pointers, which has one pointer for each access of the program, followed by scratch memory.
#pragma once

#include "../../../ir/program.hpp"
#include "../../executable/executable_plan.hpp"
#include "../../stream.hpp"
#include "../api/types.hpp"

namespace dovetail::cuda {

enum class command_kind : unsigned char {
    call,
    copy,
    zero,
    copy_input,
    group_start,
    group_end,
    send,
    recv,
    collective,
    make_room,
    put,
    wait,
    copy_on_side_stream,
    join_side_stream,
    local_reduce
};

// NCCL calls, including those that begin and end a group.
constexpr bool is_nccl(command_kind k) {
    switch (k) {
        case command_kind::group_start:
        case command_kind::group_end:
        case command_kind::send:
        case command_kind::recv:
        case command_kind::collective: return true;
        case command_kind::call:
        case command_kind::copy:
        case command_kind::zero:
        case command_kind::copy_input:
        case command_kind::make_room:
        case command_kind::put:
        case command_kind::wait:
        case command_kind::copy_on_side_stream:
        case command_kind::join_side_stream:
        case command_kind::local_reduce: return false;
    }
    return false;
}
// Kernels of operations and of the library, whose launch CUDA may reject.
constexpr bool launches_kernel(command_kind k) { return k == command_kind::call || k == command_kind::local_reduce; }
// Copies between ranks by copy engines, and the words that order them.
constexpr bool is_of_peer_copies(command_kind k) {
    return k == command_kind::make_room || k == command_kind::put || k == command_kind::wait;
}
// Commands that involve other ranks.
constexpr bool is_communication(command_kind k) {
    return is_of_peer_copies(k) || (is_nccl(k) && k != command_kind::group_start && k != command_kind::group_end);
}

struct command {
    command_kind kind = command_kind::call;
    ncclDataType_t type = ncclUint8;
    ncclRedOp_t op = ncclSum;
    int from = -1;  // index into the table of pointers; call: the first of them; -1: none
    int to = -1;
    int peer = -1;                      // rank of the world, or the root in `comm`; copy_input: its place in `input_copies`
    int input = -1;                     // copy_input: the symbol of the input, then its number
    int awaited_flag = -1;              // put, wait: the own flag that it waits for
    int set_flag = -1;                  // make_room, put: the flag that it sets at the peer
    int target = -1;                    // put: the receiver's access
    int first_source = 0, sources = 0;  // local_reduce: in `lists`, or blocks of `from`
    int own_source = -1;                // local_reduce: which block is at `own_from` instead; -1: none
    int own_from = -1;
    int plan_stream = -1;  // copy_on_side_stream, join_side_stream: that of the step
    std::int64_t own_offset = 0;
    std::int64_t from_offset = 0, to_offset = 0;
    std::int64_t bytes = 0;                                    // copy, copy_on_side_stream, zero, copy_input, put
    std::size_t count = 0;                                     // elements; call: pointers
    bool effect = false;                                       // call: it has effects besides its results
    collective::nccl_call nccl = collective::nccl_call::none;  // collective: the NCCL call
    element elements = element::none;
    reduction how = reduction::none;
    ncclComm_t comm = nullptr;
    launch_function<stream> launch = nullptr;
    stream at = {};
};

// The pointers of one member. Several arguments, or results, are the blocks for each member, or from it: accesses that follow the first.
struct participant {
    int send = -1, recv = -1;
    std::int64_t send_bytes = 0, recv_bytes = 0;
    int arguments = 0, results = 0;
};

inline command transfer_command(command_kind k, int from, std::int64_t from_offset, int to, std::int64_t to_offset, std::int64_t bytes,
                                int peer = -1, ncclComm_t comm = nullptr) {
    command a;
    a.kind = k;
    a.from = from;
    a.from_offset = from_offset;
    a.to = to;
    a.to_offset = to_offset;
    a.bytes = bytes;
    a.count = static_cast<std::size_t>(bytes);
    a.peer = peer;
    a.comm = comm;
    return a;
}

// Queries of a program's accesses that the makers of commands need.
struct access_table {
    const ir::program& program;

    int scratch() const { return program.accesses.size(); }
    const ir::buffer& buffer_of(int access) const { return program.buffers[program.accesses[access].buffer]; }
    std::int64_t bytes_of(int access) const { return ir::bytes_of(program, program.accesses[access]); }
    participant participant_of(const ir::participation& p) const {
        participant s;
        for (int i = p.first_access; i < p.first_access + p.accesses; ++i) {
            const access_mode mode = program.accesses[i].mode;
            if (reads(mode)) {
                if (s.arguments++ == 0) s.send = i;
                s.send_bytes += bytes_of(i);
            }
            if (writes(mode)) {
                if (s.results++ == 0) s.recv = i;
                s.recv_bytes += bytes_of(i);
            }
        }
        return s;
    }
    bool same_place(int a, int b) const {
        if (a < 0 || b < 0) return false;
        const ir::access &x = program.accesses[a], &y = program.accesses[b];
        return ir::owner_of(program, x.buffer) == ir::owner_of(program, y.buffer) && ir::offset_of(program, x) == ir::offset_of(program, y);
    }
};

}  // namespace dovetail::cuda
