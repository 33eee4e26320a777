// Tensors of other libraries as arguments of bind, write_state and reading.copy_to. Takes a DLTensor or DLManagedTensor* of DLPack, or a
// std::mdspan or cuda::std::mdspan, gives its description at run time, and says why it does not fit a tensor of the graph. The types are
// recognised by their members, so no header of those libraries is needed, and each copy of dlpack.h serves.
#pragma once

#include "../../core/tensor.hpp"

#include <cstddef>
#include <string>
#include <type_traits>

namespace dovetail {

enum class external_place : unsigned char { unknown, host, gpu, other };  // unknown: CUDA is asked about the pointer

// Extents and strides are in elements; those beyond max_rank are left out.
struct external_tensor {
    void* data = nullptr;
    tensor_type type;
    std::int64_t stride[max_rank] = {};
    external_place place = external_place::unknown;
    int device = 0;  // of a GPU, its number; of another device, DLPack's kind
    bool read_only = false;
    int version = 1;  // of DLPack: a later one may have another layout
};

namespace detail {

template <class V>
concept dlpack_tensor = requires(const V& t) {
    t.data, t.device.device_type, t.device.device_id, t.ndim, t.shape, t.strides, t.byte_offset;
    t.dtype.code, t.dtype.bits, t.dtype.lanes;
};
// DLManagedTensor* and DLManagedTensorVersioned*.
template <class V>
concept managed_tensor = std::is_pointer_v<V> && requires(V t) { requires dlpack_tensor<std::remove_cvref_t<decltype(t->dl_tensor)>>; };
// Layouts without strides and elements behind anything but a pointer are left out.
template <class V>
concept mdspan_like = requires(const V& v) {
    v.data_handle(), v.extent(0), v.stride(0), v.mapping().is_exhaustive(), V::rank(), V::static_extent(0);
    requires std::is_same_v<typename V::data_handle_type, typename V::element_type*>;
    requires V::is_always_strided();
};
template <class V>
concept mdspan_of_const = mdspan_like<V> && std::is_const_v<typename V::element_type>;
template <class V>
concept external = dlpack_tensor<V> || managed_tensor<V> || mdspan_like<V>;

// Whether the type of an mdspan allows the element and the extents of a tensor.
template <class V, class Tensor>
constexpr bool mdspan_fits() {
    if constexpr (std::is_same_v<std::remove_const_t<typename V::element_type>, typename Tensor::element_type>) {
        if (static_cast<int>(V::rank()) != Tensor::rank) return false;
        for (int i = 0; i < Tensor::rank; ++i)
            if (const std::size_t e = V::static_extent(static_cast<std::size_t>(i));
                e != static_cast<std::size_t>(-1) && static_cast<std::int64_t>(e) != Tensor::type.extent[i])
                return false;
        return true;
    }
    return false;
}
// Whether the type of V, as far as it tells, allows a tensor of the graph: a DLTensor tells nothing.
template <class V, class Tensor>
constexpr bool external_fits() {
    if constexpr (mdspan_like<V>)
        return mdspan_fits<V, Tensor>();
    else
        return external<V>;
}

// Codes of DLPack's ABI. Types: signed and unsigned integers, floating point, bfloat16. Devices: host, GPU, pinned host memory,
// and CUDA's managed memory, of which CUDA knows where it is.
enum dlpack_type : int { dlpack_int = 0, dlpack_uint = 1, dlpack_float = 2, dlpack_bfloat = 4 };
enum dlpack_device : int { dlpack_cpu = 1, dlpack_cuda = 2, dlpack_cuda_host = 3, dlpack_cuda_managed = 13 };
constexpr unsigned dlpack_read_only = 1;  // a flag of DLManagedTensorVersioned
constexpr int dlpack_code(element e) {
    if (e == element::bfloat16) return dlpack_bfloat;
    if (is_floating(e)) return dlpack_float;
    return e == element::uint8 || e == element::uint32 || e == element::uint64 ? dlpack_uint : dlpack_int;
}
// The element with DLPack's code and number of bits; none if there is no such element.
constexpr element element_of_dlpack(int code, int bits, int lanes) {
    for (int i = 1; i <= static_cast<int>(element::uint64); ++i)
        if (const auto e = static_cast<element>(i); lanes == 1 && dlpack_code(e) == code && 8 * bytes_of(e) == bits) return e;
    return element::none;
}
constexpr external_place place_of_dlpack(int kind) {
    if (kind == dlpack_cpu || kind == dlpack_cuda_host) return external_place::host;
    if (kind == dlpack_cuda_managed) return external_place::unknown;
    return kind == dlpack_cuda ? external_place::gpu : external_place::other;
}
// Strides of row-major order. Those of extents that no memory has mean nothing.
constexpr void set_row_major(const tensor_type& t, std::int64_t* stride) {
    std::uint64_t next = 1;
    for (int i = t.rank - 1; i >= 0; --i) {
        stride[i] = static_cast<std::int64_t>(next);
        next *= static_cast<std::uint64_t>(t.extent[i]);
    }
}

template <dlpack_tensor V>
external_tensor describe(const V& t) {
    external_tensor made;
    if (t.data != nullptr) made.data = static_cast<char*>(t.data) + t.byte_offset;
    made.type.type = element_of_dlpack(static_cast<int>(t.dtype.code), t.dtype.bits, t.dtype.lanes);
    made.type.rank = t.ndim;
    for (int i = 0; i < t.ndim && i < max_rank && t.shape != nullptr; ++i) made.type.extent[i] = t.shape[i];
    made.place = place_of_dlpack(static_cast<int>(t.device.device_type));
    made.device = made.place == external_place::other ? static_cast<int>(t.device.device_type) : static_cast<int>(t.device.device_id);
    if (t.ndim > max_rank) return made;
    if (t.strides == nullptr) set_row_major(made.type, made.stride);
    for (int i = 0; i < t.ndim && t.strides != nullptr; ++i) made.stride[i] = t.strides[i];
    return made;
}
template <managed_tensor V>
external_tensor describe(const V& t) {
    external_tensor made;
    if (t == nullptr) return made;
    if constexpr (requires { t->version.major, t->flags; }) {
        made.version = static_cast<int>(t->version.major);
        if (made.version > external_tensor{}.version) return made;
        made = describe(t->dl_tensor);
        made.read_only = (t->flags & dlpack_read_only) != 0;
        return made;
    }
    return describe(t->dl_tensor);
}
template <mdspan_like V>
external_tensor describe(const V& t) {
    using T = std::remove_const_t<typename V::element_type>;
    external_tensor made;
    made.data = const_cast<T*>(t.data_handle());
    made.type = {element_of<T>, static_cast<int>(V::rank())};
    for (std::size_t i = 0; i < V::rank(); ++i) {
        made.type.extent[i] = static_cast<std::int64_t>(t.extent(i));
        made.stride[i] = static_cast<std::int64_t>(t.stride(i));
    }
    return made;
}

// Elements at a pointer: a tensor of that type if they are as many, else a vector.
template <class Tensor>
external_tensor elements_at(typename Tensor::element_type* data, std::int64_t count) {
    external_tensor made;
    made.data = data;
    made.type = count == Tensor::size ? Tensor::type : tensor_type{Tensor::type.type, 1, {count}};
    set_row_major(made.type, made.stride);
    return made;
}

inline std::string numbers(const std::int64_t* first, int count) {
    std::string text = "[";
    for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + std::to_string(first[i]);
    return text + "]";
}
inline bool same_shape(const tensor_type& a, const tensor_type& b) { return a.with_element(b.type) == b; }
inline bool row_major(const external_tensor& t) {
    std::int64_t wanted[max_rank] = {};
    set_row_major(t.type, wanted);
    for (int i = 0; i < t.type.rank; ++i)
        if (t.type.extent[i] != 1 && t.stride[i] != wanted[i]) return false;
    return true;
}
inline std::string name_of_place(int device) { return device < 0 ? "the host" : "GPU " + std::to_string(device); }
// Why memory at that place cannot be used by a rank on `device`, -1 for the host; empty if it can.
inline std::string mismatch_of_place(const external_tensor& t, int device) {
    if (t.place == external_place::other)
        return "a tensor on a device of DLPack's kind " + std::to_string(t.device) + ", which is neither the host nor a CUDA GPU";
    if (t.place == external_place::gpu && t.device != device)
        return "a tensor on GPU " + std::to_string(t.device) + ", and the rank is on " + name_of_place(device);
    return {};
}

// Why a tensor does not fit one of the graph, on a rank on `device`, as the end of "input `x` is bound to "; empty if it fits. Where there
// is no element, libraries give any pointer and any strides.
inline std::string mismatch_of(const external_tensor& t, const tensor_type& wanted, int device) {
    if (t.version > external_tensor{}.version) return "a tensor of version " + std::to_string(t.version) + " of DLPack, later than 1";
    const bool empty = wanted.size() == 0;
    if (t.data == nullptr && (!empty || !t.type.valid())) return "a null pointer";
    if (t.type.type != wanted.type)
        return std::string{"a tensor of "} + (t.type.valid() ? name_of(t.type.type) : "a type that no element has") +
               ", and has elements of " + name_of(wanted.type);
    if (t.type.rank < 0 || t.type.rank > max_rank)
        return "a tensor of " + std::to_string(t.type.rank) + " dimensions, and has " + std::to_string(wanted.rank);
    if (!same_shape(t.type, wanted))
        return "a tensor of shape " + numbers(t.type.extent, t.type.rank) + ", and has shape " + numbers(wanted.extent, wanted.rank);
    if (!empty && !row_major(t))
        return "a tensor of shape " + numbers(t.type.extent, t.type.rank) + " with strides " + numbers(t.stride, t.type.rank) +
               ", and has row-major order without gaps";
    if (!empty && reinterpret_cast<std::uintptr_t>(t.data) % static_cast<unsigned>(bytes_of(wanted.type)) != 0)
        return "a tensor at an address that is no multiple of the size of its elements";
    return mismatch_of_place(t, device);
}

// The extents and strides of a tensor, in memory to which a DLTensor points.
template <class Tensor>
struct dlpack_extents {
    std::int64_t shape[max_rank] = {}, strides[max_rank] = {};
    dlpack_extents() {
        for (int i = 0; i < Tensor::rank; ++i) shape[i] = Tensor::type.extent[i];
        set_row_major(Tensor::type, strides);
    }
    static dlpack_extents& shared() {
        static dlpack_extents made;
        return made;
    }
};
// Makes `to` describe a tensor at `data` on `device`, -1 for the host.
template <class Tensor, dlpack_tensor To>
void describe_as_dlpack(To& to, void* data, int device) {
    to.data = data;
    to.device.device_type = static_cast<decltype(to.device.device_type)>(device < 0 ? dlpack_cpu : dlpack_cuda);
    to.device.device_id = device < 0 ? 0 : device;
    to.ndim = Tensor::rank;
    to.dtype.code = static_cast<decltype(to.dtype.code)>(dlpack_code(Tensor::type.type));
    to.dtype.bits = static_cast<decltype(to.dtype.bits)>(8 * bytes_of(Tensor::type.type));
    to.dtype.lanes = 1;
    to.shape = dlpack_extents<Tensor>::shared().shape;
    to.strides = dlpack_extents<Tensor>::shared().strides;
    to.byte_offset = 0;
}

}  // namespace detail
}  // namespace dovetail
