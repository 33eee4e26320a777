// The kernels of the simulated GPU: launch functions of the host, one for each place in a registry, since none carries data of its own.
#include "simulated_gpu.hpp"

#include <dovetail/launch/engine/inspection.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace simulated {
namespace {

constexpr int most_functions = 640;

void launch_registered(std::size_t place, dv::cuda::stream s, void* const* pointers) {
    registered f;
    {
        const std::lock_guard lock{registry_mutex()};
        f = registry()[place];
    }
    const std::vector<void*> kept(pointers, pointers + f.pointers);
    stream* const on = of(static_cast<cudaStream_t>(s.handle));
    on->push([f, kept, s, rank = on->device] { f.function({rank, 0, s.workspace, s.workspace_bytes}, kept.data()); });
}
template <int I>
void trampoline(dv::cuda::stream s, void* const* pointers) {
    launch_registered(I, s, pointers);
}
template <int... I>
dv::launch_function<dv::cuda::stream> function_at(int i, std::integer_sequence<int, I...>) {
    static constexpr dv::launch_function<dv::cuda::stream> all[] = {&trampoline<I>...};
    return all[i];
}

}  // namespace

std::vector<registered>& registry() {
    static std::vector<registered> r;
    return r;
}
std::mutex& registry_mutex() {
    static std::mutex m;
    return m;
}
dv::launch_function<dv::cuda::stream> as_kernel(dv::launch_function<dv::host::stream> f, int pointers) {
    if (f == nullptr) return nullptr;
    const std::lock_guard lock{registry_mutex()};
    auto& r = registry();
    int i = 0;
    while (i < static_cast<int>(r.size()) && (r[i].function != f || r[i].pointers != pointers)) ++i;
    if (i == most_functions) throw std::runtime_error{"simulated: too many functions"};
    if (i == static_cast<int>(r.size())) r.push_back({f, pointers});
    return function_at(i, std::make_integer_sequence<int, most_functions>{});
}

void reduce_here(cudaStream_t s, dv::element e, dv::reduction how, const dv::cuda::local_sources& from, void* to,
                 std::int64_t count) {
    of(s)->push([=] {
        const std::vector<const void*> sources(from.at, from.at + from.count);
        dv::host::detail::reduce(e, how, sources, to, count * dv::bytes_of(e));
    });
}

void write_here(cudaStream_t s, std::uint32_t* to, std::uint32_t word) {
    of(s)->push([=] { __atomic_store_n(to, word, __ATOMIC_RELEASE); });
}
void check_here(cudaStream_t s, dv::element e, const void* data, std::int64_t count, unsigned long long* first) {
    of(s)->push([=] {
        if (const auto found = dv::launch::find_non_finite(data, dv::tensor_type{e, 1, {count}}))
            *first = std::min(*first, 2 * static_cast<unsigned long long>(found.element) + (found.infinite ? 1 : 0));
    });
}

}  // namespace simulated
