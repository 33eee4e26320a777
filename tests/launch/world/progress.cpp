// How far a rank's words say that its GPU has come.
#include <dovetail/launch/world/progress.hpp>

#include <doctest/doctest.h>

#include <string>

namespace dv = dovetail;
using namespace dv::launch;

namespace {

// Two streams, on which steps 1 and 4, and step 2 communicate.
struct gpu_words {
    std::uint32_t words[2] = {};
    progress p;

    gpu_words() {
        p.graph = "`g`";
        for (int s = 0; s < 5; ++s) p.steps.push_back({"f" + std::to_string(s), "y"});
        p.communication = {{1, 4}, {2}};
        p.words = words;
    }
    static std::uint32_t word(std::int64_t run, int step) { return static_cast<std::uint32_t>(run % 32768 * 65536 + step + 1); }
    std::pair<std::int64_t, int> at() const { return {p.at().run, p.at().step}; }
};

}  // namespace

TEST_CASE("words of the GPU say which communication is open") {
    gpu_words w;
    CHECK(w.at() == std::pair{std::int64_t{0}, -1});  // nothing was issued
    w.p.issued = 1;
    CHECK(w.at() == std::pair{std::int64_t{0}, 1});
    w.words[0] = w.word(0, 1);
    CHECK(w.at() == std::pair{std::int64_t{0}, 2});  // the first that is open, of both streams
    w.words[1] = w.word(0, 2);
    CHECK(w.at() == std::pair{std::int64_t{0}, 4});
    w.words[0] = w.word(0, 4);
    CHECK(w.at() == std::pair{std::int64_t{1}, 1});
    w.words[0] = w.word(1, 4);
    w.words[1] = w.word(1, 2);
    CHECK(w.at() == std::pair{std::int64_t{0}, -1});  // a later operation may be open in either run
    w.p.ended = 1;
    CHECK(w.p.text() == "has nothing to do in `g`: it has issued 2 runs");
}

TEST_CASE("words of the run that the host is issuing are of no earlier one") {
    gpu_words w;
    w.p.issued = 1;
    for (auto& word : w.words) word = w.word(2, 2);
    w.words[0] = w.word(2, 1);
    CHECK(w.at() == std::pair{std::int64_t{0}, -1});
    CHECK(w.p.text() == "has ended its communication, but not a later operation (run 0 of `g`)");
    w.p.issuing = 2;
    w.p.issuing_step = 3;
    CHECK(w.p.text() == "is issuing operation `f3` of `y` (run 2 of `g`)");
    CHECK(w.p.doing().operation == "f3");
    w.words[1] = w.word(1, 1);  // what is open is named first
    CHECK(w.p.text() == "has not ended operation `f2` of `y` (run 1 of `g`)");
}

TEST_CASE("numbers of runs in the words begin anew after 32,768, and old words do not count") {
    gpu_words w;
    w.p.issued = 32768 * 5 + 1;
    w.p.ended = 32768 * 5 - 1;
    for (auto& word : w.words) word = w.word(32768 * 5 - 1, 4);
    CHECK(w.at() == std::pair{std::int64_t{32768 * 5}, 1});
    w.words[0] = w.word(32768 * 5, 1);
    w.words[1] = w.word(32768 * 5 + 1, 2);
    CHECK(w.at() == std::pair{std::int64_t{32768 * 5}, 4});
}

TEST_CASE("words of a replayed graph have no run, and stand for the oldest that is open") {
    gpu_words w;
    w.p.issued = 7;
    w.p.ended = 6;
    w.p.replayed = true;
    CHECK(w.at() == std::pair{std::int64_t{7}, 1});
    for (auto& word : w.words) word = w.word(0, 1);
    CHECK(w.at() == std::pair{std::int64_t{7}, 2});
    w.words[1] = w.word(0, 2);
    CHECK(w.at() == std::pair{std::int64_t{7}, 4});
    w.words[0] = w.word(0, 4);
    CHECK(w.at() == std::pair{std::int64_t{7}, -1});
}
