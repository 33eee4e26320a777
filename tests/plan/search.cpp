// The search over candidates, step by step: its requests and its choice.
#include <dovetail/plan/search.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
namespace plan = dovetail::plan;

namespace {

using kind = plan::request::kind;

bool asks(const plan::findings& f, const dv::plan_options& s, kind what, dv::candidate of, int operations = 10) {
    const plan::request next = plan::next_request(f, s, operations);
    return next.what == what && next.of == of;
}

dv::plan_options exact() {
    dv::plan_options s;
    s.machine.model_error = 0;
    return s;
}

plan::findings lengths(std::int64_t sequential, std::int64_t written, std::int64_t listed, std::int64_t johnson) {
    plan::findings f;
    f.length_of(dv::candidate::sequential) = sequential;
    f.length_of(dv::candidate::written) = written;
    f.length_of(dv::candidate::listed) = listed;
    f.length_of(dv::candidate::johnson) = johnson;
    return f;
}

}  // namespace

TEST_CASE("the search asks for the times that it compares, one after the other, and takes the shortest") {
    plan::findings f;
    const dv::plan_options s = exact();
    CHECK(asks(f, s, kind::time, dv::candidate::sequential));
    f.length_of(dv::candidate::sequential) = 100;
    CHECK(asks(f, s, kind::time, dv::candidate::written));
    CHECK(asks(f, s, kind::time, dv::candidate::listed, plan::most_tried_as_written + 1));
    f.length_of(dv::candidate::written) = 80;
    CHECK(asks(f, s, kind::time, dv::candidate::listed));
    f.length_of(dv::candidate::listed) = 80;
    CHECK(asks(f, s, kind::time, dv::candidate::johnson));
    CHECK(asks(f, s, kind::time, dv::candidate::johnson, plan::most_tried_by_johnson));
    CHECK(asks(f, s, kind::taken, dv::candidate::written, plan::most_tried_by_johnson + 1));
    f.length_of(dv::candidate::johnson) = 80;
    CHECK(asks(f, s, kind::taken, dv::candidate::written));
    CHECK(asks(lengths(100, 80, 79, 80), s, kind::taken, dv::candidate::listed));
    CHECK(asks(lengths(100, 80, 79, 78), s, kind::taken, dv::candidate::johnson));
    CHECK(asks(lengths(100, 80, 79, 79), s, kind::taken, dv::candidate::listed));
    CHECK(asks(lengths(100, 100, 120, 110), s, kind::taken, dv::candidate::sequential));
    CHECK(asks(lengths(100, -1, -1, -1), s, kind::taken, dv::candidate::sequential));  // orders that are none
}

TEST_CASE("without overlap nothing is asked") {
    dv::plan_options s = exact();
    s.overlap = false;
    CHECK(asks({}, s, kind::taken, dv::candidate::sequential));
}

TEST_CASE("a forced candidate is taken unasked, whatever the other options say") {
    for (int c = 0; c < dv::candidates; ++c) {
        dv::plan_options s = exact();
        s.forced = static_cast<dv::candidate>(c);
        s.overlap = c % 2 == 0;
        s.memory_limit = 1;
        CHECK(asks({}, s, kind::taken, s.forced));
    }
}

TEST_CASE("under a memory limit plans are made until one fits; where none does, the one that needs least is taken") {
    dv::plan_options s = exact();
    s.memory_limit = 1000;
    plan::findings f = lengths(100, 90, 80, 85);
    using c = dv::candidate;
    const c order[] = {c::listed, c::johnson, c::written, c::sequential, c::min_memory_overlapped, c::min_memory, c::listed_serial};
    std::int64_t needed = 3000;
    for (const c next : order) {
        CHECK(asks(f, s, kind::bytes, next));
        f.bytes_of(next) = 1000;
        CHECK(asks(f, s, kind::taken, next));
        f.bytes_of(next) = needed;
        needed += next == c::written ? -1500 : 100;
    }
    // 3000, 3100, 3200, 1700, 1800, ...
    CHECK(asks(f, s, kind::taken, dv::candidate::sequential));
    s.memory_limit = 1700;
    CHECK(asks(f, s, kind::taken, dv::candidate::sequential));
}

TEST_CASE("a plan tells what is predicted of each candidate, and of which nothing is") {
    plan::plan made;
    made.overlapped = true;
    made.predicted = 70;
    made.predicted_sequential = 100;
    plan::findings f;
    f.length_of(dv::candidate::written) = 80;
    const plan::choice told = plan::choice_of(f, dv::candidate::min_memory_overlapped, made);
    CHECK(told.taken == dv::candidate::min_memory_overlapped);
    const std::int64_t expected[] = {100, 80, -1, -1, 70, -1, -1};
    for (int c = 0; c < dv::candidates; ++c) CHECK(told.predicted[c] == expected[c]);
}
