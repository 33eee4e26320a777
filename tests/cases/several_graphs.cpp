// Several graphs on the same ranks: executors used in turn with runs in flight, and states that they share through a store.
#include "support/on_host.hpp"
#include "support/turns.hpp"

using namespace samples;
using support::expect;
using turns::floats, turns::gradient, turns::accumulate, turns::apply;

namespace {

floats ramp(float first) {
    floats v;
    for (int i = 0; i < 8; ++i) v.push_back(first + static_cast<float>(i));
    return v;
}
floats times(float f, floats v) {
    for (float& e : v) e *= f;
    return v;
}

// Prefill and decode: graphs of several sizes, chosen at run time, on one cache.
struct cache; struct tokens; struct answer;
using cached = dv::tensor<float, 8, 4>;
struct append {  // the mean of the tokens goes into the first row that is zero
    static constexpr dv::tensor_type result(dv::tensor_type c, dv::tensor_type) { return c; }
    template <class C, class T>
    static void launch(dv::host::stream, dv::inout<C> c, dv::in<T> t) {
        int row = 0;
        while (row < 8 && c[4 * row] != 0) ++row;
        float sum = 0;
        for (const float e : t) sum += e;
        for (int i = 0; i < 4; ++i) c[4 * row + i] = sum / static_cast<float>(T::size);
    }
};
template <int Batch>
struct decode : dv::graph<
    dv::input<tokens, dv::tensor<float, Batch>>,
    dv::on<left, dv::state<cache, cached, dv::from_store>, dv::update<cache, append(cache, tokens)>, dv::let<a, copy(cache)>>,
    dv::on<right, dv::let<answer, copy(a)>>,
    dv::output<answer>> {};
struct prefill : dv::graph<
    dv::input<tokens, dv::tensor<float, 16>>,
    dv::on<left, dv::state<cache, cached, zeros>, dv::update<cache, append(cache, tokens)>, dv::let<a, copy(cache)>>,
    dv::on<right, dv::let<answer, copy(a)>>,
    dv::output<answer>> {};

}  // namespace

TEST_CASE_TEMPLATE("graphs in turn on the same ranks, with runs in flight", Options, sequential, overlapped, several) {
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<crossing_pair, Options> first{rank};
        dv::executor<ping_pong, Options> second{rank};
        dv::executor<channel_first, Options> third{rank};
        std::vector<floats> given;
        std::vector<dv::ticket<crossing_pair>> of_first;
        std::vector<dv::ticket<ping_pong>> of_second;
        std::vector<dv::ticket<channel_first>> of_third;
        constexpr int ahead = std::is_same_v<Options, several> ? 3 : 1;
        for (int round = 0; round < 4; ++round) {
            of_first.clear();
            of_second.clear();
            of_third.clear();
            given.assign(ahead, {});
            for (int k = 0; k < ahead; ++k) {
                const floats v = given[static_cast<std::size_t>(k)] = ramp(static_cast<float>(10 * round + k + 1));
                of_first.push_back(first.bind(dv::name<x>, floats{v}).run());
                of_second.push_back(second.bind(dv::name<x>, floats{v}).run());
                if (round % 2 == 0) of_third.push_back(third.bind(dv::name<x>, floats{v}).run());
            }
            for (int k = ahead - 1; k >= 0; --k) {
                const auto at = static_cast<std::size_t>(k);
                floats c_wanted, d_wanted, second_wanted, third_wanted;
                for (const float v : given[at]) {
                    c_wanted.push_back(2 * v + v * v);
                    d_wanted.push_back(2 * v - v * v);
                    second_wanted.push_back(3 * v * v + 2 * v);
                    third_wanted.push_back(2 * v);
                }
                if (rank.is(dv::name<left>)) expect(of_first[at].read(dv::name<c>).host(), c_wanted, "c", rank.index(), round);
                else {
                    if (round % 2 == 0) expect(of_third[at].read(dv::name<c>).host(), third_wanted, "c of the third", rank.index(), round);
                    expect(of_second[at].read(dv::name<d>).host(), second_wanted, "d of the second", rank.index(), round);
                    expect(of_first[at].read(dv::name<d>).host(), d_wanted, "d", rank.index(), round);
                }
            }
        }
    });
}

TEST_CASE_TEMPLATE("accumulate and apply share gradients through a store", Options, sequential, overlapped, several) {
    for (const int positions : {1, 2, 3}) {
        dv::host::world{positions}.run([&](auto& rank) {
            dv::store store{rank};
            dv::executor<accumulate, Options> micro{rank, store};
            dv::executor<apply, Options> step{rank, store};
            float wanted = 0;
            for (int k = 0; k < 3; ++k) {
                float sum = 0;  // over micro-batches and positions, of the first element
                for (int m = 0; m < 4; ++m) {
                    micro.bind(dv::name<x>, ramp(static_cast<float>(3 * rank.index() + m + k)));
                    micro.run();
                    for (int l = 0; l < positions; ++l) sum += static_cast<float>(3 * l + m + k);
                }
                wanted -= sum / static_cast<float>(positions);
                floats all;
                for (int i = 0; i < 8; ++i) all.push_back(wanted - static_cast<float>(4 * (k + 1) * i));
                expect(step.run().read(dv::name<y>).host(), all, "weights", rank.index(), k);
                expect(store.template read<vector>(dv::name<gradient>), floats(8, 0.0f), "gradients", rank.index(), k);
            }
        });
    }
}

TEST_CASE("what runs between two runs does not part them") {
    dv::host::world{2}.run([](auto& rank) { turns::another_between_two_runs(rank); });
    dv::host::world{2}.run([](auto& rank) { turns::another_between_two_on_a_store(rank); });
}

TEST_CASE("graphs of several sizes share a cache") {
    dv::host::world{2}.run([](auto& rank) {
        dv::store store{rank};
        dv::executor<prefill> fill{rank, store};
        dv::executor<decode<1>> one{rank, store};
        dv::executor<decode<4>> four{rank, store};
        floats wanted(32, 0.0f);
        const auto check = [&](auto&& ticket, int row, float mean) {
            for (int i = 0; i < 4; ++i) wanted[static_cast<std::size_t>(4 * row + i)] = mean;
            if (rank.is(dv::name<right>)) expect(ticket.read(dv::name<answer>).host(), wanted, "answer", rank.index(), row);
            else ticket.wait();
        };
        check(fill.bind(dv::name<tokens>, times(0.5f, floats(16, 1.0f))).run(), 0, 0.5f);
        int row = 1;
        for (const int batch : {1, 4, 4, 1, 4}) {  // chosen at run time
            if (batch == 1) check(one.bind(dv::name<tokens>, floats{static_cast<float>(row)}).run(), row, static_cast<float>(row));
            else check(four.bind(dv::name<tokens>, floats{1, 2, 3, 4}).run(), row, 2.5f);
            ++row;
        }
    });
}
