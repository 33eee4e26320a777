// Host matrix product over pointers: C = op(A) op(B), or that added to C, row-major, op a transposition or nothing. Blocks of both factors
// are packed into panels of the arithmetic type, so that the innermost loops run over contiguous memory whatever the layout and the
// element. Float and double go to BLAS instead where DOVETAIL_HOST_BLAS is defined and <cblas.h> is there.
#pragma once

#include "convert.hpp"

#include <type_traits>

#if defined(DOVETAIL_HOST_BLAS) && __has_include(<cblas.h>)
#include <cblas.h>
#define DOVETAIL_HAS_CBLAS 1
#else
#define DOVETAIL_HAS_CBLAS 0
#endif

namespace dovetail::loops {

namespace detail {

// One block: 64 x 64 of C from 128 of the inner extent; all three fit in the second-level cache and on a thread's stack.
inline constexpr int block_m = 64;
inline constexpr int block_n = 64;
inline constexpr int block_k = 128;
// One tile of C stays in registers: 4 x 8 fills the sixteen of plain x86-64.
inline constexpr int tile_m = 4;
inline constexpr int tile_n = 8;

// Packs `lines` x `depth` elements into panels of `Tile` lines, depth-major, the last panel filled up with zeros.
template <int Tile, class T, class R>
void pack(const T* from, std::int64_t line_stride, std::int64_t depth_stride, int lines, int depth, R* to) {
    for (int first = 0; first < lines; first += Tile) {
        const int count = lines - first < Tile ? lines - first : Tile;
        const T* panel = from + first * line_stride;
        if (depth_stride == 1) {
            for (int i = 0; i < Tile; ++i)
                for (int p = 0; p < depth; ++p) to[p * Tile + i] = i < count ? R(widen(panel[i * line_stride + p])) : R{};
        } else {
            for (int p = 0; p < depth; ++p)
                for (int i = 0; i < Tile; ++i) to[p * Tile + i] = i < count ? R(widen(panel[p * depth_stride + i])) : R{};
        }
        to += depth * Tile;
    }
}

#if defined(__CUDACC__)  // nvcc warns about this pragma, although it passes it on to the host compiler
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif
template <class R>
void add_tile(int depth, const R* a, const R* b, R* c) {
    R sum[tile_m][tile_n] = {};
    for (int p = 0; p < depth; ++p, a += tile_m, b += tile_n)
#pragma GCC unroll 4
        for (int i = 0; i < tile_m; ++i)
#pragma GCC unroll 8
            for (int j = 0; j < tile_n; ++j) sum[i][j] += a[i] * b[j];
    for (int i = 0; i < tile_m; ++i)
        for (int j = 0; j < tile_n; ++j) c[i * block_n + j] += sum[i][j];
}
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

}  // namespace detail

template <bool TransA, bool TransB, bool Added, class T, class Sum>
void gemm_blocked(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, Sum* c) {
    using namespace detail;
    using R = ops_detail::arithmetic_t<T>;
    alignas(64) R a_block[block_m * block_k];
    alignas(64) R b_block[block_n * block_k];
    alignas(64) R c_block[block_m * block_n];
    const std::int64_t a_row = TransA ? 1 : k, a_depth = TransA ? m : 1;
    const std::int64_t b_column = TransB ? k : 1, b_depth = TransB ? 1 : n;

    for (std::int64_t i0 = 0; i0 < m; i0 += block_m) {
        const int rows = static_cast<int>(m - i0 < block_m ? m - i0 : block_m);
        for (std::int64_t j0 = 0; j0 < n; j0 += block_n) {
            const int columns = static_cast<int>(n - j0 < block_n ? n - j0 : block_n);
            for (R& x : c_block) x = R{};
            for (std::int64_t p0 = 0; p0 < k; p0 += block_k) {
                const int depth = static_cast<int>(k - p0 < block_k ? k - p0 : block_k);
                pack<tile_m>(a + i0 * a_row + p0 * a_depth, a_row, a_depth, rows, depth, a_block);
                pack<tile_n>(b + j0 * b_column + p0 * b_depth, b_column, b_depth, columns, depth, b_block);
                for (int j = 0; j < columns; j += tile_n)
                    for (int i = 0; i < rows; i += tile_m)
                        add_tile(depth, a_block + i * depth, b_block + j * depth, c_block + i * block_n + j);
            }
            for (int i = 0; i < rows; ++i)
                for (int j = 0; j < columns; ++j) {
                    Sum& to = c[(i0 + i) * n + j0 + j];
                    to = static_cast<Sum>(Added ? widen(to) + c_block[i * block_n + j] : c_block[i * block_n + j]);
                }
        }
    }
}

#if DOVETAIL_HAS_CBLAS
namespace detail {
// BLAS rejects a leading dimension of zero, and need not write C if the inner extent is zero.
inline bool fits_blas(std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr std::int64_t largest = 0x7fffffff;
    return m > 0 && n > 0 && k > 0 && m <= largest && n <= largest && k <= largest;
}
constexpr CBLAS_TRANSPOSE transposed(bool t) { return t ? CblasTrans : CblasNoTrans; }

template <class T, class Sum>
inline constexpr bool has_blas = std::is_same_v<T, Sum> && (std::is_same_v<T, float> || std::is_same_v<T, double>);

template <class Gemm, class T>
void by_blas(Gemm gemm, bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T of_c, T* c) {
    gemm(CblasRowMajor, transposed(trans_a), transposed(trans_b), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), T{1}, a,
         static_cast<int>(trans_a ? m : k), b, static_cast<int>(trans_b ? k : n), of_c, c, static_cast<int>(n));
}
}  // namespace detail
#endif

template <bool TransA, bool TransB, bool Added = false, class T, class Sum>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, Sum* c) {
#if DOVETAIL_HAS_CBLAS
    if constexpr (detail::has_blas<T, Sum>)
        if (detail::fits_blas(m, n, k)) {
            if constexpr (std::is_same_v<T, float>)
                return detail::by_blas(cblas_sgemm, TransA, TransB, m, n, k, a, b, Added ? 1.0f : 0.0f, c);
            else
                return detail::by_blas(cblas_dgemm, TransA, TransB, m, n, k, a, b, Added ? 1.0 : 0.0, c);
        }
#endif
    gemm_blocked<TransA, TransB, Added>(m, n, k, a, b, c);
}

}  // namespace dovetail::loops

#undef DOVETAIL_HAS_CBLAS
