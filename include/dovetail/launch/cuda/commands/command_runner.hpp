// Executes commands on a given stream, with the pointers of the run being issued: one call for each, a few for peer copies. The words that
// peer copies write and wait for are collected, until something else is issued.
#pragma once

#include "command_list.hpp"
#include "input_copies.hpp"
#include "local_reduction.hpp"
#include "nccl_calls.hpp"

#include <array>

namespace dovetail::cuda {

// The side stream of a stream. The events are of one executor, whose steps record them in turn.
struct side_stream {
    cudaStream_t stream = nullptr;
    cudaEvent_t fork = nullptr, join = nullptr;
};
using side_streams = std::array<side_stream, stream_count>;

class command_runner {
public:
    command_runner(const command_list& list, const pointer_table& pointers, const input_copies& inputs, const peer_copies& copies,
                   const side_streams& sides, stream_words& words)
        : list_{list}, pointers_{pointers}, inputs_{inputs}, peer_copies_{copies}, sides_{sides}, words_{words} {}

    void execute(const command& a, cudaStream_t stream) {
        if (!is_of_peer_copies(a.kind)) words_.issue(stream);
        issue(a, stream);
    }
    // Executes an NCCL call; other kinds of command are not passed.
    static void communicate(const command& a, cudaStream_t stream, const void* from, void* to) {
        switch (a.kind) {
            case command_kind::group_start: return check(calls.group_start(), "ncclGroupStart");
            case command_kind::group_end: return check(calls.group_end(), "ncclGroupEnd");
            case command_kind::send: return check(calls.send(from, a.count, a.type, a.peer, a.comm, stream), "ncclSend");
            case command_kind::recv: return check(calls.recv(to, a.count, a.type, a.peer, a.comm, stream), "ncclRecv");
            case command_kind::collective: return issue_of(a.nccl)(a, stream, from, to);
            case command_kind::call:
            case command_kind::copy:
            case command_kind::zero:
            case command_kind::copy_input:
            case command_kind::make_room:
            case command_kind::put:
            case command_kind::wait:
            case command_kind::copy_on_side_stream:
            case command_kind::join_side_stream:
            case command_kind::local_reduce: return;
        }
    }

private:
    void issue(const command& a, cudaStream_t stream) {
        switch (a.kind) {
            case command_kind::call: {
                cuda::stream s = a.at;
                s.handle = stream;
                return a.launch(s, pointers_.from(a.from));
            }
            case command_kind::copy:
                return check(calls.memcpy_async(pointers_.at(a.to, a.to_offset), pointers_.at(a.from, a.from_offset),
                                                static_cast<std::size_t>(a.bytes), cudaMemcpyDefault, stream),
                             "cudaMemcpyAsync");
            case command_kind::zero:
                return check(calls.memset_async(pointers_.at(a.to, a.to_offset), 0, static_cast<std::size_t>(a.bytes), stream),
                             "cudaMemsetAsync");
            case command_kind::copy_input: {
                const void* const from = inputs_.from(a);
                if (from == nullptr || a.bytes == 0) return;
                return check(calls.memcpy_async(pointers_.at(a.to), from, static_cast<std::size_t>(a.bytes), cudaMemcpyDefault, stream),
                             "cudaMemcpyAsync");
            }
            case command_kind::local_reduce: return reduce(a, stream);
            case command_kind::make_room: return peer_copies_.make_room(words_, stream, a.peer, a.set_flag);
            case command_kind::put:
                return peer_copies_.put(words_, stream, {a.awaited_flag, a.peer, a.set_flag}, pointers_.at(a.to, a.to_offset),
                                        pointers_.at(a.from, a.from_offset), static_cast<std::size_t>(a.bytes));
            case command_kind::wait: return peer_copies_.wait(words_, stream, a.awaited_flag);
            case command_kind::copy_on_side_stream: return copy_on(sides_[static_cast<std::size_t>(a.plan_stream)], a, stream);
            case command_kind::join_side_stream:
                return check(calls.stream_wait_event(stream, sides_[static_cast<std::size_t>(a.plan_stream)].join, 0),
                             "cudaStreamWaitEvent");
            case command_kind::group_start:
            case command_kind::group_end:
            case command_kind::send:
            case command_kind::recv:
            case command_kind::collective:
                return communicate(a, stream, a.from < 0 ? nullptr : pointers_.at(a.from, a.from_offset),
                                   a.to < 0 ? nullptr : pointers_.at(a.to, a.to_offset));
        }
    }

    void copy_on(const side_stream& side, const command& a, cudaStream_t stream) {
        check(calls.event_record(side.fork, stream), "cudaEventRecord");
        check(calls.stream_wait_event(side.stream, side.fork, 0), "cudaStreamWaitEvent");
        check(calls.memcpy_async(pointers_.at(a.to, a.to_offset), pointers_.at(a.from, a.from_offset), static_cast<std::size_t>(a.bytes),
                                 cudaMemcpyDefault, side.stream),
              "cudaMemcpyAsync");
        check(calls.event_record(side.join, side.stream), "cudaEventRecord");
    }

    void reduce(const command& a, cudaStream_t stream) {
        local_sources from;
        from.count = a.sources;
        for (int i = 0; i < a.sources; ++i)
            from.at[i] = a.from >= 0 ? pointers_.at(a.from, i * a.bytes)
                                     : pointers_.at(list_.lists[static_cast<std::size_t>(a.first_source + i)], a.from_offset);
        if (a.own_source >= 0) from.at[a.own_source] = pointers_.at(a.own_from, a.own_offset);
        local_reduction_kernel(stream, a.elements, a.how, from, pointers_.at(a.to, a.to_offset), static_cast<std::int64_t>(a.count));
    }

    const command_list& list_;
    const pointer_table& pointers_;
    const input_copies& inputs_;
    const peer_copies& peer_copies_;
    const side_streams sides_;
    stream_words& words_;
};

}  // namespace dovetail::cuda
