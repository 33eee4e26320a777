// AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization") for one weight, on the host and on GPUs.
#pragma once

#include "functions.hpp"

namespace dovetail::ops_detail {

// What adam_w's template arguments say.
struct adam_constants {
    double beta1;
    double beta2;
    double decay;
    double epsilon;
};

template <class R>
struct adam_state {
    R weight;
    R mean;
    R square;
};

// The step with number `count`, from 1 on.
template <class R>
struct adam_step {
    R beta1, beta2, kept, rate, root_of_correction, epsilon;

    DOVETAIL_HOST_DEVICE adam_step(const adam_constants& c, double learning_rate, int count)
        : beta1{static_cast<R>(c.beta1)},
          beta2{static_cast<R>(c.beta2)},
          kept{static_cast<R>(1 - learning_rate * c.decay)},
          rate{static_cast<R>(learning_rate / (1 - power(c.beta1, count)))},
          root_of_correction{static_cast<R>(square_root(1 - power(c.beta2, count)))},
          epsilon{static_cast<R>(c.epsilon)} {}

    DOVETAIL_HOST_DEVICE adam_state<R> operator()(adam_state<R> s, R gradient) const {
        s.mean = beta1 * s.mean + (R(1) - beta1) * gradient;
        s.square = beta2 * s.square + (R(1) - beta2) * gradient * gradient;
        s.weight = kept * s.weight - rate * s.mean / (square_root(s.square) / root_of_correction + epsilon);
        return s;
    }
};

// The factor that brings a norm, given by its square, down to a limit: min(1, limit / norm).
struct limit_over_norm {
    template <class R>
    DOVETAIL_HOST_DEVICE R operator()(R square, R limit) const {
        const R norm = square_root(square);
        return norm > limit ? limit / norm : R(1);
    }
};

}  // namespace dovetail::ops_detail
