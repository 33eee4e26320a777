// The table of a profile: rows are found as by a search from the first to the last, and what no observer writes is refused.
#include <dovetail/cost/profile.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;

namespace {

constexpr dv::profile_row rows[] = {{3, 10, {}, 1}, {7, 0, {20}, 1}, {8, 30, {40}, 2}, {UINT64_MAX, 1, {1}, 1}};

constexpr dv::machine_description machine{.name = "machine", .launch_latency = 7};
constexpr dv::profile_table table_of(int count) {
    return {"model", machine.name, 1, {1000, 1000, 1000}, {rows, count}, "", dv::machine_key(machine)};
}

constexpr bool finds_each(const dv::profile_table& t) {
    for (const std::uint64_t key : {0ull, 3ull, 4ull, 7ull, 8ull, 9ull, 18446744073709551615ull}) {
        const dv::profile_row* wanted = nullptr;
        for (const dv::profile_row& r : t.rows)
            if (r.key == key) wanted = &r;
        if (t.find(key) != wanted) return false;
    }
    return true;
}
static_assert(finds_each(table_of(0)));
static_assert(finds_each(table_of(1)));
static_assert(finds_each(table_of(2)));
static_assert(finds_each(table_of(3)));
static_assert(finds_each(table_of(4)));

template <class Change>
bool well_formed_after(Change change) {
    dv::profile_row list[3] = {rows[0], rows[1], rows[2]};
    dv::profile_table t = table_of(3);
    t.rows = {list, 3};
    change(t, list);
    return dv::is_well_formed(t);
}

}  // namespace

TEST_CASE("a table that observers write is well-formed, and no other") {
    CHECK(dv::is_well_formed(table_of(4)));
    CHECK(!dv::is_well_formed(table_of(0)));
    CHECK(well_formed_after([](auto&, auto*) {}));
    CHECK(!well_formed_after([](auto&, auto* list) { list[1].key = 3; }));
    CHECK(!well_formed_after([](auto&, auto* list) { list[2].key = 2; }));
    CHECK(!well_formed_after([](auto&, auto* list) { list[0].alone = -1; }));
    CHECK(!well_formed_after([](auto&, auto* list) { list[0].beside[1] = -1; }));
    CHECK(!well_formed_after([](auto&, auto* list) { list[0].alone = 0; }));
    CHECK(!well_formed_after([](auto&, auto* list) { list[0].estimate = -1; }));
    CHECK(!well_formed_after([](auto&, auto* list) { list[0].estimate = INT64_MAX / 1000 + 1; }));
    CHECK(well_formed_after([](auto&, auto* list) { list[0].estimate = INT64_MAX / 1000; }));
    CHECK(!well_formed_after([](auto& t, auto*) { t.scale[2] = 0; }));
}

TEST_CASE("a table is for the machine of its name and figures; one without rows is for all") {
    const auto is_for = [](int rows_of, const char* name, auto change) {
        static constexpr dv::gpu_pair links[] = {{}, {1, 2}, {3, 4}, {}};
        dv::machine_description m = machine;
        m.name = name;
        change(m, links);
        return dv::is_for_machine(table_of(rows_of), m);
    };
    const auto same = [](auto&, auto&) {};
    CHECK(is_for(1, "machine", same));
    CHECK(!is_for(1, "machine2", same));
    CHECK(!is_for(1, "mach", same));
    CHECK(!is_for(1, "", same));
    CHECK(is_for(0, "another", same));
    CHECK(!is_for(1, "machine", [](auto& m, auto&) { m.launch_latency = 8; }));
    CHECK(!is_for(1, "machine", [](auto& m, auto&) { m.with_copy.of_other[2] = 1001; }));
    CHECK(!is_for(1, "machine", [](auto& m, auto& links) { m.links = links; }));
    CHECK(is_for(0, "machine", [](auto& m, auto&) { m.launch_latency = 8; }));
    CHECK(dv::is_for_machine({}, machine));
}
