// CUDA kernel of transpose: square tiles through shared memory, so that neighbouring threads read and write neighbouring elements.
#pragma once

#include "launch.hpp"

namespace dovetail::kernels {

// y[j][i] = x[i][j], x being row-major [rows, columns]; y must not be the memory of x.
template <class T>
[[gnu::used]] void transpose(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, T* y);

#if defined(__CUDACC__)

namespace detail {

// Smaller elements have larger tiles, so that enough bytes are in flight for each thread.
template <class W>
inline constexpr int tile_side = sizeof(W) < 4 ? 64 : 32;
// Rows of a tile are padded by at least one 32-bit bank, so that neighbouring elements of a column are in different banks.
template <class W>
inline constexpr int tile_row = tile_side<W> + (sizeof(W) < 4 ? 4 / static_cast<int>(sizeof(W)) : 1);

// W is a word of the size of an element: elements of one size share a kernel.
template <class W>
__global__ void __launch_bounds__(threads) transpose_kernel(std::int64_t rows, std::int64_t columns, const W* x, W* y) {
    constexpr int side = tile_side<W>, turns = side * side / threads, down = threads / side;
    __shared__ W tile[side][tile_row<W>];
    const int r = static_cast<int>(threadIdx.x) / side, c = static_cast<int>(threadIdx.x) % side;
    const std::int64_t across = (columns + side - 1) / side, tiles = (rows + side - 1) / side * across;
    for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const std::int64_t top = t / across * side, left = t % across * side;
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
            const std::int64_t i = top + r + turn * down, j = left + c;
            if (i < rows && j < columns) tile[r + turn * down][c] = x[i * columns + j];
        }
        __syncthreads();
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
            const std::int64_t j = left + r + turn * down, i = top + c;
            if (i < rows && j < columns) y[j * rows + i] = tile[c][r + turn * down];
        }
        __syncthreads();  // the next tile overwrites this one
    }
}

}  // namespace detail

template <class T>
void transpose(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, T* y) {
    if (rows == 0 || columns == 0) return;
    using W = typename detail::word<static_cast<int>(sizeof(T))>::type;
    constexpr std::int64_t side = detail::tile_side<W>;
    const std::int64_t tiles = ((rows + side - 1) / side) * ((columns + side - 1) / side);
    detail::transpose_kernel<<<blocks_for(s, tiles, 1), threads, 0, on(s)>>>(rows, columns, reinterpret_cast<const W*>(x),
                                                                             reinterpret_cast<W*>(y));
    s.services->launched("kernel transpose");
}

#endif

}  // namespace dovetail::kernels
