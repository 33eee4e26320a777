// Initialisers of states: state<w, tensor<float, 64, 128>, normal_init<1, 1, 8>>. Each writes one tensor, and the same bits
// on every rank, compiler and device: random numbers are a hash of seed and index, turned into floats by exact arithmetic.
#pragma once

#include "facts.hpp"

namespace dovetail::ops {

namespace detail {

// 64 bits for a counter: the finaliser of splitmix64.
DOVETAIL_HOST_DEVICE constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
DOVETAIL_HOST_DEVICE constexpr std::uint64_t random_bits(int seed, std::int64_t counter) {
    return mixed(mixed(static_cast<std::uint64_t>(seed)) + static_cast<std::uint64_t>(counter));
}

// Mean 0 and variance 1 - 2^-32, within six: the sum of twelve uniform numbers of 16 bits is an integer below 2^20, and so
// exact in a float, where a logarithm and a cosine would differ from library to library.
DOVETAIL_HOST_DEVICE constexpr float normal_at(int seed, std::int64_t index) {
    std::int32_t sum = 0;
    for (int word = 0; word < 3; ++word) {
        const std::uint64_t bits = random_bits(seed, 3 * index + word);
        for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int32_t>((bits >> shift) & 0xffffu);
    }
    return static_cast<float>(sum - 6 * 65535) / 65536.0f;
}

// From -1 up to, and without, 1.
DOVETAIL_HOST_DEVICE constexpr float uniform_at(int seed, std::int64_t index) {
    return static_cast<float>(static_cast<std::int64_t>(random_bits(seed, index) >> 40) - (1 << 23)) / static_cast<float>(1 << 23);
}

}  // namespace detail

// Numerator / Denominator everywhere.
template <std::int64_t Numerator, std::int64_t Denominator = 1>
struct constant {
    static_assert(Denominator != 0, "dovetail: a denominator is not zero");

    template <class X>
    static void launch(host::stream, out<X> x) {
        using T = typename X::element_type;
        using R = detail::arithmetic_t<T>;
        const T value = static_cast<T>(static_cast<R>(Numerator) / static_cast<R>(Denominator));
        for (T& y : x) y = value;
    }
};

struct zeros : constant<0> {};

// Normally distributed with mean zero and standard deviation Numerator / Denominator.
template <int Seed, int Numerator, int Denominator>
struct normal_init {
    static_assert(Denominator != 0, "dovetail: a denominator is not zero");

    template <class X>
    static void launch(host::stream, out<X> x) {
        using T = typename X::element_type;
        static_assert(is_floating(X::type.type), "dovetail: normal_init needs a floating element");
        const float deviation = static_cast<float>(Numerator) / static_cast<float>(Denominator);
        for (std::int64_t i = 0; i < X::size; ++i) x[i] = static_cast<T>(detail::normal_at(Seed, i) * deviation);
    }
};

// Uniform between -Numerator / Denominator and Numerator / Denominator.
template <int Seed, int Numerator, int Denominator>
struct uniform_init {
    static_assert(Denominator != 0, "dovetail: a denominator is not zero");

    template <class X>
    static void launch(host::stream, out<X> x) {
        using T = typename X::element_type;
        static_assert(is_floating(X::type.type), "dovetail: uniform_init needs a floating element");
        const float bound = static_cast<float>(Numerator) / static_cast<float>(Denominator);
        for (std::int64_t i = 0; i < X::size; ++i) x[i] = static_cast<T>(detail::uniform_at(Seed, i) * bound);
    }
};

}  // namespace dovetail::ops
