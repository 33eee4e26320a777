// NVTX ranges as a profiler receives them: NVTX passes its calls to functions of this program. On the host backend and on a simulated GPU,
// on streams and replayed; and no ranges if they are not requested.
#include <doctest/doctest.h>

#include "../support/samples.hpp"  // in front of ranges.hpp, which says why

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/observe/ranges.hpp>

#include "../support/simulated_cuda.hpp"

#include <map>

namespace {

namespace dv = dovetail;
namespace observe = dv::observe;

struct seen_domain {
    std::string name;
    std::deque<std::string> strings;
};
struct seen_range {
    std::string domain, name;
    int depth = 0;  // of the thread, before it
    std::int64_t payload = -1;
};
std::mutex guard;
std::deque<seen_domain> domains;
std::vector<seen_range> seen;
thread_local int depth = 0;

nvtxDomainHandle_t create(const char* name) {
    const std::lock_guard lock{guard};
    return reinterpret_cast<nvtxDomainHandle_t>(&domains.emplace_back(seen_domain{name, {}}));
}
nvtxStringHandle_t keep(nvtxDomainHandle_t in, const char* text) {
    const std::lock_guard lock{guard};
    return reinterpret_cast<nvtxStringHandle_t>(&reinterpret_cast<seen_domain*>(in)->strings.emplace_back(text));
}
int push(nvtxDomainHandle_t in, const nvtxEventAttributes_t* e) {
    const std::lock_guard lock{guard};
    seen.push_back({reinterpret_cast<seen_domain*>(in)->name, *reinterpret_cast<const std::string*>(e->message.registered), depth,
                    e->payloadType == NVTX_PAYLOAD_TYPE_INT64 ? e->payload.llValue : -1});
    return depth++;
}
int pop(nvtxDomainHandle_t) { return --depth; }

int inject(NvtxGetExportTableFunc_t table) {
    const auto* calls = static_cast<const NvtxExportTableCallbacks*>(table(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable functions = nullptr;
    unsigned size = 0;
    if (calls == nullptr || calls->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &functions, &size) == 0) return 0;
    *functions[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(&create);
    *functions[NVTX_CBID_CORE2_DomainRegisterStringA] = reinterpret_cast<NvtxFunctionPointer>(&keep);
    *functions[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(&push);
    *functions[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(&pop);
    return 1;
}
// NVTX looks at its first call for a profiler that is part of the program.
const bool injected = [] {
    InitializeInjectionNvtx2_fnptr = &inject;
    return true;
}();

// While it lives, executors are seen by a recorder with this wish.
struct watched {
    observe::recorder one;
    dv::run_observer* before = dv::observing.exchange(&one);
    explicit watched(bool nvtx) : one{observe::environment{"", "", false, nvtx}} {}
    ~watched() { dv::observing = before; }
};
template <class Rank>
void play(Rank& rank, int runs, dv::replay_mode how = dv::replay_mode::never) {
    dv::executor<samples::there_and_back, samples::overlapped> step{rank, how};
    step.bind(dv::name<samples::x>, std::vector<float>(8, 1.0f));
    for (int i = 0; i < runs; ++i) step.run().wait();
}
std::map<std::string, int> taken() {
    const std::lock_guard lock{guard};
    std::map<std::string, int> count;
    for (const seen_range& r : seen) {
        CHECK(r.domain == "dovetail");
        ++count[r.name];
        if (r.name.rfind("run of ", 0) == 0) {
            CHECK(r.depth == 0);
            CHECK(r.payload >= 0);
        }
    }
    seen.clear();
    return count;
}

}  // namespace

TEST_CASE("a range for each run and each operation, by name; none without the wish") {
    REQUIRE(injected);
    const observe::plan_view of{observe::tables_of<samples::there_and_back, samples::overlapped>()};
    std::map<std::string, int> once, runs;
    for (int role = 0; role < of.roles(); ++role) {
        for (const dv::ir::step& s : of.steps(role)) ++once[of.label(s.task)];
        ++runs["run of there_and_back, rank " + std::to_string(role)];
    }
    const auto times = [](std::map<std::string, int> a, int n, const std::map<std::string, int>& b, int m) {
        for (auto& [name, count] : a) count *= n;
        for (const auto& [name, count] : b) a[name] += count * m;
        return a;
    };
    {
        const watched w{false};
        dv::host::world{3}.run([](auto& rank) { play(rank, 2); });
        CHECK(taken().empty());
    }
    {
        const watched w{true};
        dv::host::world{3}.run([](auto& rank) { play(rank, 2); });
        CHECK(taken() == times(once, 2, runs, 2));
    }
    const simulated::scope simulation;
    {
        const watched w{true};
        simulated::run(3, [](auto& rank) { play(rank, 2); });
        CHECK(taken() == times(once, 2, runs, 2));
        simulated::run(3, [](auto& rank) { play(rank, 2, dv::replay); });
        CHECK(taken() == times({}, 0, runs, 2));  // a launch of a graph each
    }
    simulated::run(3, [](auto& rank) { play(rank, 2); });
    CHECK(taken().empty());
}
