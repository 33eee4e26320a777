// Operations of random graphs: every byte of every argument changes every element of every result, so that a stale, torn or
// misplaced value shows. One implementation for all of them, shape rules and facts to choose from, and the collectives on whole
// tensors as the simulator and the interpreter carry them out (reference.hpp has its own).
#pragma once

#include "values.hpp"

#include <dovetail/core/vocabulary.hpp>
#include <dovetail/dsl/facts.hpp>
#include <dovetail/launch/host/collectives.hpp>

#include <deque>
#include <memory>
#include <string>

namespace support {

// Any compute operation. The results may lie at the bytes of an argument.
inline word apply(const dv::operation* op, const std::vector<piece>& in, const std::vector<piece>& out) {
    word h = op->name->hash;
    for (const piece& p : in) h = hash_bytes(h, p.data, p.bytes);
    for (std::size_t j = 0; j < out.size(); ++j) fill_values(out[j], mix(h + 0x1000003 * (j + 1)));
    return h;
}

// What the member at `group_index` of `n` receives: `in[i]` is the argument of member i.
struct collective {
    dv::op_kind kind = dv::op_kind::transfer;
    dv::reduction reduce = dv::reduction::none;
    int root = -1;
    int offset = 0;
    bool zero_edge = false;
    const dv::operation* op = nullptr;
    int blocks = 1;  // of the result of a local_reduce, which are all alike
};

inline void receive(const collective& c, const std::vector<piece>& in, int group_index, piece out) {
    using enum dv::op_kind;
    const int n = static_cast<int>(in.size());
    const auto copy = [&](std::int64_t at, const piece& from, std::int64_t begin, std::int64_t bytes) {
        if (bytes > 0) std::memcpy(out.data + at, from.data + begin, static_cast<std::size_t>(bytes));
    };
    const auto reduced = [&](std::int64_t begin) {
        std::vector<const void*> from;
        for (const piece& p : in) from.push_back(p.data + begin);
        if (out.bytes > 0) dv::host::detail::reduce(out.type, c.reduce, from, out.data, out.bytes);
    };
    switch (c.kind) {
        case transfer: copy(0, in[0], 0, out.bytes); break;
        case shift: {
            const int from = group_index - c.offset;
            if (out.bytes == 0) break;
            if (c.zero_edge && (from < 0 || from >= n)) std::memset(out.data, 0, static_cast<std::size_t>(out.bytes));
            else copy(0, in[(from % n + n) % n], 0, out.bytes);
            break;
        }
        case permute:
            if (out.bytes > 0) std::memset(out.data, 0, static_cast<std::size_t>(out.bytes));
            for (int i = 0; i < c.op->pair_count; ++i)
                if (c.op->pairs[i].target == group_index) copy(0, in[c.op->pairs[i].source], 0, out.bytes);
            break;
        case own_rows: copy(0, in[group_index], group_index * out.bytes, out.bytes); break;
        case all_reduce: reduced(0); break;
        case local_reduce: {
            std::vector<const void*> blocks;
            const std::int64_t block = out.bytes / c.blocks;
            for (std::int64_t at = 0; at < in[0].bytes; at += block) blocks.push_back(in[0].data + at);
            for (std::int64_t at = 0; at < out.bytes; at += block)
                dv::host::detail::reduce(out.type, c.reduce, blocks, out.data + at, block);
            break;
        }
        case reduce:
            if (group_index == c.root) reduced(0);
            break;
        case broadcast: copy(0, in[c.root], 0, out.bytes); break;
        case all_gather:
        case gather:
            if (c.kind == all_gather || group_index == c.root)
                for (int i = 0; i < n; ++i) {
                    const bool from_its_place = c.op != nullptr && c.op->own_block_in_place;
                    const std::int64_t block = from_its_place ? in[i].bytes / n : in[i].bytes;
                    copy(i * block, in[i], from_its_place ? i * block : 0, block);
                }
            break;
        case reduce_scatter: reduced(group_index * out.bytes); break;
        case all_to_all:
            for (int i = 0; i < n; ++i) copy(i * (out.bytes / n), in[i], group_index * (out.bytes / n), out.bytes / n);
            break;
        case scatter: copy(0, in[c.root], group_index * out.bytes, out.bytes); break;
        default: break;
    }
}

// The same where an argument or a result may be several pieces, the blocks of an all_to_all: `in[i]` are those of member i.
inline void receive_pieces(const collective& c, const std::vector<std::vector<piece>>& in, int group_index, const std::vector<piece>& out) {
    const auto all_of = [](const std::vector<piece>& pieces, std::vector<unsigned char>& bytes) {
        piece all = pieces.empty() ? piece{} : pieces[0];
        if (pieces.size() < 2) return all;
        for (const piece& p : pieces) bytes.insert(bytes.end(), p.data, p.data + p.bytes);
        all.data = bytes.data();
        all.bytes = static_cast<std::int64_t>(bytes.size());
        return all;
    };
    std::vector<std::vector<unsigned char>> given(in.size());
    std::vector<piece> arguments;
    for (std::size_t i = 0; i < in.size(); ++i) arguments.push_back(all_of(in[i], given[i]));
    std::vector<unsigned char> received;
    const piece result = all_of(out, received);
    receive(c, arguments, group_index, result);
    std::int64_t at = 0;
    for (const piece& p : out) {
        if (p.data != result.data && p.bytes > 0) std::memcpy(p.data, result.data + at, static_cast<std::size_t>(p.bytes));
        at += p.bytes;
    }
}

// The kind for `receive` of what is no communication and no computation: a local_reduce, or a copy.
constexpr dv::op_kind moving_within_a_rank(dv::op_kind kind) {
    return kind == dv::op_kind::local_reduce ? kind : dv::op_kind::transfer;
}

// Whether this member has a result.
constexpr bool receives(dv::op_kind kind, int root, int group_index) {
    return (kind != dv::op_kind::reduce && kind != dv::op_kind::gather) || group_index == root;
}

// The types of random graphs: vectors of words first, then every element type, scalars and tensors of two extents.
inline constexpr dv::tensor_type tensor_types[] = {
    {dv::element::uint64, 1, {12}},    {dv::element::uint64, 1, {4}},     {dv::element::uint64, 1, {24}},
    {dv::element::uint64, 1, {1}},     {dv::element::uint64, 1, {36}},    {dv::element::uint64, 1, {6}},
    {dv::element::uint64, 1, {3}},     {dv::element::uint64, 1, {2}},     {dv::element::uint64, 1, {72}},
    {dv::element::uint64, 1, {0}},     {dv::element::uint64, 1, {144}},   {dv::element::uint64, 1, {8}},
    {dv::element::float32, 1, {24}},   {dv::element::float32, 1, {8}},    {dv::element::float32, 0, {}},
    {dv::element::float32, 2, {6, 4}}, {dv::element::float16, 1, {24}},   {dv::element::float16, 2, {4, 6}},
    {dv::element::float16, 0, {}},     {dv::element::bfloat16, 1, {48}},  {dv::element::bfloat16, 2, {8, 3}},
    {dv::element::float64, 1, {12}},   {dv::element::float64, 2, {2, 6}}, {dv::element::float64, 0, {}},
    {dv::element::int8, 1, {96}},      {dv::element::int8, 1, {7}},       {dv::element::uint8, 2, {12, 4}},
    {dv::element::uint8, 1, {24}},     {dv::element::int32, 1, {12}},     {dv::element::int32, 0, {}},
    {dv::element::int32, 2, {8, 8}},   {dv::element::uint32, 1, {24}},    {dv::element::uint32, 2, {3, 4}},
    {dv::element::int64, 1, {12}},     {dv::element::int64, 2, {4, 2}},   {dv::element::int64, 0, {}},
    {dv::element::uint64, 0, {}},      {dv::element::uint64, 2, {4, 6}},  {dv::element::uint64, 2, {0, 3}},
    {dv::element::uint8, 0, {}},
    // ... and those whose blocks of rows can be read and written by themselves
    {dv::element::uint64, 1, {64}},    {dv::element::uint64, 1, {128}},   {dv::element::uint64, 2, {4, 32}},
    {dv::element::float32, 2, {4, 64}}, {dv::element::uint32, 1, {192}}};
inline constexpr int blocked_type_count = 5;  // at the end
inline constexpr int tensor_type_count = sizeof tensor_types / sizeof tensor_types[0];
inline constexpr int word_type_count = 12;   // vectors of words, at the front

// Shape rules. `sized` gives R types of the table whatever the arguments are, `like` gives result j the type of argument First + j.
constexpr int sized_type(int first, int j) { return (first + 5 * j) % tensor_type_count; }

template <int K, int R>
inline constexpr auto sized = +[](const dv::tensor_type*, dv::tensor_type* to) {
    for (int j = 0; j < R; ++j) to[j] = tensor_types[sized_type(K, j)];
    return R;
};
template <int First, int R>
inline constexpr auto like = +[](const dv::tensor_type* arguments, dv::tensor_type* to) {
    for (int j = 0; j < R; ++j) to[j] = arguments[First + j];
    return R;
};

using shape_rule = int (*)(const dv::tensor_type*, dv::tensor_type*);

template <int... I>
constexpr shape_rule sized_rule(int i, std::integer_sequence<int, I...>) {
    constexpr shape_rule rules[] = {sized<I / dv::max_results, I % dv::max_results + 1>...};
    return rules[i];
}
constexpr shape_rule sized_rule(int k, int r) {
    return sized_rule(k * dv::max_results + r - 1, std::make_integer_sequence<int, tensor_type_count * dv::max_results>{});
}

inline constexpr int most_arguments = 8;
template <int... I>
constexpr shape_rule like_rule(int i, std::integer_sequence<int, I...>) {
    constexpr shape_rule rules[] = {like<I / most_arguments, I % most_arguments + 1>...};
    return rules[i];
}
constexpr shape_rule like_rule(int r, int first = 0) {
    return like_rule(first * most_arguments + r - 1, std::make_integer_sequence<int, most_arguments * most_arguments>{});
}

// rows<I, N> and concat, as the library declares them.
inline constexpr int most_blocks = 4;
template <int... K>
constexpr const dv::operation* rows_operation(int block, int blocks, std::integer_sequence<int, K...>) {
    constexpr const dv::operation* list[] = {dv::dsl::operation_for<dv::ops::rows<K % most_blocks, K / most_blocks + 1>, 1>...};
    return list[(blocks - 1) * most_blocks + block];
}
constexpr const dv::operation* rows_operation(int block, int blocks) {
    return rows_operation(block, blocks, std::make_integer_sequence<int, most_blocks * most_blocks>{});
}
inline const dv::operation* concat_operation(int participations) {
    constexpr const dv::operation* list[] = {dv::dsl::operation_for<dv::ops::concat<>, 1>, dv::dsl::operation_for<dv::ops::concat<>, 2>,
                                             dv::dsl::operation_for<dv::ops::concat<>, 3>};
    return list[participations - 1];
}
// Whether blocks of rows of such a tensor can be read and written by themselves.
constexpr bool is_blocked(const dv::tensor_type& type, int blocks) {
    return type.rank > 0 && type.bytes() > 0 && type.extent[0] % blocks == 0 && type.bytes() / blocks % 256 == 0;
}

using work_rule = dv::cost (*)(const dv::tensor_type*, const dv::tensor_type*);
template <std::int64_t Flops>
inline constexpr auto work_of = +[](const dv::tensor_type*, const dv::tensor_type*) { return dv::floating_operations(Flops); };
inline constexpr work_rule work_rules[] = {nullptr, work_of<0>, work_of<100'000'000>, work_of<500'000'000>, work_of<2'000'000'000>};

using workspace_rule = std::int64_t (*)(const dv::tensor_type*);
template <std::int64_t Bytes>
inline constexpr auto scratch = +[](const dv::tensor_type*) { return Bytes; };
inline constexpr workspace_rule workspace_rules[] = {nullptr, scratch<0>, scratch<8>, scratch<300>, scratch<1000>};
inline constexpr workspace_rule workspace_like = +[](const dv::tensor_type* arguments) { return arguments[0].bytes() + 8; };

// Tags and operations made at run time, and whatever else a graph refers to; they stay where they are.
struct names {
    std::deque<std::string> text;
    std::deque<dv::tag> tags;
    std::deque<dv::operation> operations;
    std::deque<std::shared_ptr<const void>> kept;

    const dv::tag* tag(std::string name) {
        text.push_back(std::move(name));
        tags.push_back(dv::detail::make_tag(text.back().data(), static_cast<int>(text.back().size())));
        return &tags.back();
    }
    dv::operation* operation(std::string name) {
        operations.emplace_back();
        operations.back().name = tag(std::move(name));
        return &operations.back();
    }
};

}  // namespace support
