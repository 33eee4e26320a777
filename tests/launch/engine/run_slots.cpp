// The slots of runs: a run takes the one of an earlier run when nobody reads that any more, and says who holds it where it may not.
#include "support/expect.hpp"

#include <dovetail/launch/engine/run_slots.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace dv = dovetail;
using namespace dv::launch;
using namespace std::chrono_literals;
using support::has;
using support::message;

namespace {

const auto always = [](const auto&) {};
const auto as_it_is = [](dv::run_state&) {};

}  // namespace

TEST_CASE("every run finds its slot, and what an earlier run left in it is gone") {
    run_slots slots{3, "`model`", "rank 1 (role `b`)", 1};
    for (std::int64_t run = 0; run < 10; ++run) {
        const auto before = slots.before(run);
        CHECK((before ? before->run : run - 3) == run - 3);
        const auto state = slots.claim(run, 1s, always, as_it_is);
        CHECK(state->run == run);
        CHECK(state->times.empty());
        CHECK(!state->failed);
        CHECK(slots.issued(run) == state);
        state->times.resize(4);
        state->failed = true;
    }
    const auto gone = slots.issued(2);
    CHECK(gone->run == 2);
    CHECK(message([&] { slots.hold(*gone); }) ==
          "dovetail: the results of run 2 of `model` are gone: run 8 uses their slot (runs in flight: 3)");
}

TEST_CASE("a slot that this thread holds is an error at once, one of another thread a wait") {
    run_slots slots{2, "`model`", "rank 1 (role `b`)", 1};
    const auto first = slots.claim(0, 1s, always, as_it_is);
    slots.hold(*first);
    slots.claim(1, 1s, always, as_it_is);  // another slot
    CHECK_THROWS_AS(slots.claim(2, 10s, always, as_it_is), dv::usage_error);
    has(message([&] { slots.claim(2, 10s, always, as_it_is); }),
        "run 2 of `model` needs the slot of run 0, whose result this thread still holds by a reading, on rank 1 (role `b`)");

    std::string from_another;
    std::thread{[&] { from_another = message([&] { slots.claim(2, 20ms, always, as_it_is); }); }}.join();
    const std::string needed = "run 2 of `model` needs the slot of run 0, whose result is still held by a reading on rank 1 (role `b`)";
    CHECK(from_another == "dovetail: timeout after 0.02 s: " + needed);

    std::thread waiting{[&] { CHECK(slots.claim(2, 10s, always, as_it_is)->run == 2); }};
    std::this_thread::sleep_for(10ms);
    slots.release(*first, this_thread_number());
    waiting.join();
}

TEST_CASE("what is held for another thread is waited for, and released by whoever has it") {
    run_slots slots{1, "`model`", "rank 0", 0};
    const auto first = slots.claim(0, 1s, always, as_it_is);
    slots.hold(*first);
    slots.hold(*first);
    slots.hold_for_another_thread(*first, this_thread_number());
    slots.release(*first, this_thread_number());
    CHECK_THROWS_AS(slots.claim(1, 1ms, always, as_it_is), dv::timeout);
    std::thread{[&] { slots.release(*first, dv::no_thread); }}.join();
    CHECK(slots.claim(1, 1s, always, as_it_is)->run == 1);
}

TEST_CASE("a run that cannot be made leaves its slot to the run before") {
    run_slots slots{1, "`model`", "rank 0", 0};
    const auto first = slots.claim(0, 1s, always, as_it_is);
    CHECK_THROWS_AS(slots.claim(1, 1s, [](const auto&) { throw dv::world_error{"not ready"}; }, as_it_is), dv::world_error);
    CHECK(slots.before(1) == first);
    CHECK(first->run == 0);
}

namespace {
// A run that writes output 5 to some memory.
std::shared_ptr<dv::run_state> write(run_slots& by, std::int64_t run, const float& to, std::chrono::nanoseconds limit = 1s) {
    return by.claim(run, limit, always, as_it_is, {{5, &to, sizeof to, true}});
}
}  // namespace

TEST_CASE("engines of one executor: what a reading holds is not written, and waited for as if there were one engine") {
    run_slots first{1, "`model`", "rank 0", 0}, second{1, "`model`", "rank 0", 0};
    second.share_order(first);
    const float shared = 0, other = 0;
    const auto held = write(first, 0, shared);
    first.hold(*held, 4);  // another output
    first.hold(*held, 5);
    write(second, 0, other);
    const std::string text = "run 1 of `model` writes to the memory of run 0 of another plan, whose result ";
    has(message([&] { write(second, 1, shared); }), text + "this thread still holds by a reading, on rank 0");
    first.hold_for_another_thread(*held, this_thread_number(), 5);
    has(message([&] { write(second, 1, shared, 1ms); }), text + "is still held by a reading on rank 0");
    std::thread waiting{[&] { CHECK(write(second, 1, shared, 10s)->run == 1); }};
    std::this_thread::sleep_for(10ms);
    first.release(*held, dv::no_thread, 5);
    waiting.join();
    first.release(*held, this_thread_number(), 4);
}

TEST_CASE("engines of one executor: what a run of another one may have written is gone") {
    const std::string gone = "the results of run 0 of `model` are gone: ";
    run_slots first{2, "`model`", "rank 0", 0};
    const float shared = 0, other = 0;
    std::shared_ptr<dv::run_state> f;
    {
        run_slots second{2, "`model`", "rank 0", 0};
        second.share_order(first);
        f = write(first, 0, shared);
        write(second, 0, other);
        first.hold(*f, 5);
        first.release(*f, this_thread_number(), 5);
        write(second, 1, shared);
    }
    has(message([&] { first.hold(*f, 5); }), gone + "run 1 of another plan writes where they were bound, on rank 0");
    first.hold(*f, 4);
    first.release(*f, this_thread_number(), 4);

    run_slots third{2, "`model`", "rank 0", 0}, fourth{2, "`model`", "rank 0", 0};
    fourth.share_order(third);
    f = write(third, 0, shared);
    for (const float* to : {&shared, &other, &other}) write(fourth, to == &shared ? 0 : 1, *to);
    has(message([&] { third.hold(*f, 5); }), gone + "later runs of other plans may write where they were bound, on rank 0");
}

TEST_CASE("the state of a run that a ticket knows stays as it is, and few are made") {
    run_slots slots{1, "`model`", "rank 0", 0};
    std::set<dv::run_state*> made;
    std::vector<std::shared_ptr<dv::run_state>> tickets;  // of the last four runs
    for (std::int64_t run = 0; run < 1000; ++run) {
        tickets.push_back(slots.claim(run, 1s, always, as_it_is));
        made.insert(tickets.back().get());
        if (tickets.size() > 4) tickets.erase(tickets.begin());
        for (std::size_t i = 0; i < tickets.size(); ++i) CHECK(tickets[i]->run == run - static_cast<std::int64_t>(tickets.size() - 1 - i));
    }
    CHECK(made.size() <= 6);
}

TEST_CASE("threads have numbers of their own, which are not none") {
    dv::thread_number other = dv::no_thread;
    std::thread{[&] { other = this_thread_number(); }}.join();
    CHECK(other != dv::no_thread);
    CHECK(this_thread_number() != dv::no_thread);
    CHECK(other != this_thread_number());
    CHECK(this_thread_number() == this_thread_number());
}
