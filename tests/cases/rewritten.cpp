// On the host backend, rewritten graphs have the values of the graphs as written: in blocks, decomposed, by a statement, by an option, and
// where the search decides.
#include "support/exercise.hpp"
#include "support/samples.hpp"

#include <dovetail/launch/host/world.hpp>

#include <doctest/doctest.h>

using namespace samples;

namespace {

// So slow that the search splits and decomposes the samples, small as they are.
struct slow_machine {
    static constexpr dv::machine_description description{.name = "slow_machine",
                                                         .half_flops = 1'000'000,
                                                         .float_flops = 1'000'000,
                                                         .double_flops = 1'000'000,
                                                         .memory_bandwidth = 1'000'000,
                                                         .launch_latency = 1'000,
                                                         .edge_latency = 1'000,
                                                         .link_latency = 1'000,
                                                         .link_bandwidth = 1'000'000,
                                                         .bus_bandwidth = 1'000'000};
};
template <class... Statement>
using bucket_of_any = dv::bucket<dv::automatic, Statement...>;
template <template <class...> class Bucket>
struct three_collectives
    : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>,
                Bucket<dv::let<a, all_reduce<sum, dp>(x)>, dv::let<b, all_reduce<maximum, dp>(x)>, dv::let<c, all_gather<dp>(x)>>,
                dv::output<a, b, c>> {};

using searched = dv::options<slow_machine, dv::rewritten_by<dv::rewrite::automatic>>;
using searched_ahead = dv::options<slow_machine, dv::rewritten_by<dv::rewrite::automatic>, dv::in_flight<3>>;

template <class G, class O>
std::vector<support::outputs> outputs_of(int ranks, int ahead = 1) {
    std::vector<support::outputs> all(static_cast<std::size_t>(ranks));
    dv::host::world{ranks}.run([&](auto& rank) { all[static_cast<std::size_t>(rank.index())] = support::exercise<G, O>(rank, 4, ahead); });
    return all;
}

template <template <int> class G, int Blocks>
void compare_in_blocks(int ranks, const char* what) {
    CAPTURE(std::string(what));
    CHECK(outputs_of<G<Blocks>, sequential>(ranks) == outputs_of<G<1>, sequential>(ranks));
    CHECK(outputs_of<G<Blocks>, overlapped>(ranks) == outputs_of<G<1>, sequential>(ranks));
    CHECK(outputs_of<G<Blocks>, several>(ranks, 3) == outputs_of<G<1>, several>(ranks, 3));
}

template <template <template <class...> class> class G>
void compare_decomposed(int ranks) {
    using written = G<dv::group>;
    using stated = G<dv::decompose>;
    const std::vector<support::outputs> wanted = outputs_of<written, sequential>(ranks);
    REQUIRE(wanted[0] != wanted[1]);  // some outputs differ between the ranks
    CHECK(outputs_of<stated, sequential>(ranks) == wanted);
    CHECK(outputs_of<stated, overlapped>(ranks) == wanted);
    CHECK(outputs_of<written, decomposed>(ranks) == wanted);
    CHECK(outputs_of<stated, several>(ranks, 3) == outputs_of<written, several>(ranks, 3));
}

template <class Searched, class Written = Searched>
void compare_searched(int ranks, const char* what) {
    CAPTURE(std::string(what));
    CHECK(outputs_of<Searched, searched>(ranks) == outputs_of<Written, sequential>(ranks));
    CHECK(outputs_of<Searched, searched_ahead>(ranks, 3) == outputs_of<Written, several>(ranks, 3));
}
// Two updates of one state, each in a shard_update of its own, and readers of both of its values.
template <template <class...> class Update>
struct updated_twice : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::state<weight, vector, zeros, dv::replicated<dp>>,
                                 Update<dv::update<weight, relu(all_reduce<sum, dp>(x))>>, dv::let<a, copy(weight)>,
                                 Update<dv::update<weight, relu(all_reduce<maximum, dp>(x))>>, dv::let<b, copy(weight)>,
                                 dv::output<a, b>> {};
template <class G>
constexpr int shards_of = [] {
    int n = 0;
    for (const dv::ir::symbol& s : dv::plan::planned<G, dv::options<>>::graph.symbols) n += s.shard ? 1 : 0;
    return n;
}();
template <class G>
constexpr int blocks_found = dv::plan::planned<G, searched>::options.rewrites.blocks;

}  // namespace

TEST_CASE("values in blocks are those of the same graph without the split") {
    compare_in_blocks<split_chain, 4>(2, "split_chain");
    compare_in_blocks<split_layers, 2>(2, "split_layers");
    compare_in_blocks<split_pair, 2>(4, "split_pair");
    compare_in_blocks<split_experts, 2>(2, "split_experts");
    compare_in_blocks<split_across, 4>(3, "split_across");
    compare_in_blocks<split_over_roles, 2>(3, "split_over_roles");
    compare_in_blocks<split_over_roles, 4>(3, "split_over_roles, 4 blocks");
    compare_in_blocks<split_state, 2>(2, "split_state");
    compare_in_blocks<split_groups, 2>(2, "split_groups");
}

TEST_CASE("a stream of shards has the values of the graph as written") { compare_decomposed<sharded_stream>(4); }
TEST_CASE("blocks that are decomposed have the values of the graph as written") { compare_decomposed<sharded_blocks>(2); }

TEST_CASE("updates on shards have the values of the graph as written, and leave states whole") {
    using written = sharded_update<dv::group>;
    using sharded = sharded_update<dv::shard_update>;
    const std::vector<support::outputs> wanted = outputs_of<written, sequential>(2);
    REQUIRE(wanted[0] == wanted[1]);
    CHECK(outputs_of<sharded, sequential>(2) == wanted);
    CHECK(outputs_of<sharded, overlapped>(2) == wanted);
    CHECK(outputs_of<sharded, several>(2, 3) == outputs_of<written, several>(2, 3));
    dv::host::world{2}.run([](auto& rank) {
        dv::store alone{rank}, shared{rank};
        dv::executor<written> whole{rank, alone}, first{rank, shared};
        dv::executor<sharded> second{rank, shared};
        for (int run = 0; run < 4; ++run) {
            const auto one = [&](auto& step) {
                step.bind(dv::name<x>, std::vector<float>(8, static_cast<float>(rank.index() + run)));
                step.bind(dv::name<rate>, 0.25f);
                step.run().wait();
            };
            one(whole);
            if (run % 2 == 0) one(second);
            else one(first);
            CHECK(shared.template read<vector>(dv::name<weight>) == alone.template read<vector>(dv::name<weight>));
        }
    });
}

TEST_CASE("the updates of a state on shards have one shard, which the store knows by the state's name") {
    static_assert(shards_of<updated_twice<dv::group>> == 0 && shards_of<updated_twice<dv::shard_update>> == 1);
    const std::vector<support::outputs> wanted = outputs_of<updated_twice<dv::group>, sequential>(2);
    CHECK(outputs_of<updated_twice<dv::shard_update>, sequential>(2) == wanted);
    CHECK(outputs_of<updated_twice<dv::shard_update>, overlapped>(2) == wanted);
    CHECK(outputs_of<updated_twice<dv::shard_update>, several>(2, 3) == outputs_of<updated_twice<dv::group>, several>(2, 3));
}

TEST_CASE("collectives in a bucket have the values of the graph as written") {
    const std::vector<support::outputs> wanted = outputs_of<three_collectives<dv::group>, sequential>(2);
    CHECK(outputs_of<three_collectives<bucket_of_any>, sequential>(2) == wanted);
    CHECK(outputs_of<three_collectives<bucket_of_any>, overlapped>(2) == wanted);
}

TEST_CASE("what the search over rewrites takes has the values of the graph as written") {
    REQUIRE(blocks_found<split_chain<dv::automatic>> > 1);
    REQUIRE(blocks_found<split_layers<dv::automatic>> > 1);
    REQUIRE(blocks_found<sharded_stream<dv::group>> > 1);
    compare_searched<split_chain<dv::automatic>, split_chain<1>>(2, "split_chain");
    compare_searched<split_layers<dv::automatic>, split_layers<1>>(2, "split_layers");
    compare_searched<split_pair<dv::automatic>, split_pair<1>>(4, "split_pair");
    compare_searched<split_over_roles<1>>(3, "split_over_roles");
    compare_searched<split_over_roles<dv::automatic>, split_over_roles<1>>(3, "split_over_roles, automatic");
    compare_searched<split_experts<dv::automatic>, split_experts<1>>(2, "split_experts");
    compare_searched<sharded_stream<dv::group>>(4, "sharded_stream");
    compare_searched<sharded_blocks<dv::group>>(2, "sharded_blocks");
}
