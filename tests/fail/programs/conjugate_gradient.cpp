// A step of the method of conjugate gradients on rows of a matrix that are spread over the ranks of a grid.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdio>

namespace dv = dovetail;

namespace solver {
using namespace dv::ops;

constexpr int unknowns = 256;
constexpr int mine = unknowns / 4;
using part = dv::tensor<double, mine, 1>;
using whole = dv::tensor<double, unknowns, 1>;
using number = dv::scalar<double>;

struct dot {
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type b) { return a == b ? a.with_extents() : dv::tensor_type{}; }
    static constexpr dv::cost cost(dv::tensor_type a, dv::tensor_type b) { return dv::bytes_moved(a.bytes() + b.bytes()); }
    template <class X, class S>
    static void launch(dv::host::stream, dv::in<X> a, dv::in<X> b, dv::out<S> s) {
        *s.data() = 0;
        for (std::int64_t i = 0; i < X::size; ++i) *s.data() += a[i] * b[i];
    }
};
struct quotient {
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type b) { return a == b && a.rank == 0 ? a : dv::tensor_type{}; }
    template <class S>
    static void launch(dv::host::stream, dv::in<S> a, dv::in<S> b, dv::out<S> s) { *s.data() = *a.data() / *b.data(); }
};
// y + a x.
struct axpy {
    static constexpr dv::tensor_type result(dv::tensor_type y, dv::tensor_type a, dv::tensor_type x) { return x == y && a.rank == 0 ? y : dv::tensor_type{}; }
    static constexpr int in_place = 0;
    template <class X, class S>
    static void launch(dv::host::stream, dv::in<X> y, dv::in<S> a, dv::in<X> x, dv::out<X> to) {
        for (std::int64_t i = 0; i < X::size; ++i) to[i] = y[i] + *a.data() * x[i];
    }
};
// The same in the place of x.
struct aypx : axpy {
    static constexpr int in_place = 2;
};

struct rows;
struct matrix;
struct solution;
struct residual;
struct direction;
struct old_norm;
struct whole_direction;
struct product;
struct curvature;
struct step_length;
struct new_residual;
struct new_norm;
struct ratio;

struct iterate : dv::graph<
    dv::mesh<dv::axis<rows, 4>>,
    dv::input<matrix, dv::tensor<double, mine, unknowns>>,
    dv::state<solution, part, zeros>,
    dv::state<residual, part, constant<1>>,
    dv::state<direction, part, constant<1>>,
    dv::let<old_norm, all_reduce<sum, rows>(dot(residual, residual))>,
    dv::let<whole_direction, all_gather<rows>(direction)>,
    dv::let<product, matmul(matrix, whole_direction)>,
    dv::let<curvature, all_reduce<sum, rows>(dot(direction, product))>,
    dv::let<step_length, quotient(old_norm, curvature)>,
    dv::update<solution, axpy(solution, step_length, direction)>,
    dv::let<new_residual, axpy(residual, step_length, product)>,
    dv::let<new_norm, all_reduce<sum, rows>(dot(new_residual, new_residual))>,
    dv::let<ratio, quotient(new_norm, old_norm)>,
    dv::update<direction, aypx(new_residual, ratio, direction)>,
    dv::update<residual, copy(new_residual)>,
    dv::output<new_norm>> {};
}  // namespace solver

double solve(dv::host::rank& rank, const std::vector<double>& matrix) {
    dv::executor<solver::iterate> step{rank, std::chrono::minutes{1}};
    step.bind(dv::name<solver::matrix>, matrix);
    double norm = 1;
    int count = 0;
    while (norm > 1e-12 && count < 100) {
        auto ticket = step.run();
        norm = ticket.read(dv::name<solver::new_norm>)[0];
        ++count;
    }
    std::printf("%d iterations\n", count);
    const auto solution = step.read_state(dv::name<solver::solution>);
    return solution[0];
}

static_assert(dv::wait_count<solver::iterate, dv::unnamed_role, dv::options<dv::machine::h200_nvlink>> < 40);
