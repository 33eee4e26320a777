// The block of mlp.hpp as a class of a Python extension, on GPUs: each process is one rank, on a communicator split from that of torch's
// process group. Runs are enqueued on torch's current stream, so that torch's allocator knows every use of its memory. Inputs, among them
// the parameters, are used in place, and outputs are new tensors that the runs write.
#include "mlp.hpp"

#include <dovetail/launch/cuda/world.hpp>

#include <ATen/cuda/CUDAContext.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

namespace {

using app::Tensor, app::tensors;
using plan = dv::options<dv::machine::MLP_MACHINE, dv::rewritten_by<dv::rewrite::automatic>>;

void check_shards(const tensors& first, const tensors& second) {
    TORCH_CHECK(first.size() == 1 && second.size() == 1, "one shard of each weight: that of this rank");
}

class block {
public:
    // All ranks make it together. `communicator`: an ncclComm_t, which outlives the block.
    block(std::int64_t communicator, int device)
        : device_{device}, rank_{dv::cuda::world::adopt(reinterpret_cast<ncclComm_t>(communicator), device).hold()} {
        forward_.emplace(*rank_);
        backward_.emplace(*rank_);
    }

    // y [rows, width], and `before` of this rank. A RuntimeError in Python if a tensor does not fit. Any thread may call, one waits for the
    // other; all ranks call in the same order.
    std::tuple<Tensor, tensors> forward(const Tensor& x, const tensors& w1, const tensors& w2) {
        check_shards(w1, w2);
        const std::lock_guard one_at_a_time{calls_};
        auto& step = running(forward_);
        bind(step, dv::name<app::x>, x);
        bind(step, dv::name<app::w1>, w1[0]);
        bind(step, dv::name<app::w2>, w2[0]);
        const Tensor y = output(step, dv::name<app::y>, torch::empty_like(x));
        const Tensor before = output(step, dv::name<app::before>, app::new_inner(x));
        step.enqueue(stream());
        return {y, {before}};
    }

    // The gradients of x and of the shards of w1 and w2, given that of y.
    std::tuple<Tensor, tensors, tensors> backward(const Tensor& dy, const Tensor& x, const tensors& before, const tensors& w1,
                                                  const tensors& w2) {
        check_shards(w1, w2);
        TORCH_CHECK(before.size() == 1, "one `before`: that of this rank");
        const std::lock_guard one_at_a_time{calls_};
        auto& step = running(backward_);
        bind(step, dv::name<app::x>, x);
        bind(step, dv::name<app::before>, before[0]);
        bind(step, dv::name<app::w1>, w1[0]);
        bind(step, dv::name<app::w2>, w2[0]);
        bind(step, dv::name<app::dy>, dy);
        const Tensor dx = output(step, dv::name<app::dx>, torch::empty_like(x));
        const Tensor dw1 = output(step, dv::name<app::dw1>, torch::empty_like(w1[0]));
        const Tensor dw2 = output(step, dv::name<app::dw2>, torch::empty_like(w2[0]));
        step.enqueue(stream());
        return {dx, {dw1}, {dw2}};
    }

    // Waits for all runs and throws the error of one that failed. All ranks call it before they destroy the process group.
    void end() {
        const std::lock_guard one_at_a_time{calls_};
        rank_.end();
        forward_.reset();
        backward_.reset();
    }

private:
    template <class Executor>
    static Executor& running(std::optional<Executor>& step) {
        TORCH_CHECK(step, "this block has ended: it cannot run any more");
        return *step;
    }
    // What is not on this GPU would be copied, the parameters at each call.
    template <class Executor, class Name>
    void bind(Executor& step, Name name, const Tensor& t) const {
        if (!t.is_cuda() || t.get_device() != device_)  // a text made here, since an extension may bring streams of a libstdc++ of its own
            TORCH_CHECK(false, "a tensor of this block is on " + t.device().str() + ", not on cuda:" + std::to_string(device_));
        app::bind(step, name, t);
    }
    cudaStream_t stream() const { return at::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device_)); }
    template <class Executor, class Name>
    static Tensor output(Executor& step, Name name, Tensor to) {
        app::bind_output(step, name, to);
        return to;
    }

    std::mutex calls_;
    int device_;
    dv::cuda::held_rank rank_;
    std::optional<dv::executor<app::forward, plan>> forward_;
    std::optional<dv::executor<app::backward, plan>> backward_;
};

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    using released = pybind11::call_guard<pybind11::gil_scoped_release>;
    pybind11::class_<block>(m, "block")
        .def(pybind11::init<std::int64_t, int>(), released())
        .def("forward", &block::forward, released())
        .def("backward", &block::backward, released())
        .def("end", &block::end, released());
}
