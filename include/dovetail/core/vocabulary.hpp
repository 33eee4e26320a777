// Enumerations and small structs that every folder below core/ uses.
#pragma once

#include "tag.hpp"
#include "tensor.hpp"

namespace dovetail {

// What an operation of the graph does when it is launched. What is known of each: collective/table.hpp.
enum class op_kind : unsigned char {
    compute,    // a user's operation: one launch on the compute stream
    input,      // a bound input: a copy, or nothing where a device pointer is used in place
    to_host,    // device to pinned host memory, on the copy stream
    from_host,  // pinned host memory to device, on the copy stream
    transfer,   // one role's value to another role, at equal positions
    shift,      // index i gets the value of index i - offset along one axis
    all_reduce,
    reduce,
    broadcast,
    all_gather,
    reduce_scatter,
    all_to_all,
    gather,
    scatter,
    permute  // each target index of a pair gets the value of its source index, along one axis
};

enum class reduction : unsigned char { none, sum, product, minimum, maximum, average };

constexpr const char* name_of(reduction r) {
    constexpr const char* names[] = {"none", "sum", "product", "minimum", "maximum", "average"};
    return names[static_cast<int>(r)];
}

// The streams of a rank. In the sequential plan everything is on `compute`.
enum class stream_kind : unsigned char { compute, communication, copy };
inline constexpr int stream_count = 3;

constexpr const char* name_of(stream_kind l) {
    constexpr const char* names[] = {"compute", "comm", "copy"};
    return names[static_cast<int>(l)];
}

// What moves a channel's value: NCCL's kernels on the communication stream, or the sender's copy engine on its copy stream.
enum class transport : unsigned char { automatic, nccl, peer_copy };

// How an operation touches a buffer. `update` reads and writes.
enum class access_mode : unsigned char { read, write, update };

constexpr bool reads(access_mode m) { return m != access_mode::write; }
constexpr bool writes(access_mode m) { return m != access_mode::read; }

// Operations that are not executed: a block of rows of a value, and a value made of such blocks.
enum class view_kind : unsigned char { none, rows, concat };

// Work that an operation declares: arithmetic operations and bytes of device memory moved.
struct cost {
    std::int64_t flops = 0;
    std::int64_t bytes = 0;
    element arithmetic = element::float32;  // which rate of the machine the flops run at

    friend constexpr cost operator+(cost a, cost b) {
        return {a.flops + b.flops, a.bytes + b.bytes, a.flops != 0 ? a.arithmetic : b.arithmetic};
    }
};

constexpr cost bytes_moved(std::int64_t bytes) { return {0, bytes, element::float32}; }
constexpr cost floating_operations(std::int64_t flops, element arithmetic = element::float32) { return {flops, 0, arithmetic}; }

inline constexpr int max_results = 4;

// Several results of a shape rule: `return dv::results{a, b};`
struct results {
    tensor_type list[max_results] = {};
    int count = 0;

    template <class... T>
        requires(sizeof...(T) <= max_results)
    constexpr results(T... types) : list{types...}, count{sizeof...(T)} {}
    template <class... T>
        requires(sizeof...(T) > max_results)
    constexpr results(T...) : count{-1} {
        static_assert(sizeof...(T) <= max_results, "dovetail: a shape rule gives more results than an operation may have: four");
    }
};

// The value at position `source` of an axis moves to position `target`.
struct position_pair {
    int source = 0;
    int target = 0;
};

// An operation type as a value: its name and its declared facts. One for each pair of operation and number of arguments.
struct operation {
    const tag* name = &nameless;
    op_kind kind = op_kind::compute;
    int arguments = 0;
    // Fills `to` with the result types and returns their number; 0 where the arguments are refused.
    int (*infer)(const tensor_type* arguments, tensor_type* to) = nullptr;
    bool has_work = false;
    cost (*work)(const tensor_type* arguments, const tensor_type* results) = nullptr;
    // Bytes of scratch memory during the launch.
    bool has_workspace = false;
    std::int64_t (*workspace)(const tensor_type* arguments) = nullptr;
    int in_place = -1;           // argument whose buffer the first result may reuse
    bool in_place_only = false;  // ... and must reuse: the launch gets one `inout`
    int row_wise = -1;           // axis along which rows are independent
    bool has_effect = false;     // needed even if its results are not used
    int sms = 0;                 // streaming multiprocessors that it needs; 0: all that are available
    reduction reduce = reduction::none;
    int offset = 0;                        // of a shift
    bool zero_edge = false;                // a shift whose edge positions get zeros
    const position_pair* pairs = nullptr;  // of a permute: each position is a source at most once and a target at most once
    int pair_count = 0;
    view_kind view = view_kind::none;
    int block = 0, blocks = 0;  // of rows<I, N>
    // The shape rule, or the cost, could not be evaluated in a constant expression with trial arguments: it is not constexpr, or it rejects
    // them.
    bool doubtful_rule = false;
    bool doubtful_cost = false;
};

// Describes an operation that does not accept the given number of arguments.
inline constexpr operation no_operation{&nameless, op_kind::compute, -1};
constexpr bool accepted(const operation& o) { return o.arguments >= 0; }

}  // namespace dovetail
