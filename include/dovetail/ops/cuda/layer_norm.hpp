// CUDA kernels of layer_norm and its gradients over row-major [rows, columns].
#pragma once

#include "rows.hpp"

namespace dovetail::kernels {

// y may be the memory of x.
template <class T>
[[gnu::used]] void layer_norm(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, const T* gain, const T* bias, T* y);

// dx may be the memory of dy.
template <class T>
[[gnu::used]] void layer_norm_gradient(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* dy, const T* x, const T* gain,
                                       T* dx);

// Column sums of dy times the normalised x, and of dy, in a fixed order: those of `bands` bands of rows, then of the bands. `numbers` is
// memory for two numbers per row, and two per band and column.
template <class T, class R>
[[gnu::used]] void layer_norm_parameter_gradients(cuda::stream s, std::int64_t rows, std::int64_t columns, std::int64_t bands, const T* dy,
                                                  const T* x, R* numbers, T* gain_gradient, T* bias_gradient);

#if defined(__CUDACC__)

namespace detail {

template <class R>
struct row_moments {
    R mean;
    R reciprocal_deviation;
};
struct sum_of_two {
    template <class R>
    __device__ R operator()(R a, R b) const {
        return a + b;
    }
};

template <int Threads, int N, class T>
__device__ auto moments_of(std::int64_t columns, const T* x) {
    using R = ops_detail::arithmetic_t<T>;
    R sum{}, squares{};
    for_share<Threads, N, R>(columns, x, [&](R value, std::int64_t) { sum += value; });
    const R mean = over_group<Threads>(sum, sum_of_two{}) / static_cast<R>(columns);
    for_share<Threads, N, R>(columns, x, [&](R value, std::int64_t) { squares += (value - mean) * (value - mean); });
    const R variance = over_group<Threads>(squares, sum_of_two{}) / static_cast<R>(columns);
    return row_moments<R>{mean, R(1) / std::sqrt(variance + R(ops_detail::layer_norm_epsilon))};
}

template <int Threads, int N, class T>
__global__ void __launch_bounds__(threads)
    layer_norm_kernel(std::int64_t rows, std::int64_t columns, const T* x, const T* gain, const T* bias, T* y) {
    using R = ops_detail::arithmetic_t<T>;
    for (std::int64_t i = first_row_of_group<Threads>(); i < rows; i += groups<Threads>()) {
        const auto row = moments_of<Threads, N>(columns, x + i * columns);
        for_share<Threads, N, R>(columns, x + i * columns, [&](R value, std::int64_t j) {
            y[i * columns + j] = narrow<T>((value - row.mean) * row.reciprocal_deviation * widen(gain[j]) + widen(bias[j]));
        });
    }
}

template <int Threads, int N, class T>
__global__ void __launch_bounds__(threads)
    layer_norm_gradient_kernel(std::int64_t rows, std::int64_t columns, const T* dy, const T* x, const T* gain, T* dx) {
    using R = ops_detail::arithmetic_t<T>;
    for (std::int64_t i = first_row_of_group<Threads>(); i < rows; i += groups<Threads>()) {
        const std::int64_t first = i * columns;
        const auto row = moments_of<Threads, N>(columns, x + first);
        const auto scaled = [&](std::int64_t j) { return R(widen(dy[first + j])) * R(widen(gain[j])); };
        R sum{}, sum_with_x{};
        for_share<Threads, N, R>(columns, x + first, [&](R value, std::int64_t j) {
            sum += scaled(j);
            sum_with_x += scaled(j) * (value - row.mean) * row.reciprocal_deviation;
        });
        const R mean = over_group<Threads>(sum, sum_of_two{}) / static_cast<R>(columns);
        const R mean_with_x = over_group<Threads>(sum_with_x, sum_of_two{}) / static_cast<R>(columns);
        for_share<Threads, N, R>(columns, x + first, [&](R value, std::int64_t j) {
            const R normalised = (value - row.mean) * row.reciprocal_deviation;
            dx[first + j] = narrow<T>((scaled(j) - mean - normalised * mean_with_x) * row.reciprocal_deviation);
        });
    }
}

template <int N, class T, class R>
__global__ void __launch_bounds__(threads) moments_kernel(std::int64_t rows, std::int64_t columns, const T* x, R* moments) {
    for (std::int64_t i = first_row_of_group<32>(); i < rows; i += groups<32>()) {
        const auto row = moments_of<32, N>(columns, x + i * columns);
        if (threadIdx.x % 32 == 0) {
            moments[2 * i] = row.mean;
            moments[2 * i + 1] = row.reciprocal_deviation;
        }
    }
}

template <class T, class R>
__global__ void __launch_bounds__(summed_columns* summing_slices)
    sums_of_bands_kernel(std::int64_t rows, std::int64_t columns, const T* dy, const T* x, const R* moments, R* sums) {
    const std::int64_t band = blockIdx.y, in_band = (rows + gridDim.y - 1) / gridDim.y;
    const std::int64_t end = rows < (band + 1) * in_band ? rows : (band + 1) * in_band;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * summed_columns;
    for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * summed_columns; first < columns; first += step) {
        const std::int64_t j = first + threadIdx.x;
        R of_gain{}, of_bias{};
        for (std::int64_t i = band * in_band + threadIdx.y; j < columns && i < end; i += summing_slices) {
            const R g = widen(dy[i * columns + j]);
            of_gain += g * (R(widen(x[i * columns + j])) - moments[2 * i]) * moments[2 * i + 1];
            of_bias += g;
        }
        of_gain = over_slices(of_gain);
        of_bias = over_slices(of_bias);
        if (threadIdx.y == 0 && j < columns) {
            sums[2 * band * columns + j] = of_gain;
            sums[(2 * band + 1) * columns + j] = of_bias;
        }
    }
}
template <class T, class R>
__global__ void __launch_bounds__(threads)
    add_bands_kernel(std::int64_t bands, std::int64_t columns, const R* sums, T* gain_gradient, T* bias_gradient) {
    for (std::int64_t j = first_unit(); j < columns; j += unit_stride()) {
        R of_gain{}, of_bias{};
        for (std::int64_t band = 0; band < bands; ++band) {
            of_gain += sums[2 * band * columns + j];
            of_bias += sums[(2 * band + 1) * columns + j];
        }
        gain_gradient[j] = narrow<T>(of_gain);
        bias_gradient[j] = narrow<T>(of_bias);
    }
}

template <int N, class T>
void layer_norm_rows(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, const T* gain, const T* bias, T* y) {
    if (columns < long_row)
        layer_norm_kernel<32, N><<<blocks_for(s, rows, threads / 32), threads, 0, on(s)>>>(rows, columns, x, gain, bias, y);
    else
        layer_norm_kernel<threads, N><<<blocks_for(s, rows, 1), threads, 0, on(s)>>>(rows, columns, x, gain, bias, y);
}
template <int N, class T>
void layer_norm_gradient_rows(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* dy, const T* x, const T* gain, T* dx) {
    if (columns < long_row)
        layer_norm_gradient_kernel<32, N><<<blocks_for(s, rows, threads / 32), threads, 0, on(s)>>>(rows, columns, dy, x, gain, dx);
    else
        layer_norm_gradient_kernel<threads, N><<<blocks_for(s, rows, 1), threads, 0, on(s)>>>(rows, columns, dy, x, gain, dx);
}

}  // namespace detail

template <class T>
void layer_norm(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* x, const T* gain, const T* bias, T* y) {
    if (rows == 0) return;
    constexpr int N = pack_of<T>;
    if (columns % N == 0 && fits_packs<N>(x))
        detail::layer_norm_rows<N>(s, rows, columns, x, gain, bias, y);
    else
        detail::layer_norm_rows<1>(s, rows, columns, x, gain, bias, y);
    s.services->launched("kernel layer_norm");
}

template <class T>
void layer_norm_gradient(cuda::stream s, std::int64_t rows, std::int64_t columns, const T* dy, const T* x, const T* gain, T* dx) {
    if (rows == 0) return;
    constexpr int N = pack_of<T>;
    if (columns % N == 0 && fits_packs<N>(x))
        detail::layer_norm_gradient_rows<N>(s, rows, columns, dy, x, gain, dx);
    else
        detail::layer_norm_gradient_rows<1>(s, rows, columns, dy, x, gain, dx);
    s.services->launched("kernel layer_norm_gradient");
}

template <class T, class R>
void layer_norm_parameter_gradients(cuda::stream s, std::int64_t rows, std::int64_t columns, std::int64_t bands, const T* dy, const T* x,
                                    R* numbers, T* gain_gradient, T* bias_gradient) {
    if (rows > 0 && (numbers == nullptr || s.workspace_bytes < 2 * (rows + bands * columns) * static_cast<std::int64_t>(sizeof(R))))
        s.services->refuse("layer_norm_parameter_gradients needs the workspace that it declares");
    R* const sums = numbers + 2 * rows;
    if (rows > 0) {
        detail::moments_kernel<1><<<blocks_for(s, rows, threads / 32), threads, 0, on(s)>>>(rows, columns, x, numbers);
        s.services->launched("kernel moments");
        const dim3 of_block{detail::summed_columns, detail::summing_slices};
        const dim3 blocks{blocks_for(s, columns, detail::summed_columns), static_cast<unsigned>(bands)};
        detail::sums_of_bands_kernel<<<blocks, of_block, 0, on(s)>>>(rows, columns, dy, x, static_cast<const R*>(numbers), sums);
        s.services->launched("kernel layer_norm_parameter_gradients");
    }
    detail::add_bands_kernel<<<blocks_for(s, columns), threads, 0, on(s)>>>(bands, columns, static_cast<const R*>(sums), gain_gradient,
                                                                            bias_gradient);
    s.services->launched("kernel add_bands");
}

#endif

}  // namespace dovetail::kernels
