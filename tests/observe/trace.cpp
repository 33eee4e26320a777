// Traces of runs on the host, read back by a small JSON reader and checked against the rules of the format; and the recorder that
// environment variables enable, with files that can and cannot be written.
#include <doctest/doctest.h>

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/observe/observe.hpp>

#include "../support/json.hpp"
#include "../support/observed.hpp"
#include "../support/samples.hpp"
#include "../support/says.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace {

using namespace samples;
using support::content, support::folder, support::json, support::printed, support::times, support::watched;
namespace observe = dv::observe;

template <class G, class O = overlapped>
void play(int ranks, int runs, bool wait) {
    const std::vector<float> ones(8, 1.0f);
    dv::host::world{ranks, dv::host::link{std::chrono::microseconds{100}}}.run([&](auto& rank) {
        dv::executor<G, O> step{rank};
        step.bind(dv::name<x>, ones);
        for (int i = 0; i < runs; ++i) {
            const auto ticket = step.run();
            if (wait) ticket.wait();
        }
    });
}

// A graph with a width that the world gives.
struct open_sum : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp>>, dv::let<a, all_reduce<sum, dp>(x)>, dv::output<a>> {};

struct checked_trace {
    int slices = 0, predicted = 0, flow_events = 0;
    std::map<int, std::string> processes;
};

// The rules of the format, and that slices which overlap are on different tracks.
checked_trace check(const json& trace, bool one_rank = false) {
    checked_trace found;
    struct interval {
        double start, end;
    };
    std::map<std::pair<int, int>, std::vector<interval>> tracks;
    std::map<std::pair<int, int>, std::string> names;
    for (const json& e : trace["traceEvents"].list) {
        const std::string phase = e["ph"].text;
        if (phase == "M") {
            if (e["name"].text == "process_name") found.processes[e["pid"].integer()] = e["args"]["name"].text;
            if (e["name"].text == "thread_name") names[{e["pid"].integer(), e["tid"].integer()}] = e["args"]["name"].text;
            continue;
        }
        CHECK(e["ts"].is_number());
        CHECK(!e["name"].text.empty());
        CHECK(!e["cat"].text.empty());
        if (phase != "X") continue;
        CHECK(e["dur"].number >= 0);
        ++(e["cat"].text == "predicted" ? found.predicted : found.slices);
        tracks[{e["pid"].integer(), e["tid"].integer()}].push_back({e["ts"].number, e["ts"].number + e["dur"].number});
    }
    for (auto& [track, list] : tracks) {
        CHECK(names.count(track) == 1);
        CHECK(found.processes.count(track.first) == 1);
        std::sort(list.begin(), list.end(),
                  [](const interval& a, const interval& b) { return a.start < b.start || (a.start == b.start && a.end < b.end); });
        for (std::size_t i = 1; i < list.size(); ++i) CHECK(list[i - 1].end <= list[i].start + 1e-6);
    }
    std::map<double, double> begun;
    for (const json& e : trace["traceEvents"].list)
        if (e["ph"].text == "s") CHECK(begun.emplace(e["id"].number, e["ts"].number).second);
    for (const json& e : trace["traceEvents"].list) {
        const std::string phase = e["ph"].text;
        if (phase != "s" && phase != "f") continue;
        bool inside = false;  // a flow event ends in a slice of its track
        for (const interval& i : tracks[{e["pid"].integer(), e["tid"].integer()}])
            inside = inside || (i.start <= e["ts"].number + 1e-6 && e["ts"].number <= i.end + 1e-6);
        CHECK(inside);
        if (phase == "s") continue;
        CHECK(e["bp"].text == "e");
        if (one_rank) continue;  // the other end is in another file
        REQUIRE(begun.count(e["id"].number) == 1);
        CHECK(begun[e["id"].number] <= e["ts"].number);
        ++found.flow_events;
    }
    return found;
}

}  // namespace

TEST_CASE("a trace of several ranks and runs in flight") {
    folder here;
    const observe::plan_view of{observe::tables_of<there_and_back, overlapped>()};
    int steps = 0;
    for (int role = 0; role < of.roles(); ++role) steps += of.steps(role).size();
    for (const bool wait : {true, false}) {
        const std::string path = here / (wait ? "waited.json" : "in_flight.json");
        {
            watched w{{path, "", false}};
            play<there_and_back>(3, 4, wait);
        }
        const checked_trace found = check(json::read(content(path)));
        CHECK(found.slices == 4 * steps);
        CHECK(found.predicted == 4 * steps);
        CHECK(found.flow_events == 4 * 4);  // four channels
        CHECK(found.processes.size() == 6);
        CHECK(found.processes.at(0) == "rank 0 left");
    }
}

TEST_CASE("flow events of collectives; a file for each rank") {
    folder here;
    {
        watched w{{here / "all.json", "", false}};
        play<overlapping_collectives>(3, 1, true);
    }
    CHECK(check(json::read(content(here / "all.json"))).flow_events == 1 + 1 + 2);
    {
        watched w{{here / "positions.json", "", false}};
        play<permuted>(4, 1, true);
    }
    CHECK(check(json::read(content(here / "positions.json"))).flow_events == 2 + 3 + 2);  // none to itself
    {
        watched w{{here / "r%r.json", "", false}};
        play<overlapping_collectives>(3, 2, true);
    }
    json joined;  // as the README says
    for (int rank = 0; rank < 3; ++rank) {
        const json trace = json::read(content(here / ("r" + std::to_string(rank) + ".json")));
        CHECK(trace["distributedInfo"]["rank"].integer() == rank);
        CHECK(trace["distributedInfo"]["world_size"].integer() == 3);
        CHECK(trace["otherData"]["clock_error_us"][std::to_string(rank)].number == 0);  // one clock: the host's
        const checked_trace found = check(trace, true);
        CHECK(found.processes.size() == 2);
        CHECK(found.slices > 0);
        if (rank == 0) joined = trace;
        else {
            auto& events = joined.members["traceEvents"].list;
            events.insert(events.end(), trace["traceEvents"].list.begin(), trace["traceEvents"].list.end());
        }
    }
    const checked_trace found = check(joined);
    CHECK(found.processes.size() == 6);
    CHECK(found.flow_events == 2 * 4);
}

TEST_CASE("only the first runs are kept") {
    folder here;
    {
        watched w{{here / "t.json", "", false}};
        play<ring_of_three>(3, 70, false);
    }
    const observe::plan_view of{observe::tables_of<ring_of_three, overlapped>()};
    int steps = 0;
    for (int role = 0; role < of.roles(); ++role) steps += of.steps(role).size();
    CHECK(check(json::read(content(here / "t.json"))).slices == 64 * steps);
}

TEST_CASE("two executors in one trace, of one graph one after the other and of another") {
    folder here;
    {
        watched w{{here / "t.json", "", false}};
        play<there_and_back>(3, 1, true);
        play<there_and_back>(3, 1, true);
        play<ring_of_three>(3, 1, true);
    }
    const std::string text = content(here / "t.json");
    CHECK(check(json::read(text)).processes.size() == 6);
    CHECK(text.find("\"graph\": \"there_and_back\"") != std::string::npos);
    CHECK(text.find("\"graph\": \"ring_of_three\"") != std::string::npos);
}

TEST_CASE("runs of two worlds: each has its own ranks, and their times are on one clock") {
    folder here;
    const auto trace_of = [&](const std::vector<int>& worlds) {
        watched w{{here / "t.json", "", false}};
        for (const int ranks : worlds) play<open_sum>(ranks, 3, true);
        return content(here / "t.json");
    };
    const int in_one = check(json::read(trace_of({2}))).flow_events;
    const std::string text = trace_of({1, 2});
    const checked_trace found = check(json::read(text));
    CHECK(found.processes.size() == 3);  // two ranks and their prediction
    CHECK(in_one > 0);
    CHECK(found.flow_events == in_one);
    CHECK(text.find("stream comm (2)") == std::string::npos);  // slices of the two worlds at one time
    CHECK(text.find("stream compute (2)") == std::string::npos);
}

TEST_CASE("the page and the DOT at the first run") {
    folder here;
    {
        watched w{{"", here.path.string(), false}};
        play<there_and_back>(3, 2, true);
        play<there_and_back>(3, 1, true);
    }
    CHECK(content(here / "there_and_back.html").find("</html>") != std::string::npos);
    CHECK(content(here / "there_and_back.dot").find("digraph") == 0);
    CHECK(!std::filesystem::exists(here / "there_and_back_2.html"));
    CHECK(content(here / "there_and_back.html").find(", measured") == std::string::npos);
    {
        watched w{{here / "t.json", here.path.string(), false}};
        play<there_and_back>(3, 5, true);
        play<there_and_back, sequential>(3, 5, true);
    }
    CHECK(content(here / "there_and_back.html").find(", measured") != std::string::npos);
    CHECK(content(here / "there_and_back_2.html").find(", measured") != std::string::npos);
}

TEST_CASE("what cannot be written: one warning for each kind of file, whatever the number of graphs and ranks, and the runs succeed") {
    folder here;
    const auto failing = [](const std::string& trace, const std::string& folder) {
        return printed([&] {
            watched w{{trace, folder, false}};
            CHECK_NOTHROW(play<there_and_back>(3, 2, true));
            CHECK_NOTHROW(play<ring_of_three>(3, 2, true));
        });
    };
    // No such folder; a file where a folder should be; a full device.
    for (const std::string& trace : {here / "no/such/%r.json", here.path.string(), std::string{"/dev/full"}}) {
        const std::string text = failing(trace, here / "neither");
        CAPTURE(text);
        CHECK(times(text, "dovetail: cannot write the trace ") == 1);
        CHECK(times(text, "dovetail: cannot write the page ") == 1);
        CHECK(times(text, "dovetail: cannot write the DOT file ") == 1);
        CHECK(times(text, "\n") == 3);
    }
    CHECK(failing(here / "good.json", here / "neither").find("trace") == std::string::npos);
    check(json::read(content(here / "good.json")));
}

TEST_CASE("peer copies by their name, with flow events as of other channels") {
    using by_copy = dv::options<slow_links, dv::channel_transport<dv::transport::peer_copy>>;
    folder here;
    {
        watched w{{here / "t.json", "", false}};
        play<there_and_back, by_copy>(3, 2, true);
    }
    const json trace = json::read(content(here / "t.json"));
    CHECK(check(trace).flow_events == 2 * 4);
    int copies = 0, others = 0;
    for (const json& e : trace["traceEvents"].list)
        if (e["ph"].text == "X" && e["cat"].text == "kernel" &&
            e["args"]["stream"].integer() == 1 + static_cast<int>(dv::stream_kind::copy))
            ++(e["name"].text.find("ncclDevKernel_peer_copy ") == 0 ? copies : others);
    CHECK(copies == 2 * 2 * 4);
    const observe::plan_view of{observe::tables_of<there_and_back, by_copy>()};
    CHECK(observe::html(of).find("\"peer_copy a\"") != std::string::npos);
    CHECK(observe::explain(of).find("peer_copy") != std::string::npos);
    CHECK(observe::dot(of).find("peer_copy a") != std::string::npos);
}

TEST_CASE("sums are computations, copies and what crosses ranks have the names that tools know") {
    const auto names = [](const observe::plan_view& of) {
        std::map<std::string, std::string> by_label;
        for (int v = 0; v < of.program.tasks.size(); ++v) by_label[of.label(v)] = observe::detail::kernel_name(of, v);
        return by_label;
    };
    const auto copied_names = names(observe::plan_view{observe::tables_of<along_an_axis, copied>()});
    CHECK(copied_names.at("local_reduce b") == "local_reduce b");
    CHECK(copied_names.at("put all_to_all b") == "ncclDevKernel_put all_to_all b");
    CHECK(copied_names.at("add total") == "add total");
    CHECK(copied_names.at("own_rows own") == "Memcpy DtoD own_rows own");
    CHECK(copied_names.at("input x") == "Memcpy HtoD input x");
    const auto on_host = names(observe::plan_view{observe::tables_of<through_host, overlapped>()});
    CHECK(on_host.at("to_host y") == "Memcpy DtoH to_host y");
    CHECK(on_host.at("from_host a") == "Memcpy HtoD from_host a");
}

TEST_CASE("the overlap report of recorded runs, against runs on one stream where there are some") {
    const auto reports = [](auto play_all) {
        return printed([&] {
            watched w{{"", "", false, false, true}};
            play_all();
        });
    };
    const std::string alone = reports([] { play<there_and_back>(3, 5, true); });
    CAPTURE(alone);
    CHECK(times(alone, "overlap of `there_and_back`, run ") == 1);
    CHECK(times(alone, "one stream was not measured") == 1);
    CHECK(times(alone, "exposed on rank ") == 3);
    const std::string both = reports([] {
        play<there_and_back, sequential>(3, 5, true);
        play<there_and_back>(3, 5, true);
    });
    CAPTURE(both);
    CHECK(times(both, "overlap of `there_and_back`, run ") == 2);
    CHECK(times(both, "one stream was not measured") == 0);
}

TEST_CASE("a run that is not recorded is not in the trace, and nothing is done without a wish") {
    CHECK(!observe::environment{}.any());
    CHECK(dv::observing.load() == nullptr);
    play<ring_of_three>(3, 1, true);
    CHECK(observe::file_name("pipeline<4, 85>") == "pipeline_4_85");
    CHECK(observe::file_name("<>") == "graph");
    CHECK(observe::type_name("_3d") == "graph_3d");
    CHECK(observe::type_name("three_d<4>") == "three_d_4");
    const std::string most(100, 'a'), all = observe::file_name(most + "b");
    CHECK(observe::file_name(most) == most);
    CHECK(all.find(most + '_') == 0);
    CHECK(all.size() == 117);
    CHECK(all != observe::file_name(most + "c"));
}
