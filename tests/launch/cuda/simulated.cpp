// The CUDA engine on a simulated GPU: results of the sample graphs equal to the host backend's, on streams and replayed, with one run or
// several in flight.
#include "ray/graphs.hpp"
#include "support/compare.hpp"
#include "support/expect.hpp"
#include "support/simulated_cuda.hpp"
#include "support/uneven_machines.hpp"

namespace dv = dovetail;

namespace {
const auto on_threads = [](int ranks, const auto& body) { simulated::run(ranks, body); };
template <class G>
void compare_all(int ranks, const char* what) {
    support::compare_all<G>(ranks, what, on_threads);
}
// Between threads, and as if between processes.
template <class G>
void compare_all_copies(int ranks, const char* what) {
    support::compare_copies<G>(ranks, what, on_threads);
    support::compare_copies<G>(ranks, what, [](int n, const auto& body) { simulated::run_apart(n, body); });
}
// On GPUs in a row, of which only neighbours have fast links.
using relayed = dv::options<support::row_of_gpus, dv::channel_transport<dv::transport::peer_copy>, dv::in_flight<3>, dv::channel_slots<2>>;
using by_links = dv::options<support::row_of_gpus, dv::channel_transport<dv::transport::peer_copy>, dv::roles_by_links>;
template <class G>
void compare_uneven(int ranks, const char* what) {
    support::compare<G, relayed>(ranks, 3, what, on_threads);
    support::compare<G, by_links>(ranks, 1, what, on_threads);
    support::compare<G, relayed>(ranks, 3, what, [](int n, const auto& body) { simulated::run_apart(n, body); });
}
// The first two of four ranks, or the last two, have nothing to do.
template <class... Roles>
struct half_idle : dv::graph<
    dv::roles<Roles...>,
    dv::input<samples::x, samples::vector>,
    dv::mesh<dv::axis<samples::dp, 2>>,
    dv::on<samples::left, dv::let<samples::a, dv::ops::all_reduce<dv::ops::sum, samples::dp>(samples::x)>>,
    dv::output<samples::a>> {};
struct idle_first : half_idle<samples::right, samples::left> {};
struct idle_last : half_idle<samples::left, samples::right> {};
}  // namespace

TEST_CASE("sample graphs on the simulated GPU") {
    const simulated::scope simulation;
    compare_all<samples::crossing_pair>(2, "crossing_pair");
    compare_all<dv::single_rank<samples::crossing_pair>>(1, "crossing_pair, single_rank");
    compare_all<samples::ping_pong>(2, "ping_pong");
    compare_all<samples::ring_of_three>(3, "ring_of_three");
    compare_all<samples::there_and_back>(3, "there_and_back");
    compare_all<samples::read_twice>(3, "read_twice");
    compare_all<samples::channel_first>(2, "channel_first");
    compare_all<samples::collective_first>(2, "collective_first");
    compare_all<samples::overlapping_collectives>(3, "overlapping_collectives");
    compare_all<dv::single_rank<samples::overlapping_collectives>>(1, "overlapping_collectives, single_rank");
    compare_all<samples::summed_together>(2, "summed_together");
    compare_all<dv::single_rank<samples::summed_together>>(1, "summed_together, single_rank");
    compare_all<samples::taken_twice>(2, "taken_twice");
    compare_all<samples::blocks_across>(2, "blocks_across");
    compare_all<samples::ordered>(2, "ordered");
    compare_all<samples::in_turn>(2, "in_turn");
    compare_all<idle_first>(4, "an idle role of two ranks in front");
    compare_all<idle_last>(4, "an idle role of two ranks behind");
    compare_all<dv::single_rank<samples::blocks_across>>(1, "blocks_across, single_rank");
    compare_all<samples::sent_apart>(2, "sent_apart");
    compare_all<samples::split_across<4>>(3, "split_across");
    compare_all<samples::pipeline<2, 4>>(2, "pipeline");
    compare_all<samples::shaped<0>>(2, "nothing");
    compare_all<samples::shaped<1>>(2, "one element");
    compare_all<samples::shaped<1001>>(2, "an odd number");
}
TEST_CASE("Ray's pipelines, an edge between two tasks of one actor, and several sends, on the simulated GPU") {
    const simulated::scope simulation;
    compare_all<ray::pipeline<2, 2>>(2, "1F1B, 2 workers, 2 batches");
    compare_all<ray::pipeline<4, 8>>(4, "1F1B, 4 workers, 8 batches");
    compare_all<ray::pipeline<2, 3, dv::gpipe>>(2, "GPipe, 2 workers, 3 batches");
    compare_all<ray::by_arguments>(2, "by arguments");
    compare_all<ray::edge_of_one_actor<ray::relu, samples::vector>>(2, "an edge of one actor");
    compare_all<ray::many_sends<ray::relu, samples::vector>>(2, "several sends of one actor");
}
TEST_CASE("an engine names the GPU and the version of NCCL that is found at run time") {
    const simulated::scope simulation;
    dv::cuda::calls.get_version = [](int* version) { *version = 99'901; return ncclSuccess; };
    simulated::run(2, [](auto& rank) {
        const dv::executor<samples::shaped<1>> step{rank};
        CHECK(step.at().hardware() == "simulated GPU, NCCL 9.99.1");
    });
}
TEST_CASE("meshes and states on the simulated GPU") {
    const simulated::scope simulation;
    compare_all<samples::sums>(4, "sums");
    compare_all<samples::along_an_axis>(2, "along_an_axis");
    compare_all<samples::roles_and_meshes>(4, "roles_and_meshes");
    compare_all<samples::in_blocks>(2, "in_blocks");
    compare_all<samples::split_chain<4>>(2, "split_chain");
    compare_all<samples::split_layers<2>>(2, "split_layers");
    compare_all<samples::split_pair<2>>(4, "split_pair");
    compare_all<samples::split_over_roles<2>>(3, "split_over_roles");
    compare_all<samples::split_experts<2>>(2, "split_experts");
    compare_all<samples::split_state<2>>(2, "split_state");
    compare_all<samples::split_groups<2>>(2, "split_groups");
    compare_all<samples::moved>(2, "moved");
    compare_all<samples::sharded_stream<dv::decompose>>(4, "sharded_stream");
    compare_all<samples::sharded_blocks<dv::decompose>>(2, "sharded_blocks");
    compare_all<samples::sharded_update<dv::shard_update>>(2, "sharded_update");
    compare_all<samples::one_group>(3, "one_group");
    compare_all<samples::one_group>(1, "one_group on one rank");
    compare_all<samples::counter>(1, "counter");
    compare_all<samples::descent>(2, "descent");
    compare_all<samples::through_host>(1, "through_host");
}
TEST_CASE("channels by peer copy on the simulated GPU") {
    const simulated::scope simulation;
    compare_all_copies<samples::crossing_pair>(2, "crossing_pair");
    compare_all_copies<samples::blocks_across>(2, "blocks_across");
    compare_all_copies<samples::sent_apart>(2, "sent_apart");
    compare_all_copies<samples::split_across<4>>(3, "split_across");
    compare_all_copies<samples::ping_pong>(2, "ping_pong");
    compare_all_copies<samples::ring_of_three>(3, "ring_of_three");
    compare_all_copies<samples::there_and_back>(3, "there_and_back");
    compare_all_copies<samples::read_twice>(3, "read_twice");
    compare_all_copies<samples::channel_first>(2, "channel_first");
    compare_all_copies<samples::pipeline<2, 4>>(2, "pipeline");
    compare_all_copies<samples::roles_and_meshes>(4, "roles_and_meshes");
    compare_all_copies<samples::shaped<0>>(2, "nothing");
    compare_all_copies<samples::shaped<1001>>(2, "an odd number");
}
TEST_CASE("copies over other roles on the simulated GPU, and roles on ranks by links") {
    const simulated::scope simulation;
    compare_uneven<samples::ring_of_three>(3, "ring_of_three");
    compare_uneven<samples::there_and_back>(3, "there_and_back");
    compare_uneven<samples::read_twice>(3, "read_twice");
    compare_uneven<samples::pipeline<4, 3>>(4, "pipeline");
    // From the last to the first of three in a row: over the second.
    CHECK(dv::plan::planned<samples::ring_of_three, relayed>::program.tasks.size() ==
          dv::plan::planned<samples::ring_of_three, samples::copied>::program.tasks.size() + 1);
}
TEST_CASE("collectives by copy engines on the simulated GPU") {
    const simulated::scope simulation;
    compare_all_copies<samples::sums>(4, "sums");
    compare_all_copies<samples::along_an_axis>(2, "along_an_axis");
    compare_all_copies<samples::split_chain<4>>(2, "split_chain");
    compare_all_copies<samples::split_layers<2>>(2, "split_layers");
    compare_all_copies<samples::split_pair<2>>(4, "split_pair");
    compare_all_copies<samples::split_experts<2>>(2, "split_experts");
    compare_all_copies<samples::split_state<2>>(2, "split_state");
    compare_all_copies<samples::sharded_stream<dv::decompose>>(4, "sharded_stream");
    compare_all_copies<samples::sharded_update<dv::shard_update>>(2, "sharded_update");
    compare_all_copies<samples::one_group>(3, "one_group");
    compare_all_copies<samples::one_group>(1, "one_group on one rank");
    compare_all_copies<samples::descent>(2, "descent");
    compare_all_copies<samples::hosts_first>(4, "hosts_first");
    compare_all_copies<samples::hosts_last>(4, "hosts_last");
    compare_all_copies<samples::from_a_host>(4, "from_a_host");
}
TEST_CASE("NCCL is told of an arena where all ranks pass it alike") {
    const simulated::scope simulation;
    static std::atomic<int> registered = 0;
    static const auto before = dv::cuda::calls.comm_register;
    dv::cuda::calls.comm_register = [](ncclComm_t c, void* p, std::size_t bytes, void** handle) {
        ++registered;
        return before(c, p, bytes, handle);
    };
    const auto made = []<class G>(std::type_identity<G>, int ranks) {
        registered = 0;
        simulated::run(ranks, [](auto& rank) { dv::executor<G, samples::overlapped> step{rank}; });
        return registered.load();
    };
    // Two of the communicators join two of the three roles, one is the world's.
    CHECK(made(std::type_identity<samples::overlapping_collectives>{}, 3) == 2 + 2 + 3);
    CHECK(made(std::type_identity<samples::taken_twice>{}, 2) == 0);      // at unequal offsets
    CHECK(made(std::type_identity<samples::along_an_axis>{}, 2) == 0);    // pieces of an input go into arenas
    CHECK(made(std::type_identity<samples::channel_first>{}, 2) == 2);
}
// Of a sum over roles, one gives what the caller bound and the other what lies in its arena; of the other sums, of both everything
// lies in arenas, or nothing does.
struct given_from_outside
    : dv::graph<dv::input<samples::x, samples::vector>,
                dv::on<samples::left, dv::input<samples::a, samples::vector>, dv::let<samples::b, samples::add(samples::a, samples::x)>,
                       dv::let<samples::stage<0>, samples::copy(samples::d)>>,
                dv::on<samples::right, dv::let<samples::c, samples::add(samples::x, samples::x)>,
                       dv::let<samples::stage<1>, samples::copy(samples::d)>>,
                dv::let<samples::d, samples::all_reduce<samples::sum>(samples::a, samples::c)>,
                dv::output<samples::b, samples::stage<0>, samples::stage<1>>> {};
struct given_from_arenas : dv::graph<dv::input<samples::x, samples::vector>,
                                     dv::on<samples::left, dv::let<samples::b, samples::add(samples::x, samples::x)>,
                                            dv::let<samples::stage<0>, samples::copy(samples::d)>>,
                                     dv::on<samples::right, dv::let<samples::c, samples::add(samples::x, samples::x)>,
                                            dv::let<samples::stage<1>, samples::copy(samples::d)>>,
                                     dv::let<samples::d, samples::all_reduce<samples::sum>(samples::b, samples::c)>,
                                     dv::output<samples::stage<0>, samples::stage<1>>> {};

TEST_CASE("a communication of which some members lie in the arena passes no registered memory") {
    const simulated::scope simulation;
    const auto sum = [](auto&& step, float x) {
        step.bind(dv::name<samples::x>, std::vector<float>(8, x));
        if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(step)>::graph, given_from_outside>)
            step.bind(dv::name<samples::a>, std::vector<float>(8, 100.0f));
        const auto t = step.run();
        return step.is(dv::name<samples::left>) ? t.read(dv::name<samples::stage<0>>).host() : t.read(dv::name<samples::stage<1>>).host();
    };
    simulated::here().unlike.clear();
    simulated::run(2, [&](auto& rank) {
        const auto registered = [] {
            const std::lock_guard lock{simulated::here().mutex};
            return simulated::here().registered.size();
        };
        dv::executor<given_from_outside, samples::overlapped> some{rank};
        const std::vector<float> of_some = sum(some, 1.0f);
        const std::size_t none = registered();
        dv::executor<given_from_arenas, samples::overlapped> all{rank};
        const std::vector<float> of_all = sum(all, 1.0f);
        const std::lock_guard lock{support::report()};
        CHECK(of_some == std::vector<float>(8, 102.0f));
        CHECK(of_all == std::vector<float>(8, 4.0f));
        CHECK(none == 0);
        CHECK(registered() > 0);
    });
    CHECK(simulated::here().unlike.empty());
}
TEST_CASE("ranks know their roles, and axes the widths that they are given") {
    const simulated::scope simulation;
    simulated::run(4, [&](auto& rank) {
        dv::executor<samples::roles_and_meshes, samples::overlapped> step{rank, dv::width<samples::dp>(2)};
        const std::lock_guard lock{support::report()};
        CHECK(rank.is(dv::name<samples::left>) == (rank.index() < 2));
        CHECK(rank.is(dv::name<samples::right>) == (rank.index() >= 2));
        CHECK(step.is(dv::name<samples::right>) == (rank.index() >= 2));
    });
}
