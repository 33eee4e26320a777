// Rows of a table [V,N] by number: tokens [B] int32 in [0,V).
//
//     embedding(tokens, table)              -> [B,N], row i is row tokens[i] of the table
//     embedding_gradient<V>(dy, tokens)     -> gradient of the table [V,N], the sum of dy [B,N] over the rows of each token
//
// For a token out of range, embedding on the host throws token_error; on a GPU, where a kernel cannot throw, its row is NaN. The gradient
// leaves such a row out.
#pragma once

#include "cuda/embedding.hpp"
#include "host/embedding.hpp"

namespace dovetail::ops {

struct embedding {
    static constexpr tensor_type result(tensor_type tokens, tensor_type table) {
        const bool fits = tokens.type == element::int32 && tokens.rank == 1 && ops_detail::is_matrix(table);
        return fits ? table.with_extents(tokens.extent[0], table.extent[1]) : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type tokens, tensor_type table) {
        return bytes_moved(tokens.bytes() + 2 * result(tokens, table).bytes());
    }
    static constexpr auto row_wise = by_rows(0);

    template <class I, class W, class Y>
    static void launch(host::stream, in<I> tokens, in<W> table, out<Y> y) {
        loops::embedding(I::size, W::template extent<1>, W::template extent<0>, tokens.data(), table.data(), y.data());
    }
    template <class I, class W, class Y>
    static void launch(cuda::stream s, in<I> tokens, in<W> table, out<Y> y) {
        kernels::embedding(s, I::size, W::template extent<1>, W::template extent<0>, tokens.data(), table.data(), y.data());
    }
};

template <std::int64_t V>
struct embedding_gradient {
    static constexpr tensor_type result(tensor_type dy, tensor_type tokens) {
        return ops_detail::is_matrix(dy) && ops_detail::are_labels(tokens, dy) ? dy.with_extents(V, dy.extent[1]) : tensor_type{};
    }
    // The rows of each token are listed first, so that each row of dy is read once.
    static constexpr dovetail::cost cost(tensor_type dy, tensor_type tokens) {
        const std::int64_t bytes = dy.bytes() + tokens.bytes() + 2 * lists(tokens).bytes() + result(dy, tokens).bytes();
        return {dy.size(), bytes, ops_detail::arithmetic_of(dy.type)};
    }
    // The lists and, on the host, the sums of a row.
    static constexpr std::int64_t workspace(tensor_type dy, tensor_type tokens) {
        return dy.with_extents(dy.extent[1]).with_element(ops_detail::arithmetic_of(dy.type)).bytes() + lists(tokens).bytes();
    }

    template <class D, class I, class W>
    static void launch(host::stream s, in<D> dy, in<I> tokens, out<W> gradient) {
        using R = ops_detail::arithmetic_t<typename D::element_type>;
        constexpr std::int64_t columns = W::template extent<1>;
        const auto sums = static_cast<R*>(s.workspace);
        const auto first = reinterpret_cast<std::int32_t*>(sums + columns), next = first + V;
        loops::list_rows(I::size, V, tokens.data(), first, next);
        loops::embedding_gradient(columns, V, dy.data(), first, next, sums, gradient.data());
    }
    template <class D, class I, class W>
    static void launch(cuda::stream s, in<D> dy, in<I> tokens, out<W> gradient) {
        kernels::embedding_gradient(s, I::size, W::template extent<1>, V, dy.data(), tokens.data(), static_cast<std::int32_t*>(s.workspace),
                                    gradient.data());
    }

private:
    static constexpr tensor_type lists(tensor_type tokens) { return tokens.with_extents(V + tokens.extent[0]); }
};

}  // namespace dovetail::ops
