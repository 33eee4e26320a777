// Heat on a plane that is cut in strips: each rank swaps its first and last row with its neighbours, while it works on the inside.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdio>

namespace dv = dovetail;

namespace heat {
using namespace dv::ops;

constexpr int rows = 64;
constexpr int columns = 256;
using strip = dv::tensor<double, rows, columns>;
using row = dv::tensor<double, columns>;

template <int Row>
struct row_of {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(x.extent[1]); }
    template <class X, class Y>
    static void launch(dv::host::stream, dv::in<X> x, dv::out<Y> y) {
        for (std::int64_t i = 0; i < Y::size; ++i) y[i] = x[Row * Y::size + i];
    }
};
struct relax {
    static constexpr dv::tensor_type result(dv::tensor_type x, dv::tensor_type above, dv::tensor_type below) {
        return above == below && above.extent[0] == x.extent[1] ? x : dv::tensor_type{};
    }
    static constexpr dv::cost cost(dv::tensor_type x, dv::tensor_type, dv::tensor_type) { return dv::bytes_moved(2 * x.bytes()); }
    template <class X, class R>
    static void launch(dv::host::stream, dv::in<X> x, dv::in<R> above, dv::in<R> below, dv::out<X> y) {
        for (std::int64_t i = 0; i < X::size; ++i) y[i] = (x[i] + above[i % R::size] + below[i % R::size]) / 3;
    }
};
struct squares {
    static constexpr dv::tensor_type result(dv::tensor_type x, dv::tensor_type y) { return x == y ? x.with_extents() : dv::tensor_type{}; }
    template <class X, class S>
    static void launch(dv::host::stream, dv::in<X> x, dv::in<X> y, dv::out<S> s) {
        *s.data() = 0;
        for (std::int64_t i = 0; i < X::size; ++i) *s.data() += (x[i] - y[i]) * (x[i] - y[i]);
    }
};

struct py;
struct start;
struct plane;
struct top;
struct bottom;
struct above;
struct below;
struct next;
struct change;
struct total_change;
struct coolest;
struct lowest;

struct sweep : dv::graph<
    dv::mesh<dv::axis<py>>,
    dv::state<plane, strip, constant<20>>,
    dv::let<top, row_of<0>(plane)>,
    dv::let<bottom, row_of<rows - 1>(plane)>,
    dv::let<above, shift<py, +1>(bottom)>,
    dv::let<below, shift<py, -1, zero_edge>(top)>,
    dv::let<next, relax(plane, above, below)>,
    dv::let<change, squares(next, plane)>,
    dv::let<total_change, all_reduce<sum, py>(change)>,
    dv::let<coolest, all_reduce<minimum, py>(top)>,
    dv::update<plane, copy(next)>,
    dv::output<total_change, coolest>> {};

static_assert(dv::valid<sweep>);
static_assert(dv::wait_count<sweep> < 20);
}  // namespace heat

int main() {
    dv::host::world world{4};
    world.run([](auto& rank) {
        dv::executor<heat::sweep> step{rank, dv::width<heat::py>(4)};
        step.write_state(dv::name<heat::plane>, std::vector<double>(heat::rows * heat::columns, rank.index()));
        double change = 1;
        for (int i = 0; i < 1000 && change > 1e-6; ++i) {
            auto ticket = step.run();
            ticket.wait_for(std::chrono::seconds{5});
            change = ticket.read(dv::name<heat::total_change>)[0];
        }
        const auto plane = step.read_state(dv::name<heat::plane>);
        std::printf("rank %d: %g\n", rank.index(), plane[0]);
    });
}
