// Every field of every row in the tables of a program and a plan, as a number that damages read and write. A field that is added to a
// table and not here is a compile error.
#pragma once

#include "hand_plan.hpp"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace support {

struct field {
    const char* name;
    int (*rows)(const subject&);
    std::int64_t (*get)(const subject&, int row);
    void (*set)(subject&, int row, std::int64_t);
    bool wide;  // 64 bits
    int kinds;  // number of values of an enumeration or bool; else 0
};

namespace detail {

// Converts to any type: T{any, any} compiles if T has at least two fields.
struct any {
    template <class T>
    operator T() const;
};
template <class T, class... Any>
constexpr int count_fields() {
    if constexpr (requires { T{Any{}..., any{}}; })
        return count_fields<T, Any..., any>();
    else
        return sizeof...(Any);
}

template <class T>
constexpr std::int64_t number(T value) {
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<std::int64_t>(value);
    else
        return static_cast<std::int64_t>(value);
}
template <class T>
T from_number(std::int64_t value) {
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<T>(value);
    else
        return static_cast<T>(value);
}

// How many values a type has that is no number.
template <class T>
inline constexpr int kinds_of = 0;
template <>
inline constexpr int kinds_of<bool> = 2;
template <>
inline constexpr int kinds_of<dv::ir::storage> = static_cast<int>(dv::ir::storage::constant) + 1;
template <>
inline constexpr int kinds_of<dv::access_mode> = static_cast<int>(dv::access_mode::update) + 1;
template <>
inline constexpr int kinds_of<dv::op_kind> = static_cast<int>(dv::op_kind::scatter) + 1;
template <>
inline constexpr int kinds_of<dv::reduction> = static_cast<int>(dv::reduction::average) + 1;
template <>
inline constexpr int kinds_of<dv::stream_kind> = dv::stream_count;
template <>
inline constexpr int kinds_of<dv::transport> = static_cast<int>(dv::transport::peer_copy) + 1;
template <>
inline constexpr int kinds_of<dv::element> = static_cast<int>(dv::element::uint64) + 1;

// `Reach`: from a subject to the field of a row, as an lvalue; `Rows`: how many rows there are.
template <auto Rows, auto Reach>
constexpr field field_at(const char* name) {
    using type = std::remove_cvref_t<decltype(Reach(std::declval<subject&>(), 0))>;
    return {name,
            [](const subject& s) -> int { return Rows(s); },
            [](const subject& s, int row) { return number(Reach(const_cast<subject&>(s), row)); },
            [](subject& s, int row, std::int64_t value) { Reach(s, row) = from_number<type>(value); },
            sizeof(type) == 8 && !std::is_pointer_v<type>,
            kinds_of<type>};
}
template <auto Data, auto Table, auto Member>
constexpr field column(const char* name) {
    return field_at<[](const subject& s) { return (s.*Data.*Table).size(); },
                    [](subject& s, int row) -> auto& { return (s.*Data.*Table)[row].*Member; }>(name);
}
template <auto Data, auto Table>
constexpr field column_of_numbers(const char* name) {
    return field_at<[](const subject& s) { return (s.*Data.*Table).size(); },
                    [](subject& s, int row) -> auto& { return (s.*Data.*Table)[row]; }>(name);
}
template <auto Data, auto Member>
constexpr field single(const char* name) {
    return field_at<[](const subject&) { return 1; }, [](subject& s, int) -> auto& { return s.*Data.*Member; }>(name);
}
template <int I>
constexpr field extent_of_buffer(const char* name) {
    return field_at<[](const subject& s) { return s.program.buffers.size(); },
                    [](subject& s, int row) -> auto& { return s.program.buffers[row].type.extent[I]; }>(name);
}

using program = dv::ir::program_data;
using plan = dv::plan::plan_data;

// The size of a buffer that is one leaf changes with the leaf's, and an access of another buffer is of all of it: either by itself would
// be refused for its form alone.
constexpr field bytes_of_buffer(const char* name) {
    field f = column<&subject::program, &program::buffers, &dv::ir::buffer::bytes>(name);
    f.set = [](subject& s, int row, std::int64_t value) {
        dv::ir::buffer& b = s.program.buffers[row];
        b.bytes = value;
        if (b.leaves == 1 && b.first_leaf >= 0 && b.first_leaf < s.program.leaves.size()) s.program.leaves[b.first_leaf].bytes = value;
    };
    return f;
}
constexpr field buffer_of_access(const char* name) {
    field f = column<&subject::program, &program::accesses, &dv::ir::access::buffer>(name);
    f.set = [](subject& s, int row, std::int64_t value) {
        dv::ir::access& a = s.program.accesses[row];
        a.buffer = static_cast<int>(value);
        if (a.buffer >= 0 && a.buffer < s.program.buffers.size()) a = whole(s.program, a.buffer, a.mode);
    };
    return f;
}

}  // namespace detail

inline constexpr field fields[] = {
    detail::column<&subject::program, &detail::program::buffers, &dv::ir::buffer::where>("buffer.where"),
    detail::column<&subject::program, &detail::program::buffers, &dv::ir::buffer::role>("buffer.role"),
    detail::column<&subject::program, &detail::program::buffers, &dv::ir::buffer::symbol>("buffer.symbol"),
    detail::bytes_of_buffer("buffer.bytes"),
    detail::column<&subject::program, &detail::program::buffers, &dv::ir::buffer::slots>("buffer.slots"),
    detail::column<&subject::program, &detail::program::buffers, &dv::ir::buffer::output>("buffer.output"),
    detail::column<&subject::program, &detail::program::buffers, &dv::ir::buffer::alias>("buffer.alias"),
    detail::column<&subject::program, &detail::program::buffers, &dv::ir::buffer::symmetric_set>("buffer.symmetric_set"),
    detail::column<&subject::program, &detail::program::buffers, &dv::ir::buffer::first_leaf>("buffer.first_leaf"),
    detail::column<&subject::program, &detail::program::buffers, &dv::ir::buffer::leaves>("buffer.leaves"),
    detail::field_at<[](const subject& s) { return s.program.buffers.size(); },
                     [](subject& s, int row) -> auto& { return s.program.buffers[row].type.type; }>("buffer.type.type"),
    detail::field_at<[](const subject& s) { return s.program.buffers.size(); },
                     [](subject& s, int row) -> auto& { return s.program.buffers[row].type.rank; }>("buffer.type.rank"),
    detail::extent_of_buffer<0>("buffer.type.extent[0]"),
    detail::extent_of_buffer<1>("buffer.type.extent[1]"),
    detail::extent_of_buffer<2>("buffer.type.extent[2]"),
    detail::extent_of_buffer<3>("buffer.type.extent[3]"),
    detail::extent_of_buffer<4>("buffer.type.extent[4]"),
    detail::extent_of_buffer<5>("buffer.type.extent[5]"),
    detail::buffer_of_access("access.buffer"),
    detail::column<&subject::program, &detail::program::accesses, &dv::ir::access::mode>("access.mode"),
    detail::column<&subject::program, &detail::program::accesses, &dv::ir::access::leaf>("access.leaf"),
    detail::column<&subject::program, &detail::program::accesses, &dv::ir::access::leaves>("access.leaves"),
    detail::column<&subject::program, &detail::program::leaves, &dv::ir::leaf::begin>("leaf.begin"),
    detail::column<&subject::program, &detail::program::leaves, &dv::ir::leaf::bytes>("leaf.bytes"),
    detail::column<&subject::program, &detail::program::participations, &dv::ir::participation::role>("participation.role"),
    detail::column<&subject::program, &detail::program::participations, &dv::ir::participation::member>("participation.member"),
    detail::column<&subject::program, &detail::program::participations, &dv::ir::participation::group_index>("participation.group_index"),
    detail::column<&subject::program, &detail::program::participations, &dv::ir::participation::first_access>("participation.first_access"),
    detail::column<&subject::program, &detail::program::participations, &dv::ir::participation::accesses>("participation.accesses"),
    detail::column<&subject::program, &detail::program::participations, &dv::ir::participation::awaited>("participation.awaited"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::kind>("member.kind"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::op>("member.op"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::node>("member.node"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::symbol>("member.symbol"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::reduce>("member.reduce"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::communicator>("member.communicator"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::root>("member.root"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::offset>("member.offset"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::zero_edge>("member.zero_edge"),
    detail::column<&subject::program, &detail::program::members, &dv::ir::member::local>("member.local"),
    detail::column<&subject::program, &detail::program::tasks, &dv::ir::task::first_participation>("task.first_participation"),
    detail::column<&subject::program, &detail::program::tasks, &dv::ir::task::participations>("task.parts"),
    detail::column<&subject::program, &detail::program::tasks, &dv::ir::task::first_member>("task.first_member"),
    detail::column<&subject::program, &detail::program::tasks, &dv::ir::task::members>("task.members"),
    detail::column<&subject::program, &detail::program::tasks, &dv::ir::task::stream>("task.stream"),
    detail::column<&subject::program, &detail::program::tasks, &dv::ir::task::kind>("task.kind"),
    detail::column<&subject::program, &detail::program::tasks, &dv::ir::task::moved_by>("task.moved_by"),
    detail::column<&subject::program, &detail::program::communicators, &dv::ir::communicator::axes>("communicator.axes"),
    detail::column<&subject::program, &detail::program::communicators, &dv::ir::communicator::first_role>("communicator.first_role"),
    detail::column<&subject::program, &detail::program::communicators, &dv::ir::communicator::roles>("communicator.roles"),
    detail::column_of_numbers<&subject::program, &detail::program::communicator_roles>("communicator_roles"),
    detail::single<&subject::program, &detail::program::roles>("program.roles"),
    detail::single<&subject::program, &detail::program::symmetric_sets>("program.symmetric_sets"),
    detail::column_of_numbers<&subject::plan, &detail::plan::order>("order"),
    detail::column<&subject::plan, &detail::plan::steps, &dv::ir::step::task>("step.task"),
    detail::column<&subject::plan, &detail::plan::steps, &dv::ir::step::first_participation>("step.first_participation"),
    detail::column<&subject::plan, &detail::plan::steps, &dv::ir::step::participations>("step.parts"),
    detail::column<&subject::plan, &detail::plan::steps, &dv::ir::step::stream>("step.stream"),
    detail::column<&subject::plan, &detail::plan::steps, &dv::ir::step::first_wait>("step.first_wait"),
    detail::column<&subject::plan, &detail::plan::steps, &dv::ir::step::waits>("step.waits"),
    detail::column<&subject::plan, &detail::plan::steps, &dv::ir::step::event>("step.event"),
    detail::column<&subject::plan, &detail::plan::waits, &dv::ir::wait::event>("wait.event"),
    detail::column<&subject::plan, &detail::plan::waits, &dv::ir::wait::distance>("wait.distance"),
    detail::column<&subject::plan, &detail::plan::waits, &dv::ir::wait::step>("wait.step"),
    detail::column<&subject::plan, &detail::plan::roles, &dv::ir::role_plan::first_step>("role.first_step"),
    detail::column<&subject::plan, &detail::plan::roles, &dv::ir::role_plan::steps>("role.steps"),
    detail::column<&subject::plan, &detail::plan::roles, &dv::ir::role_plan::events>("role.events"),
    detail::column<&subject::plan, &detail::plan::roles, &dv::ir::role_plan::arena_bytes>("role.arena_bytes"),
    detail::column<&subject::plan, &detail::plan::roles, &dv::ir::role_plan::host_arena_bytes>("role.host_arena_bytes"),
    detail::column<&subject::plan, &detail::plan::roles, &dv::ir::role_plan::state_bytes>("role.state_bytes"),
    detail::column<&subject::plan, &detail::plan::roles, &dv::ir::role_plan::rank_order>("role.rank_order"),
    detail::column<&subject::plan, &detail::plan::placements, &dv::ir::placement::offset>("placement.offset"),
    detail::column<&subject::plan, &detail::plan::placements, &dv::ir::placement::stride>("placement.stride"),
    detail::single<&subject::plan, &detail::plan::overlapped>("plan.overlapped"),
    detail::single<&subject::plan, &detail::plan::event_slots>("plan.event_slots"),
    // Predicted times are used by facts and observers only; the prover proves nothing about time.
    detail::column<&subject::plan, &detail::plan::steps, &dv::ir::step::start>("step.start"),
    detail::column<&subject::plan, &detail::plan::steps, &dv::ir::step::end>("step.end"),
    detail::single<&subject::plan, &detail::plan::predicted>("plan.predicted"),
    detail::single<&subject::plan, &detail::plan::predicted_sequential>("plan.predicted_sequential"),
};

// A tensor_type is its element, its rank and six extents.
static_assert(detail::count_fields<dv::ir::buffer>() == 11 && detail::count_fields<dv::ir::access>() == 4 &&
                  detail::count_fields<dv::ir::leaf>() == 2 && detail::count_fields<dv::ir::participation>() == 6 &&
                  detail::count_fields<dv::ir::member>() == 10 && detail::count_fields<dv::ir::task>() == 7 &&
                  detail::count_fields<dv::ir::communicator>() == 3 && detail::count_fields<dv::ir::step>() == 9 &&
                  detail::count_fields<dv::ir::wait>() == 3 && detail::count_fields<dv::ir::role_plan>() == 7 &&
                  detail::count_fields<dv::ir::placement>() == 2 && detail::count_fields<dv::ir::program_data>() == 8 + 2 &&
                  detail::count_fields<dv::plan::plan_data>() == 5 + 4 + 1,  // `choice` tells of the search, and nothing is done by it
              "a field was added to a table: list it among `fields`");
static_assert(std::size(fields) == (11 - 1 + 2 + dv::max_rank) + 4 + 2 + 6 + 10 + 7 + 3 + 1 + 2 + 1 + 9 + 3 + 7 + 2 + 4);

// The tables whose number of rows can change: their last row is left out, or stands twice (a role behind the others).
struct table {
    const char* name;
    int (*rows)(const subject&);
    void (*shorten)(subject&);
    void (*lengthen)(subject&);
};

namespace detail {
template <auto Data, auto Table>
constexpr table resizable(const char* name) {
    return {name, [](const subject& s) { return (s.*Data.*Table).size(); },
            [](subject& s) { (s.*Data.*Table).cut((s.*Data.*Table).size() - 1); },
            [](subject& s) {
                auto last = (s.*Data.*Table).back();
                if constexpr (requires { last.rank_order; }) last.rank_order = (s.*Data.*Table).size();
                (s.*Data.*Table).push(last);
            }};
}
}  // namespace detail

inline constexpr table tables[] = {
    detail::resizable<&subject::program, &detail::program::buffers>("buffers"),
    detail::resizable<&subject::program, &detail::program::accesses>("accesses"),
    detail::resizable<&subject::program, &detail::program::participations>("parts"),
    detail::resizable<&subject::program, &detail::program::members>("members"),
    detail::resizable<&subject::program, &detail::program::tasks>("tasks"),
    detail::resizable<&subject::program, &detail::program::communicators>("communicators"),
    detail::resizable<&subject::program, &detail::program::communicator_roles>("communicator_roles"),
    detail::resizable<&subject::program, &detail::program::leaves>("leaves"),
    detail::resizable<&subject::plan, &detail::plan::order>("order"),
    detail::resizable<&subject::plan, &detail::plan::steps>("steps"),
    detail::resizable<&subject::plan, &detail::plan::waits>("waits"),
    detail::resizable<&subject::plan, &detail::plan::roles>("roles"),
    detail::resizable<&subject::plan, &detail::plan::placements>("placements"),
};
static_assert(std::size(tables) == dv::ir::program::tables + dv::plan::plan::tables);

}  // namespace support
