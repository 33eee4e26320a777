// Random words and the values made of them: a seeded source of choices, pieces of memory of one element type, and values of every
// element type whose sums and products stay finite.
#pragma once

#include <dovetail/core/tensor.hpp>

#include <cstring>
#include <vector>

namespace support {

namespace dv = dovetail;

using word = std::uint64_t;

constexpr word mix(word x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// A seeded source of choices, the same on every platform.
struct chooser {
    word state = 0;

    word next() { return mix(state += 0x9e3779b97f4a7c15ull); }
    int below(int n) { return static_cast<int>(next() % static_cast<word>(n)); }
    int between(int low, int high) { return low + below(high - low + 1); }
    bool chance(int percent) { return below(100) < percent; }
    template <class T>
    const T& one_of(const std::vector<T>& list) {
        return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
    }
    template <class T>
    void shuffle(std::vector<T>& list) {
        for (int i = static_cast<int>(list.size()) - 1; i > 0; --i)
            std::swap(list[static_cast<std::size_t>(i)], list[static_cast<std::size_t>(below(i + 1))]);
    }
};

// A tensor in memory that it does not own.
struct piece {
    unsigned char* data = nullptr;
    std::int64_t bytes = 0;
    dv::element type = dv::element::uint64;
};

inline bool same(piece a, piece b) {
    return a.bytes == b.bytes && (a.bytes == 0 || std::memcmp(a.data, b.data, static_cast<std::size_t>(a.bytes)) == 0);
}

// Words seen as bytes.
inline piece snapshot(std::vector<word>& words, std::int64_t bytes, dv::element type = dv::element::uint64) {
    return {reinterpret_cast<unsigned char*>(words.data()), bytes, type};
}
constexpr std::int64_t words_of(std::int64_t bytes) { return (bytes + 7) / 8; }

inline word hash_bytes(word h, const unsigned char* data, std::int64_t bytes) {
    std::int64_t i = 0;
    for (; i + 8 <= bytes; i += 8) {
        word w;
        std::memcpy(&w, data + i, 8);
        h = mix(h ^ w) + 0x9e3779b97f4a7c15ull;
    }
    for (; i < bytes; ++i) h = mix(h ^ data[i]) + 1;
    return mix(h ^ static_cast<word>(bytes));
}

// Any bytes, a sequence of its own for each seed.
inline void fill(piece p, word seed) {
    std::int64_t i = 0;
    for (; i + 8 <= p.bytes; i += 8) {
        const word w = mix(seed + static_cast<word>(i));
        std::memcpy(p.data + i, &w, 8);
    }
    for (; i < p.bytes; ++i) p.data[i] = static_cast<unsigned char>(mix(seed + static_cast<word>(i)));
}

// The bits of a floating-point number between 1/2 and 2, of either sign, made of a random word.
constexpr word floating_bits(word w, int exponent_bits, int fraction_bits) {
    const word bias = (word{1} << (exponent_bits - 1)) - 1;
    const word sign = (w & 1u) << (exponent_bits + fraction_bits), exponent = (bias - (w >> 1 & 1u)) << fraction_bits;
    return sign | exponent | (w >> (64 - fraction_bits));
}

// Values of the piece's element type: any integers; floating-point numbers between 1/2 and 2, of either sign.
inline void fill_values(piece p, word seed) {
    if (!dv::is_floating(p.type)) return fill(p, seed);
    const int size = dv::bytes_of(p.type);
    const int exponent = p.type == dv::element::float16 ? 5 : p.type == dv::element::float64 ? 11 : 8;
    for (std::int64_t i = 0; i < p.bytes; i += size) {
        const word bits = floating_bits(mix(seed + static_cast<word>(i)), exponent, 8 * size - 1 - exponent);  // little-endian
        std::memcpy(p.data + i, &bits, static_cast<std::size_t>(size));
    }
}

}  // namespace support
