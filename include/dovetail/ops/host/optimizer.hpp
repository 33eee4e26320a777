// Host loops of the optimizers, over pointers to n elements.
#pragma once

#include "convert.hpp"

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

}  // namespace dovetail::loops
