// What blocks of a split have to be: even, of the shapes that operations make, and, where they are parts of a whole, aligned. Keeps the
// first fault.
#pragma once

#include "../../ir/graph.hpp"

namespace dovetail::pass::detail {

class block_checks {
public:
    constexpr block_checks(const ir::graph& g, int blocks) : blocks{blocks}, g_{g} {}

    const int blocks;
    constexpr tensor_type block_of(tensor_type type, int extent) const {
        if (extent != whole) type.extent[extent] /= blocks;
        return type;
    }

protected:
    // Whether a node is an all_to_all that changes the order of rows: one of a single rank does not.
    constexpr bool is_exchange(const ir::node& n) const {
        return n.kind == op_kind::all_to_all && n.role >= 0 && ir::width_along(g_, n.role, n.axes) != 1;
    }
    constexpr int argument(const ir::node& n, int k) const { return g_.operands[n.first_argument + k]; }
    constexpr span<const int> awaited(const ir::node& n) const { return g_.operands.subspan(n.first_awaited, n.awaited); }
    constexpr int result(const ir::node& n, int k) const { return g_.operands[n.first_result + k]; }
    constexpr const tensor_type& type_of(int symbol) const { return g_.symbols[symbol].type; }

    constexpr ir::fault& fail(ir::fault_kind kind, const ir::node& n) {
        if (!wrong_) wrong_ = ir::make_fault(kind, n.statement, n.source_position + 1).in(n.statement);
        return wrong_;
    }

    // Whether each result of an operation that takes blocks is made in blocks.
    constexpr bool makes_blocks(const ir::node& n) const {
        for (int k = 0; k < n.results; ++k)
            if (!n.op->row_wise.elementwise && n.op->row_wise.of_result(k) == whole) return false;
        return true;
    }
    static constexpr bool goes_by_rows(const ir::node& n, int k) {
        return n.kind != op_kind::compute || n.op->row_wise.of_argument(k) != whole;
    }

    // An all_to_all in blocks divides the rows of each member.
    constexpr void check_rows_of_each(const ir::node& n, const tensor_type& type, int members) {
        const std::int64_t parts = std::int64_t{blocks} * members;
        if (type.extent[0] % parts != 0) fail(ir::fault_kind::uneven_blocks, n).tensor(type).count_of(parts);
    }
    // ... which are also read, or put together, by themselves.
    constexpr void check_parts(const ir::node& n, const tensor_type& type, int members) {
        check_rows_of_each(n, type, members);
        if (!wrong_) check_alignment(n, type, members);
    }

    // Of blocks, or of the rows of each member in them.
    constexpr void check_alignment(const ir::node& n, const tensor_type& type, int members = 1) {
        const std::int64_t bytes = type.bytes() / blocks / members;
        if (bytes == 0 || bytes % block_alignment != 0) fail(ir::fault_kind::unaligned_blocks, n).tensor(type).count_of(bytes);
    }

    // The shape rule has to make blocks of the results, along these extents, of the blocks of the arguments.
    constexpr void check_shape_rule(const ir::node& n, const vec<tensor_type>& given, const vec<int>& extents) {
        tensor_type results[max_results] = {};
        const int count = n.op->infer(given.begin(), results);
        for (int k = 0; k < n.results && !wrong_; ++k) {
            const int s = result(n, k);
            if (s < 0 && count == n.results) continue;
            if (count != n.results || results[k] != block_of(type_of(s), extents[k]))
                fail(ir::fault_kind::blocks_of_another_shape, n).tensor(type_of(argument(n, 0))).count_of(blocks);
        }
    }

    const ir::graph& g_;
    ir::fault wrong_;
};

}  // namespace dovetail::pass::detail
