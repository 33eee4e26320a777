// Host loop of transpose, over pointers to row-major matrices.
#pragma once

#include "../facts.hpp"

namespace dovetail::loops {

// y[j][i] = x[i][j], by square blocks whose rows and columns stay in the first-level cache.
template <class T>
void transpose(std::int64_t rows, std::int64_t columns, const T* x, T* y) {
    constexpr std::int64_t side = 32;
    for (std::int64_t top = 0; top < rows; top += side)
        for (std::int64_t left = 0; left < columns; left += side) {
            const std::int64_t bottom = top + side < rows ? top + side : rows, right = left + side < columns ? left + side : columns;
            for (std::int64_t j = left; j < right; ++j)
                for (std::int64_t i = top; i < bottom; ++i) y[j * rows + i] = x[i * columns + j];
        }
}

}  // namespace dovetail::loops
