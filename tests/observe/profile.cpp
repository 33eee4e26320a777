// The profile of runs made by hand, whose times can be checked on paper; and of runs on the host, as the recorder writes it.
#include <doctest/doctest.h>

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/observe/profile.hpp>

#include "../support/observed.hpp"
#include "../support/samples.hpp"

#include <map>

namespace {

using namespace samples;
namespace observe = dv::observe;

// A computation beside a reduction, one behind it, and one more of the kind of the first.
struct products : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 2>>, dv::let<a, all_reduce<sum, dp>(x)>, dv::let<b, multiply(x, x)>,
                            dv::let<c, add(a, b)>, dv::let<d, multiply(c, c)>, dv::output<d>> {};
// Two reductions, whose copies are on two streams.
struct two_sums : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 2>>, dv::let<a, all_reduce<sum, dp>(x)>,
                            dv::let<b, all_reduce<sum, dp>(multiply(x, x))>, dv::output<a>, dv::output<b>> {};
// The same operations under another name, and another graph of the same name.
struct as_many_products : products {};
struct _3d : products {};
namespace elsewhere {
struct products : dv::graph<dv::input<x, vector>, dv::let<a, multiply(x, x)>, dv::output<a>> {};
}  // namespace elsewhere
// A graph with a width that the world gives.
struct open_product
    : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp>>, dv::let<a, all_reduce<sum, dp>(x)>, dv::let<b, add(a, x)>, dv::output<b>> {};

struct interval {
    std::int64_t start = 0, end = 0;  // nanoseconds
};
using times_by_label = std::map<std::string, interval>;

// A run of ranks, with a list of times for each; what is not in a list takes no time. One run begins a second behind the other.
template <class G, class O>
struct runs_of {
    observe::plan_view of{observe::tables_of<G, O>()};
    observe::traced runs{&of, {}, nullptr};
    std::int64_t apart = 1'000'000'000;

    void add(const std::vector<times_by_label>& ranks) {
        observe::measured_run run{static_cast<std::int64_t>(runs.runs.size()), {}};
        const std::int64_t begin = run.run * apart;
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            run.ranks.push_back({static_cast<int>(rank), 0});
            for (const dv::ir::step& s : of.steps(0)) {
                const auto found = ranks[rank].find(of.label(s.task));
                const interval t = found == ranks[rank].end() ? interval{} : found->second;
                run.ranks.back().times.push_back({begin + t.start, begin + t.end});
            }
        }
        runs.runs.push_back(observe::measured(of, run, runs.where));
    }
};

// The row of an operation, without its key and its estimate: "20000, {30000, 0, 0}, 4".
std::string row_of(const std::string& text, const std::string& label) {
    const std::size_t end = text.find("},  // " + label + "\n");
    if (end == std::string::npos) return "no row";
    const std::size_t key = text.rfind("{0x", end), estimate = text.rfind(", ", end);
    return text.substr(key + 21, estimate - key - 21);
}
// How many runs on all ranks a row is of.
int samples_of(const std::string& text, const std::string& label) {
    const std::string row = row_of(text, label);
    return row == "no row" ? 0 : std::stoi(row.substr(row.rfind(' ')));
}
int types_in(const std::string& text) {
    int n = 0;
    for (std::size_t at = text.find("struct "); at != std::string::npos; at = text.find("struct ", at + 1)) ++n;
    return n;
}

}  // namespace

TEST_CASE("medians alone and overlapped, in which what is done alone goes at its pace alone") {
    runs_of<products, overlapped> r;
    for (const std::int64_t time : {10, 30, 20}) r.add({{{"multiply b", {100, 100 + time}}, {"multiply d", {500, 520}}}});
    // 10 of 20 are done alone, the other 10 take 15.
    for (const std::int64_t from : {110, 109, 111})
        r.add({{{"multiply b", {100, from + 15}}, {"multiply d", {500, 520}}, {"all_reduce a", {from, from + 50}}}});
    const std::string text = observe::profile_text({r.runs});
    CHECK(row_of(text, "multiply b") == "20000, {0, 0, 30000}, 12");  // and d, which is of the same kind
    CHECK(row_of(text, "add c") == "1, {0, 0, 0}, 6");                // no time is as short as can be
}

TEST_CASE("a row ends with the estimate") {
    runs_of<products, overlapped> r;
    r.add({{{"all_reduce a", {100, 200}}}});
    const std::string text = observe::profile_text({r.runs});
    for (int v = 0; v < r.of.program.tasks.size(); ++v)
        if (r.of.program.tasks[v].kind == dv::op_kind::all_reduce)
            CHECK(text.find(", 1, " + std::to_string(r.of.costs[v].time) + "},  // all_reduce a\n") != std::string::npos);
    CHECK(text.find("all_reduce a") != std::string::npos);
}

TEST_CASE("an operation that never ran alone has its overlapped time, and zero for the other") {
    runs_of<products, overlapped> r;
    r.add({{{"all_reduce a", {100, 200}}, {"multiply b", {90, 150}}, {"add c", {210, 220}}, {"multiply d", {190, 250}}}});
    const std::string text = observe::profile_text({r.runs});
    CHECK(row_of(text, "multiply b") == "0, {0, 0, 60000}, 2");
    CHECK(row_of(text, "all_reduce a") == "0, {100000, 0, 0}, 1");
    CHECK(row_of(text, "add c") == "10000, {0, 0, 0}, 1");
}

TEST_CASE("what is beside another operation for a twentieth of its time is alone, for half of it overlapped, between them neither") {
    runs_of<products, overlapped> r;
    const times_by_label rest{{"multiply b", {1, 2}}, {"multiply d", {900, 901}}};
    times_by_label alone = rest, beside = rest;
    alone["add c"] = beside["add c"] = {500, 600};
    alone["all_reduce a"] = {595, 800};
    beside["all_reduce a"] = {594, 800};
    r.add({alone});
    CHECK(row_of(observe::profile_text({r.runs}), "add c") == "100000, {0, 0, 0}, 1");
    r.add({beside});
    CHECK(row_of(observe::profile_text({r.runs}), "add c") == "100000, {0, 0, 0}, 2");
    beside["all_reduce a"].start = 551;
    r.add({beside});
    CHECK(row_of(observe::profile_text({r.runs}), "add c") == "100000, {0, 0, 0}, 3");
    beside["all_reduce a"].start = 550;
    r.add({beside});
    CHECK(row_of(observe::profile_text({r.runs}), "add c") == "100000, {0, 0, 100000}, 4");
    r.runs.runs.clear();
    beside["all_reduce a"].start = 594;
    r.add({beside});
    CHECK(row_of(observe::profile_text({r.runs}), "add c") == "0, {0, 0, 100000}, 1");  // never alone: as it ran
}

TEST_CASE("a run beside the run before it is not alone") {
    runs_of<products, overlapped> r;
    r.apart = 0;
    r.add({{{"all_reduce a", {100, 200}}, {"multiply b", {10, 20}}, {"add c", {210, 220}}, {"multiply d", {230, 240}}}});
    r.add({{{"all_reduce a", {215, 400}}, {"multiply b", {405, 415}}, {"add c", {410, 420}}, {"multiply d", {430, 440}}}});
    const std::string text = observe::profile_text({r.runs});
    // The first addition had the reduction of the next run beside it for 5 of its 10 ns: as fast as alone.
    CHECK(row_of(text, "add c") == "10000, {0, 0, 10000}, 2");
}

TEST_CASE("compute and the other streams slow each other, and these not one another") {
    runs_of<products, overlapped> r;
    r.add({{{"input x", {100, 400}}, {"all_reduce a", {100, 200}}, {"multiply b", {300, 400}}, {"multiply d", {500, 600}}}});
    const std::string text = observe::profile_text({r.runs});
    CHECK(row_of(text, "all_reduce a") == "100000, {0, 0, 0}, 1");
    CHECK(row_of(text, "multiply b") == "100000, {0, 100000, 0}, 2");
}

TEST_CASE("kernels of NCCL and copy engines beside an operation are told apart, unless each is a quarter of the other") {
    runs_of<products, overlapped> r;
    const times_by_label rest{{"add c", {1, 2}}, {"multiply d", {2000, 2100}}};
    const auto beside = [&](std::int64_t time, interval reduction, interval copy) {
        times_by_label times = rest;
        times["multiply b"] = {200, 200 + time};
        times["all_reduce a"] = reduction;
        times["input x"] = copy;
        r.add({times});
        return row_of(observe::profile_text({r.runs}), "multiply b");
    };
    CHECK(beside(150, {200, 350}, {}) == "100000, {0, 0, 150000}, 2");
    CHECK(beside(110, {}, {200, 310}) == "100000, {0, 110000, 150000}, 4");
    CHECK(beside(900, {200, 1100}, {200, 500}) == "100000, {0, 110000, 150000}, 6");  // neither
    CHECK(beside(130, {200, 300}, {200, 225}) == "100000, {0, 110000, 150000}, 8");
    CHECK(beside(170, {200, 370}, {}) == "100000, {0, 110000, 150000}, 10");
}

TEST_CASE("what was faster with something beside it, because its stream was not idle before, would have been as fast alone") {
    runs_of<products, overlapped> r;
    const times_by_label rest{{"multiply d", {900, 1140}}, {"add c", {1, 2}}};
    times_by_label times = rest;
    times["all_reduce a"] = {100, 300};
    times["multiply b"] = {100, 300};
    r.add({times});
    CHECK(row_of(observe::profile_text({r.runs}), "multiply b") == "200000, {0, 0, 200000}, 2");
}

TEST_CASE("sums of what copy engines have brought are not what NCCL's kernels are to a computation") {
    runs_of<products, copied> r;
    r.add({{{"multiply b", {100, 250}}, {"local_reduce a", {100, 250}}, {"multiply d", {900, 1000}}, {"add c", {1, 2}}}});
    CHECK(row_of(observe::profile_text({r.runs}), "multiply b") == "100000, {150000, 0, 0}, 2");
}

TEST_CASE("a copy beside one of another stream has half of the link for so long, and its row is for all of the link") {
    runs_of<two_sums, copied> r;
    times_by_label times{{"put all_gather a", {100, 200}},   {"put all_to_all b", {150, 350}},  {"multiply b", {100, 200}},
                         {"put all_gather b", {1000, 1075}}, {"put all_to_all a", {1100, 1275}}, {"local_reduce a", {1400, 1500}},
                         {"local_reduce b", {1600, 1700}}};
    r.add({times});
    const auto row = [&](const std::string& label) { return row_of(observe::profile_text({r.runs}), label); };
    CHECK(row("put all_gather a") == "75000, {75000, 0, 0}, 2");  // 50 of 100 at half the speed
    CHECK(row("put all_to_all a") == "175000, {0, 0, 0}, 2");     // 50 of 200
    r.runs.runs.clear();
    times["local_reduce a"] = {200, 300};  // no copy: as it ran
    times["local_reduce b"] = {1600, 1650};
    times["input x"] = {1000, 1075};       // from the host
    r.add({times});
    CHECK(row("local_reduce a") == "100000, {0, 0, 0}, 2");
    CHECK(row("put all_gather a") == "75000, {75000, 0, 0}, 2");
}

TEST_CASE("an operation that was never alone, nor beside something for half of its time, has its time by what was beside it for longer") {
    const auto beside = [](interval reduction, interval copy) {
        runs_of<products, overlapped> r;
        const times_by_label rest{{"multiply b", {1, 2}}, {"multiply d", {2000, 2100}}, {"add c", {500, 600}}};
        times_by_label times = rest;
        times["all_reduce a"] = reduction;
        times["input x"] = copy;
        r.add({times});
        return row_of(observe::profile_text({r.runs}), "add c");
    };
    CHECK(beside({500, 530}, {}) == "0, {0, 0, 100000}, 1");
    CHECK(beside({}, {500, 530}) == "0, {0, 100000, 0}, 1");
    CHECK(beside({500, 520}, {550, 590}) == "0, {0, 100000, 0}, 1");
    CHECK(beside({500, 600}, {550, 590}) == "0, {0, 0, 100000}, 1");  // beside both
}

TEST_CASE("communication takes from the arrival of its last rank") {
    runs_of<products, overlapped> r;
    const times_by_label rest{{"multiply b", {300, 310}}, {"add c", {310, 320}}, {"multiply d", {320, 330}}};
    times_by_label early = rest, late = rest;
    early["all_reduce a"] = {100, 200};
    late["all_reduce a"] = {160, 202};
    r.add({early, late});
    CHECK(row_of(observe::profile_text({r.runs}), "all_reduce a") == "42000, {0, 0, 0}, 2");
}

TEST_CASE("a graph has one type under all its options, and another for another machine") {
    runs_of<products, overlapped> one;
    runs_of<products, sequential> two;
    runs_of<products, dv::options<>> three;
    const times_by_label times{{"all_reduce a", {10, 20}}, {"multiply b", {30, 40}}, {"add c", {50, 60}}, {"multiply d", {70, 80}}};
    for (int i = 0; i < 3; ++i) one.add({times});
    two.add({times});
    three.add({times});
    const std::string text = observe::profile_text({one.runs, two.runs, three.runs});
    CHECK(types_in(text) == 2);
    CHECK(text.find("struct products_profile {") != std::string::npos);
    CHECK(text.find("struct products_profile_2 {") != std::string::npos);
    CHECK(row_of(text, "multiply b") == "10000, {0, 0, 0}, 8");
    CHECK(text.find("table{\"products\", \"slow_links\", 0x") != std::string::npos);
    CHECK(text.find("table{\"products\", \"h200_nvlink\", 0x") != std::string::npos);
    CHECK(observe::profile_text({one.runs, two.runs, three.runs}) == text);
    CHECK(observe::profile_text({}) == "");
    CHECK(observe::profile_text({runs_of<products, overlapped>{}.runs}) == "");
}

TEST_CASE("runs planned by other figures of a machine are of another profile, which says by which") {
    runs_of<products, overlapped> one, two;
    one.add({{}});
    two.add({{}});
    two.of.s.machine.launch_latency += 1;
    const std::string text = observe::profile_text({one.runs, two.runs});
    CHECK(types_in(text) == 2);
    for (const auto* runs : {&one, &two})
        CHECK(text.find(", " + observe::detail::hexadecimal(dv::machine_key(runs->of.s.machine)) + "};\n};\n") != std::string::npos);
}

TEST_CASE("a profile says on what hardware the runs were, and runs on other hardware are of another one") {
    runs_of<products, overlapped> one, two, three;
    for (auto* runs : {&one, &two, &three}) runs->add({{}});
    one.runs.hardware = two.runs.hardware = "NVIDIA H200, NCCL 2.28.9";
    three.runs.hardware = "NVIDIA H100, NCCL 2.28.9";
    const std::string text = observe::profile_text({one.runs, two.runs, three.runs});
    CHECK(types_in(text) == 2);
    const std::size_t first = text.find("}, \"NVIDIA H200, NCCL 2.28.9\", 0x");
    CHECK(first < text.find("struct products_profile_2 {"));
    CHECK(text.find("}, \"NVIDIA H100, NCCL 2.28.9\", 0x") > first);
}

TEST_CASE("graphs of other operations or other names have types of their own") {
    runs_of<products, overlapped> one;
    runs_of<as_many_products, overlapped> two;
    runs_of<elsewhere::products, overlapped> three;
    runs_of<_3d, overlapped> four;
    one.add({{}});
    two.add({{}});
    three.add({{}});
    four.add({{}});
    const std::string text = observe::profile_text({one.runs, two.runs, three.runs, four.runs});
    CHECK(types_in(text) == 4);
    CHECK(text.find("struct graph_3d_profile {") != std::string::npos);
    CHECK(text.find("struct as_many_products_profile {") != std::string::npos);
    CHECK(text.find("struct products_profile_2 {") != std::string::npos);
}

TEST_CASE("scales: what the rows of a stream take, in thousandths of their estimates") {
    runs_of<products, overlapped> r;
    std::int64_t on_compute = 0, reduced = 0;
    for (int v = 0; v < r.of.program.tasks.size(); ++v) {
        if (r.of.label(v) == "multiply b" || r.of.label(v) == "add c") on_compute += r.of.costs[v].time / 1000;
        if (r.of.label(v) == "all_reduce a") reduced = r.of.costs[v].time / 1000;
    }
    // Two kinds of work on the compute stream: together twice their estimates.
    const std::int64_t all = 2 * on_compute, part = all / 4, from = 1'000'000'000;
    r.add({{{"all_reduce a", {0, reduced / 2}},
            {"multiply b", {from, from + part}},
            {"multiply d", {2 * from, 2 * from + part}},
            {"add c", {3 * from, 3 * from + all - part}}}});
    // The times of a profile by which the runs were planned do not count.
    const dv::profile_row other{1, 1, {}, 1};
    r.of.s.profile = {"products", "slow_links", 1, {9000, 9000, 9000}, {&other, 1}};
    CHECK(observe::profile_text({r.runs}).find(", {2000, 500, 1000}, {rows, 3}, \"\", 0x") != std::string::npos);
}

TEST_CASE("an open axis has the width of the world that ran it") {
    runs_of<open_product, overlapped> r;
    const dv::geometry where{r.of.graph, 3, {}};
    r.runs.where = &where;
    r.add({{{"all_reduce a", {10, 20}}}});
    const std::string text = observe::profile_text({r.runs});
    const auto row_for = [&](int width) {
        dv::plan_options s = r.of.s;
        s.assumed_width = width;
        dv::cost_model::work_keys keys{r.of.graph, r.of.program, s};
        for (const dv::ir::task& v : r.of.program.tasks)
            if (v.kind == dv::op_kind::all_reduce) return text.find("{" + observe::detail::hexadecimal(keys.of(v)) + ",");
        return std::string::npos;
    };
    CHECK(row_for(3) != std::string::npos);
    CHECK(row_for(4) == std::string::npos);
}

namespace {

void run_products() {
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<products, overlapped> step{rank};
        step.bind(dv::name<x>, std::vector<float>(8, 1.0f));
        for (int i = 0; i < 5; ++i) step.run().wait();
    });
}

}  // namespace

TEST_CASE("the recorder writes the profile of all ranks when executors end") {
    support::folder here;
    const auto run = [](std::string profile) {
        observe::environment asked;
        asked.profile = std::move(profile);
        support::watched w{asked};
        run_products();
    };
    run(here / "times.hpp");
    const std::string text = support::content(here / "times.hpp");
    CHECK(text.find("#pragma once\n\n#include <dovetail/cost/profile.hpp>\n") != std::string::npos);
    CHECK(text.find(observe::detail::hexadecimal(dv::cost_model::graph_key(dv::plan::typed<products>::value))) != std::string::npos);
    CHECK(samples_of(text, "all_reduce a") == 10);
    CHECK(samples_of(text, "multiply b") == 20);
    run(here / "of_%r.hpp");
    CHECK(support::content(here / "of_0.hpp").find("struct products_profile") != std::string::npos);
}

namespace {

// Lets a recorder see one rank alone, as if the others were processes of their own, and worlds of one rank.
struct of_rank_one final : dv::run_observer {
    observe::recorder one;
    dv::run_observer* before = dv::observing.exchange(this);

    explicit of_rank_one(observe::environment e) : one{std::move(e)} {}
    static bool sees(const dv::engine& e) { return e.rank == 1 || e.where.ranks() == 1; }
    ~of_rank_one() { dv::observing = before; }
    void made(dv::engine& e, const dv::plan_options& s, const dv::ir::graph& written) override {
        if (sees(e)) one.made(e, s, written);
    }
    void issued(dv::engine& e, const std::shared_ptr<dv::run_state>& run) override {
        if (sees(e)) one.issued(e, run);
    }
    void closed(dv::engine& e) noexcept override {
        if (sees(e)) one.closed(e);
    }
};

}  // namespace

TEST_CASE("a rank in a process of its own writes its own file") {
    support::folder here;
    observe::environment asked;
    asked.profile = here / "times.hpp";
    {
        const of_rank_one watching{asked};
        run_products();
    }
    CHECK(samples_of(support::content(here / "times.rank1.hpp"), "all_reduce a") == 5);
    CHECK(support::content(here / "times.hpp") == "");
}

TEST_CASE("... also if it has a world of its own afterwards, whose rank 0 is not that of the other process") {
    support::folder here;
    observe::environment asked;
    asked.profile = here / "times.hpp";
    asked.trace = here / "runs.json";
    {
        const of_rank_one watching{asked};
        run_products();
        dv::host::world{1}.run([](auto& rank) {
            dv::executor<open_product, overlapped> step{rank};
            step.bind(dv::name<x>, std::vector<float>(8, 1.0f));
            step.run().wait();
        });
    }
    for (const char* name : {"times.hpp", "times.rank0.hpp", "runs.json", "runs.rank0.json"})
        CHECK(!std::filesystem::exists(here / name));
    const std::string times = support::content(here / "times.rank1.hpp");
    CHECK(times.find("struct products_profile {") != std::string::npos);
    CHECK(times.find("struct open_product_profile {") != std::string::npos);
    CHECK(support::content(here / "runs.rank1.json").find("\"rank\": 1, \"world_size\": 2") != std::string::npos);
}

TEST_CASE("the environment asks for it") {
    REQUIRE(setenv("DOVETAIL_PROFILE", "times.hpp", 1) == 0);
    const observe::environment asked = observe::environment::read();
    REQUIRE(unsetenv("DOVETAIL_PROFILE") == 0);
    CHECK(asked.profile == "times.hpp");
    CHECK(asked.records());
    CHECK(!observe::environment::read().any());
}
