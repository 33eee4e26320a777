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
    permute,      // each target index of a pair gets the value of its source index, along one axis
    own_rows,     // each rank keeps its block of rows
    local_reduce  // reduces equal blocks within a rank: those that arrived, and its own one. Made of reductions by copy engines
};

// The most blocks of a local_reduce: their addresses are arguments of a kernel.
inline constexpr int most_reduced_blocks = 64;

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

// What moves data between ranks: NCCL's kernels on the communication stream, or the senders' copy engines.
enum class transport : unsigned char { automatic, nccl, peer_copy };

// What connects ranks: NVLink or PCIe within a node, the network between nodes.
enum class link : unsigned char { local, network };

constexpr const char* name_of(link l) { return l == link::local ? "local" : "network"; }

// How an operation touches a buffer. `update` reads and writes.
enum class access_mode : unsigned char { read, write, update };

constexpr bool reads(access_mode m) { return m != access_mode::write; }
constexpr bool writes(access_mode m) { return m != access_mode::read; }

// The rewrites of pass/rewrite/.
enum class rewrite : unsigned char {
    identity,      // the same graph
    bucket,        // small collectives of equal slack in one NCCL group
    split,         // operations in blocks of rows
    decompose,     // all_reduces as reduce_scatter and all_gather, with row-wise operations on shards between them
    keep,          // repeated collectives left out
    automatic,     // those that the search finds to gain
    shard_update,  // as decompose, with updates of states on shards
    copy_engines   // collectives by copy engines
};

constexpr const char* name_of(rewrite r) {
    constexpr const char* names[] = {"identity", "bucket", "split", "decompose", "keep", "automatic", "shard_update", "copy_engines"};
    static_assert(sizeof names / sizeof *names == static_cast<int>(rewrite::copy_engines) + 1);
    return names[static_cast<int>(r)];
}

// In place of the number of blocks of a split: the cost model chooses.
inline constexpr int automatic = 0;

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

// The thread blocks of a kernel whose arithmetic is divided into equal tiles, one on each multiprocessor at a time.
struct tiles {
    std::int64_t count = 0;
    int time = 1000;  // of a tile, in thousandths of the time of its arithmetic at the machine's rate
};

inline constexpr int max_results = 16;

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
        static_assert(sizeof...(T) <= max_results, "dovetail: a shape rule gives more results than an operation may have: sixteen");
    }
};

// The value at position `source` of an axis moves to position `target`.
struct position_pair {
    int source = 0;
    int target = 0;
};

// An argument or result that is not cut: every block of the operation takes all of it.
inline constexpr int whole = -1;

// How an operation can be computed in blocks: the fact `row_wise`. Block i of every result depends on block i of the arguments that are
// cut, and on the whole of the others. A product takes blocks of rows of its first matrix and all of its second one: dv::by_rows(0).
struct row_wise_extents {
    static constexpr int most = 16;  // arguments or results; those behind are whole

    bool declared = false;
    bool refused = false;      // declared wrongly, which is reported
    bool elementwise = false;  // what is cut is cut along the same extent, whichever it is; a scalar never is
    int arguments = 0;         // the number that the declaration names, counted from the first argument
    std::int64_t unit = 1;     // blocks are multiples of so many rows (elements of the extent) that lie one behind the other
    signed char argument[most] = {};
    signed char result[most] = {};

    // Not single rows are independent, but runs of so many of them, from the first on: sequences of that many tokens.
    constexpr row_wise_extents in_units_of(std::int64_t rows) const {
        row_wise_extents w = *this;
        w.unit = rows;
        return w;
    }
    constexpr int of_argument(int k) const { return declared && k < most ? argument[k] : whole; }
    constexpr int of_result(int k) const { return declared && k < most ? result[k] : whole; }
};

namespace detail {
constexpr row_wise_extents cut_along_rows(bool elementwise, const int* which, int count) {
    row_wise_extents w;
    w.declared = true;
    w.elementwise = elementwise;
    for (signed char& e : w.argument) e = elementwise && count == 0 ? 0 : whole;
    for (int i = 0; i < count; ++i) {
        if (which[i] < 0 || which[i] >= row_wise_extents::most) return {};
        w.argument[which[i]] = 0;
        if (which[i] >= w.arguments) w.arguments = which[i] + 1;
    }
    return w;
}
}  // namespace detail

// These arguments by rows, the others whole; all results by rows.
template <class... Which>
constexpr row_wise_extents by_rows(Which... argument) {
    const int which[] = {argument..., 0};
    return detail::cut_along_rows(false, which, sizeof...(argument));
}
// These arguments, without any all, and all results along the same extent: element i of a result depends on elements i.
template <class... Which>
constexpr row_wise_extents elementwise(Which... argument) {
    const int which[] = {argument..., 0};
    return detail::cut_along_rows(true, which, sizeof...(argument));
}
// Each argument and each result along an extent of its own, or whole: by_extents({0, dv::whole}, {1}).
template <int Arguments, int Results>
constexpr row_wise_extents by_extents(const int (&argument)[Arguments], const int (&result)[Results]) {
    static_assert(Arguments <= row_wise_extents::most && Results <= row_wise_extents::most, "dovetail: by_extents takes at most 16");
    row_wise_extents w;
    w.declared = true;
    w.arguments = Arguments;
    for (int k = 0; k < row_wise_extents::most; ++k) {
        const int from = k < Arguments ? argument[k] : whole, to = k < Results ? result[k] : whole;
        if (from < whole || from >= max_rank || to < whole || to >= max_rank) return {};
        w.argument[k] = static_cast<signed char>(from);
        w.result[k] = static_cast<signed char>(to);
    }
    return w;
}

// An operation type as a value: its name and its declared facts. One for each pair of operation and number of arguments.
struct operation {
    const tag* name = &nameless;
    op_kind kind = op_kind::compute;
    int arguments = 0;
    // Fills `to` with the result types and returns their number; 0 where the arguments are refused.
    int (*infer)(const tensor_type* arguments, tensor_type* to) = nullptr;
    bool has_work = false;
    cost (*work)(const tensor_type* arguments, const tensor_type* results) = nullptr;
    bool has_tiles = false;
    tiles (*tiling)(const tensor_type* arguments) = nullptr;
    // Bytes of scratch memory during the launch.
    bool has_workspace = false;
    std::int64_t (*workspace)(const tensor_type* arguments) = nullptr;
    int in_place = -1;               // argument whose buffer the first result may reuse
    bool in_place_only = false;      // ... and must reuse: a launch gets one `inout`
    row_wise_extents row_wise = {};  // how it can be computed in blocks
    bool has_effect = false;         // needed even if its results are not used
    int sms = 0;                     // streaming multiprocessors that it needs; 0: all that are available
    reduction reduce = reduction::none;
    int offset = 0;                        // of a shift
    bool zero_edge = false;                // a shift whose edge positions get zeros
    const position_pair* pairs = nullptr;  // of a permute: each position is a source at most once and a target at most once
    int pair_count = 0;
    view_kind view = view_kind::none;
    int block = 0, blocks = 0;  // of rows<I, N>, as written; a graph's nodes have their own
    // Of a communication whose result only a local_reduce reads: what a rank gives itself stays in the argument, which that reads as well.
    bool own_block_stays = false;
    // Of the local_reduce and the all_gather of an all_reduce: what the one makes and the other takes is the memory of all blocks, in which
    // the rank's own block is at its place. The other blocks are undefined until the all_gather writes them.
    bool own_block_in_place = false;
    // Of a communication by copy engines: it is on the stream of the local_reduce that makes or reads what it moves.
    bool beside_reduction = false;
    // The shape rule, the workspace, or one of cost and tiles could not be evaluated in a constant expression with trial arguments: it is
    // not constexpr, or it rejects them.
    bool doubtful_rule = false;
    bool doubtful_workspace = false;
    bool doubtful_cost = false;
};

// Describes an operation that does not accept the given number of arguments.
inline constexpr operation no_operation{&nameless, op_kind::compute, -1};
constexpr bool accepted(const operation& o) { return o.arguments >= 0; }

}  // namespace dovetail
