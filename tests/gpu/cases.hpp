// Cases that must work, each on four ranks: graphs of two roles have two positions, graphs of three roles get a fourth role, graphs of one
// role have as many positions as there are ranks. The caller provides a world of threads or of processes.
#pragma once

#include "support/exercise.hpp"
#include "support/samples.hpp"

namespace cases {

using namespace samples;

inline constexpr int ranks = 4;

template <class G, class = typename G::dovetail_graph>
struct with_positions;
template <class G, class... Statement>
struct with_positions<G, dv::graph<Statement...>> : dv::graph<dv::mesh<dv::axis<dp>>, Statement...> {};

struct fourth;
struct alone;
template <class G, class = typename G::dovetail_graph>
struct with_fourth;
template <class G, class... Statement>
struct with_fourth<G, dv::graph<Statement...>> : dv::graph<Statement..., dv::on<fourth, dv::let<alone, add(x, x)>>, dv::output<alone>> {};

// Three senders and one receiver, with products of cuBLAS.
template <int> struct sender;
template <int> struct block;
template <int> struct product;
using matrix = dv::tensor<dv::half, 128, 128>;
template <int I> using make = dv::on<sender<I>, dv::let<block<I>, fill<matrix>(x)>>;
template <int I> using use = dv::let<product<I>, matmul(block<I>, block<I>)>;
struct three_senders : dv::graph<
    dv::input<x, number>,
    dv::repeat<make, 3>,
    dv::on<right, dv::repeat<use, 3>>,
    dv::output<dv::all<3, product>>> {};

// One state under two graphs: one adds to it, the other shows it.
struct adds : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::state<count, vector, zeros>,
    dv::update<count, add(count, all_reduce<sum, dp>(x))>,
    dv::let<y, copy(count)>,
    dv::output<y>> {};
struct shows : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::state<count, vector, dv::from_store>,
    dv::let<total, all_reduce<sum, dp>(count)>,
    dv::output<total>> {};

// Whether a graph, or its options, ask for copy engines, which do not reach another host.
template <class G, class O> inline constexpr bool asks_for_copies = std::is_same_v<O, several_copied>;
template <class O> inline constexpr bool asks_for_copies<with_positions<sent_apart>, O> = true;

// What one rank reads of a case: played on two worlds, the same bytes.
template <class G, class O, int Ahead>
struct of_graph {
    static constexpr bool one_host = asks_for_copies<G, O>;
    template <class Rank, class... Extra>
    static support::outputs play(Rank& rank, Extra... extra) { return support::exercise<G, O>(rank, 5, Ahead, extra...); }
};
struct two_graphs {
    static constexpr bool one_host = false;
    template <class Rank, class... Extra>
    static support::outputs play(Rank& rank, Extra... extra) {
        dv::store shared{rank};
        dv::executor<adds, overlapped> one{rank, shared, std::chrono::seconds{60}, extra...};
        dv::executor<shows, overlapped> two{rank, shared, std::chrono::seconds{60}, extra...};
        support::outputs all;
        for (int k = 0; k < 5; ++k) {
            one.bind(dv::name<x>, std::vector<float>(8, static_cast<float>(k + rank.index())));
            const auto t = one.run();
            const auto u = two.run();
            for (const auto& values : {t.read(dv::name<y>).host(), u.read(dv::name<total>).host()}) {
                const auto* p = reinterpret_cast<const char*>(values.data());
                all.emplace_back(p, p + values.size() * sizeof(float));
            }
        }
        return all;
    }
};

// visit(name, case) for all of them.
template <class G, class Visit>
void ways(const char* name, Visit visit) {
    visit(name, of_graph<G, sequential, 1>{});
    visit(name, of_graph<G, overlapped, 1>{});
    visit(name, of_graph<G, several_copied, 3>{});
}
template <class Visit>
void all(Visit visit) {
    ways<three_senders>("three_senders", visit);  // comes first: its products load kernels while others communicate
    ways<with_positions<crossing_pair>>("crossing_pair", visit);
    ways<with_positions<ping_pong>>("ping_pong", visit);
    ways<with_fourth<ring_of_three>>("ring_of_three", visit);
    ways<with_fourth<there_and_back>>("there_and_back", visit);
    ways<with_fourth<read_twice>>("read_twice", visit);
    ways<with_positions<channel_first>>("channel_first", visit);
    ways<with_positions<collective_first>>("collective_first", visit);
    ways<with_fourth<overlapping_collectives>>("overlapping_collectives", visit);
    ways<pipeline<4, 8>>("pipeline", visit);
    visit("pipeline, booked", of_graph<pipeline<4, 8>, several_booked, 3>{});
    ways<with_positions<pipeline<2, 2>>>("two stages, two micro-batches", visit);
    ways<with_positions<counter>>("counter", visit);
    ways<sums>("sums", visit);
    visit("sums, booked", of_graph<sums, booked, 1>{});
    ways<permuted>("permuted", visit);
    ways<with_positions<shaped<0>>>("no element", visit);
    ways<with_positions<shaped<1>>>("one element", visit);
    ways<with_positions<shaped<1001>>>("an odd number of elements", visit);
    ways<roles_and_meshes>("roles_and_meshes", visit);
    ways<dv::single_rank<with_positions<crossing_pair>>>("single_rank", visit);
    ways<descent>("descent", visit);
    ways<with_positions<through_host>>("through_host", visit);
    ways<one_group>("one_group", visit);
    ways<with_positions<blocks_across>>("blocks_across", visit);
    ways<split_pair<2>>("split_pair", visit);
    ways<split_experts_of<2, ranks>>("split_experts", visit);
    ways<with_positions<sent_apart>>("sent_apart", visit);
    ways<with_fourth<split_across<4>>>("split_across", visit);
    ways<sharded_stream<dv::decompose>>("sharded_stream", visit);
    visit("two graphs, one state", two_graphs{});
}

}  // namespace cases
