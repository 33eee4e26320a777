// The block of mlp.hpp as two functions of a Python extension, on the host: the ranks are threads. Inputs and results are tensors of torch,
// bound by DLPack. Shards are lists, of one tensor for each rank.
#include "mlp.hpp"

#include <dovetail/launch/host/world.hpp>

#include <string>
#include <tuple>

namespace {

using app::bind, app::bind_output, app::Tensor, app::tensors;

void check_shards(const tensors& first, const tensors& second) {
    TORCH_CHECK(first.size() == app::ranks && second.size() == app::ranks,
                "one shard of each weight for each of " + std::to_string(app::ranks) + " ranks");
}
tensors like(const tensors& shards) {
    tensors made;
    for (const Tensor& t : shards) made.push_back(torch::empty_like(t));
    return made;
}

// y [rows, width], and `before` of each rank. A binding_error, in Python a RuntimeError, if a tensor does not fit.
std::tuple<Tensor, tensors> forward(const Tensor& x, const tensors& w1, const tensors& w2) {
    check_shards(w1, w2);
    Tensor y = torch::empty_like(x);
    tensors before;
    for (int r = 0; r < app::ranks; ++r) before.push_back(app::new_inner(x));
    dv::host::world{app::ranks}.run([&](auto& rank) {
        dv::executor<app::forward> step{rank};
        const auto r = static_cast<std::size_t>(rank.index());
        bind(step, dv::name<app::x>, x);
        bind(step, dv::name<app::w1>, w1[r]);
        bind(step, dv::name<app::w2>, w2[r]);
        if (r == 0) bind_output(step, dv::name<app::y>, y);
        bind_output(step, dv::name<app::before>, before[r]);
        step.run().wait();
    });
    return {y, before};
}

// The gradients of x, of the shards of w1 and of those of w2, given that of y.
std::tuple<Tensor, tensors, tensors> backward(const Tensor& dy, const Tensor& x, const tensors& before, const tensors& w1,
                                              const tensors& w2) {
    check_shards(w1, w2);
    TORCH_CHECK(before.size() == app::ranks, "one `before` for each of " + std::to_string(app::ranks) + " ranks");
    Tensor dx = torch::empty_like(x);
    const tensors dw1 = like(w1), dw2 = like(w2);
    dv::host::world{app::ranks}.run([&](auto& rank) {
        dv::executor<app::backward> step{rank};
        const auto r = static_cast<std::size_t>(rank.index());
        bind(step, dv::name<app::x>, x);
        bind(step, dv::name<app::before>, before[r]);
        bind(step, dv::name<app::w1>, w1[r]);
        bind(step, dv::name<app::w2>, w2[r]);
        bind(step, dv::name<app::dy>, dy);
        if (r == 0) bind_output(step, dv::name<app::dx>, dx);
        bind_output(step, dv::name<app::dw1>, dw1[r]);
        bind_output(step, dv::name<app::dw2>, dw2[r]);
        step.run().wait();
    });
    return {dx, dw1, dw2};
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, pybind11::call_guard<pybind11::gil_scoped_release>());
    m.def("backward", &backward, pybind11::call_guard<pybind11::gil_scoped_release>());
}
