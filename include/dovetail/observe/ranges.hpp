// NVTX ranges for profilers (domain `dovetail`), requested by DOVETAIL_NVTX: one for the launch of each run and one for the launch of each
// operation, on the launching thread. A replayed run is one launch and has no ranges of operations.
// Include it in one file of a program, preferably after its graphs: NVTX's header includes <fcntl.h>, whose function `open` hides a type of
// that name. Without NVTX's header this file is empty.
#pragma once

#include "observe.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace dovetail::observe {

// The ranges of one executor; strings are registered once, so that a range copies no name.
class nvtx_ranges final : public launch_watcher {
public:
    nvtx_ranges(const plan_view& of, int role, int rank) {
        run_ = event("run of " + of.title() + ", rank " + std::to_string(rank), 0);
        for (const ir::step& s : of.steps(role)) steps_.push_back(event(of.label(s.task), static_cast<std::uint32_t>(1 + s.stream)));
    }

    void begin_run(std::int64_t run) override {
        nvtxEventAttributes_t e = run_;
        e.payloadType = NVTX_PAYLOAD_TYPE_INT64;
        e.payload.llValue = run;
        nvtxDomainRangePushEx(domain(), &e);
    }
    void begin_step(int step) override { nvtxDomainRangePushEx(domain(), &steps_[static_cast<std::size_t>(step)]); }
    void end() noexcept override { nvtxDomainRangePop(domain()); }

private:
    static nvtxDomainHandle_t domain() {
        static const nvtxDomainHandle_t one = [] {
            const nvtxDomainHandle_t made = nvtxDomainCreateA("dovetail");
            for (int l = 0; l < stream_count; ++l)
                nvtxDomainNameCategoryA(made, static_cast<std::uint32_t>(1 + l), dovetail::name_of(static_cast<stream_kind>(l)));
            return made;
        }();
        return one;
    }
    static nvtxEventAttributes_t event(const std::string& name, std::uint32_t category) {
        nvtxEventAttributes_t e{};
        e.version = NVTX_VERSION;
        e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        e.category = category;
        e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
        e.message.registered = nvtxDomainRegisterStringA(domain(), name.c_str());
        return e;
    }

    nvtxEventAttributes_t run_;
    std::vector<nvtxEventAttributes_t> steps_;  // by step of the role
};

namespace detail {

inline const bool nvtx_ranges_offered = [] {
    make_nvtx_ranges = [](const plan_view& of, int role, int rank) -> std::shared_ptr<launch_watcher> {
        return std::make_shared<nvtx_ranges>(of, role, rank);
    };
    return true;
}();

}  // namespace detail

}  // namespace dovetail::observe

#endif
