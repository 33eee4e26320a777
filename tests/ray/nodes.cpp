// Ray's tests over several nodes: one actor's value read by actors on others, in bunches, a pipeline, and large payloads. The plans are
// for roles on different nodes; ranks are threads. Several processes and hosts: tests/gpu/processes.cu and tests/gpu/launchers.
#include "actors.hpp"

using namespace ray;

namespace {

using over_network = dv::link_between_roles<dv::link::network>;
using one_ahead = dv::options<samples::slow_links, over_network>;
using several = dv::options<samples::slow_links, over_network, dv::in_flight<3>, dv::channel_slots<2>>;

template <class G>
void runs(int ranks, auto bind, auto check) {
    ray::run<G, one_ahead, 1>(ranks, 3, bind, check);
    ray::run<G, several, 3>(ranks, 6, bind, check);
}
constexpr auto bind_number = [](auto& step, int run) { step.bind(dv::name<in<0>>, static_cast<float>(run + 1)); };

// A value of actor 0, read by actors 1 to N, each of which adds it to what it has.
template <int I> using reader = stateful<I + 1, 0, inc<I + 1, out<I + 1>, v<0>>>;
template <int N, class = std::make_integer_sequence<int, N>>
struct readers;
template <int N, int... I>
struct readers<N, std::integer_sequence<int, I...>> : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<v<0>, add(in<0>, in<0>)>>,
    reader<I>...,
    dv::output<out<I + 1>...>> {};
template <int N>
void read_by() {
    runs<readers<N>>(N + 1, bind_number, [](auto& step, auto& ticket, int rank, int run) {
        // 2 + 4 + ... + 2 (run + 1)
        const float wanted = static_cast<float>((run + 1) * (run + 2));
        ray::expect<actor<1>, out<1>>(step, ticket, rank, run, {wanted});
        ray::expect<actor<N>, out<N>>(step, ticket, rank, run, {wanted});
    });
}

// Two actors on different nodes, one behind the other.
struct pipeline : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<v<0>, add(in<0>, in<0>)>>,
    dv::on<actor<1>, dv::let<out<0>, multiply(v<0>, v<0>)>>,
    dv::output<out<0>>> {};

// A payload of 16 MiB, four times what gRPC takes, to N readers.
using payload = dv::tensor<std::int32_t, (1 << 22)>;
std::vector<std::int32_t> numbers() {
    std::vector<std::int32_t> all(static_cast<std::size_t>(payload::size));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i * 2654435761u % 1000003u);
    return all;
}
template <int N, class = std::make_integer_sequence<int, N>>
struct large;
template <int N, int... I>
struct large<N, std::integer_sequence<int, I...>> : dv::graph<
    dv::input<in<0>, payload>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
    dv::on<actor<I + 1>, dv::let<out<I + 1>, copy(v<0>)>>...,
    dv::output<out<I + 1>...>> {};
template <int N>
void payload_to() {
    const auto given = numbers();
    ray::run<large<N>, one_ahead, 1>(
        N + 1, 2, [&](auto& step, int) { step.bind(dv::name<in<0>>, dv::borrowed(given)); },
        [&](auto& step, auto& ticket, int, int) {
            if (!step.is(dv::name<actor<N>>)) return ticket.wait();
            const auto got = ticket.read(dv::name<out<N>>).host();
            const std::lock_guard lock{support::report()};
            CHECK((got == given));
        });
}

}  // namespace

TEST_CASE("test_readers_on_different_nodes") { read_by<3>(); }
TEST_CASE("test_bunch_readers_on_different_nodes") { read_by<9>(); }
TEST_CASE("test_pp") {
    runs<pipeline>(2, bind_number, [](auto& step, auto& ticket, int rank, int run) {
        const float x = static_cast<float>(run + 1);
        ray::expect<actor<1>, out<0>>(step, ticket, rank, run, {4 * x * x});
    });
}
TEST_CASE("test_payload_large") { payload_to<1>(); }
TEST_CASE("test_multi_node_multi_reader_large_payload") { payload_to<3>(); }
