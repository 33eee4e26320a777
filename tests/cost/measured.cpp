// Costs by a profile: of work that it has, of work that it does not have, and of rows without one of the two times.
#include <dovetail/cost/measured.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
namespace cost_model = dovetail::cost_model;
using dv::stream_kind;

namespace {

constexpr dv::profile_row rows[] = {{1, 400, {}, 1},       {2, 400, {500, 440}, 1}, {3, 400, {300}, 1},
                                    {4, 0, {770, 700}, 1}, {5, 1, {0, 1000}, 1},    {6, INT64_MAX, {INT64_MAX}, 1}};
constexpr dv::profile_table table{"model", "machine", 1, {2000, 500, 1000}, {rows, 6}};

constexpr dv::task_cost estimate{1500, dv::work_class::memory_bound, dv::hardware::copy_engine};

constexpr dv::task_cost cost_of(std::uint64_t key, stream_kind stream = stream_kind::compute) {
    return cost_model::measured(table, {key, stream, estimate.by}, estimate);
}
// What a row says of the slow-down beside kernels and beside copy engines.
constexpr bool slows(std::uint64_t key, int beside_kernels, int beside_copies) {
    const dv::task_cost cost = cost_of(key);
    return cost.slowdown[0] == beside_kernels && cost.slowdown[1] == beside_copies;
}
static_assert(cost_of(1).time == 400 && slows(1, 0, 0));        // never with something beside it: by the class of the work
static_assert(cost_of(2).time == 400 && slows(2, 1250, 1100));  // 500 and 440 for 400
static_assert(cost_of(3).time == 400 && slows(3, 1000, 0));     // nothing is faster beside something
static_assert(cost_of(4).time == 700 && slows(4, 1100, 1000));  // never alone
static_assert(cost_of(5).time == 1 && slows(5, 0, 8000));
static_assert(cost_of(6).time == cost_model::longest_duration);
static_assert(cost_of(2).limited_by == dv::work_class::memory_bound && cost_of(2).by == dv::hardware::copy_engine);
static_assert(cost_of(7).limited_by == dv::work_class::memory_bound && cost_of(7).by == dv::hardware::copy_engine);
// Between NCCL and what is beside it the machine's figures count, whichever of the two the row is of.
constexpr dv::profile_row beside_nccl[] = {{1, 400, {500, 440, 600}, 1}};
constexpr dv::profile_table of_nccl{"model", "machine", 1, {1000, 1000, 1000}, {beside_nccl, 1}};
constexpr bool slows(dv::hardware by, int beside_kernels, int beside_copies, int beside_nccl) {
    const dv::task_cost cost = cost_model::measured(of_nccl, {1, stream_kind::compute, by}, estimate);
    return cost.time == 400 && cost.slowdown[0] == beside_kernels && cost.slowdown[1] == beside_copies && cost.slowdown[2] == beside_nccl;
}
static_assert(slows(dv::hardware::multiprocessors, 1250, 1100, 0));
static_assert(slows(dv::hardware::copy_engine, 1250, 1100, 0));
static_assert(slows(dv::hardware::nccl, 0, 0, 0));
constexpr dv::profile_row never_alone[] = {{1, 0, {0, 0, 600}, 1}};
static_assert(cost_model::measured({"model", "machine", 1, {1000, 1000, 1000}, {never_alone, 1}},
                                   {1, stream_kind::compute, dv::hardware::multiprocessors}, estimate)
                  .slowdown[2] == 1000);
// Without a row: twice the estimate on the compute stream, half of it on that of communication.
static_assert(cost_of(7).time == 3000 && slows(7, 0, 0));
static_assert(cost_of(7, stream_kind::communication).time == 750);
static_assert(cost_of(7, stream_kind::copy).time == 1500);

// In other sizes: as the row of that kind whose estimate is nearest by ratio differs from it, and is slowed.
constexpr std::uint64_t of_kind(std::uint64_t kind, std::uint64_t size) { return kind << 32 | size; }
constexpr dv::profile_row of_sizes[] = {
    {of_kind(6, 1), 100, {}, 1},           {of_kind(7, 1), 300, {600}, 1, 200},         {of_kind(7, 2), 4000, {4400}, 1, 5000},
    {of_kind(7, 3), 0, {0, 900}, 1, 1500}, {of_kind(8, 1), 100, {100}, 1, 1000},        {of_kind(9, 1), 1, {}, 1, 1},
    {of_kind(10, 1), INT64_MAX, {}, 1, 1}, {of_kind(11, 1), 1, {}, 1, INT64_MAX / 1000}};
constexpr dv::profile_table with_sizes{"model", "machine", 1, {5000, 5000, 5000}, {of_sizes, 8}};
static_assert(dv::is_well_formed(with_sizes));
constexpr dv::task_cost like(std::uint64_t kind, std::int64_t time) {
    return cost_model::measured(with_sizes, {of_kind(kind, 99), stream_kind::compute, dv::hardware::multiprocessors}, {time});
}
static_assert(like(7, 100).time == 150 && like(7, 100).slowdown[0] == 2000 && like(7, 100).slowdown[1] == 0);
static_assert(like(7, 500).time == 750);  // 2.5 times the first, a third of the third
static_assert(like(7, 600).time == 360 && like(7, 600).slowdown[1] == 1000);
static_assert(like(7, 10000).time == 8000 && like(7, 10000).slowdown[0] == 1100);
static_assert(like(8, 500).time == 50);
static_assert(like(6, 500).time == 2500);  // a row without an estimate: scaled
static_assert(like(12, 500).time == 2500 && like(0, 500).time == 2500);
static_assert(like(9, 500).time == 500 && like(9, 0).time == 0);
static_assert(like(10, cost_model::longest_duration).time == cost_model::longest_duration);
static_assert(like(11, 500).time == 0);

}  // namespace

TEST_CASE("a scaled estimate is exact, and ends at the longest duration") {
    CHECK(cost_model::scaled(1'234'567, 1001) == 1'235'801);  // 1,235,801.567
    CHECK(cost_model::scaled(0, 5000) == 0);
    CHECK(cost_model::scaled(cost_model::longest_duration, 999) < cost_model::longest_duration);
    CHECK(cost_model::scaled(cost_model::longest_duration, 1001) == cost_model::longest_duration);
    CHECK(cost_model::scaled(cost_model::longest_duration, INT32_MAX) == cost_model::longest_duration);
}
