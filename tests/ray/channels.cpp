// Ray's tests of channels between actors, and of the devices on which tensors lie.
#include "actors.hpp"
#include "order.hpp"

using namespace ray;

namespace {

constexpr auto bind_number = [](auto& step, int run) { step.bind(dv::name<in<0>>, static_cast<float>(run + 1)); };

// From the caller to an actor, and from actor to actor, a graph for each size.
template <int Size>
struct passes : dv::graph<
    dv::input<in<0>, dv::tensor<float, Size>>,
    dv::on<actor<0>, dv::let<v<0>, add(in<0>, in<0>)>, dv::let<out<0>, copy(in<0>)>>,
    dv::on<actor<1>, dv::let<out<1>, copy(v<0>)>>,
    dv::output<out<0>, out<1>>> {};
template <int Size>
void passes_size(bool to_actor, bool between) {
    const auto ramp = [](int run, int factor) {
        floats all;
        for (int i = 0; i < Size; ++i) all.push_back(static_cast<float>(factor * (10 * run + i)));
        return all;
    };
    run_overlapped<passes<Size>>(
        2, [&](auto& step, int run) { step.bind(dv::name<in<0>>, ramp(run, 1)); },
        [&](auto& step, auto& ticket, int rank, int run) {
            if (to_actor) ray::expect<actor<0>, out<0>>(step, ticket, rank, run, ramp(run, 1));
            if (between) ray::expect<actor<1>, out<1>>(step, ticket, rank, run, ramp(run, 2));
        });
}

// A value read by tasks of its own actor and of another one.
template <int Local, int Remote, class = std::make_integer_sequence<int, Local>, class = std::make_integer_sequence<int, Remote>>
struct with_readers;
template <int Local, int Remote, int... L, int... R>
struct with_readers<Local, Remote, std::integer_sequence<int, L...>, std::integer_sequence<int, R...>> : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, add(in<0>, in<0>)>, dv::let<w<0, L>, copy(v<0>)>...>,
    dv::on<actor<1>, dv::let<v<1>, copy(in<0>)>, dv::let<w<1, R>, add(v<0>, v<1>)>...>,
    dv::output<v<1>, w<0, L>..., w<1, R>...>> {};
template <int Local, int Remote>
void reads_on_both(int channels) {
    using G = with_readers<Local, Remote>;
    CHECK(transfers<G>() == channels);
    run_overlapped<G>(2, bind_number, [](auto& step, auto& ticket, int rank, int run) {
        const float x = static_cast<float>(run + 1);
        ray::expect<actor<0>, w<0, 0>>(step, ticket, rank, run, {2 * x});
        ray::expect<actor<0>, w<0, Local - 1>>(step, ticket, rank, run, {2 * x});
        ray::expect<actor<1>, v<1>>(step, ticket, rank, run, {x});
        if constexpr (Remote > 0) ray::expect<actor<1>, w<1, 0>>(step, ticket, rank, run, {3 * x});
    });
}

// What moves a value: nothing within a rank, copy engines where they are near, NCCL elsewhere.
struct sends : dv::graph<
    dv::input<in<0>, dv::tensor<float, 64>>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
    dv::on<actor<1>, dv::let<out<0>, copy(v<0>)>>,
    dv::output<out<0>>> {};
template <class G, class... Option>
std::string transfer() {
    std::string list;
    const auto& of = view<G, dv::options<samples::slow_links, Option...>>();
    for (const dv::ir::task& t : of.program.tasks)
        if (t.kind == dv::op_kind::transfer) {
            const char* between = t.moved_by == dv::transport::nccl ? "nccl" : "peer_copy";
            append(list, of.program.members[t.first_member].local ? "within the rank" : between);
        }
    return list;
}
template <class G, class... Option>
void sends_values(int ranks) {
    ray::run<G, dv::options<samples::slow_links, Option...>, 1>(
        ranks, 3, [](auto& step, int run) { step.bind(dv::name<in<0>>, floats(64, static_cast<float>(run))); },
        [](auto& step, auto& ticket, int rank, int run) {
            ray::expect<actor<1>, out<0>>(step, ticket, rank, run, floats(64, static_cast<float>(run)));
        });
}

// From the host to a device, to another one, and back to the host.
struct over_devices : dv::graph<
    dv::input<in<0>, number, dv::pinned>,
    dv::on<actor<0>, dv::let<v<0>, from_host(in<0>)>, dv::let<v<1>, add(v<0>, v<0>)>, dv::let<out<0>, to_host(v<1>)>>,
    dv::on<actor<1>, dv::let<v<2>, add(v<1>, v<1>)>, dv::let<out<1>, to_host(v<2>)>>,
    dv::output<out<0>, out<1>>> {};

}  // namespace

TEST_CASE("test_torch_tensor_p2p") {
    passes_size<10>(false, true);
    passes_size<20>(false, true);
    passes_size<5>(false, true);
}

TEST_CASE("test_p2p_basic") { passes_size<10>(false, true); }

TEST_CASE("test_torch_tensor_as_dag_input") {
    passes_size<10>(true, false);
    passes_size<20>(true, false);
    passes_size<5>(true, false);
}

TEST_CASE("test_torch_tensor_auto") {
    using near = dv::channel_transport<dv::transport::peer_copy>;
    using far = dv::channel_transport<dv::transport::nccl>;
    CHECK(transfer<dv::single_rank<sends>>() == "within the rank");
    CHECK(transfer<sends, near>() == "peer_copy");
    CHECK(transfer<sends, far>() == "nccl");
    sends_values<dv::single_rank<sends>>(1);
    sends_values<sends, near>(2);
    sends_values<sends, far>(2);
}

TEST_CASE("test_torch_tensor_nccl_static_shape") {
    // A value of another shape does not compile; memory of another size is refused, and the executor is as good as before.
    CHECK(refused<dv::error::shape_mismatch, dv::input<in<0>, dv::tensor<float, 10>>, dv::input<in<1>, dv::tensor<float, 20>>,
                  dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>, dv::on<actor<1>, dv::let<out<0>, add(v<0>, in<1>)>>, dv::output<out<0>>>);
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<passes<10>> step{rank};
        const std::string said = support::message([&] { step.bind(dv::name<in<0>>, floats(20)); });
        if (step.is(dv::name<actor<0>>)) support::has(said, "input `in<0>` is bound to 20 elements and has 10");
        step.bind(dv::name<in<0>>, floats(10, 3.0f));
        ray::expect<actor<1>, out<1>>(step, step.run(), rank.index(), 0, floats(10, 6.0f));
    });
}

TEST_CASE("test_torch_nccl_channel_with_local_reader") { reads_on_both<1, 1>(1); }
TEST_CASE("test_torch_nccl_channel_with_two_local_readers") { reads_on_both<2, 1>(1); }
TEST_CASE("test_torch_nccl_channel_with_all_local_readers") { reads_on_both<2, 0>(0); }

TEST_CASE("TestTensorTransport.test_compiled_graph_transport") {
    // An operation of the device does not read memory of the host.
    CHECK(refused<dv::error::host_value, dv::input<in<0>, number, dv::pinned>, dv::let<out<0>, add(in<0>, in<0>)>, dv::output<out<0>>>);

    run_overlapped<over_devices>(2, bind_number, [](auto& step, auto& ticket, int rank, int run) {
        const float x = static_cast<float>(run + 1);
        ray::expect<actor<0>, out<0>>(step, ticket, rank, run, {2 * x});
        ray::expect<actor<1>, out<1>>(step, ticket, rank, run, {4 * x});
    });
}
