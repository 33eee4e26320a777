// Values of dovetail's types, for gdb to print where the program stops.
#include <dovetail/dovetail.hpp>
#include <dovetail/ir/lower.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <numeric>
#include <vector>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct x;
struct y;
template <int> struct block;
struct helper;
using matrix = dv::tensor<float, 2, 3>;
struct model
    : dv::graph<dv::input<x, matrix>, dv::on<helper, dv::let<block<1>, relu(x)>, dv::let<y, add(block<1>, block<1>)>>, dv::output<y>> {};
}  // namespace app

namespace {

[[gnu::noinline]] void stop(const dv::ticket<app::model>& ticket, const dv::reading<app::matrix>& reading) {
    float elements[] = {0, 1, 2, 3, 4, 5};
    const dv::in<app::matrix> read{elements};
    const dv::out<app::matrix> written{elements};
    const dv::inout<dv::scalar<float>> changed{elements + 5};
    const dv::in<app::matrix> nowhere{reinterpret_cast<const float*>(16)};
    const dv::half halves[] = {1.5f, -2.0f};
    const dv::bfloat16 rounded = 3.0f;
    const app::matrix tensor{};
    const dv::tensor_type type = app::matrix::type, refused{};
    const dv::tag tag = dv::tag_of<app::x>, nameless{}, member = dv::tag_of<app::block<1>>;
    const dv::tag* const pointer = &tag;
    dv::vec<int> numbers;
    for (int i = 7; i < 10; ++i) numbers.push(i);
    const dv::span<const int> some = numbers.view().subspan(1, 2);
    dv::fixed<int, 4> fixed = dv::fixed<int, 4>::sized(2);
    const dv::ticket<app::model> none{};
    const dv::ir::graph_data graph = dv::ir::lower(dv::dsl::describe_graph<app::model>);
    asm volatile("stop_here: nop" ::"m"(graph), "m"(fixed), "m"(some), "m"(pointer), "m"(member), "m"(nameless), "m"(refused), "m"(type),
                 "m"(tensor), "m"(rounded), "m"(halves), "m"(nowhere), "m"(changed), "m"(written), "m"(read), "m"(none), "m"(ticket),
                 "m"(reading));
}

}  // namespace

int main() {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::model> step{rank};
        step.bind(dv::name<app::x>, std::vector<float>{1, -2, 3, -4, 5, -6});
        const auto ticket = step.run();
        stop(ticket, ticket.read(dv::name<app::y>));
    });
}
