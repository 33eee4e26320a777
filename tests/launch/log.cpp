// Where what the library prints goes: each text that used to be on the standard error gets to a callback with its level, from any thread,
// and to the standard error, as it was, where there is no callback or it throws.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/launch/log.hpp>
#include <dovetail/ops/ops.hpp>

#include <doctest/doctest.h>

#include "../support/observed.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace dv = dovetail;
using dv::log_level;
using dv::launch::log;
using support::folder, support::printed, support::watched;

namespace {

using namespace dv::ops;
struct x;
struct y;
struct doubled : dv::graph<dv::input<x, dv::tensor<float, 4>>, dv::let<y, add(x, x)>, dv::output<y>> {};

// While it lives, the callback keeps what it gets.
struct captured {
    std::vector<std::pair<log_level, std::string>> texts;
    captured() {
        dv::log_to([this](log_level level, const std::string& text) { texts.emplace_back(level, text); });
    }
    ~captured() { dv::log_to(nullptr); }
    int count(log_level level, const std::string& beginning) const {
        int n = 0;
        for (const auto& [of, text] : texts) n += of == level && text.starts_with(beginning);
        return n;
    }
};

// An observer under which each engine says that it executes another plan.
struct fallen_back final : dv::run_observer {
    void made(dv::engine& of, const dv::plan_options&, const dv::ir::graph&) override { of.fall_back("no peer access"); }
    void issued(dv::engine&, const std::shared_ptr<dv::run_state>&) override {}
    void closed(dv::engine&) noexcept override {}
};

template <class Options = dv::options<>>
void run_doubled() {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<doubled, Options> step{rank};
        step.bind(dv::name<x>, std::vector<float>(4, 1.0f));
        CHECK(step.run().read(dv::name<y>)[0] == 2.0f);
    });
}
// Times that say on what they were measured.
constexpr const char here[] = "threads of the host", elsewhere[] = "NVIDIA H100, NCCL 2.28.9", unknown[] = "";
template <const char* Hardware>
struct times_measured_on {
    static constexpr int format = dv::profile_format;
    static constexpr dv::profile_row rows[] = {{1, 1000, {}, 1}};
    static constexpr dv::profile_table table{"doubled",
                                             dv::options<>::value.machine.name,
                                             dv::cost_model::graph_key(dv::plan::typed<doubled>::value),
                                             {1000, 1000, 1000},
                                             {rows, 1},
                                             Hardware,
                                             dv::machine_key(dv::options<>::value.machine)};
};

// A run with all that environment variables can ask for, and with files that cannot be written.
void run_observed(const std::string& page_folder) {
    const watched all{{"/dev/full", page_folder, true, true, true, "no_such_value", false, ""}};
    run_doubled();
}

}  // namespace

TEST_CASE("what observers print gets to the callback, each with its level, and nothing to the standard error") {
    const folder here;
    captured log;
    CHECK(printed([&] { run_observed(here.path.string()); }) == "");
    CHECK(log.count(log_level::report, "plan of `doubled`") == 1);
    CHECK(log.count(log_level::report, "overlap of `doubled`") == 1);
    CHECK(log.count(log_level::info, "wrote " + (here / "doubled.html")) == 1);
    CHECK(log.count(log_level::warning, "cannot write the trace /dev/full: ") == 1);
    CHECK(log.count(log_level::warning, "no ranges: ") == 1);
    CHECK(log.count(log_level::warning, "DOVETAIL_DUMP: no operation that ran makes a value `no_such_value` or reads it as a whole") == 1);
    CHECK(log.texts.size() == 6);
}

TEST_CASE("without a callback the same texts are on the standard error, messages behind the name of the library") {
    const folder here;
    const std::string text = printed([&] { run_observed(here.path.string()); });
    CHECK(text.find("dovetail: wrote " + (here / "doubled.html and .dot") + "\n") != std::string::npos);
    CHECK(text.find("dovetail: cannot write the trace /dev/full: No space left on device\n") != std::string::npos);
    CHECK(text.find("dovetail: DOVETAIL_DUMP: no operation that ran makes a value `no_such_value` or reads it as a "
                    "whole\n") != std::string::npos);
    CHECK(text.find("\nplan of `doubled`") != std::string::npos);
    CHECK(text.find("\noverlap of `doubled`") != std::string::npos);
}

TEST_CASE("a callback may wait for a lock that another thread holds while it makes and runs executors") {
    const folder here;
    std::mutex own;
    std::atomic<bool> waits = false;
    std::atomic<int> texts = 0;
    dv::log_to([&](log_level, const std::string& text) {
        waits = true;
        const std::lock_guard lock{own};
        CHECK(!text.ends_with('\n'));
        ++texts;
    });
    std::unique_lock held{own};
    const watched all{{"", here.path.string(), true, true, true, "no_such_value", false, ""}};
    std::thread logging{run_doubled<>};
    while (!waits) std::this_thread::yield();
    run_doubled();  // observed and logged, under the lock
    held.unlock();
    logging.join();
    dv::log_to(nullptr);
    CHECK(texts >= 4);
}

TEST_CASE("an engine that executes another plan than it was asked for warns") {
    fallen_back observer;
    dv::run_observer* const before = dv::observing.exchange(&observer);
    captured log;
    run_doubled();
    dv::observing = before;
    REQUIRE(log.texts.size() == 1);
    CHECK(log.count(log_level::warning, "no peer access; another plan is executed") == 1);
}

TEST_CASE("a plan whose times were measured on other hardware than that of rank 0 warns, once") {
    captured log;
    run_doubled<dv::options<dv::profile<times_measured_on<here>>>>();
    run_doubled<dv::options<dv::profile<times_measured_on<unknown>>>>();
    CHECK(log.texts.empty());
    run_doubled<dv::options<dv::profile<times_measured_on<elsewhere>>>>();
    REQUIRE(log.texts.size() == 1);
    CHECK(log.count(log_level::warning,
                    "the profile with which `doubled` was planned was measured on NVIDIA H100, NCCL 2.28.9, and rank 0 runs on "
                    "threads of the host: ") == 1);
}

TEST_CASE("levels are in order, and the default prints each as a line") {
    CHECK(log_level::debug < log_level::info);
    CHECK(log_level::info < log_level::report);
    CHECK(log_level::report < log_level::warning);
    CHECK(printed([] {
              log(log_level::debug, "a");
              log(log_level::warning, "b %s");
              log(log_level::report, "c");
          }) == "dovetail: a\ndovetail: b %s\nc\n");
}

TEST_CASE("a text whose callback throws is printed") {
    dv::log_to([](log_level, const std::string&) { throw std::runtime_error{"no log"}; });
    CHECK(printed([] { log(log_level::warning, "kept"); }) == "dovetail: kept\n");
    dv::log_to(nullptr);
}

TEST_CASE("a callback may set another one, which gets the next text") {
    std::string first, second;
    dv::log_to([&](log_level, const std::string& text) {
        dv::log_to([&](log_level, const std::string& later) { second += later; });
        first += text;
    });
    log(log_level::info, "a");
    log(log_level::info, "b");
    dv::log_to(nullptr);
    CHECK(first == "a");
    CHECK(second == "b");
}

TEST_CASE("threads log while the callback changes: each text gets to one of them, one at a time") {
    constexpr int threads = 4, texts = 500;
    int seen[2] = {};  // no atomics: the log calls one callback at a time
    dv::log_to([&](log_level, const std::string&) { ++seen[0]; });
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([] {
            for (int n = 0; n < texts; ++n) log(log_level::info, "text");
        });
    for (int n = 0; n < 100; ++n) dv::log_to([&seen, n](log_level, const std::string&) { ++seen[n % 2]; });
    for (std::thread& t : all) t.join();
    dv::log_to(nullptr);
    CHECK(seen[0] + seen[1] == threads * texts);
}
