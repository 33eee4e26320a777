// A tensor-parallel MLP block, y = gelu(x w1) w2, as two functions of a Python extension: forward and backward are graphs of dovetail,
// whose ranks are threads on the host. Inputs are bound by DLPack and results copied into tensors of torch. x, y: [rows, width]; the shard
// of a rank: w1 [width, hidden / ranks], w2 [hidden / ranks, width]. mlp.py gives these sizes to the compiler, as macros.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <ATen/DLConvertor.h>
#include <torch/extension.h>

#include <tuple>
#include <vector>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct tp;
struct x;
struct w1;
struct w2;
struct before;
struct hidden;
struct y;
struct dy;
struct dbefore;
struct dx;
struct dw1;
struct dw2;

inline constexpr int ranks = MLP_RANKS;
using row_matrix = dv::tensor<float, MLP_ROWS, MLP_WIDTH>;
using first_shard = dv::tensor<float, MLP_WIDTH, MLP_HIDDEN / ranks>;
using second_shard = dv::tensor<float, MLP_HIDDEN / ranks, MLP_WIDTH>;

// The columns of w1 and the rows of w2 are sharded, so that one all_reduce for each direction suffices.
struct forward : dv::graph<
    dv::mesh<dv::axis<tp>>,
    dv::input<x, row_matrix>,
    dv::input<w1, first_shard>,
    dv::input<w2, second_shard>,
    dv::let<hidden, gelu(matmul(x, w1))>,
    dv::let<y, all_reduce<sum, tp>(matmul(hidden, w2))>,
    dv::output<y>> {};

// The products before gelu are computed again. The planner overlaps the all_reduce of dx with the gradients of the weights.
struct backward : dv::graph<
    dv::mesh<dv::axis<tp>>,
    dv::input<x, row_matrix>,
    dv::input<w1, first_shard>,
    dv::input<w2, second_shard>,
    dv::input<dy, row_matrix>,
    dv::let<before, matmul(x, w1)>,
    dv::let<dbefore, gelu_gradient(matmul_nt(dy, w2), before)>,
    dv::let<dx, all_reduce<sum, tp>(matmul_nt(dbefore, w1))>,
    dv::let<dw1, matmul_tn(x, dbefore)>,
    dv::let<dw2, matmul_tn(gelu(before), dy)>,
    dv::output<dx, dw1, dw2>> {};
}  // namespace app

namespace {

using torch::Tensor;
using tensors = std::vector<Tensor>;

// A tensor of torch as DLPack describes it, without a copy.
class shared_tensor {
public:
    explicit shared_tensor(const Tensor& of) : managed_{at::toDLPack(of)} {}
    shared_tensor(const shared_tensor&) = delete;
    ~shared_tensor() { managed_->deleter(managed_); }
    const DLTensor& get() const { return managed_->dl_tensor; }

private:
    DLManagedTensor* managed_;
};

template <class Executor, class Name>
void bind(Executor& step, Name name, const Tensor& t) {
    step.bind(name, shared_tensor{t}.get());  // refuses whatever differs from the graph's input, by name
}
template <class Ticket, class Name>
void copy_output(const Ticket& ticket, Name name, const Tensor& to) {
    ticket.read(name).copy_to(shared_tensor{to}.get());
}
void check_shards(const tensors& first, const tensors& second) {
    TORCH_CHECK(first.size() == app::ranks && second.size() == app::ranks, "one shard of each weight for each of ", app::ranks, " ranks");
}
tensors like(const tensors& shards) {
    tensors made;
    for (const Tensor& t : shards) made.push_back(torch::empty_like(t));
    return made;
}

// y [rows, width] of x and of the shards of all ranks. A binding_error, in Python a RuntimeError, if one does not fit.
Tensor forward(const Tensor& x, const tensors& w1, const tensors& w2) {
    check_shards(w1, w2);
    Tensor y = torch::empty_like(x);
    dv::host::world{app::ranks}.run([&](auto& rank) {
        dv::executor<app::forward> step{rank};
        const auto r = static_cast<std::size_t>(rank.index());
        bind(step, dv::name<app::x>, x);
        bind(step, dv::name<app::w1>, w1[r]);
        bind(step, dv::name<app::w2>, w2[r]);
        const auto ticket = step.run();
        ticket.wait();
        if (r == 0) copy_output(ticket, dv::name<app::y>, y);
    });
    return y;
}

// The gradients of x, of the shards of w1 and of those of w2, given that of y.
std::tuple<Tensor, tensors, tensors> backward(const Tensor& dy, const Tensor& x, const tensors& w1, const tensors& w2) {
    check_shards(w1, w2);
    Tensor dx = torch::empty_like(x);
    const tensors dw1 = like(w1), dw2 = like(w2);
    dv::host::world{app::ranks}.run([&](auto& rank) {
        dv::executor<app::backward> step{rank};
        const auto r = static_cast<std::size_t>(rank.index());
        bind(step, dv::name<app::x>, x);
        bind(step, dv::name<app::w1>, w1[r]);
        bind(step, dv::name<app::w2>, w2[r]);
        bind(step, dv::name<app::dy>, dy);
        const auto ticket = step.run();
        ticket.wait();
        if (r == 0) copy_output(ticket, dv::name<app::dx>, dx);
        copy_output(ticket, dv::name<app::dw1>, dw1[r]);
        copy_output(ticket, dv::name<app::dw2>, dw2[r]);
    });
    return {dx, dw1, dw2};
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, pybind11::call_guard<pybind11::gil_scoped_release>());
    m.def("backward", &backward, pybind11::call_guard<pybind11::gil_scoped_release>());
}
