// Text and DOT of sample graphs, byte for byte as in tests/golden/observe, from every compiler. With the argument --write the program
// writes these files anew; review the difference.
#include <doctest/doctest.h>

#include <dovetail/observe/dot.hpp>
#include <dovetail/observe/passes.hpp>
#include <dovetail/observe/report.hpp>
#include <dovetail/observe/text.hpp>

#include "../support/samples.hpp"
#include "../support/three_senders.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

namespace {

using namespace samples;
namespace observe = dv::observe;

// Compilers differ on whether they print default template arguments, so this one has a name of its own.
struct two_stages : pipeline<2, 3> {};
struct stated_stream : sharded_stream<dv::decompose> {};

const std::string folder = std::string(__FILE__).substr(0, std::string(__FILE__).rfind('/')) + "/../golden/observe/";

std::string content(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

bool writing() {
    std::ifstream command{"/proc/self/cmdline", std::ios::binary};
    return std::string{std::istreambuf_iterator<char>{command}, {}}.find("--write") != std::string::npos;
}

void compare(const std::string& name, const std::string& text) {
    if (writing()) std::ofstream{folder + name, std::ios::binary} << text;
    const std::string expected = content(folder + name);
    CHECK_MESSAGE(!expected.empty(), name);
    if (text == expected) return;
    std::size_t at = 0;
    while (at < text.size() && at < expected.size() && text[at] == expected[at]) ++at;
    const std::size_t line = text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at) + 1;
    FAIL_CHECK(name << " differs from\n  " << expected.substr(line, expected.find('\n', at) - line) << "\nin\n  "
                    << text.substr(line, text.find('\n', at) - line));
}

template <class G, class O>
void check(const std::string& name) {
    const observe::plan_view of{observe::tables_of<G, O>()};
    compare(name + ".txt",
            observe::explain(of) + "\n" + observe::report_text(of, observe::overlap(of, observe::predicted(of), observe::sequential(of))));
    compare(name + ".dot", observe::dot(of));
}

template <class G, class O>
void check_passes(const std::string& name) {
    std::ostringstream text;
    dv::explain_passes<G, O>(text);
    compare(name + "_passes.txt", text.str());
}

}  // namespace

TEST_CASE("what each stage makes is that of the golden files") {
    check_passes<there_and_back, several>("there_and_back");
    check_passes<channel_first, sequential>("channel_first_sequential");
    check_passes<along_an_axis, booked>("along_an_axis_booked");
    check_passes<descent, dv::options<slow_links, dv::memory_limit<1024>, dv::rewritten_by<dv::rewrite::identity>>>("descent_limited");
}

TEST_CASE("text and DOT are those of the golden files") {
    check<there_and_back, overlapped>("there_and_back");
    check<channel_first, sequential>("channel_first_sequential");
    check<overlapping_collectives, overlapped>("overlapping_collectives");
    check<two_stages, several>("pipeline_several_in_flight");
    check<dv::single_rank<crossing_pair>, overlapped>("crossing_pair_single_rank");
    check<descent, overlapped>("descent");
    check<trained_by_v_half, dv::options<slow_links, dv::force_candidate<dv::candidate::written>>>("trained_by_v_half_written");
    check<through_host, overlapped>("through_host");
    check<one_group, overlapped>("one_group");
    check<along_an_axis, overlapped>("along_an_axis");
    check<along_an_axis, booked>("along_an_axis_booked");  // waits for memory
    check<along_an_axis, bucketed>("along_an_axis_bucketed");
    check<permuted, overlapped>("permuted");
    check<shards_kept, overlapped>("shards_kept");
    check<blocks_across, overlapped>("blocks_across");
    check<ordered, overlapped>("ordered");
    check<in_turn, overlapped>("in_turn");
    check<stated_stream, overlapped>("sharded_stream");
    check<split_pair<2>, overlapped>("split_pair");
    check<split_across<4>, copied>("split_across_copied");
    check<idle_between, overlapped>("idle_between");
    check<senders::three_senders, dv::options<>>("three_senders_h200");  // peer copies
}
