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

// What one rank reads of a case: played on two worlds, the same bytes.
template <class G, class O, int Ahead>
struct of_graph {
    template <class Rank, class... Extra>
    static support::outputs play(Rank& rank, Extra... extra) { return support::exercise<G, O>(rank, 5, Ahead, extra...); }
};
struct two_graphs {
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

// visit(name, case) for all of them; `one_host`: also where copy engines are asked for, which do not reach another host.
template <class G, class Visit>
void ways(const char* name, Visit visit, bool one_host) {
    visit(name, of_graph<G, sequential, 1>{});
    visit(name, of_graph<G, overlapped, 1>{});
    if (one_host) visit(name, of_graph<G, several_copied, 3>{});
}
template <class Visit>
void all(Visit visit, bool one_host = true) {
    ways<three_senders>("three_senders", visit, one_host);  // comes first: its products load kernels while others communicate
    ways<with_positions<crossing_pair>>("crossing_pair", visit, one_host);
    ways<with_positions<ping_pong>>("ping_pong", visit, one_host);
    ways<with_fourth<ring_of_three>>("ring_of_three", visit, one_host);
    ways<with_fourth<there_and_back>>("there_and_back", visit, one_host);
    ways<with_fourth<read_twice>>("read_twice", visit, one_host);
    ways<with_positions<channel_first>>("channel_first", visit, one_host);
    ways<with_positions<collective_first>>("collective_first", visit, one_host);
    ways<with_fourth<overlapping_collectives>>("overlapping_collectives", visit, one_host);
    ways<pipeline<4, 8>>("pipeline", visit, one_host);
    visit("pipeline, booked", of_graph<pipeline<4, 8>, several_booked, 3>{});
    ways<with_positions<pipeline<2, 2>>>("two stages, two micro-batches", visit, one_host);
    ways<with_positions<counter>>("counter", visit, one_host);
    ways<sums>("sums", visit, one_host);
    visit("sums, booked", of_graph<sums, booked, 1>{});
    ways<permuted>("permuted", visit, one_host);
    ways<with_positions<shaped<0>>>("no element", visit, one_host);
    ways<with_positions<shaped<1>>>("one element", visit, one_host);
    ways<with_positions<shaped<1001>>>("an odd number of elements", visit, one_host);
    ways<roles_and_meshes>("roles_and_meshes", visit, one_host);
    ways<dv::single_rank<with_positions<crossing_pair>>>("single_rank", visit, one_host);
    ways<descent>("descent", visit, one_host);
    ways<with_positions<through_host>>("through_host", visit, one_host);
    ways<one_group>("one_group", visit, one_host);
    ways<with_positions<blocks_across>>("blocks_across", visit, one_host);
    ways<split_pair<2>>("split_pair", visit, one_host);
    ways<split_experts_of<2, ranks>>("split_experts", visit, one_host);
    if (one_host) ways<with_positions<sent_apart>>("sent_apart", visit, true);  // its statements ask for copy engines
    ways<with_fourth<split_across<4>>>("split_across", visit, one_host);
    ways<sharded_stream<dv::decompose>>("sharded_stream", visit, one_host);
    visit("two graphs, one state", two_graphs{});
}

}  // namespace cases
