// The result type of a read if the graph or the name has a mistake. The mistake is reported, and this type accepts every use of a result,
// so that no further errors follow. No program that contains it compiles.
#pragma once

#include "../../core/element.hpp"

#include <cstddef>
#include <type_traits>
#include <vector>

namespace dovetail::detail {

// An element.
struct placeholder_element {
    operator double() const { return 0; }
    template <class T>
        requires(std::is_class_v<T> && element_of<T> != element::none)
    operator T() const;
};

struct placeholder_pointer {
    template <class T>
    operator T*() const;
    explicit operator bool() const { return false; }
    placeholder_element operator[](std::ptrdiff_t) const { return {}; }
    placeholder_element operator*() const { return {}; }
    placeholder_pointer operator+(std::ptrdiff_t) const { return {}; }
    template <class T>
    friend bool operator==(placeholder_pointer, T) {
        return true;
    }
};

// All elements, in host memory.
struct placeholder_values {
    template <class T>
    operator std::vector<T>() const;
    placeholder_element operator[](std::ptrdiff_t) const { return {}; }
    placeholder_element at(std::ptrdiff_t) const { return {}; }
    placeholder_element front() const { return {}; }
    placeholder_element back() const { return {}; }
    std::size_t size() const { return 0; }
    bool empty() const { return true; }
    const placeholder_element* begin() const { return nullptr; }
    const placeholder_element* end() const { return nullptr; }
    placeholder_pointer data() const { return {}; }
};

struct placeholder_reading {
    using element_type = placeholder_element;
    static constexpr std::ptrdiff_t size() { return 0; }
    placeholder_pointer data() const { return {}; }
    placeholder_element operator[](std::ptrdiff_t) const { return {}; }
    placeholder_values host() const { return {}; }
    template <class To>
    void copy_to(const To&) const {}
    template <class To>
    void describe_in(To&) const {}
};

}  // namespace dovetail::detail
