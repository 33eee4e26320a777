// Optimizers for `update`, in place: weights w, velocity v and gradient g have equal extents and any floating elements, the
// learning rate is a floating scalar.
//
//     update<w, sgd(w, g, rate)>                              w -= rate g
//     update<values<w, v>, sgd_momentum<9, 10>(w, v, g, rate)>   v = 9/10 v + g, w -= rate v
#pragma once

#include "cuda/optimizer.hpp"
#include "host/optimizer.hpp"

namespace dovetail::ops_detail {
constexpr bool can_descend(const tensor_type& w, const tensor_type& g, const tensor_type& rate) {
    return is_floating(w.type) && is_floating(g.type) && is_floating(rate.type) && same_extents(w, g) && rate.rank == 0;
}
}  // namespace dovetail::ops_detail

namespace dovetail::ops {

struct sgd {
    static constexpr tensor_type result(tensor_type w, tensor_type g, tensor_type rate) {
        return ops_detail::can_descend(w, g, rate) ? w : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type w, tensor_type g, tensor_type) {
        return {2 * w.size(), 2 * w.bytes() + g.bytes(), ops_detail::arithmetic_of(w.type)};
    }
    static constexpr auto row_wise = elementwise();

    template <class W, class G, class R>
    static void launch(host::stream, inout<W> w, in<G> g, in<R> rate) {
        using T = ops_detail::arithmetic_t<typename W::element_type>;
        loops::descend(W::size, w.data(), g.data(), static_cast<T>(loops::widen(*rate.data())));
    }
    template <class W, class G, class R>
    static void launch(cuda::stream s, inout<W> w, in<G> g, in<R> rate) {
        kernels::descend(s, W::size, w.data(), g.data(), kernels::floating_scalar{rate.data(), R::type.type});
    }
};

template <int Numerator, int Denominator>
struct sgd_momentum {
    static_assert(Numerator >= 0 && Numerator < Denominator, "dovetail: a momentum is a fraction of one");

    static constexpr results result(tensor_type w, tensor_type v, tensor_type g, tensor_type rate) {
        if (!ops_detail::can_descend(w, g, rate) || !ops_detail::same_extents(w, v) || !is_floating(v.type)) return tensor_type{};
        return {w, v};
    }
    static constexpr dovetail::cost cost(tensor_type w, tensor_type v, tensor_type g, tensor_type) {
        return {4 * w.size(), 2 * w.bytes() + 2 * v.bytes() + g.bytes(), ops_detail::arithmetic_of(w.type)};
    }
    static constexpr auto row_wise = elementwise();

    template <class W, class V, class G, class R>
    static void launch(host::stream, inout<W> w, inout<V> v, in<G> g, in<R> rate) {
        using T = ops_detail::arithmetic_t<typename W::element_type>;
        loops::descend_with_momentum(W::size, w.data(), v.data(), g.data(), static_cast<T>(loops::widen(*rate.data())),
                                     T(Numerator) / T(Denominator));
    }
    template <class W, class V, class G, class R>
    static void launch(cuda::stream s, inout<W> w, inout<V> v, in<G> g, in<R> rate) {
        using T = ops_detail::arithmetic_t<typename W::element_type>;
        kernels::descend_with_momentum(s, W::size, w.data(), v.data(), g.data(), kernels::floating_scalar{rate.data(), R::type.type},
                                       T(Numerator) / T(Denominator));
    }
};

}  // namespace dovetail::ops
