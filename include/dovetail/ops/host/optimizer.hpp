// Host loops of the optimizers, over pointers to n elements.
#pragma once

#include "../adam.hpp"
#include "convert.hpp"

#include <exception>

namespace dovetail {

// The number of a step of AdamW that is less than 1.
class step_error final : public std::exception {
public:
    explicit step_error(int step) noexcept { __builtin_snprintf(text_, sizeof text_, "adam_w: step %d; the first step is 1", step); }
    const char* what() const noexcept override { return text_; }

private:
    char text_[64];
};

}  // namespace dovetail

namespace dovetail::loops {

// w -= rate g
template <class W, class G, class R>
void descend(std::int64_t n, W* w, const G* g, R rate) {
    for (std::int64_t i = 0; i < n; ++i) w[i] = static_cast<W>(widen(w[i]) - rate * widen(g[i]));
}

// v = momentum v + g, w -= rate v
template <class W, class V, class G, class R>
void descend_with_momentum(std::int64_t n, W* w, V* v, const G* g, R rate, R momentum) {
    for (std::int64_t i = 0; i < n; ++i) {
        const R velocity = momentum * static_cast<R>(widen(v[i])) + static_cast<R>(widen(g[i]));
        v[i] = static_cast<V>(velocity);
        w[i] = static_cast<W>(widen(w[i]) - rate * velocity);
    }
}

// One step of AdamW with the gradient g times `factor`.
template <class W, class M, class V, class G, class R>
void adam_w(std::int64_t n, W* w, M* m, V* v, const G* g, R factor, const ops_detail::adam_step<R>& step) {
    for (std::int64_t i = 0; i < n; ++i) {
        const auto next = step(ops_detail::adam_state<R>{R(widen(w[i])), R(widen(m[i])), R(widen(v[i]))}, factor * R(widen(g[i])));
        w[i] = static_cast<W>(next.weight);
        m[i] = static_cast<M>(next.mean);
        v[i] = static_cast<V>(next.square);
    }
}

// The sum of the squares of x.
template <class T>
double sum_of_squares(std::int64_t n, const T* x) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(widen(x[i])) * static_cast<double>(widen(x[i]));
    return sum;
}

}  // namespace dovetail::loops
