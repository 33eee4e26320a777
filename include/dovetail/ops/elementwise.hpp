// Element-wise operations. map<F>(x): F of every element. zip_with<F>(x, y...): F of corresponding elements; a scalar argument is used for
// every element. F is an empty function object; its call is marked DOVETAIL_HOST_DEVICE if it is to run on GPUs; half and bfloat16 are
// passed to it as float. The result has the type of x. Predefined: add, subtract, multiply, scale, relu, relu_gradient, and bias_add and
// bias_gradient for rows of a matrix.
#pragma once

#include "cuda/elementwise.hpp"
#include "host/elementwise.hpp"

namespace dovetail::ops_detail {

// Views that are read, and behind them one of the tensor X that is written.
template <class X, class... Views> inline constexpr bool are_arguments_and_result = false;
template <class X> inline constexpr bool are_arguments_and_result<X, out<X>> = true;
template <class X, class Y, class... Views>
inline constexpr bool are_arguments_and_result<X, in<Y>, Views...> = are_arguments_and_result<X, Views...>;

}  // namespace dovetail::ops_detail

namespace dovetail::ops {

template <class F>
struct map {
    static constexpr tensor_type result(tensor_type x) { return x; }
    static constexpr dovetail::cost cost(tensor_type x) { return {x.size(), 2 * x.bytes(), ops_detail::arithmetic_of(x.type)}; }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = elementwise();

    template <class X>
    static void launch(host::stream, in<X> x, out<X> y) {
        loops::transform<F>(X::size, y.data(), loops::operand<typename X::element_type, false>{x.data()});
    }
    template <class X>
    static void launch(cuda::stream s, in<X> x, out<X> y) {
        kernels::transform<F>(s, X::size, y.data(), kernels::operand<typename X::element_type, false>{x.data()});
    }
};

template <class F>
struct zip_with {
    template <class... T>
        requires(sizeof...(T) >= 1)
    static constexpr tensor_type result(tensor_type x, T... rest) {
        return ((rest.type == x.type && (ops_detail::is_scalar(rest) || ops_detail::same_extents(rest, x))) && ...) ? x : tensor_type{};
    }
    template <class... T>
        requires(sizeof...(T) >= 1)
    static constexpr dovetail::cost cost(tensor_type x, T... rest) {
        return {static_cast<std::int64_t>(sizeof...(T)) * x.size(), 2 * x.bytes() + (rest.bytes() + ...),
                ops_detail::arithmetic_of(x.type)};
    }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = elementwise();

    template <class X, class... Rest>
        requires(sizeof...(Rest) >= 2 && ops_detail::are_arguments_and_result<X, Rest...>)
    static void launch(host::stream s, in<X> x, Rest... rest) {
        split(s, std::make_index_sequence<sizeof...(Rest) - 1>{}, x, rest...);
    }
    template <class X, class... Rest>
        requires(sizeof...(Rest) >= 2 && ops_detail::are_arguments_and_result<X, Rest...>)
    static void launch(cuda::stream s, in<X> x, Rest... rest) {
        split(s, std::make_index_sequence<sizeof...(Rest) - 1>{}, x, rest...);
    }

private:
    // The result is the last view, which C++ cannot deduce after a pack: it is taken out of the pack here.
    template <class X, std::size_t... I, class... Rest>
    static void split(host::stream, std::index_sequence<I...>, in<X> x, Rest... rest) {
        loops::transform<F>(X::size, view<sizeof...(I)>(rest...).data(), spread<loops::operand, X>(x),
                            spread<loops::operand, X>(view<I>(rest...))...);
    }
    template <class X, std::size_t... I, class... Rest>
    static void split(cuda::stream s, std::index_sequence<I...>, in<X> x, Rest... rest) {
        kernels::transform<F>(s, X::size, view<sizeof...(I)>(rest...).data(), spread<kernels::operand, X>(x),
                              spread<kernels::operand, X>(view<I>(rest...))...);
    }
    // The I-th argument, without <tuple>, which every unit with a graph would have to compile.
    template <std::size_t I, class First, class... Rest>
    static auto view(First first, [[maybe_unused]] Rest... rest) {
        if constexpr (I == 0)
            return first;
        else
            return view<I - 1>(rest...);
    }
    template <template <class, bool> class Operand, class X, class Y>
    static auto spread(in<Y> y) {
        return Operand<typename Y::element_type, Y::rank == 0 && X::rank != 0>{y.data()};
    }
};

}  // namespace dovetail::ops

namespace dovetail::ops_detail {
struct plus {
    template <class T>
    DOVETAIL_HOST_DEVICE constexpr auto operator()(T a, T b) const {
        return a + b;
    }
};
struct minus {
    template <class T>
    DOVETAIL_HOST_DEVICE constexpr auto operator()(T a, T b) const {
        return a - b;
    }
};
struct times {
    template <class T>
    DOVETAIL_HOST_DEVICE constexpr auto operator()(T a, T b) const {
        return a * b;
    }
};
struct positive_part {
    template <class T>
    DOVETAIL_HOST_DEVICE constexpr T operator()(T x) const {
        return x <= T{} ? T{} : x;  // NaN remains
    }
};
struct where_positive {
    template <class T>
    DOVETAIL_HOST_DEVICE constexpr T operator()(T gradient, T x) const {
        return x <= T{} ? T{} : gradient;
    }
};
}  // namespace dovetail::ops_detail

namespace dovetail::ops {

// zip_with of exactly two arguments.
template <class F>
struct zip_two : zip_with<F> {
    static constexpr tensor_type result(tensor_type x, tensor_type y) { return zip_with<F>::result(x, y); }
};
struct add : zip_two<ops_detail::plus> {};
struct subtract : zip_two<ops_detail::minus> {};
struct multiply : zip_two<ops_detail::times> {};

// scale(x, factor): factor is a scalar of x's element.
struct scale : zip_with<ops_detail::times> {
    static constexpr tensor_type result(tensor_type x, tensor_type factor) {
        return ops_detail::is_scalar(factor) && factor.type == x.type ? x : tensor_type{};
    }
};

struct relu : map<ops_detail::positive_part> {};

// relu_gradient(dy, y) -> dx; y is relu's result or its argument, which have the same sign.
struct relu_gradient : zip_with<ops_detail::where_positive> {
    static constexpr tensor_type result(tensor_type gradient, tensor_type x) { return gradient == x ? x : tensor_type{}; }
};

// bias_add(x, b): b [N] added to every row of x [..., N].
struct bias_add {
    static constexpr tensor_type result(tensor_type x, tensor_type b) {
        return x.rank > 0 && b == x.with_extents(x.extent[x.rank - 1]) ? x : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type x, tensor_type b) {
        return {x.size(), 2 * x.bytes() + b.bytes(), ops_detail::arithmetic_of(x.type)};
    }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = by_rows(0);

    template <class X, class B>
    static void launch(host::stream, in<X> x, in<B> b, out<X> y) {
        constexpr std::int64_t columns = B::size;
        loops::add_to_rows(columns > 0 ? X::size / columns : 0, columns, x.data(), b.data(), y.data());
    }
    template <class X, class B>
    static void launch(cuda::stream s, in<X> x, in<B> b, out<X> y) {
        constexpr std::int64_t columns = B::size;
        kernels::add_to_rows(s, columns > 0 ? X::size / columns : 0, columns, x.data(), b.data(), y.data());
    }
};

// bias_gradient(dy): the column sums [N] of dy [..., N].
struct bias_gradient {
    static constexpr tensor_type result(tensor_type dy) {
        return dy.rank > 0 && is_floating(dy.type) ? dy.with_extents(dy.extent[dy.rank - 1]) : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type dy) {
        return {dy.size(), dy.bytes() + result(dy).bytes(), ops_detail::arithmetic_of(dy.type)};
    }

    template <class X, class Y>
    static void launch(host::stream, in<X> dy, out<Y> y) {
        constexpr std::int64_t columns = Y::size;
        loops::sum_of_rows(columns > 0 ? X::size / columns : 0, columns, dy.data(), y.data());
    }
    template <class X, class Y>
    static void launch(cuda::stream s, in<X> dy, out<Y> y) {
        constexpr std::int64_t columns = Y::size;
        kernels::sum_of_rows(s, columns > 0 ? X::size / columns : 0, columns, dy.data(), y.data());
    }
};

}  // namespace dovetail::ops
