// Optimizers for `update`, in place: weights w, velocity v and gradient g have equal extents and any floating elements, the
// learning rate is a floating scalar.
//
//     update<w, sgd(w, g, rate)>                              w -= rate g
//     update<values<w, v>, sgd_momentum<9, 10>(w, v, g, rate)>   v = 9/10 v + g, w -= rate v
//     update<values<w, m, v>, adam_w<1, 10>(w, m, v, g, rate, step)>            weight decay 1/10, step int32 from 1 on
//     update<values<w, m, v>, adam_w<1, 10>(w, m, v, g, rate, step, factor)>    with the gradient times factor
//
// Clipping by the global norm: sum_of_squares(g...) of all gradients is a scalar, summed over the ranks that have different ones by
// all_reduce; clip_factor(squares, limit) = min(1, limit / sqrt(squares)) is the factor.
#pragma once

#include "cuda/optimizer.hpp"
#include "elementwise.hpp"
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

// The mean m and the mean square v of gradients are states that begin with zeros. In step t, from 1 on, with the moments' bias corrected:
// m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
// w -= rate (decay w + m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + 1e-8)).
// The decay is DecayNumerator / DecayDenominator, beta1 and beta2 are that many thousandths. For a step less than 1 the host throws
// step_error; on a GPU, where a kernel cannot throw, the weights become NaN.
template <int DecayNumerator = 1, int DecayDenominator = 100, int Beta1 = 900, int Beta2 = 999>
struct adam_w {
    static_assert(DecayNumerator >= 0 && DecayDenominator > 0, "dovetail: a weight decay is not negative");
    static_assert(Beta1 >= 0 && Beta1 < 1000 && Beta2 >= 0 && Beta2 < 1000, "dovetail: beta1 and beta2 are thousandths, less than one");

    static constexpr ops_detail::adam_constants constants{Beta1 / 1000.0, Beta2 / 1000.0, double{DecayNumerator} / DecayDenominator, 1e-8};

    static constexpr results result(tensor_type w, tensor_type m, tensor_type v, tensor_type g, tensor_type rate, tensor_type step) {
        const bool moments = ops_detail::same_extents(w, m) && ops_detail::same_extents(w, v) && is_floating(m.type) && is_floating(v.type);
        if (!ops_detail::can_descend(w, g, rate) || !moments || step != tensor_type{element::int32, 0, {}}) return tensor_type{};
        return {w, m, v};
    }
    static constexpr results result(tensor_type w, tensor_type m, tensor_type v, tensor_type g, tensor_type rate, tensor_type step,
                                    tensor_type factor) {
        return is_floating(factor.type) && factor.rank == 0 ? result(w, m, v, g, rate, step) : results{tensor_type{}};
    }
    template <class... Scalars>
    static constexpr dovetail::cost cost(tensor_type w, tensor_type m, tensor_type v, tensor_type g, tensor_type, tensor_type, Scalars...) {
        return {14 * w.size(), 2 * (w.bytes() + m.bytes() + v.bytes()) + g.bytes(), ops_detail::arithmetic_of(w.type)};
    }
    static constexpr auto row_wise = elementwise();

    template <class W, class M, class V, class G, class R, class S, class... F>
    static void launch(host::stream, inout<W> w, inout<M> m, inout<V> v, in<G> g, in<R> rate, in<S> step, in<F>... factor) {
        using T = ops_detail::arithmetic_t<typename W::element_type>;
        if (*step.data() < 1) throw step_error{*step.data()};
        const ops_detail::adam_step<T> now{constants, static_cast<double>(loops::widen(*rate.data())), *step.data()};
        loops::adam_w(W::size, w.data(), m.data(), v.data(), g.data(), (T(1) * ... * static_cast<T>(loops::widen(*factor.data()))), now);
    }
    template <class W, class M, class V, class G, class R, class S>
    static void launch(cuda::stream s, inout<W> w, inout<M> m, inout<V> v, in<G> g, in<R> rate, in<S> step) {
        update(s, w, m, v, g, rate, step, {nullptr, element::float32});
    }
    template <class W, class M, class V, class G, class R, class S, class F>
    static void launch(cuda::stream s, inout<W> w, inout<M> m, inout<V> v, in<G> g, in<R> rate, in<S> step, in<F> factor) {
        update(s, w, m, v, g, rate, step, {factor.data(), F::type.type});
    }

private:
    template <class W, class M, class V, class G, class R, class S>
    static void update(cuda::stream s, inout<W> w, inout<M> m, inout<V> v, in<G> g, in<R> rate, in<S> step,
                       kernels::floating_scalar factor) {
        kernels::adam_w(s, W::size, w.data(), m.data(), v.data(), g.data(), constants, kernels::floating_scalar{rate.data(), R::type.type},
                        step.data(), factor);
    }
};

// The sum of the squares of all elements of all arguments: a scalar of double if they are of double, else of float.
struct sum_of_squares {
    template <class... T>
    static constexpr tensor_type result(tensor_type x, T... rest) {
        const element sum = ops_detail::arithmetic_of(x.type);
        const bool fits = is_floating(x.type) && ((is_floating(rest.type) && ops_detail::arithmetic_of(rest.type) == sum) && ...);
        return fits ? tensor_type{sum, 0, {}} : tensor_type{};
    }
    template <class... T>
    static constexpr dovetail::cost cost(tensor_type x, T... rest) {
        return {2 * (x.size() + ... + rest.size()), (x.bytes() + ... + rest.bytes()), ops_detail::arithmetic_of(x.type)};
    }
    // Partial sums of each argument.
    template <class... T>
    static constexpr std::int64_t workspace(tensor_type x, T...) {
        return (1 + sizeof...(T)) * x.with_extents(kernels::partial_sums).with_element(ops_detail::arithmetic_of(x.type)).bytes();
    }

    template <class... Views>
    static void launch(host::stream, Views... x) {
        double sum = 0;
        (take(sum, x), ...);
    }
    template <class... Views>
    static void launch(cuda::stream s, Views... x) {
        std::int64_t arguments = 0;
        (take(s, arguments, x), ...);
    }

private:
    // The arguments add to the sum, and the result, which comes last, gets it.
    template <class X>
    static void take(double& sum, in<X> x) {
        sum += loops::sum_of_squares(X::size, x.data());
    }
    template <class Y>
    static void take(double& sum, out<Y> y) {
        *y.data() = static_cast<typename Y::element_type>(sum);
    }
    template <class X>
    static void take(cuda::stream s, std::int64_t& arguments, in<X> x) {
        using R = ops_detail::arithmetic_t<typename X::element_type>;
        if (s.workspace == nullptr || s.workspace_bytes < (arguments + 1) * kernels::partial_sums * std::int64_t{sizeof(R)})
            s.services->refuse("sum_of_squares needs the workspace that it declares");
        kernels::sums_of_squares(s, X::size, x.data(), static_cast<R*>(s.workspace) + arguments++ * kernels::partial_sums);
    }
    template <class Y>
    static void take(cuda::stream s, std::int64_t& arguments, out<Y> y) {
        using R = typename Y::element_type;
        kernels::add_up(s, arguments * kernels::partial_sums, static_cast<const R*>(s.workspace), y.data());
    }
};

// clip_factor(squares, limit): both are scalars of one floating element.
struct clip_factor : zip_with<ops_detail::limit_over_norm> {
    static constexpr tensor_type result(tensor_type squares, tensor_type limit) {
        return ops_detail::is_scalar(squares) && is_floating(squares.type) && limit == squares ? squares : tensor_type{};
    }
};

}  // namespace dovetail::ops
