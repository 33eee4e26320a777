// The meaning of the communication statements of a sketch: the elements that a member receives, from the elements that all members send.
// Written from the description of the language for reference.hpp; the library and the simulator have code of their own.
#pragma once

#include "sketch.hpp"

#include <dovetail/core/element.hpp>

namespace support {

namespace detail {

// A reduction of one element over all members, in their order: integers wrap around, half and bfloat16 are summed in float and
// rounded once, an average is the sum divided by the number of members.
template <class T>
T reduced(dv::reduction how, const std::vector<T>& of) {
    constexpr bool small_float = std::is_same_v<T, dv::half> || std::is_same_v<T, dv::bfloat16>;
    using sum = std::conditional_t<small_float, float, std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>>;
    using ordered = std::conditional_t<small_float, float, T>;
    using averaged = std::conditional_t<std::is_integral_v<T>, std::int64_t, sum>;  // of integers up to 32 bits
    T best = of[0];
    sum total = static_cast<sum>(of[0]), product = static_cast<sum>(of[0]);
    averaged exact = static_cast<averaged>(of[0]);
    for (std::size_t i = 1; i < of.size(); ++i) {
        total += static_cast<sum>(of[i]);
        if (how == dv::reduction::average) exact += static_cast<averaged>(of[i]);
        if (how == dv::reduction::product) product *= static_cast<sum>(of[i]);
        const ordered a = static_cast<ordered>(of[i]), b = static_cast<ordered>(best);
        if (how == dv::reduction::minimum ? a < b : b < a) best = of[i];
    }
    if (how == dv::reduction::sum) return static_cast<T>(total);
    if (how == dv::reduction::product) return static_cast<T>(product);
    if (how == dv::reduction::average) return static_cast<T>(exact / static_cast<averaged>(of.size()));
    return best;
}
template <class T>
void reduce_elements(dv::reduction how, const std::vector<piece>& in, std::int64_t first, piece out) {
    std::vector<T> column(in.size());
    const auto size = static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t at = 0; at < out.bytes; at += size) {
        for (std::size_t m = 0; m < in.size(); ++m) std::memcpy(&column[m], in[m].data + first + at, sizeof(T));
        const T x = reduced(how, column);
        std::memcpy(out.data + at, &x, sizeof(T));
    }
}
// Of the bytes behind `first` of every member.
inline void reduce_members(dv::reduction how, const std::vector<piece>& in, std::int64_t first, piece out) {
    using enum dv::element;
    switch (out.type) {
        case float16: return reduce_elements<dv::half>(how, in, first, out);
        case bfloat16: return reduce_elements<dv::bfloat16>(how, in, first, out);
        case float32: return reduce_elements<float>(how, in, first, out);
        case float64: return reduce_elements<double>(how, in, first, out);
        case int8: return reduce_elements<std::int8_t>(how, in, first, out);
        case uint8: return reduce_elements<std::uint8_t>(how, in, first, out);
        case int32: return reduce_elements<std::int32_t>(how, in, first, out);
        case uint32: return reduce_elements<std::uint32_t>(how, in, first, out);
        case int64: return reduce_elements<std::int64_t>(how, in, first, out);
        case uint64: return reduce_elements<std::uint64_t>(how, in, first, out);
        case none: return;
    }
}

inline void put(piece to, std::int64_t at, piece from, std::int64_t begin, std::int64_t bytes) {
    if (bytes > 0) std::memcpy(to.data + at, from.data + begin, static_cast<std::size_t>(bytes));
}

// The result of member m, from the arguments `in` of all members, in blocks of extent 0 if the kind has blocks. `root`: a member.
inline void communicated(const statement& n, const std::vector<piece>& in, int m, int root, piece out) {
    using enum dv::op_kind;
    const int members = static_cast<int>(in.size());
    const auto first = in[static_cast<std::size_t>(root < 0 ? 0 : root)];
    switch (n.kind) {
        case shift: {  // index i gets the value of i - offset
            int from = m - n.offset;
            const bool beyond = from < 0 || from >= members;
            while (from < 0) from += members;
            from %= members;
            if (beyond && n.zero_edge) std::fill(out.data, out.data + out.bytes, static_cast<unsigned char>(0));
            else put(out, 0, in[static_cast<std::size_t>(from)], 0, out.bytes);
            return;
        }
        case permute:  // the target of a pair gets the value of its source, and who is no target zeros
            std::fill(out.data, out.data + out.bytes, static_cast<unsigned char>(0));
            for (const dv::position_pair& p : n.pairs)
                if (p.target == m) put(out, 0, in[static_cast<std::size_t>(p.source)], 0, out.bytes);
            return;
        case all_reduce:
        case reduce: return reduce_members(n.reduce, in, 0, out);
        case broadcast: return put(out, 0, first, 0, out.bytes);
        case all_gather:
        case gather:
            for (int k = 0; k < members; ++k)
                put(out, k * in[static_cast<std::size_t>(k)].bytes, in[static_cast<std::size_t>(k)], 0,
                    in[static_cast<std::size_t>(k)].bytes);
            return;
        case reduce_scatter: return reduce_members(n.reduce, in, m * out.bytes, out);
        case all_to_all: {  // block i to member i
            const std::int64_t block = out.bytes / members;
            for (int k = 0; k < members; ++k) put(out, k * block, in[static_cast<std::size_t>(k)], m * block, block);
            return;
        }
        case scatter: return put(out, 0, first, m * out.bytes, out.bytes);
        case own_rows: return put(out, 0, in[static_cast<std::size_t>(m)], m * out.bytes, out.bytes);  // the own block
        default: return put(out, 0, in[0], 0, out.bytes);  // to or from the host
    }
}

}  // namespace detail

}  // namespace support
