// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), with which the ends of the control channel prove that they hold the job's key. They are
// implemented here because dovetail is header-only and depends on nothing but CUDA, NCCL and Boost.Hana; the tests check the published
// vectors. Messages are small, so the code is not optimised.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace dovetail::control::detail {

using digest = std::array<unsigned char, 32>;

inline std::string_view bytes_of(const digest& d) { return {reinterpret_cast<const char*>(d.data()), d.size()}; }

class sha256 {
public:
    static constexpr std::size_t block_size = 64;

    sha256& add(std::string_view bytes) {
        const std::size_t rest = size_ % block_size;
        size_ += bytes.size();
        if (rest > 0) {
            const std::string_view first = bytes.substr(0, block_size - rest);
            first.copy(block_.data() + rest, first.size());
            if (rest + first.size() < block_size) return *this;
            take(block_.data());
            bytes.remove_prefix(first.size());
        }
        for (; bytes.size() >= block_size; bytes.remove_prefix(block_size)) take(bytes.data());
        bytes.copy(block_.data(), bytes.size());
        return *this;
    }
    // The message's digest. Nothing can be added afterwards.
    digest end() {
        const std::uint64_t bits = 8 * size_;
        std::string padding(1 + (2 * block_size - 9 - size_ % block_size) % block_size, '\0');
        padding[0] = '\x80';
        for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift);
        add(padding);
        digest d = {};
        for (std::size_t i = 0; i < d.size(); ++i) d[i] = static_cast<unsigned char>(state_[i / 4] >> (24 - 8 * (i % 4)));
        return d;
    }

private:
    using word = std::uint32_t;
    static constexpr word constants[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
        0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
        0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
        0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
        0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
        0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

    static word turned(word x, int by) { return x >> by | x << (32 - by); }
    void take(const char* block) {
        word w[64];
        for (int i = 0; i < 16; ++i) {
            w[i] = 0;
            for (int b = 0; b < 4; ++b) w[i] = w[i] << 8 | static_cast<unsigned char>(block[4 * i + b]);
        }
        for (int i = 16; i < 64; ++i) {
            const word s0 = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
            const word s1 = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        word a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4], f = state_[5], g = state_[6], h = state_[7];
        for (int i = 0; i < 64; ++i) {
            const word s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
            const word t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i];
            const word s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
            const word t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        const word mixed[8] = {a, b, c, d, e, f, g, h};
        for (std::size_t i = 0; i < 8; ++i) state_[i] += mixed[i];
    }

    std::array<word, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<char, block_size> block_ = {};  // the last, incomplete block: size_ % block_size bytes of it are used
    std::uint64_t size_ = 0;
};

class hmac {
public:
    explicit hmac(std::string_view key) {
        digest shorter = {};
        if (key.size() > sha256::block_size) {
            shorter = sha256{}.add(key).end();
            key = bytes_of(shorter);
        }
        std::array<char, sha256::block_size> inner = {}, outer = {};
        for (std::size_t i = 0; i < sha256::block_size; ++i) {
            const char k = i < key.size() ? key[i] : '\0';
            inner[i] = static_cast<char>(k ^ 0x36);
            outer[i] = static_cast<char>(k ^ 0x5c);
        }
        inner_.add({inner.data(), inner.size()});
        outer_.add({outer.data(), outer.size()});
    }
    // The hash of the concatenated parts.
    digest of(std::initializer_list<std::string_view> parts) const {
        sha256 inner = inner_, outer = outer_;
        for (const std::string_view p : parts) inner.add(p);
        return outer.add(bytes_of(inner.end())).end();
    }

private:
    sha256 inner_, outer_;  // both after hashing the padded key
};

// Compares two texts of one length in a time that does not depend on where they differ.
inline bool equal_in_constant_time(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    volatile unsigned char different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) different = static_cast<unsigned char>(different | (a[i] ^ b[i]));
    return different == 0;
}

}  // namespace dovetail::control::detail
