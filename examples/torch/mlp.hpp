// A tensor-parallel MLP block, y = gelu(x w1) w2, as two graphs, and tensors of torch as their arguments. x, y: [rows, width]; the shard of
// a rank: w1 [width, hidden / ranks], w2 [hidden / ranks, width]; `before`: x w1, which the forward pass leaves for the backward pass.
// mlp.py gives these sizes and the type of the elements to the compiler, as macros.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/ops/ops.hpp>

#include <ATen/DLConvertor.h>
#include <torch/extension.h>

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
static_assert(MLP_HIDDEN % ranks == 0, "each rank has as many columns of w1");
using row_matrix = dv::tensor<MLP_ELEMENT, MLP_ROWS, MLP_WIDTH>;
using inner = dv::tensor<MLP_ELEMENT, MLP_ROWS, MLP_HIDDEN / ranks>;
using first_shard = dv::tensor<MLP_ELEMENT, MLP_WIDTH, MLP_HIDDEN / ranks>;
using second_shard = dv::tensor<MLP_ELEMENT, MLP_HIDDEN / ranks, MLP_WIDTH>;

// clang-format off: statements stand as in a program
// The columns of w1 and the rows of w2 are sharded, so that one all_reduce for each direction suffices.
struct forward : dv::graph<
    dv::mesh<dv::axis<tp, ranks>>,
    dv::input<x, row_matrix>,
    dv::input<w1, first_shard>,
    dv::input<w2, second_shard>,
    dv::let<before, matmul(x, w1)>,
    dv::let<y, all_reduce<sum, tp>(matmul(gelu(before), w2))>,
    dv::output<y, before>> {};

// The planner overlaps the all_reduce of dx with the gradients of the weights.
struct backward : dv::graph<
    dv::mesh<dv::axis<tp, ranks>>,
    dv::input<x, row_matrix>,
    dv::input<before, inner>,
    dv::input<w1, first_shard>,
    dv::input<w2, second_shard>,
    dv::input<dy, row_matrix>,
    dv::let<dbefore, gelu_gradient(matmul_nt(dy, w2), before)>,
    dv::let<dx, all_reduce<sum, tp>(matmul_nt(dbefore, w1))>,
    dv::let<dw1, matmul_tn(x, dbefore)>,
    dv::let<dw2, matmul_tn(gelu(before), dy)>,
    dv::output<dx, dw1, dw2>> {};
// clang-format on

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
// The runs from now on write the output to this tensor.
template <class Executor, class Name>
void bind_output(Executor& step, Name name, const Tensor& to) {
    step.bind_output(name, shared_tensor{to}.get());
}
// `before` of the shard of a rank, for the forward pass to leave.
inline Tensor new_inner(const Tensor& x) { return torch::empty({MLP_ROWS, MLP_HIDDEN / ranks}, x.options()); }
}  // namespace app
