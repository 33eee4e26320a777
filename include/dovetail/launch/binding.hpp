// What an input is bound to, and the library's own copies of it. Takes host memory of the caller, gives memory that stays as it is
// until the runs that read it have done so.
#pragma once

#include "memory.hpp"

#include <cstdint>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <vector>

namespace dovetail {

enum class binding_source : unsigned char {
    none,
    copied,    // memory of the library, filled by `bind`: the caller may change its own at once
    borrowed,  // host memory of the caller, which a run copies when it comes to it
    in_place   // device memory of the caller, which the operations of a run read
};

struct binding {
    const void* data = nullptr;
    std::int64_t count = 0;  // elements
    binding_source from = binding_source::none;
    std::uint64_t contents = 0;  // of a copy: no other binding of the executor has the same number; 0: may differ from run to run

    bool in_place() const { return from == binding_source::in_place; }
    // Whether the caller may not change the memory as long as a run reads it.
    bool of_caller() const { return from == binding_source::borrowed || from == binding_source::in_place; }
};

// Device memory that an input uses in place. It must stay as it is until ticket.inputs_released().
template <class T>
struct device_pointer {
    const T* data = nullptr;
    std::int64_t count = 0;
};
template <class T>
device_pointer(T*, std::int64_t) -> device_pointer<std::remove_const_t<T>>;

// Host memory that runs read where it is, without the copy that `bind` makes of other host memory. It must stay as it is until
// ticket.inputs_released() of the last run that reads it. Count: the number of elements where the type tells it, else -1.
template <class T, std::int64_t Count = -1>
struct borrowed_memory {
    const T* data = nullptr;
    std::int64_t count = 0;
};

namespace detail {

// Number of elements where the type tells it, else -1.
template <class V>
inline constexpr std::int64_t static_count = -1;
template <class T, std::size_t N>
inline constexpr std::int64_t static_count<T[N]> = static_cast<std::int64_t>(N);
template <template <class, std::size_t> class Array, class T, std::size_t N>
    requires(N != static_cast<std::size_t>(-1))  // a span of dynamic extent
inline constexpr std::int64_t static_count<Array<T, N>> = static_cast<std::int64_t>(N);

template <class V>
concept sequence = requires(const V& v) {
    std::data(v);
    std::size(v);
};
template <class V>
using element_in = std::remove_cvref_t<decltype(*std::data(std::declval<const V&>()))>;

template <class V>
inline constexpr bool is_borrowed = false;
template <class T, std::int64_t Count>
inline constexpr bool is_borrowed<borrowed_memory<T, Count>> = true;

}  // namespace detail

// A container or a span for `bind`, to be read where it is. A container that is about to be destroyed is refused.
template <class V>
    requires(detail::sequence<std::remove_cvref_t<V>> && (std::is_lvalue_reference_v<V> || std::ranges::enable_borrowed_range<std::remove_cvref_t<V>>))
borrowed_memory<detail::element_in<std::remove_cvref_t<V>>, detail::static_count<std::remove_cvref_t<V>>> borrowed(V&& values) {
    return {std::data(values), static_cast<std::int64_t>(std::size(values))};
}
template <class T>
borrowed_memory<T> borrowed(const T* data, std::int64_t count) {
    return {data, count};
}

// The library's copies of what one input is bound to, in pinned host memory. It is allocated with the first copy and kept: a copy is
// overwritten when the runs that read it have done so.
class bound_copies {
public:
    // An input of at most this many bytes gets a copy for each run in flight and one more; a larger one gets one copy, and to bind
    // it again waits until the runs issued before have read it.
    static constexpr std::int64_t most_bytes_of_several = std::int64_t{64} << 20;

    // Memory for the next copy. `read(run)` says whether a run has read its inputs, `wait(run)` returns when it has.
    template <class Read, class Wait>
    char* next(const std::shared_ptr<memory>& source, std::int64_t bytes, int in_flight, Read read, Wait wait) {
        if (copies_.empty()) allocate(source, bytes, bytes <= most_bytes_of_several ? in_flight + 1 : 1);
        std::size_t oldest = 0;
        for (std::size_t i = 0; i < copies_.size(); ++i) {
            if (copies_[i].last_run < 0 || read(copies_[i].last_run)) return take(i);
            if (copies_[i].last_run < copies_[oldest].last_run) oldest = i;
        }
        wait(copies_[oldest].last_run);
        return take(oldest);
    }
    // A run reads the latest copy.
    void read_by(std::int64_t run) { copies_[latest_].last_run = run; }

private:
    struct copy {
        block memory;
        std::int64_t last_run = -1;  // the latest that reads it
    };
    void allocate(const std::shared_ptr<memory>& source, std::int64_t bytes, int count) {
        std::vector<copy> made;
        made.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) made.push_back({block{source, bytes, true}});
        copies_ = std::move(made);
    }
    char* take(std::size_t i) {
        latest_ = i;
        copies_[i].last_run = -1;
        return copies_[i].memory.data();
    }

    std::vector<copy> copies_;
    std::size_t latest_ = 0;
};

}  // namespace dovetail
