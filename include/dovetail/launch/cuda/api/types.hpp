// The library's elements and reductions as NCCL's. This file checks their numbers against NCCL's header.
#pragma once

#include "../../../core/vocabulary.hpp"

#include <nccl.h>

namespace dovetail::cuda {

constexpr ncclDataType_t nccl_type(element e) {
    switch (e) {
        case element::float16: return ncclFloat16;
        case element::bfloat16: return ncclBfloat16;
        case element::float32: return ncclFloat32;
        case element::float64: return ncclFloat64;
        case element::int8: return ncclInt8;
        case element::uint8: return ncclUint8;
        case element::int32: return ncclInt32;
        case element::uint32: return ncclUint32;
        case element::int64: return ncclInt64;
        case element::uint64: return ncclUint64;
        case element::none: break;
    }
    return ncclUint8;
}

constexpr ncclRedOp_t nccl_reduction(reduction r) {
    switch (r) {
        case reduction::none:
        case reduction::sum: return ncclSum;
        case reduction::product: return ncclProd;
        case reduction::minimum: return ncclMin;
        case reduction::maximum: return ncclMax;
        case reduction::average: return ncclAvg;
    }
    return ncclSum;
}

// The plan contains these numbers: a header with other numbers would compute wrong reductions without an error.
static_assert(NCCL_VERSION_CODE >= NCCL_VERSION(2, 18, 0), "dovetail needs NCCL 2.18 or newer: ncclCommSplit");
static_assert(ncclInt8 == 0 && ncclUint8 == 1 && ncclInt32 == 2 && ncclUint32 == 3 && ncclInt64 == 4 && ncclUint64 == 5);
static_assert(ncclFloat16 == 6 && ncclFloat32 == 7 && ncclFloat64 == 8 && ncclBfloat16 == 9);
static_assert(ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3 && ncclAvg == 4);

}  // namespace dovetail::cuda
