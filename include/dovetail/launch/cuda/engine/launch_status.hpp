// Whether CUDA accepted the launches of kernels. A launch returns no status, and asking for it costs about as much as the rest of a step.
// The first runs ask after each launch, since a rejected launch fails at once; later runs ask once in a while, and at the end.
#pragma once

#include "../../executable/buffer_addresses.hpp"
#include "../api/api.hpp"

#include <vector>

namespace dovetail::cuda {

class launch_status {
public:
    // The operations of the steps.
    explicit launch_status(const std::vector<step_name>& names) : names_{names} {}

    // This step has launched a kernel.
    void launched(int step, bool ask_now) {
        if (unasked_ == 0) first_ = step;
        last_ = step;
        if (++unasked_ >= often || ask_now) ask();
    }
    // Behind the last step of a run. The step is set to the last one that launched a kernel, which an error names.
    void ask_for_rest(int& step) {
        if (unasked_ == 0) return;
        step = last_;
        ask();
    }

private:
    static constexpr int often = 16;

    void ask() {
        unasked_ = 0;
        const cudaError_t status = calls.get_last_error();
        if (status == cudaSuccess) return;
        check(status,
              first_ < last_
                  ? ("a launch of this operation or of one before it, back to " + names_[static_cast<std::size_t>(first_)].text()).c_str()
                  : "the launch");
    }

    const std::vector<step_name>& names_;
    int unasked_ = 0;           // launches
    int first_ = 0, last_ = 0;  // their steps
};

}  // namespace dovetail::cuda
