// Memory for calling operations in tests without a graph: `filled<X>` owns the elements of a tensor X, with whole numbers
// and quarters that every floating element holds exactly, and gives the views that `launch` takes.
#pragma once

#include <dovetail/core/view.hpp>

#include <type_traits>
#include <vector>

namespace support {

template <class X>
struct filled {
    using element_type = typename X::element_type;
    std::vector<element_type> elements = std::vector<element_type>(static_cast<std::size_t>(X::size));

    filled() = default;
    // Element i depends on i and the seed: a number between -4 and 4, an integer between -8 and 8, without a sign between 0 and 15.
    explicit filled(unsigned seed) {
        for (auto& x : elements) {
            seed = seed * 1664525u + 1013904223u;
            const int number = static_cast<int>(seed >> 20) % 17;
            if constexpr (dovetail::is_floating(X::type.type)) x = static_cast<element_type>(static_cast<float>(number - 8) / 2.0f);
            else if constexpr (std::is_unsigned_v<element_type>) x = static_cast<element_type>(number % 16);  // squares fit in 8 bits
            else x = static_cast<element_type>(number - 8);
        }
    }
    dovetail::in<X> in() const { return {{elements.data()}}; }
    dovetail::out<X> out() { return {{elements.data()}}; }
    dovetail::inout<X> inout() { return {{elements.data()}}; }
    double operator[](std::int64_t i) const { return static_cast<double>(elements[static_cast<std::size_t>(i)]); }
};

// What a result of element T that should be `exact` may differ by, sums having been taken in float or double.
template <class T>
double tolerance(double exact) {
    const double size = exact < 0 ? -exact : exact;
    constexpr double unit = sizeof(T) == 8 ? 1e-14 : dovetail::element_of<T> == dovetail::element::float16 ? 5e-4
                            : dovetail::element_of<T> == dovetail::element::bfloat16 ? 4e-3 : 1e-6;
    return unit * (size + 1);
}

}  // namespace support
