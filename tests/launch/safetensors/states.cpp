// Files of states under executors on host threads: what the graph says of axes and replicas is in the shards; training goes on as if it had
// not stopped, on another number of ranks too; a save waits for runs, and refuses states that an aborted one has lost.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/launch/safetensors/states.hpp>
#include <dovetail/ops/ops.hpp>

#include "support/expect.hpp"
#include "support/state_files.hpp"

#include <optional>
#include <thread>

namespace dv = dovetail;
using namespace std::chrono_literals;
using support::has;
using support::message;

namespace {
namespace app {
using namespace dv::ops;
struct tp;
struct x;
struct y;
struct weights;
struct bias;
struct count;
struct out;

using floats = std::vector<float>;
using vector = dv::tensor<float, 4>;
template <int Width>
using rows = dv::tensor<float, 12 / Width, 3>;

template <int Width>
struct training : dv::graph<dv::mesh<dv::axis<tp>>, dv::input<x, rows<Width>>, dv::input<y, vector, dv::replicated<tp>>,
                            dv::state<weights, rows<Width>, zeros>, dv::state<bias, vector, zeros, dv::replicated<tp>>,
                            dv::update<weights, add(weights, x)>, dv::update<bias, add(bias, y)>> {};
template <int Width>
struct inference : dv::graph<dv::mesh<dv::axis<tp>>, dv::state<weights, rows<Width>, dv::from_store>,
                             dv::state<bias, vector, dv::from_store, dv::replicated<tp>>, dv::let<out, add(weights, weights)>,
                             dv::let<count, add(bias, bias)>, dv::output<out, count>> {};

struct add_slowly {
    static constexpr dv::tensor_type result(dv::tensor_type t, dv::tensor_type) { return t; }
    static constexpr int in_place = 0;
    template <class X>
    static void launch(dv::host::stream, dv::inout<X> t, dv::in<X> by) {
        std::this_thread::sleep_for(30ms);
        if (by[0] < 0) throw std::runtime_error{"a negative step"};
        for (std::int64_t i = 0; i < X::size; ++i) t[i] += by[i];
    }
};
struct slow : dv::graph<dv::input<y, vector>, dv::state<bias, vector, zeros>, dv::update<bias, add_slowly(bias, y)>> {};
}  // namespace app

// Steps of the training on `Width` ranks from `paths`, if there are any; each rank adds to row r the number r. Saves to PREFIX0 and so on.
template <int Width>
std::vector<std::string> train(const std::string& prefix, const std::vector<std::string>& paths, int steps) {
    std::vector<std::string> saved(Width);
    dv::host::world{Width}.run([&](auto& rank) {
        const int index = rank.index();
        dv::store store{rank};
        dv::executor<app::training<Width>> step{rank, store};
        if (!paths.empty()) store.load(paths, dv::along<app::tp>);
        app::floats values;
        for (int r = index * 12 / Width; r < (index + 1) * 12 / Width; ++r) values.insert(values.end(), 3, static_cast<float>(r));
        step.bind(dv::name<app::x>, values).bind(dv::name<app::y>, app::floats(4, 1.0f));
        for (int i = 0; i < steps; ++i) step.run();
        saved[static_cast<std::size_t>(index)] = prefix + std::to_string(index);
        store.save(saved[static_cast<std::size_t>(index)], dv::along<app::tp>);
    });
    return saved;
}

}  // namespace

TEST_CASE("training stops and goes on, on four ranks, two and three, and the result is read by inference on one") {
    const support::folder in;
    const auto four = train<4>(in / "four", {}, 3);
    has(support::contents(four[1]), R"("dovetail.axis":"tp","dovetail.index":"1","dovetail.width":"4","dovetail.replicated":"bias"})");
    const auto two = train<2>(in / "two", four, 2);
    const auto three = train<3>(in / "three", two, 5);
    dv::gather_shards(three, in / "whole");
    const auto check = [](auto& rank, dv::store& store, auto& step, int width) {
        const auto t = step.run();
        app::floats wanted;
        for (int r = rank.index() * 12 / width; r < (rank.index() + 1) * 12 / width; ++r)
            wanted.insert(wanted.end(), 3, 20.0f * static_cast<float>(r));
        support::expect(t.read(dv::name<app::out>).host(), wanted, "rows", rank.index(), 0);
        support::expect(t.read(dv::name<app::count>).host(), app::floats(4, 20.0f), "bias", rank.index(), 0);
        support::expect(store.read<app::vector>(dv::name<app::bias>), app::floats(4, 10.0f), "the store", rank.index(), 0);
    };
    dv::host::world{1}.run([&](auto& rank) {
        dv::store store{rank};
        dv::executor<app::inference<1>> step{rank, store};
        has(message([&] { step.run(); }), "is to come from the store, which does not hold it: write or load it");
        store.load(in / "whole");
        check(rank, store, step, 1);
    });
    dv::host::world{2}.run([&](auto& rank) {
        dv::store store{rank};
        dv::executor<app::inference<2>> step{rank, store};
        store.load({in / "whole"}, dv::along<app::tp>);
        check(rank, store, step, 2);
        has(message([&] { store.load(in / "whole"); }), "tensor `weights` is float[12, 3] in it, and the store has float[6, 3]");
    });
}

TEST_CASE("a save waits for the runs issued before, and is the only user of the store") {
    const support::folder in;
    dv::host::world{1}.run([&](auto& rank) {
        dv::store store{rank};
        dv::executor<app::slow> step{rank, store};
        step.bind(dv::name<app::y>, app::floats(4, 1.0f));
        for (int i = 0; i < 3; ++i) step.run();
        std::thread saving{[&] { store.save(in / "file"); }};
        std::this_thread::sleep_for(5ms);
        has(message([&] { store.save(in / "another"); }), "the store of rank 0 is used by two threads at once");
        has(message([&] { step.run(); }), "the store of rank 0 is used by two threads at once");
        saving.join();
        step.run();
        store.load(in / "file");
        CHECK(store.read<app::vector>(dv::name<app::bias>) == app::floats(4, 3.0f));
        step.run();
        CHECK(step.read_state(dv::name<app::bias>) == app::floats(4, 4.0f));
    });
}

TEST_CASE("states that an aborted run has lost are not saved, and come back with the file") {
    const support::folder in;
    const std::string path = in / "file";
    std::optional<dv::store> kept;
    dv::host::world world{1};
    const std::string thrown = message([&] {
        world.run([&](auto& rank) {
            kept.emplace(rank);
            dv::executor<app::slow> step{rank, *kept};
            step.bind(dv::name<app::y>, app::floats(4, 1.0f));
            step.run();
            kept->save(path);
            step.bind(dv::name<app::y>, app::floats(4, -1.0f));
            step.run().wait();
        });
    });
    has(thrown, "a negative step");
    has(message([&] { kept->save(path); }), "state `bias` is lost: run 1 of `slow` did not end");
    kept->load(path);
    CHECK(kept->read<app::vector>(dv::name<app::bias>) == app::floats(4, 1.0f));
}

TEST_CASE("a store that goes on in a larger world is a shard of that one") {
    const support::folder in;
    std::optional<dv::store> kept;
    for (const int width : {1, 2})
        dv::host::world{width}.run([&](auto& rank) {
            std::optional<dv::store> own;
            std::optional<dv::store>& store = rank.index() == 0 ? kept : own;
            if (!store) store.emplace(rank);
            dv::executor<app::training<2>> step{rank, *store};
            step.bind(dv::name<app::x>, app::floats(18, 1.0f)).bind(dv::name<app::y>, app::floats(4, 1.0f));
            step.run();
            store->save(in / std::to_string(rank.index()), dv::along<app::tp>);
        });
    has(support::contents(in / "0"), R"("dovetail.index":"0","dovetail.width":"2")");
    CHECK(kept->read<app::vector>(dv::name<app::bias>) == app::floats(4, 2.0f));
    kept->save(in / "0", dv::along<app::tp>);
}

namespace {
struct shared_weight;
using four = dv::tensor<float, 4>;
struct same_everywhere : dv::graph<dv::mesh<dv::axis<app::tp>>, dv::input<app::x, four, dv::replicated<app::tp>>,
                                   dv::state<shared_weight, four, dv::ops::zeros, dv::replicated<app::tp>>,
                                   dv::update<shared_weight, dv::ops::add(shared_weight, app::x)>> {};
struct each_its_own : dv::graph<dv::mesh<dv::axis<app::tp>>, dv::input<app::x, four>, dv::state<shared_weight, four, dv::from_store>,
                                dv::update<shared_weight, dv::ops::add(shared_weight, app::x)>> {};
}  // namespace

TEST_CASE("a state that one graph keeps equal and another lets differ is refused, whichever comes first") {
    std::string said[2][2];
    dv::host::world{2}.run([&](auto& rank) {
        dv::store store{rank}, other{rank};
        dv::executor<same_everywhere> first{rank, store};
        said[0][rank.index()] = message([&] { dv::executor<each_its_own>{rank, store}; });
        dv::executor<same_everywhere> again{rank, store};  // what was refused has left nothing behind
        dv::executor<each_its_own> alone{rank, other};
        said[1][rank.index()] = message([&] { dv::executor<same_everywhere>{rank, other}; });
    });
    for (int rank = 0; rank < 2; ++rank)
        for (const auto& of_order : said)
            has(of_order[rank], "rank " + std::to_string(rank) + ": one graph declares state `shared_weight` to be equal to that of " +
                                    "rank " + std::to_string(1 - rank) + " (`replicated`), and another updates it without that");
    dv::host::world{1}.run([&](auto& rank) {  // along an axis of one rank nothing differs
        dv::store store{rank};
        dv::executor<same_everywhere> first{rank, store};
        dv::executor<each_its_own> second{rank, store};
    });
}

namespace {
struct dp;
template <class Mesh>
using of_groups = dv::graph<Mesh, dv::input<app::x, four, dv::replicated<dp>>,
                            dv::state<shared_weight, four, dv::ops::zeros, dv::replicated<dp>>,
                            dv::update<shared_weight, dv::ops::add(shared_weight, app::x)>>;
struct rows_of_two : of_groups<dv::mesh<dv::axis<dp, 2>, dv::axis<app::tp, 2>>> {};
struct columns_of_two : of_groups<dv::mesh<dv::axis<app::tp, 2>, dv::axis<dp, 2>>> {};
struct all_four : of_groups<dv::mesh<dv::axis<dp, 4>>> {};
struct reads_of_two : dv::graph<dv::mesh<dv::axis<dp, 2>, dv::axis<app::tp, 2>>, dv::input<app::x, four>,
                                dv::state<shared_weight, four, dv::from_store, dv::replicated<dp>>,
                                dv::let<app::y, dv::ops::add(shared_weight, app::x)>, dv::output<app::y>> {};
}  // namespace

TEST_CASE("graphs of a store may declare a state equal on other ranks, as long as every update keeps it so there") {
    std::string said[4];
    dv::host::world{4}.run([&](auto& rank) {
        dv::store store{rank}, other{rank};
        dv::executor<all_four> first{rank, store};
        dv::executor<reads_of_two> second{rank, store};  // equal on all four, and so on each two
        dv::executor<rows_of_two> third{rank, other};
        said[rank.index()] = message([&] { dv::executor<columns_of_two>{rank, other}; });  // one axis, and other ranks along it
    });
    has(said[0], "rank 0: one graph declares state `shared_weight` to be equal to that of rank 1 (`replicated`), and another updates it");
    has(said[3], "rank 3: one graph declares state `shared_weight` to be equal to that of rank 1 (`replicated`), and another updates it");
}

namespace {
struct other_weight;
struct reads_equal : dv::graph<dv::mesh<dv::axis<app::tp>>, dv::state<shared_weight, four, dv::ops::zeros, dv::replicated<app::tp>>,
                               dv::let<app::y, dv::ops::add(shared_weight, shared_weight)>, dv::output<app::y>> {};
struct reads_another : dv::graph<dv::mesh<dv::axis<app::tp>>, dv::state<other_weight, four, dv::ops::zeros, dv::replicated<app::tp>>,
                                 dv::let<app::y, dv::ops::add(other_weight, other_weight)>, dv::output<app::y>> {};
struct updates_both : dv::graph<dv::mesh<dv::axis<app::tp>>, dv::input<app::x, four>, dv::state<shared_weight, four, dv::ops::zeros>,
                                dv::state<other_weight, four, dv::ops::zeros>,
                                dv::update<shared_weight, dv::ops::add(shared_weight, app::x)>,
                                dv::update<other_weight, dv::ops::add(other_weight, app::x)>> {};
}  // namespace

TEST_CASE("what graphs say of a state is kept by its store: in the next run of as many ranks, and until the program writes it") {
    constexpr const char* refused = "one graph declares state `shared_weight` to be equal to that of rank";
    std::optional<dv::store> stores[2];
    std::string said[2], written[2];
    dv::host::world two{2};
    two.run([&](auto& rank) {
        dv::executor<each_its_own> step{rank, stores[rank.index()].emplace(rank)};
    });
    two.run([&](auto& rank) { said[rank.index()] = message([&] { dv::executor<reads_equal>{rank, *stores[rank.index()]}; }); });
    two.run([&](auto& rank) {
        dv::store& store = *stores[rank.index()];
        {
            dv::executor<each_its_own> open{rank, store};
            store.write<four>(dv::name<shared_weight>, app::floats(4, 1.0f));
            written[rank.index()] = message([&] { dv::executor<reads_equal>{rank, store}; });  // the open one can still run
        }
        store.write<four>(dv::name<shared_weight>, app::floats(4, 2.0f));
        dv::executor<reads_equal> step{rank, store};
        CHECK(step.run().read(dv::name<app::y>).host() == app::floats(4, 4.0f));
    });
    for (int rank = 0; rank < 2; ++rank) has(said[rank], refused), has(written[rank], refused);
}

TEST_CASE("a store that goes on among other ranks asks the graphs there") {
    const support::folder in;
    std::optional<dv::store> kept;
    dv::host::world{1}.run([&](auto& rank) { dv::executor<reads_equal> step{rank, kept.emplace(rank)}; });
    dv::host::world{2}.run([&](auto& rank) {
        std::optional<dv::store> own;
        dv::store& store = rank.index() == 0 ? *kept : own.emplace(rank);
        if (rank.index() == 1) store.write<four>(dv::name<shared_weight>, app::floats(4, 0.0f));
        dv::executor<each_its_own> step{rank, store};
        step.bind(dv::name<app::x>, app::floats(4, static_cast<float>(rank.index()))).run().wait();
        store.save(in / std::to_string(rank.index()), dv::along<app::tp>);
    });
    for (const char* shard : {"0", "1"}) has(support::contents(in / shard), R"("dovetail.replicated":"")");
}

TEST_CASE("a refused executor says nothing to the store, of none of its states") {
    dv::host::world{2}.run([](auto& rank) {
        dv::store store{rank};
        dv::executor<reads_another> first{rank, store};
        has(message([&] { dv::executor<updates_both>{rank, store}; }), "declares state `other_weight` to be equal");
        CHECK(message([&] { dv::executor<reads_equal>{rank, store}; }) == "nothing thrown");
    });
}
