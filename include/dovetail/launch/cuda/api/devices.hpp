// The devices of this machine, and checks before a world is made: a CUDA device, and an NCCL library at least as new as its headers.
#pragma once

#include "api.hpp"

#include <cstdlib>
#include <string>

namespace dovetail::cuda::detail {

// Version codes use 10000 for a major number since NCCL 2.9.
inline std::string nccl_version_text(int code) {
    return code < 10000 ? std::to_string(code / 1000) + "." + std::to_string(code / 100 % 10) + "." + std::to_string(code % 100)
                        : std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." + std::to_string(code % 100);
}

// Of the library that is found at run time.
inline int nccl_version() {
    int version = 0;
    check(calls.get_version(&version), "ncclGetVersion");
    return version;
}

// The name of a device and the version of NCCL: "NVIDIA H200, NCCL 2.28.9".
inline std::string hardware_of(int device) {
    cudaDeviceProp properties{};
    check(calls.get_device_properties(&properties, device), "cudaGetDeviceProperties");
    return properties.name + (", NCCL " + nccl_version_text(nccl_version()));
}

// The number of devices; throws if this machine has none that the program can use.
inline int devices_here() {
    static const bool asked = [] {
        setenv("CUDA_MODULE_LOADING", "EAGER", 0);
        return true;
    }();
    static_cast<void>(asked);
    int version = 0;
    if (const ncclResult_t status = calls.get_version(&version); status != ncclSuccess)
        throw world_error{std::string{"ncclGetVersion: "} + ncclGetErrorString(status)};
    if (version < NCCL_VERSION_CODE)
        throw world_error{"the NCCL library found at run time is version " + nccl_version_text(version) +
                          ", older than the headers of this program (" + nccl_version_text(NCCL_VERSION_CODE) +
                          "): put the newer libnccl.so.2 first on LD_LIBRARY_PATH, or compile with the older headers"};
    int devices = 0;
    const cudaError_t status = calls.get_device_count(&devices);
    if (status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary)
        throw world_error{std::string{"no CUDA driver that fits this program: "} + cudaGetErrorString(status)};
    if (status == cudaErrorNoDevice || (status == cudaSuccess && devices == 0)) throw world_error{"no CUDA device on this machine"};
    if (status != cudaSuccess) throw world_error{std::string{"cudaGetDeviceCount: "} + cudaGetErrorString(status)};
    return devices;
}

}  // namespace dovetail::cuda::detail
