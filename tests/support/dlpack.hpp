// DLPack's structures: of its own header where there is one, else written after version 0.6 of its specification.
#pragma once

#include <cstdint>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#else
enum DLDeviceType : std::int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLVulkan = 7, kDLCUDAManaged = 13 };
enum DLDataTypeCode { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5 };
struct DLDevice {
    DLDeviceType device_type;
    int device_id;
};
struct DLDataType {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct DLTensor {
    void* data;
    DLDevice device;
    int ndim;
    DLDataType dtype;
    std::int64_t *shape, *strides;
    std::uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(DLManagedTensor*);
};
#endif
