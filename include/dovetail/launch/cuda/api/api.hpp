// All CUDA, NCCL and cuBLAS calls of the library, in one table of function pointers: tests replace entries to force any return code on a
// machine without a GPU. `check` turns a status into an exception.
#pragma once

#include "../../error.hpp"

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdint>

namespace dovetail::cuda {

// A call that failed. The engine turns it into an operation_error that names the operation and the rank.
struct call_error : failure {
    call_error(const std::string& call, const std::string& meaning, int status, bool remote = false)
        : failure{call + ": " + meaning + " (" + std::to_string(status) + ")"}, code{status}, of_another_process{remote} {}
    // The same with the rank in front.
    call_error(const std::string& where, const call_error& of)
        : failure{where + ": " + of.text()}, code{of.code}, of_another_process{of.of_another_process} {}
    int code = 0;
    bool of_another_process = false;  // NCCL lost the connection to it
};

namespace detail {

// Stream memory operations belong to the driver API. The function is looked up at run time so that programs need not link the driver; null
// if the driver has none.
using batch_mem_op_function = CUresult (*)(CUstream, unsigned count, CUstreamBatchMemOpParams*, unsigned flags);
inline cudaError_t find_batch_mem_op(batch_mem_op_function* to) {
    constexpr const char* name = "cuStreamBatchMemOp";
    void* found = nullptr;
    cudaDriverEntryPointQueryResult how{};
#if CUDART_VERSION >= 13000
    const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &how);
#else
    const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &how);
#endif
    *to = how == cudaDriverEntryPointSuccess ? reinterpret_cast<batch_mem_op_function>(found) : nullptr;
    return status;
}

// With what an edge carries, since CUDA 12.3; null: only their number is asked for.
inline cudaError_t graph_get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                                   std::size_t* count) {
#if CUDART_VERSION >= 13000
    return cudaGraphGetEdges(graph, from, to, data, count);
#else
    return cudaGraphGetEdges_v2(graph, from, to, data, count);
#endif
}
inline cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count) {
#if CUDART_VERSION >= 13000
    return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
#else
    return cudaGraphRemoveDependencies(graph, from, to, count);
#endif
}

// Before CUDA 12.8 the device is not known: -1.
inline cudaError_t stream_get_device(cudaStream_t stream, int* device) {
#if CUDART_VERSION >= 12080
    return cudaStreamGetDevice(stream, device);
#else
    static_cast<void>(stream);
    *device = -1;
    return cudaSuccess;
#endif
}

}  // namespace detail

struct api {
    // Devices and memory.
    decltype(&::cudaGetDeviceCount) get_device_count = &::cudaGetDeviceCount;
    decltype(&::cudaGetDeviceProperties) get_device_properties = &::cudaGetDeviceProperties;
    cudaError_t (*device_bus_id)(char*, int, int) = &::cudaDeviceGetPCIBusId;
    decltype(&::cudaSetDevice) set_device = &::cudaSetDevice;
    decltype(&::cudaGetLastError) get_last_error = &::cudaGetLastError;
    cudaError_t (*malloc)(void**, std::size_t) = &::cudaMalloc;
    decltype(&::cudaFree) free = &::cudaFree;
    cudaError_t (*malloc_host)(void**, std::size_t) = &::cudaMallocHost;
    decltype(&::cudaFreeHost) free_host = &::cudaFreeHost;
    decltype(&::cudaMemGetInfo) mem_get_info = &::cudaMemGetInfo;
    decltype(&::cudaMemcpy) memcpy = &::cudaMemcpy;
    decltype(&::cudaMemcpyAsync) memcpy_async = &::cudaMemcpyAsync;
    decltype(&::cudaMemset) memset = &::cudaMemset;
    decltype(&::cudaMemsetAsync) memset_async = &::cudaMemsetAsync;
    decltype(&::cudaPointerGetAttributes) pointer_get_attributes = &::cudaPointerGetAttributes;
    // Streams and events.
    decltype(&::cudaDeviceGetStreamPriorityRange) stream_priority_range = &::cudaDeviceGetStreamPriorityRange;
    decltype(&::cudaStreamCreateWithPriority) stream_create = &::cudaStreamCreateWithPriority;
    decltype(&::cudaStreamDestroy) stream_destroy = &::cudaStreamDestroy;
    decltype(&::cudaStreamQuery) stream_query = &::cudaStreamQuery;
    decltype(&::cudaStreamSynchronize) stream_synchronize = &::cudaStreamSynchronize;
    decltype(&::cudaStreamWaitEvent) stream_wait_event = &::cudaStreamWaitEvent;
    cudaError_t (*event_create)(cudaEvent_t*, unsigned) = &::cudaEventCreateWithFlags;
    decltype(&::cudaEventDestroy) event_destroy = &::cudaEventDestroy;
    decltype(&::cudaEventRecord) event_record = &::cudaEventRecord;
    cudaError_t (*event_record_with_flags)(cudaEvent_t, cudaStream_t, unsigned) = &::cudaEventRecordWithFlags;
    decltype(&::cudaEventQuery) event_query = &::cudaEventQuery;
    decltype(&::cudaEventElapsedTime) event_elapsed_time = &::cudaEventElapsedTime;
    cudaError_t (*find_batch_mem_op)(detail::batch_mem_op_function*) = &detail::find_batch_mem_op;
    // Memory of other ranks.
    decltype(&::cudaDeviceCanAccessPeer) can_access_peer = &::cudaDeviceCanAccessPeer;
    decltype(&::cudaDeviceEnablePeerAccess) enable_peer_access = &::cudaDeviceEnablePeerAccess;
    decltype(&::cudaIpcGetMemHandle) ipc_get_handle = &::cudaIpcGetMemHandle;
    decltype(&::cudaIpcOpenMemHandle) ipc_open_handle = &::cudaIpcOpenMemHandle;
    decltype(&::cudaIpcCloseMemHandle) ipc_close_handle = &::cudaIpcCloseMemHandle;
    decltype(&::cudaHostRegister) host_register = &::cudaHostRegister;
    decltype(&::cudaHostUnregister) host_unregister = &::cudaHostUnregister;
    cudaError_t (*host_device_pointer)(void**, void*, unsigned) = &::cudaHostGetDevicePointer;
    // Graphs.
    decltype(&::cudaStreamBeginCapture) stream_begin_capture = &::cudaStreamBeginCapture;
    decltype(&::cudaStreamEndCapture) stream_end_capture = &::cudaStreamEndCapture;
    decltype(&detail::stream_get_device) stream_get_device = &detail::stream_get_device;
    decltype(&::cudaStreamIsCapturing) stream_is_capturing = &::cudaStreamIsCapturing;
    decltype(&detail::graph_get_edges) graph_get_edges = &detail::graph_get_edges;
    decltype(&detail::graph_remove_dependencies) graph_remove_dependencies = &detail::graph_remove_dependencies;
    cudaError_t (*graph_instantiate)(cudaGraphExec_t*, cudaGraph_t, unsigned long long) = &::cudaGraphInstantiateWithFlags;
    decltype(&::cudaGraphUpload) graph_upload = &::cudaGraphUpload;
    decltype(&::cudaGraphLaunch) graph_launch = &::cudaGraphLaunch;
    decltype(&::cudaGraphDestroy) graph_destroy = &::cudaGraphDestroy;
    decltype(&::cudaGraphExecDestroy) graph_exec_destroy = &::cudaGraphExecDestroy;
    // NCCL.
    decltype(&::ncclGetVersion) get_version = &::ncclGetVersion;
    decltype(&::ncclGetUniqueId) get_unique_id = &::ncclGetUniqueId;
    decltype(&::ncclCommInitRankConfig) comm_init_rank = &::ncclCommInitRankConfig;
    decltype(&::ncclCommSplit) comm_split = &::ncclCommSplit;
    decltype(&::ncclCommDestroy) comm_destroy = &::ncclCommDestroy;
    decltype(&::ncclCommAbort) comm_abort = &::ncclCommAbort;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 9)
    decltype(&::ncclCommRevoke) comm_revoke = &::ncclCommRevoke;
#endif
    decltype(&::ncclCommRegister) comm_register = &::ncclCommRegister;
    decltype(&::ncclCommDeregister) comm_deregister = &::ncclCommDeregister;
    decltype(&::ncclCommGetAsyncError) comm_get_async_error = &::ncclCommGetAsyncError;
    decltype(&::ncclCommCount) comm_count = &::ncclCommCount;
    decltype(&::ncclCommUserRank) comm_user_rank = &::ncclCommUserRank;
    decltype(&::ncclCommCuDevice) comm_device = &::ncclCommCuDevice;
    decltype(&::ncclGroupStart) group_start = &::ncclGroupStart;
    decltype(&::ncclGroupEnd) group_end = &::ncclGroupEnd;
    decltype(&::ncclSend) send = &::ncclSend;
    decltype(&::ncclRecv) recv = &::ncclRecv;
    decltype(&::ncclAllReduce) all_reduce = &::ncclAllReduce;
    decltype(&::ncclReduce) reduce = &::ncclReduce;
    decltype(&::ncclBroadcast) broadcast = &::ncclBroadcast;
    decltype(&::ncclAllGather) all_gather = &::ncclAllGather;
    decltype(&::ncclReduceScatter) reduce_scatter = &::ncclReduceScatter;
    // cuBLAS.
    decltype(&::cublasCreate_v2) blas_create = &::cublasCreate_v2;
    decltype(&::cublasDestroy_v2) blas_destroy = &::cublasDestroy_v2;
    decltype(&::cublasSetStream_v2) blas_set_stream = &::cublasSetStream_v2;
    decltype(&::cublasSetWorkspace_v2) blas_set_workspace = &::cublasSetWorkspace_v2;
    decltype(&::cublasSetSmCountTarget) blas_set_sm_count = &::cublasSetSmCountTarget;
    decltype(&::cublasGemmEx_64) blas_gemm = &::cublasGemmEx_64;
    decltype(&::cublasGemmStridedBatchedEx_64) blas_gemm_batch = &::cublasGemmStridedBatchedEx_64;
};

// The table that is used.
inline api calls{};

// Whether the status may come from a kernel that ran earlier: any later call can return it.
inline bool of_earlier_work(int status) {
    for (const cudaError_t e : {cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorAssert, cudaErrorHardwareStackError,
                                cudaErrorIllegalInstruction, cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,
                                cudaErrorLaunchFailure, cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable})
        if (status == static_cast<int>(e)) return true;
    return false;
}

inline void check(cudaError_t status, const char* call) {
    if (status == cudaSuccess) return;
    static_cast<void>(calls.get_last_error());  // clears the error, so that a later call does not return it again
    throw call_error{call, cudaGetErrorString(status), static_cast<int>(status)};
}
inline void check(ncclResult_t status, const char* call) {
    if (status == ncclSuccess) return;
    throw call_error{call, ncclGetErrorString(status), static_cast<int>(status), status == ncclRemoteError};
}
inline void check(cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw call_error{call, cublasGetStatusString(status), static_cast<int>(status)};
}
inline void check(CUresult status, const char* call) {
    if (status == CUDA_SUCCESS) return;
    throw call_error{call, "the driver refused", static_cast<int>(status)};
}

}  // namespace dovetail::cuda
