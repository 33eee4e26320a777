// Parts of values: which block of rows of another value a name stands for, without a copy. Rows are along extent 0; a block is a whole
// number of them and a multiple of 256 bytes.
#pragma once

#include "../core/vocabulary.hpp"

namespace dovetail::ops {

// rows<I, N>(x), as an argument: the I-th of N equal blocks of rows of an input, state or value. [N E0, ...] -> [E0, ...]
template <int I, int N>
struct rows {
    // Of what cannot be cut so, something all the same: `infer` tells what is wrong with it.
    static constexpr tensor_type result(tensor_type x) {
        if (x.rank > 0 && N > 0) x.extent[0] /= N;
        return x;
    }
};

// let<y, concat<a, b, c>>: a value whose blocks of rows are these values, which their operations write where y lies.
// [E0, ...], [F0, ...] -> [E0 + F0, ...]
template <class... Parts>
struct concat;
template <>
struct concat<> {
    template <class... Rest>
    static constexpr tensor_type result(tensor_type first, Rest... rest) {
        return joined(first, rest...);
    }

private:
    static constexpr tensor_type joined(tensor_type all) { return all; }
    template <class... Rest>
    static constexpr tensor_type joined(tensor_type all, tensor_type next, Rest... rest) {
        if (all.rank == 0 || next.rank == 0 || all.extent[0] > most_bytes || next.extent[0] > most_bytes) return {};
        tensor_type alike = next;
        alike.extent[0] = all.extent[0];
        if (alike != all) return {};
        all.extent[0] += next.extent[0];
        return joined(all, rest...);
    }
};

}  // namespace dovetail::ops

namespace dovetail::dsl::detail {

// Which view an operation is.
struct view_facts {
    view_kind kind = view_kind::none;
    int block = 0, blocks = 0;
};
template <class Op>
inline constexpr view_facts view_of{};
template <int I, int N>
inline constexpr view_facts view_of<ops::rows<I, N>>{view_kind::rows, I, N};
template <>
inline constexpr view_facts view_of<ops::concat<>>{view_kind::concat};

}  // namespace dovetail::dsl::detail
