// The tables of the stages as text: all stages of the pipeline are shown, for graphs of every kind, and DOVETAIL_EXPLAIN=passes prints
// them once for each plan.
#include "../support/observed.hpp"
#include "../support/samples.hpp"
#include "../support/says.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/observe/passes.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace {

using namespace samples;
using support::says, support::times;
namespace observe = dv::observe;
namespace plan = dv::plan;

template <class G, class O>
std::string passes() {
    std::ostringstream text;
    dv::explain_passes<G, O>(text);
    return text.str();
}

// Whether a stage runs: those that an objective compares candidates by run for that one alone.
bool asked_for(const std::string& stage, dv::objective_kind objective) {
    if (stage == "slowed") return false;
    if (stage == "interval") return objective == dv::objective_kind::interval;
    return stage != "ready" || objective == dv::objective_kind::finish;
}

template <class G, class O>
void shows_all() {
    const std::string text = passes<G, O>();
    CAPTURE(text);
    const auto each = [&]<class... Stage>(plan::stages<Stage...>, const std::string& of) {
        for (const std::string name : {Stage::name...}) {
            if (name == "order" || name == "occupancy" || name == "reference") continue;           // not every candidate reads them
            if (name == "slowed" && O::value.objective == dv::objective_kind::makespan) continue;  // of those that are about as fast
            CHECK(says(text, "\n" + name + of + ": ") == asked_for(name, O::value.objective));
        }
    };
    constexpr dv::candidate taken = plan::planned<G, O>::plan.choice.taken;
    each(plan::pipeline{}, "");
    each(plan::pipeline_of<taken>{}, " (" + std::string(name_of(taken)) + ")");
    CHECK(says(text, "\n  proven\n"));
    CHECK(says(text, "\ntaken: " + std::string(name_of(taken)) + "\n"));
}

}  // namespace

TEST_CASE("every stage of the list is shown") {
    shows_all<overlapping_collectives, overlapped>();
    shows_all<overlapping_collectives, sequential>();
    shows_all<roles_and_meshes, several>();
    shows_all<through_host, overlapped>();
    shows_all<one_group, overlapped>();
    shows_all<along_an_axis, dv::options<slow_links, dv::force_candidate<dv::candidate::booked_100>>>();
    shows_all<dv::single_rank<crossing_pair>, overlapped>();
    shows_all<descent, dv::options<slow_links, dv::memory_limit<1 << 20>>>();
    shows_all<along_an_axis, dv::options<slow_links, dv::objective<dv::finish<y>>>>();
    shows_all<along_an_axis, dv::options<slow_links, dv::objective<dv::interval>, dv::in_flight<2>>>();
}

TEST_CASE("the rewritten graph is shown with what has rewritten it, statements first") {
    const std::string text = passes<shards_kept, overlapped>();
    CHECK_MESSAGE(says(text, "\n  by keep\n"), text);
    CHECK(says(passes<shards_kept, bucketed>(), "\n  by keep, bucket\n"));
    CHECK(says(passes<along_an_axis, bucketed>(), "\n  by bucket\n"));
    CHECK(says(passes<along_an_axis, overlapped>(), "\n  as written\n"));
}

TEST_CASE("the index of a rank along an axis is called so") {
    struct numbered : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::let<y, copy(dv::axis_index<dp>)>, dv::output<y>> {};
    const std::string text = passes<numbered, overlapped>();
    CHECK_MESSAGE(says(text, "axis_index  axis_index"), text);
}

TEST_CASE("operations and values stand there by their names") {
    const std::string text = passes<there_and_back, several>();
    for (const char* wanted : {"transfer a  comm     left    r a", "multiply b  reads what it writes",
                               "middle  2 multiply b  1 transfer a", "of `there_and_back`"})
        CHECK_MESSAGE(says(text, wanted), text);
}

TEST_CASE("the environment asks for the stages, once for each plan") {
    REQUIRE(setenv("DOVETAIL_EXPLAIN", "passes", 1) == 0);
    observe::environment asked = observe::environment::read();
    REQUIRE(unsetenv("DOVETAIL_EXPLAIN") == 0);
    CHECK(asked.passes);
    CHECK(!asked.explain);
    CHECK(asked.any());
    using G = there_and_back;
    const std::string text = support::printed([&] {
        const support::watched seen{asked};
        dv::host::world world{3};
        world.run([](auto& rank) {
            dv::executor<G, overlapped> step{rank};
            const std::vector<float> values(vector::size, 1);
            step.bind(dv::name<x>, values);
            for (int i = 0; i < 3; ++i) step.run().wait();
        });
    });
    CAPTURE(text);
    CHECK(times(text, "stages of `there_and_back`") == 1);
    CHECK(says(text, passes<G, overlapped>()));
}
