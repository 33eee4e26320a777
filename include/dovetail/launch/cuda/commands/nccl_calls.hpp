// The NCCL calls on a whole communicator, one function for each call that the table of communication names.
#pragma once

#include "../api/api.hpp"
#include "command.hpp"

namespace dovetail::cuda {

using nccl_issue = void (*)(const command& a, cudaStream_t stream, const void* from, void* to);

namespace detail {

inline void all_reduce(const command& a, cudaStream_t stream, const void* from, void* to) {
    check(calls.all_reduce(from, to, a.count, a.type, a.op, a.comm, stream), "ncclAllReduce");
}
inline void reduce(const command& a, cudaStream_t stream, const void* from, void* to) {
    check(calls.reduce(from, to, a.count, a.type, a.op, a.peer, a.comm, stream), "ncclReduce");
}
inline void broadcast(const command& a, cudaStream_t stream, const void* from, void* to) {
    check(calls.broadcast(from, to, a.count, a.type, a.peer, a.comm, stream), "ncclBroadcast");
}
inline void all_gather(const command& a, cudaStream_t stream, const void* from, void* to) {
    check(calls.all_gather(from, to, a.count, a.type, a.comm, stream), "ncclAllGather");
}
inline void reduce_scatter(const command& a, cudaStream_t stream, const void* from, void* to) {
    check(calls.reduce_scatter(from, to, a.count, a.type, a.op, a.comm, stream), "ncclReduceScatter");
}

}  // namespace detail

// Null for a kind that is not a single call.
constexpr nccl_issue issue_of(collective::nccl_call c) {
    switch (c) {
        case collective::nccl_call::none:
        case collective::nccl_call::send_recv: return nullptr;
        case collective::nccl_call::all_reduce: return &detail::all_reduce;
        case collective::nccl_call::reduce: return &detail::reduce;
        case collective::nccl_call::broadcast: return &detail::broadcast;
        case collective::nccl_call::all_gather: return &detail::all_gather;
        case collective::nccl_call::reduce_scatter: return &detail::reduce_scatter;
    }
    __builtin_unreachable();  // not a constant expression: see the assertion below
}

namespace detail {

// A call without a case stops constant evaluation with an error.
constexpr bool has_an_issue(const collective::row& r) { return (issue_of(r.call) != nullptr) == collective::by_one_call(r.kind); }

}  // namespace detail

static_assert(collective::each_row(detail::has_an_issue), "dovetail: `issue_of` has the call of each kind that is one call of NCCL");

}  // namespace dovetail::cuda
