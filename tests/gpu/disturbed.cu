// Collectives between real GPUs beside work that disturbs them, ten thousand runs on streams and as many replays for each transport, in
// each of which every element received is compared, on the GPU. Kernels directly before and behind each collective have blocks that
// are late, by other times in each run and on each rank, and a foreign stream of each GPU has kernels and copies of its own.
#include "gpu/compare.hpp"
#include "gpu/disturbance.hpp"
#include "gpu/in_flight.hpp"
#include "support/expect.hpp"
#include "support/samples.hpp"

#include <dovetail/launch/host/world.hpp>

#include <array>
#include <chrono>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace app {
using namespace dv::ops;
struct dp;
struct run_number;
template <int> struct made;
template <int> struct received;
template <int> struct counts;

// The collectives of the graph. Those that add have int32 elements, whose sums are exact, the others float.
enum collective { reduced, scattered, gathered, exchanged };
template <int Which> using element = std::conditional_t<Which == reduced || Which == scattered, std::int32_t, float>;
inline constexpr std::int64_t share = 1 << 14;
template <int Which, int Ranks> using argument = dv::tensor<element<Which>, Which == gathered ? share : share * Ranks>;
using number = dv::scalar<std::int32_t>;
using two_counts = dv::tensor<std::uint32_t, 2>;  // wrong elements, and all

__host__ __device__ inline std::uint32_t mixed(std::uint32_t a, std::uint32_t b) {
    std::uint32_t x = (a ^ (b + 0x9e3779b9u + (a << 6) + (a >> 2))) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}
__host__ __device__ inline std::uint32_t mixed(std::uint32_t a, std::uint32_t b, std::uint32_t c) { return mixed(mixed(a, b), c); }

// Element i of what a rank brings to a collective in a run.
template <int Which>
__host__ __device__ element<Which> brought(std::int32_t run, int rank, std::int64_t i) {
    const std::uint32_t bits =
        mixed(mixed(Which, static_cast<std::uint32_t>(run), static_cast<std::uint32_t>(rank)), static_cast<std::uint32_t>(i));
    if constexpr (std::is_same_v<element<Which>, float>)
        return static_cast<float>(bits >> 8) * 1.7e-3f;
    else
        return static_cast<std::int32_t>(bits >> 8);
}
// Element i of what a rank gets from it: the definition of the collective.
template <int Which, int Ranks>
__host__ __device__ element<Which> wanted(std::int32_t run, int rank, std::int64_t i) {
    const int block = static_cast<int>(i / share);
    if constexpr (Which == gathered)
        return brought<Which>(run, block, i % share);
    else if constexpr (Which == exchanged)
        return brought<Which>(run, block, rank * share + i % share);
    else {
        element<Which> sum = 0;
        for (int r = 0; r < Ranks; ++r) sum += brought<Which>(run, r, Which == scattered ? rank * share + i : i);
        return sum;
    }
}

// Some blocks begin late, by as much as 5 us; by how much differs between runs, ranks and kernels.
__device__ inline void begin_late(std::uint32_t run, int rank, std::uint32_t kernel) {
    const std::uint32_t of_kernel = mixed(run, static_cast<std::uint32_t>(rank), kernel), of_block = mixed(of_kernel, blockIdx.x);
    if (threadIdx.x == 0 && of_block % 8 == 0) gpu::spin_for((of_block >> 8) % (1 + of_kernel % 8192));
    __syncthreads();
}
inline constexpr int threads = 256;
constexpr unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + 4 * threads - 1) / (4 * threads)); }
__device__ inline std::int64_t first() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline std::int64_t stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

template <int Which, class N, class X>
__global__ void bring_late(dv::in<N> run, dv::in<N> rank, dv::out<X> to) {
    begin_late(static_cast<std::uint32_t>(run[0]), rank[0], 2 * Which);
    for (std::int64_t i = first(); i < X::size; i += stride()) to[i] = brought<Which>(run[0], rank[0], i);
}
template <int Which, int Ranks, class N, class C, class X>
__global__ void count_late(dv::inout<C> counts, dv::in<X> got, dv::in<N> run, dv::in<N> rank) {
    begin_late(static_cast<std::uint32_t>(run[0]), rank[0], 2 * Which + 1);
    unsigned wrong = 0, all = 0;
    for (std::int64_t i = first(); i < X::size; i += stride(), ++all) wrong += got[i] != wanted<Which, Ranks>(run[0], rank[0], i);
    if (wrong > 0) atomicAdd(&counts[0], wrong);
    atomicAdd(&counts[1], all);
}

template <int Which, int Ranks>
struct bring {
    static constexpr dv::tensor_type result(dv::tensor_type, dv::tensor_type) { return argument<Which, Ranks>::type; }
    template <class N, class X>
    static void launch(dv::cuda::stream s, dv::in<N> run, dv::in<N> rank, dv::out<X> to) {
        bring_late<Which><<<blocks_for(X::size), threads, 0, static_cast<cudaStream_t>(s.handle)>>>(run, rank, to);
        s.services->launched("bring_late");
    }
    template <class N, class X>
    static void launch(dv::host::stream, dv::in<N> run, dv::in<N> rank, dv::out<X> to) {
        for (std::int64_t i = 0; i < X::size; ++i) to[i] = brought<Which>(run[0], rank[0], i);
    }
};
template <int Which, int Ranks>
struct count {
    static constexpr dv::tensor_type result(dv::tensor_type counts, dv::tensor_type, dv::tensor_type, dv::tensor_type) { return counts; }
    template <class C, class X, class N>
    static void launch(dv::cuda::stream s, dv::inout<C> counts, dv::in<X> got, dv::in<N> run, dv::in<N> rank) {
        count_late<Which, Ranks><<<blocks_for(X::size), threads, 0, static_cast<cudaStream_t>(s.handle)>>>(counts, got, run, rank);
        s.services->launched("count_late");
    }
    template <class C, class X, class N>
    static void launch(dv::host::stream, dv::inout<C> counts, dv::in<X> got, dv::in<N> run, dv::in<N> rank) {
        for (std::int64_t i = 0; i < X::size; ++i) counts[0] += got[i] != wanted<Which, Ranks>(run[0], rank[0], i);
        counts[1] += X::size;
    }
};

template <int Ranks>
struct disturbed : dv::graph<
    dv::mesh<dv::axis<dp, Ranks>>,
    dv::input<run_number, number>,
    dv::state<counts<reduced>, two_counts, zeros>,
    dv::state<counts<scattered>, two_counts, zeros>,
    dv::state<counts<gathered>, two_counts, zeros>,
    dv::state<counts<exchanged>, two_counts, zeros>,
    dv::let<received<reduced>, all_reduce<sum, dp>(bring<reduced, Ranks>(run_number, dv::axis_index<dp>))>,
    dv::let<received<scattered>, reduce_scatter<sum, dp>(bring<scattered, Ranks>(run_number, dv::axis_index<dp>))>,
    dv::let<received<gathered>, all_gather<dp>(bring<gathered, Ranks>(run_number, dv::axis_index<dp>))>,
    dv::let<received<exchanged>, all_to_all<dp>(bring<exchanged, Ranks>(run_number, dv::axis_index<dp>))>,
    dv::update<counts<reduced>, count<reduced, Ranks>(counts<reduced>, received<reduced>, run_number, dv::axis_index<dp>)>,
    dv::update<counts<scattered>, count<scattered, Ranks>(counts<scattered>, received<scattered>, run_number, dv::axis_index<dp>)>,
    dv::update<counts<gathered>, count<gathered, Ranks>(counts<gathered>, received<gathered>, run_number, dv::axis_index<dp>)>,
    dv::update<counts<exchanged>, count<exchanged, Ranks>(counts<exchanged>, received<exchanged>, run_number, dv::axis_index<dp>)>> {};

template <dv::transport By>
using several_by = dv::options<samples::slow_links, dv::collective_transport<By>, dv::in_flight<3>>;
}  // namespace app

namespace {

// The elements that a rank has counted, by collective: wrong ones and all.
struct counted {
    std::array<std::int64_t, 4> wrong = {}, all = {};
};
counted read_counts(dv::store& of) {
    counted c;
    const auto read = [&](int which, const std::vector<std::uint32_t>& two) {
        c.wrong[static_cast<std::size_t>(which)] = two[0];
        c.all[static_cast<std::size_t>(which)] = two[1];
    };
    read(app::reduced, of.read<app::two_counts>(dv::name<app::counts<app::reduced>>));
    read(app::scattered, of.read<app::two_counts>(dv::name<app::counts<app::scattered>>));
    read(app::gathered, of.read<app::two_counts>(dv::name<app::counts<app::gathered>>));
    read(app::exchanged, of.read<app::two_counts>(dv::name<app::counts<app::exchanged>>));
    return c;
}

struct outcome {
    counted of_runs, with_lie;
    double each_us = 0;
};
// What is counted in `runs` runs, and in one more for which each rank binds another number, so that all that others bring is wrong.
template <int Ranks, dv::transport By, class Rank, class... Extra>
outcome play(Rank& rank, int runs, Extra... extra) {
    using graph = app::disturbed<Ranks>;
    dv::store kept{rank};
    dv::executor<graph, app::several_by<By>> step{rank, kept, 60s, extra...};
    if (!step.transport_fallback_reason().empty()) throw std::runtime_error{step.transport_fallback_reason()};
    outcome seen;
    const auto start = std::chrono::steady_clock::now();
    gpu::run_in_flight(
        step, runs, [&](int k) { step.bind(dv::name<app::run_number>, static_cast<std::int32_t>(k)); },
        [](const dv::ticket<graph>& ticket, int) { ticket.wait(); });
    seen.each_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / runs;
    seen.of_runs = read_counts(kept);
    step.bind(dv::name<app::run_number>, static_cast<std::int32_t>(runs + rank.index())).run().wait();
    seen.with_lie = read_counts(kept);
    return seen;
}
void check(const outcome& seen, int ranks, int runs) {
    const std::int64_t whole = app::share * ranks;
    const std::array<std::int64_t, 4> elements{whole, app::share, whole, whole};
    for (std::size_t which = 0; which < elements.size(); ++which) {
        CAPTURE(which);
        CHECK(seen.of_runs.all[which] == runs * elements[which]);
        CHECK(seen.of_runs.wrong[which] == 0);
        CHECK(seen.with_lie.wrong[which] > elements[which] / 4);
    }
}

template <int Ranks, dv::transport By>
void disturb(const std::string& what) {
    if (!gpu::enough(Ranks, std::string{"by "} + what)) return;
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        dv::cuda::world::local(Ranks).run([&](auto& rank) {
            constexpr int runs = 10000;
            const gpu::disturbance beside{20000, 64 << 20};
            const outcome seen = play<Ranks, By>(rank, runs, how);
            const std::lock_guard lock{support::report()};
            CAPTURE(what);
            CAPTURE(rank.index());
            check(seen, Ranks, runs);
            if (rank.index() == 0)
                MESSAGE(runs << std::string{how == dv::replay_mode::always ? " replays by " : " runs by "} << what << " on " << Ranks
                             << " GPUs: " << seen.each_us << " us a run");
        });
}

}  // namespace

TEST_CASE("what is counted, on the host") {
    dv::host::world{3}.run([](auto& rank) {
        const outcome seen = play<3, dv::transport::nccl>(rank, 20);
        const std::lock_guard lock{support::report()};
        check(seen, 3, 20);
    });
}

TEST_CASE("ten thousand disturbed runs and replays by NCCL") {
    disturb<2, dv::transport::nccl>("NCCL");
    disturb<4, dv::transport::nccl>("NCCL");
}

TEST_CASE("ten thousand disturbed runs and replays by copy engines") {
    disturb<2, dv::transport::peer_copy>("copy engines");
    disturb<4, dv::transport::peer_copy>("copy engines");
}
