// For tests of operations on a GPU: `device` is a stream with a cuBLAS handle and workspace, `on_device<X>` a tensor in its
// memory, `drawn<X>` the elements of one on the host. Bits are compared, or values within a tolerance.
#pragma once

#include "support/tensors.hpp"

#include <dovetail/launch/cuda/api/services.hpp>

#include <cmath>
#include <cstring>

namespace support {

namespace dv = dovetail;

struct device {
    device() {
        dv::cuda::check(dv::cuda::calls.stream_create(&stream, cudaStreamNonBlocking, 0), "cudaStreamCreate");
        dv::cuda::check(dv::cuda::calls.blas_create(&blas), "cublasCreate");
        dv::cuda::check(dv::cuda::calls.blas_set_stream(blas, stream), "cublasSetStream");
        dv::cuda::check(dv::cuda::calls.malloc(&workspace, workspace_bytes), "cudaMalloc");
    }
    device(const device&) = delete;
    // `sms` as a plan sets it for an operation: with 1, the few blocks of a kernel loop over all elements.
    dv::cuda::stream with(int sms) const { return {stream, blas, sms, workspace, workspace_bytes, &dv::cuda::services}; }
    void wait() const { dv::cuda::check(dv::cuda::calls.stream_synchronize(stream), "cudaStreamSynchronize"); }

    static constexpr std::int64_t workspace_bytes = 1 << 20;
    cudaStream_t stream = nullptr;
    cublasHandle_t blas = nullptr;
    void* workspace = nullptr;
};
inline const device& gpu() {
    static const device d;
    return d;
}

// Element i is a number that depends on i and the seed: fractions and magnitudes of all kinds where the element has them.
template <class X>
filled<X> drawn(unsigned seed) {
    filled<X> x;
    for (auto& e : x.elements) {
        seed = seed * 1664525u + 1013904223u;
        const unsigned bits = seed >> 8;
        if constexpr (dv::is_floating(X::type.type))
            e = static_cast<typename X::element_type>((static_cast<float>(bits & 0xffffu) / 32768.0f - 1.0f) *
                                                      static_cast<float>(1u << (bits >> 21)));
        else e = static_cast<typename X::element_type>(bits % 11);
    }
    return x;
}

// `skewed` puts it one element behind an aligned address.
template <class X>
class on_device {
public:
    using element_type = typename X::element_type;

    explicit on_device(const filled<X>& from, bool skewed = false) : skew_{skewed ? 1 : 0} {
        void* p = nullptr;
        dv::cuda::check(dv::cuda::calls.malloc(&p, (from.elements.size() + 1) * sizeof(element_type)), "cudaMalloc");
        memory_ = static_cast<element_type*>(p);
        dv::cuda::check(
            dv::cuda::calls.memcpy(at(), from.elements.data(), from.elements.size() * sizeof(element_type), cudaMemcpyHostToDevice),
            "cudaMemcpy");
        dv::cuda::check(dv::cuda::calls.stream_synchronize(nullptr), "cudaStreamSynchronize");
    }
    on_device(const on_device&) = delete;
    ~on_device() { static_cast<void>(dv::cuda::calls.free(memory_)); }

    dv::in<X> in() const { return {{at()}}; }
    dv::out<X> out() const { return {{at()}}; }
    dv::inout<X> inout() const { return {{at()}}; }
    filled<X> host() const {
        gpu().wait();
        filled<X> to;
        dv::cuda::check(dv::cuda::calls.memcpy(to.elements.data(), at(), to.elements.size() * sizeof(element_type), cudaMemcpyDeviceToHost),
                        "cudaMemcpy");
        return to;
    }

private:
    element_type* at() const { return memory_ + skew_; }
    element_type* memory_ = nullptr;
    std::int64_t skew_;
};

template <class X>
bool equal(const filled<X>& a, const filled<X>& b) {
    return a.elements.empty() ||
           std::memcmp(a.elements.data(), b.elements.data(), a.elements.size() * sizeof(typename X::element_type)) == 0;
}

// The largest difference as a multiple of what the element's rounding allows.
template <class X>
double apart(const filled<X>& a, const filled<X>& b) {
    double most = 0;
    for (std::int64_t i = 0; i < X::size; ++i) {
        const double d = std::abs(a[i] - b[i]) / tolerance<typename X::element_type>(b[i]);
        most = d > most || std::isnan(d) ? d : most;
    }
    return most;
}

// Calls body(sms, skewed) for every way a kernel is launched.
template <class Body>
void every_way(Body&& body) {
    for (const int sms : {0, 1})
        for (const bool skewed : {false, true}) {
            INFO("sms " << sms << ", skewed " << skewed);
            body(gpu().with(sms), skewed);
        }
}

}  // namespace support
