// What ranks compare before they run an executor together: it differs where their runs would, and only there.
#include <doctest/doctest.h>

#include <dovetail/launch/world/plan_fingerprint.hpp>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace dv = dovetail;
using namespace dv::launch;

namespace {

struct tp;
struct dp;
using change = std::function<void(dv::plan_options&, dv::engine_options&)>;

constexpr dv::profile_row rows[] = {{1, 10, {20}, 3}, {1, 11, {20}, 3}, {1, 10, {21}, 3},
                                    {2, 10, {20}, 3}, {1, 10, {20}, 4}, {1, 10, {20}, 3, 7}};
change profiled(int row, int scale = 1000) {
    return [=](dv::plan_options& s, dv::engine_options&) { s.profile = {"model", "mine", 1, {1000, scale, 1000}, {rows + row, 1}}; };
}

std::string fingerprint(const change& c, std::uint64_t plan = 1) {
    dv::plan_options s;
    dv::engine_options o;
    c(s, o);
    return fingerprint_text(plan, s, o, "`model`");
}

}  // namespace

TEST_CASE("every option that changes what runs changes the key, and most are said in words") {
    const std::vector<std::pair<change, std::string>> changes = {
        {[](auto&, auto&) {}, ""},
        {[](auto& s, auto&) { s.machine.name = "mine"; }, ", machine mine"},
        {[](auto& s, auto&) { s.overlap = false; }, ", no overlap"},
        {[](auto& s, auto&) { s.memory_limit = 1000; }, ", at most 1000 bytes"},
        {[](auto& s, auto&) { s.in_flight = 3; }, ", 3 runs in flight"},
        {[](auto& s, auto&) { s.channel_slots = 2; }, ", 2 slots a channel"},
        {[](auto& s, auto&) { s.assumed_width = 8; }, ", assumed width 8"},
        {[](auto& s, auto&) { s.channels = dv::transport::nccl; }, ", channels by NCCL"},
        {[](auto& s, auto&) { s.channels = dv::transport::peer_copy; }, ", channels by peer copies"},
        {[](auto& s, auto&) { s.rewrites.copied_from = 0; }, ", collectives by copy engines"},
        {[](auto& s, auto&) { s.axes.set(&dv::tag_of<tp>, dv::transport::nccl); }, ", collectives along tp by NCCL"},
        {[](auto& s, auto&) { s.axes.set(&dv::tag_of<tp>, dv::transport::peer_copy); }, ", collectives along tp by copy engines"},
        {[](auto& s, auto&) {
             s.host_inputs.name[0] = &dv::tag_of<tp>;
             s.host_inputs.count = 1;
         },
         ", `" + dv::display(dv::tag_of<tp>) + "` from the host"},
        {[](auto& s, auto&) { s.objective = dv::objective_kind::interval; }, ", objective interval"},
        {[](auto& s, auto&) {
             s.objective = dv::objective_kind::finish;
             s.finished = &dv::tag_of<dp>;
         },
         ", objective finish of `" + dv::display(dv::tag_of<dp>) + "`"},
        {[](auto& s, auto&) { s.between_roles = dv::link::network; }, ", the network between roles"},
        {[](auto&, auto& o) { o.widths = {dv::width<dp>(2)}; }, ", width 2 of dp"},
        {[](auto&, auto& o) { o.widths = {dv::width<tp>(2)}; }, ", width 2 of tp"},
        {[](auto&, auto& o) { o.widths = {dv::width<tp>(2), dv::width<dp>(4)}; }, ", width 4 of dp, width 2 of tp"},
        {[](auto&, auto& o) { o.check_finite = true; }, ", values checked"},
        {[](auto&, auto& o) { o.tuned = true; }, ", tuned"},
        {[](auto&, auto& o) { o.replay = dv::replay_mode::always; }, ", replayed"},
        {[](auto&, auto& o) { o.replay = dv::replay_mode::if_possible; }, ", replayed if possible"},
        {profiled(0), ", a profile of `model`"},
        {profiled(1), ", a profile of `model`"},
        {profiled(2), ", a profile of `model`"},
        {profiled(3), ", a profile of `model`"},
        {profiled(5), ", a profile of `model`"},
        {profiled(0, 2000), ", a profile of `model`"},
        {[](auto& s, auto&) { s.machine.half_flops += 1; }, ""},
        {[](auto& s, auto&) { s.machine.multiprocessors += 1; }, ""},
        {[](auto& s, auto&) { s.machine.network_latency += 1; }, ""},
        {[](auto& s, auto&) { s.machine.network_bandwidth += 1; }, ""},
        {[](auto& s, auto&) { s.machine.with_copy.of_compute[2] += 1; }, ""},
        {[](auto& s, auto&) { s.machine.with_communication.of_other[1] += 1; }, ""},
    };
    std::set<std::string> keys;
    for (const auto& [c, words] : changes) {
        const std::string text = fingerprint(c);
        CAPTURE(text);
        CHECK(text.substr(text.find(' ') + 1) == "`model`" + words);
        CHECK(keys.insert(text.substr(0, text.find(' '))).second);
    }
    CHECK(keys.insert(fingerprint([](auto&, auto&) {}, 2)).second);  // another plan of the same name
}

TEST_CASE("what is each rank's own affair changes nothing, nor does the order of widths") {
    const std::string plain = fingerprint([](auto&, auto&) {});
    CHECK(fingerprint([](auto&, auto& o) { o.time_limit = std::chrono::seconds{1}; }) == plain);
    CHECK(fingerprint([](auto&, auto& o) { o.record_times = true; }) == plain);
    CHECK(fingerprint(profiled(0)) == fingerprint(profiled(4)));  // the number of samples
    CHECK(fingerprint([](auto&, auto& o) { o.widths = {dv::width<tp>(2), dv::width<dp>(4)}; }) ==
          fingerprint([](auto&, auto& o) { o.widths = {dv::width<dp>(4), dv::width<tp>(2)}; }));
}
