// Initialisers of states: state<w, tensor<float, 64, 128>, normal_init<1, 1, 8>>. Each writes one tensor, with the same bits on every rank,
// compiler and device: random numbers are a hash of seed and index, converted to floats by exact arithmetic.
#pragma once

#include "cuda/elementwise.hpp"

#include <type_traits>
#include <utility>

namespace dovetail::ops_detail {

// 64 random bits from a counter: the finaliser of splitmix64.
DOVETAIL_HOST_DEVICE constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
DOVETAIL_HOST_DEVICE constexpr std::uint64_t random_bits(int seed, std::int64_t counter) {
    return mixed(mixed(static_cast<std::uint64_t>(seed)) + static_cast<std::uint64_t>(counter));
}

// Approximately normal with mean 0, variance 1 - 2^-32 and magnitude of at most six: the sum of twelve uniform numbers of 16 bits. The sum
// is an integer below 2^20, which a float holds exactly, while logarithm and cosine differ between libraries.
DOVETAIL_HOST_DEVICE constexpr float normal_at(int seed, std::int64_t index) {
    std::int32_t sum = 0;
    for (int word = 0; word < 3; ++word) {
        const std::uint64_t bits = random_bits(seed, 3 * index + word);
        for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int32_t>((bits >> shift) & 0xffffu);
    }
    return static_cast<float>(sum - 6 * 65535) / 65536.0f;
}

// Uniform in [-1, 1).
DOVETAIL_HOST_DEVICE constexpr float uniform_at(int seed, std::int64_t index) {
    return static_cast<float>(static_cast<std::int64_t>(random_bits(seed, index) >> 40) - (1 << 23)) / static_cast<float>(1 << 23);
}

// Element i of an initial value, before it is rounded to the element's type.
template <class R>
struct same_everywhere {
    R value;
    DOVETAIL_HOST_DEVICE constexpr R operator()(std::int64_t) const { return value; }
};
struct normally_distributed {
    int seed;
    float deviation;
    DOVETAIL_HOST_DEVICE constexpr float operator()(std::int64_t i) const { return normal_at(seed, i) * deviation; }
};
struct uniformly_distributed {
    int seed;
    float bound;
    DOVETAIL_HOST_DEVICE constexpr float operator()(std::int64_t i) const { return uniform_at(seed, i) * bound; }
};

template <class X, class G>
void initialise(host::stream, out<X> x, G g) {
    for (std::int64_t i = 0; i < X::size; ++i) x[i] = static_cast<typename X::element_type>(g(i));
}
template <class X, class G>
void initialise(cuda::stream s, out<X> x, G g) {
    kernels::generate(s, X::size, x.data(), g);
}

}  // namespace dovetail::ops_detail

namespace dovetail::ops {

// Every element is Numerator / Denominator.
template <std::int64_t Numerator, std::int64_t Denominator = 1>
struct constant {
    static_assert(Denominator != 0, "dovetail: a denominator is not zero");

    template <class Stream, class X>
    static void launch(Stream s, out<X> x) {
        ops_detail::initialise(s, x, values<X>());
    }

private:
    // Of floating-point elements the quotient of the nearest values of both.
    template <class T>
    static constexpr bool is_value_of() {
        if constexpr (std::is_integral_v<T>)
            return Denominator == 0 || (Numerator % Denominator == 0 && std::in_range<T>(Numerator / Denominator));
        else
            return true;
    }
    template <class X>
    static constexpr auto values() {
        static_assert(is_value_of<typename X::element_type>(),
                      "dovetail: this constant is no value of the state's element type: out of its range, or no whole number");
        using R = ops_detail::arithmetic_t<typename X::element_type>;
        if constexpr (std::is_integral_v<R>)  // a denominator of zero is reported above
            return ops_detail::same_everywhere<R>{static_cast<R>(Numerator / (Denominator == 0 ? 1 : Denominator))};
        else
            return ops_detail::same_everywhere<R>{static_cast<R>(static_cast<R>(Numerator) / static_cast<R>(Denominator))};
    }
};

struct zeros : constant<0> {};

// Normally distributed with mean zero and standard deviation Numerator / Denominator.
template <int Seed, int Numerator, int Denominator>
struct normal_init {
    static_assert(Denominator != 0, "dovetail: a denominator is not zero");

    template <class Stream, class X>
    static void launch(Stream s, out<X> x) {
        ops_detail::initialise(s, x, values<X>());
    }

private:
    template <class X>
    static constexpr auto values() {
        static_assert(is_floating(X::type.type), "dovetail: normal_init needs a floating element");
        return ops_detail::normally_distributed{Seed, static_cast<float>(Numerator) / static_cast<float>(Denominator)};
    }
};

// Uniform between -Numerator / Denominator and Numerator / Denominator.
template <int Seed, int Numerator, int Denominator>
struct uniform_init {
    static_assert(Denominator != 0, "dovetail: a denominator is not zero");

    template <class Stream, class X>
    static void launch(Stream s, out<X> x) {
        ops_detail::initialise(s, x, values<X>());
    }

private:
    template <class X>
    static constexpr auto values() {
        static_assert(is_floating(X::type.type), "dovetail: uniform_init needs a floating element");
        return ops_detail::uniformly_distributed{Seed, static_cast<float>(Numerator) / static_cast<float>(Denominator)};
    }
};

}  // namespace dovetail::ops
