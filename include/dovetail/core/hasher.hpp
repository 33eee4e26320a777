// A hash of 64-bit words, FNV-1a: the same at compile time and at run time, on every compiler and rank.
#pragma once

#include "tag.hpp"
#include "tensor.hpp"

#include <cstdint>

namespace dovetail::detail {

struct hasher {
    std::uint64_t h = 14695981039346656037ull;

    constexpr void operator()(std::uint64_t word) { h = (h ^ word) * 1099511628211ull; }
    constexpr void operator()(const tag* t) { (*this)(std::uint64_t{t->hash}); }
    constexpr void operator()(const tensor_type& t) {
        (*this)(static_cast<std::uint64_t>(t.type) * 8 + static_cast<std::uint64_t>(t.rank));
        for (int i = 0; i < t.rank; ++i) (*this)(static_cast<std::uint64_t>(t.extent[i]));
    }
    template <class... T>
    constexpr void all(T... words) {
        ((*this)(static_cast<std::uint64_t>(words)), ...);
    }
};

}  // namespace dovetail::detail
