// Keys of a profile, by definition: equal work has equal keys in any graph and under any rewrite, and each fact of the work changes them.
#include <dovetail/cost/work_key.hpp>

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string_view>
#include <vector>

namespace dv = dovetail;
namespace cost_model = dovetail::cost_model;

namespace {

using namespace dv::ops;

struct x;
struct y;
struct z;
template <int>
struct v;
struct left;
struct right;
struct dp;

template <int N>
using rows_of = dv::tensor<float, N, 64>;

template <int>
struct numbered {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
};
template <int Flops, bool>
struct costly {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    static constexpr dv::cost cost(dv::tensor_type) { return dv::floating_operations(Flops); }
};

// Results of N elements.
template <int N, bool>
struct narrow {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t.with_extents(N); }
};
template <int N, bool>
struct widen : narrow<N, true> {};
template <int M, int N>
using two_results = dv::graph<dv::input<x, rows_of<8>>, dv::let<y, narrow<M, true>(x)>, dv::let<z, widen<N, true>(x)>, dv::output<y, z>>;
template <int M, int N>
constexpr bool differ_when_swapped =
    cost_model::graph_key(dv::plan::typed<two_results<M, N>>::value) != cost_model::graph_key(dv::plan::typed<two_results<N, M>>::value);

template <class G, class O = dv::options<>>
std::vector<std::uint64_t> keys_of() {
    using planned = dv::plan::planned<G, O>;
    cost_model::work_keys keys{planned::graph, planned::program, O::value};
    std::vector<std::uint64_t> all;
    for (const dv::ir::task& task : planned::program.tasks)
        if (task.kind != dv::op_kind::input) all.push_back(keys.of(task));
    return all;
}

// The key of one operation of x, which has N rows.
template <class Operation, int N = 512>
std::uint64_t key_of() {
    using graph = dv::graph<dv::input<x, rows_of<N>>, dv::let<y, Operation>, dv::output<y>>;
    return keys_of<graph>().at(0);
}
// The key of a communication of x.
template <class Operation, int N = 512, int Width = 4, dv::link Link = dv::link::local, class... Option>
std::uint64_t key_among() {
    using graph = dv::graph<dv::mesh<dv::axis<dp, Width, Link>>, dv::input<x, rows_of<N>>, dv::let<y, Operation>, dv::output<y>>;
    return keys_of<graph, dv::options<Option...>>().at(0);
}

// The part that is the same for any size.
template <class Operation, class Tensor, class... Axis>
std::uint64_t kind_of() {
    using planned = dv::plan::planned<dv::graph<dv::mesh<Axis...>, dv::input<x, Tensor>, dv::let<y, Operation>, dv::output<y>>>;
    cost_model::work_keys keys{planned::graph, planned::program, planned::options};
    for (const dv::ir::task& task : planned::program.tasks)
        if (task.kind != dv::op_kind::input) return keys.of(task) >> 32;
    return 0;
}

template <class T>
std::string_view plain_name() {
    const dv::letters name = cost_model::detail::plain_name(dv::tag_of<T>);
    return {name.first, static_cast<std::size_t>(name.size)};
}

}  // namespace

TEST_CASE("a plain name has neither namespaces nor template arguments, in every compiler's spelling") {
    CHECK(plain_name<x>() == "x");
    CHECK(plain_name<relu>() == "relu");
    CHECK(plain_name<fill<rows_of<2>>>() == "fill");
    CHECK(plain_name<costly<3, true>>() == "costly");
    for (const char* spelling : {"op", "app::op", "{anonymous}::op", "(anonymous namespace)::op", "<unnamed>::op<int>",
                                 "app::holder<app::other, 3>::op<a::b<c>>", "main()::op"}) {
        const dv::tag t{{spelling, static_cast<int>(std::string_view{spelling}.size())}};
        const dv::letters name = cost_model::detail::plain_name(t);
        CHECK(std::string_view{name.first, static_cast<std::size_t>(name.size)} == "op");
    }
}

TEST_CASE("the key of a computation: operation, declared cost, tensors") {
    const std::uint64_t keys[] = {key_of<relu(x)>(),        key_of<relu(x), 256>(),       key_of<copy(x)>(),           key_of<add(x, x)>(),
                                  key_of<numbered<1>(x)>(), key_of<costly<1, true>(x)>(), key_of<costly<2, true>(x)>()};
    CHECK(std::set<std::uint64_t>(std::begin(keys), std::end(keys)).size() == std::size(keys));
    // What compilers spell or count differently does not count.
    CHECK(key_of<numbered<1>(x)>() == key_of<numbered<2>(x)>());
    CHECK(key_of<costly<1, true>(x)>() == key_of<costly<1, false>(x)>());
    // Nor do the rest of the graph and the names of values.
    using other = dv::graph<dv::input<z, rows_of<512>>, dv::let<v<0>, relu(z)>, dv::let<v<1>, relu(v<0>)>, dv::output<v<1>>>;
    CHECK(keys_of<other>() == std::vector<std::uint64_t>(2, key_of<relu(x)>()));
}

TEST_CASE("the key of a communication: kind, transport, bytes, ranks") {
    using by_copy_engines = dv::collective_transport<dv::transport::peer_copy>;
    const std::uint64_t keys[] = {key_among<all_gather<dp>(x)>(),
                                  key_among<all_to_all<dp>(x)>(),
                                  key_among<all_gather<dp>(x), 256>(),
                                  key_among<all_gather<dp>(x), 512, 2>(),
                                  key_among<all_gather<dp>(x), 512, 4, dv::link::network>(),
                                  key_among<all_gather<dp>(x), 512, 4, dv::link::local, by_copy_engines>()};
    CHECK(std::set<std::uint64_t>(std::begin(keys), std::end(keys)).size() == std::size(keys));
    // What a rank reduces for itself in the memory of all blocks depends on how many they are.
    const auto of_reduction = []<int Width>(std::integral_constant<int, Width>) {
        using mesh = dv::mesh<dv::axis<dp, Width>>;
        using graph = dv::graph<mesh, dv::input<x, rows_of<512>>, dv::let<y, all_reduce<sum, dp>(x)>, dv::output<y>>;
        return keys_of<graph, dv::options<by_copy_engines>>().at(1);
    };
    CHECK(of_reduction(std::integral_constant<int, 2>{}) != of_reduction(std::integral_constant<int, 4>{}));
    // The width of an open axis is the one that is assumed.
    CHECK(key_among<all_reduce<sum, dp>(x), 512, 0, dv::link::local, dv::assumed_width<2>>() ==
          key_among<all_reduce<sum, dp>(x), 512, 2>());
    CHECK(key_among<all_reduce<sum, dp>(x), 512, 0>() == key_among<all_reduce<sum, dp>(x), 512, 4>());
}

TEST_CASE("the upper half of a key: operation and elements, or kind, transport and ranks") {
    using four = dv::axis<dp, 4>;
    using two = dv::axis<dp, 2>;
    using large = dv::tensor<float, 512, 8>;
    using small = dv::tensor<float, 16>;
    using halves = dv::tensor<dv::half, 512, 8>;
    CHECK(kind_of<relu(x), large>() == kind_of<relu(x), small>());
    CHECK(kind_of<costly<1, true>(x), large>() == kind_of<costly<2, true>(x), large>());
    CHECK(kind_of<all_reduce<sum, dp>(x), large, four>() == kind_of<all_reduce<sum, dp>(x), small, four>());
    const std::uint64_t kinds[] = {kind_of<relu(x), large>(),
                                   kind_of<relu(x), halves>(),
                                   kind_of<copy(x), large>(),
                                   kind_of<add(x, x), large>(),
                                   kind_of<all_reduce<sum, dp>(x), large, four>(),
                                   kind_of<all_reduce<sum, dp>(x), large, two>(),
                                   kind_of<all_to_all<dp>(x), large, four>()};
    CHECK(std::set<std::uint64_t>(std::begin(kinds), std::end(kinds)).size() == std::size(kinds));
}

TEST_CASE("a communication on one rank is another kind of work; the network between roles is none of a copy's") {
    using sent = dv::graph<dv::input<x, rows_of<8>>, dv::on<left, dv::let<y, relu(x)>>, dv::on<right, dv::let<z, relu(y)>>, dv::output<z>>;
    using network = dv::options<dv::link_between_roles<dv::link::network>>;
    const auto transfer_of = [](const std::vector<std::uint64_t>& keys) { return keys.at(1); };
    CHECK(transfer_of(keys_of<sent>()) != transfer_of(keys_of<dv::single_rank<sent>>()));
    CHECK(transfer_of(keys_of<sent>()) != transfer_of(keys_of<sent, network>()));
    using copied = dv::graph<dv::input<x, rows_of<8>>, dv::let<y, to_host(x)>, dv::output<y>>;
    CHECK(keys_of<copied>() == keys_of<copied, network>());
}

TEST_CASE("a group is its members in their order; a task of one member is that member") {
    using apart = dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<x, rows_of<512>>, dv::input<z, rows_of<8>>,
                            dv::let<v<0>, all_reduce<sum, dp>(x)>, dv::let<v<1>, all_reduce<sum, dp>(z)>, dv::output<v<0>, v<1>>>;
    using together =
        dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<x, rows_of<512>>, dv::input<z, rows_of<8>>,
                  dv::nccl_group<dv::let<v<0>, all_reduce<sum, dp>(x)>, dv::let<v<1>, all_reduce<sum, dp>(z)>>, dv::output<v<0>, v<1>>>;
    const auto each = keys_of<apart>();
    const auto in_group = keys_of<together>();
    REQUIRE(each.size() == 2);
    REQUIRE(in_group.size() == 1);
    CHECK(in_group[0] != each[0]);
    CHECK(in_group[0] != each[1]);
    using planned = dv::plan::planned<together>;
    cost_model::work_keys keys{planned::graph, planned::program, planned::options};
    const dv::ir::task& task = planned::program.tasks[planned::program.tasks.size() - 1];
    CHECK(std::set{keys.of_member(task, task.first_member), keys.of_member(task, task.first_member + 1)} == std::set{each[0], each[1]});
}

TEST_CASE("rewrites leave the keys of operations that they leave as they are") {
    using graph = dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<x, rows_of<512>>, dv::let<y, relu(x)>, dv::let<z, all_reduce<sum, dp>(y)>,
                            dv::output<z>>;
    const auto written = keys_of<graph>(), decomposed = keys_of<graph, dv::options<dv::rewritten_by<dv::rewrite::decompose>>>();
    REQUIRE(written.size() == 2);
    CHECK(decomposed.size() == 3);
    CHECK(decomposed[0] == written[0]);
}

TEST_CASE("the key of a graph: its operations and tensors, in any order and under any names") {
    using one = dv::graph<dv::input<x, rows_of<8>>, dv::let<y, relu(x)>, dv::let<z, copy(y)>, dv::output<z>>;
    using turned = dv::graph<dv::input<v<0>, rows_of<8>>, dv::let<v<2>, copy(v<1>)>, dv::let<v<1>, relu(v<0>)>, dv::output<v<2>>>;
    using larger = dv::graph<dv::input<x, rows_of<9>>, dv::let<y, relu(x)>, dv::let<z, copy(y)>, dv::output<z>>;
    using longer = dv::graph<dv::input<x, rows_of<8>>, dv::let<y, relu(x)>, dv::let<z, copy(copy(y))>, dv::output<z>>;
    using other = dv::graph<dv::input<x, rows_of<8>>, dv::let<y, relu(x)>, dv::let<z, relu(y)>, dv::output<z>>;
    using with_roles =
        dv::graph<dv::input<x, rows_of<8>>, dv::on<left, dv::let<y, relu(x)>>, dv::on<right, dv::let<z, copy(y)>>, dv::output<z>>;
    constexpr auto key = cost_model::graph_key(dv::plan::typed<one>::value);
    static_assert(key == cost_model::graph_key(dv::plan::typed<turned>::value));
    static_assert(key != cost_model::graph_key(dv::plan::typed<larger>::value));
    static_assert(key != cost_model::graph_key(dv::plan::typed<longer>::value));
    static_assert(key != cost_model::graph_key(dv::plan::typed<other>::value));
    static_assert(differ_when_swapped<8, 9> && differ_when_swapped<8, 10> && differ_when_swapped<8, 12>);
    static_assert(cost_model::graph_key(dv::plan::typed<with_roles>::value) ==
                  cost_model::graph_key(dv::plan::typed<dv::single_rank<with_roles>>::value));
}
