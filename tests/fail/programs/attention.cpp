// Attention with a cache of keys and values: prefill writes it, decode reads and extends it, in executors that share a store.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cmath>

namespace dv = dovetail;

namespace chat {
using namespace dv::ops;

// Every row to a distribution.
struct softmax_rows {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.rank == 2 ? x : dv::tensor_type{}; }
    static constexpr dv::cost cost(dv::tensor_type x) { return dv::bytes_moved(2 * x.bytes()); }
    static constexpr int in_place = 0;
    template <class X>
    static void launch(dv::host::stream, dv::in<X> x, dv::out<X> y) {
        for (std::int64_t i = 0; i < X::size; ++i) y[i] = std::exp(x[i]);
    }
};
// The cache with the new row at its position.
struct append {
    static constexpr dv::tensor_type result(dv::tensor_type cache, dv::tensor_type row, dv::tensor_type at) {
        return cache.extent[1] == row.extent[1] && at.rank == 0 ? cache : dv::tensor_type{};
    }
    template <class C, class R, class P>
    static void launch(dv::host::stream, dv::inout<C> cache, dv::in<R> row, dv::in<P> at) {
        for (std::int64_t i = 0; i < R::size; ++i) cache[*at.data() * R::size + i] = row[i];
    }
};

struct prompt;
struct token;
struct position;
struct keys;
struct cached_values;
struct query_weight;
struct key_weight;
struct value_weight;
struct query;
struct scores;
struct attended;
struct next;

constexpr int context = 128;
constexpr int features = 64;
using cache = dv::tensor<float, context, features>;
using weights = dv::tensor<float, features, features>;

using shared = dv::group<
    dv::state<key_weight, weights, normal_init<1, 1, 8>>,
    dv::state<value_weight, weights, normal_init<2, 1, 8>>>;

struct prefill : dv::graph<
    dv::input<prompt, cache>,
    shared,
    dv::state<keys, cache>,
    dv::state<cached_values, cache>,
    dv::update<keys, matmul(prompt, key_weight)>,
    dv::update<cached_values, matmul(prompt, value_weight)>> {};

struct decode : dv::graph<
    dv::input<token, dv::tensor<float, 1, features>>,
    dv::input<position, dv::scalar<std::int32_t>>,
    shared,
    dv::state<query_weight, weights, normal_init<3, 1, 8>>,
    dv::state<keys, cache, dv::from_store>,
    dv::state<cached_values, cache, dv::from_store>,
    dv::update<keys, append(keys, matmul(token, key_weight), position)>,
    dv::update<cached_values, append(cached_values, matmul(token, value_weight), position)>,
    dv::let<query, matmul(token, query_weight)>,
    dv::let<scores, softmax_rows(matmul_nt(query, keys))>,
    dv::let<attended, matmul(scores, cached_values)>,
    dv::let<next, argmax(add(attended, token))>,
    dv::output<next, attended>> {};
}  // namespace chat

int main() {
    dv::host::world world{1};
    world.run([](auto& rank) {
        using namespace chat;
        dv::store store{rank};
        dv::executor<prefill> fill_cache{rank, store};
        dv::executor<decode> step{rank, store};
        fill_cache.bind(dv::name<prompt>, std::vector<float>(cache::size, 0.1f));
        fill_cache.run().wait();
        std::array<float, features> embedded{};
        for (int i = 0; i < 8; ++i) {
            step.bind(dv::name<token>, embedded).bind(dv::name<position>, std::int32_t{100 + i});
            const auto ticket = step.run();
            const int chosen = ticket.read(dv::name<next>)[0];
            embedded[static_cast<std::size_t>(chosen)] += 1.0f;
        }
        const auto first_key = step.read_state(dv::name<keys>)[0];
        step.write_state(dv::name<cached_values>, std::vector<float>(cache::size, first_key));
    });
}
