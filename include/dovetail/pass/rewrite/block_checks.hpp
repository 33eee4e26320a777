// What blocks of splits have to be: even, of the shapes that operations make, and, where they are parts of a whole, aligned. Keeps the
// first fault of each split.
#pragma once

#include "split_members.hpp"

namespace dovetail::pass::detail {

class block_checks : public split_members {
public:
    constexpr block_checks(const ir::graph& g, const vec<int>& blocks) : split_members{g, blocks}, wrong_(blocks.size()) {}

    static constexpr tensor_type block_of(tensor_type type, int extent, int blocks) {
        if (extent != whole) type.extent[extent] /= blocks;
        return type;
    }
    constexpr const ir::fault& fault_of(int region) const { return wrong_[region]; }

protected:
    // Whether a node is an all_to_all that changes the order of rows: one of a single rank does not.
    constexpr bool is_exchange(const ir::node& n) const {
        return n.kind == op_kind::all_to_all && n.role >= 0 && ir::width_along(g_, n.role, n.axes) != 1;
    }

    constexpr ir::fault& fail(ir::fault_kind kind, const ir::node& n) {
        ir::fault& first = wrong_[region_of(n)];
        if (!first) first = ir::make_fault(kind, n.statement, n.source_position + 1).in(n.statement);
        return first;
    }
    constexpr bool wrong(const ir::node& n) const { return bool(wrong_[region_of(n)]); }

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
        const std::int64_t parts = std::int64_t{blocks_of(n)} * members;
        if (type.extent[0] % parts != 0) fail(ir::fault_kind::uneven_blocks, n).tensor(type).count_of(parts);
    }
    // ... which are also read, or put together, by themselves.
    constexpr void check_parts(const ir::node& n, const tensor_type& type, int members) {
        check_rows_of_each(n, type, members);
        if (!wrong(n)) check_alignment(n, type, members);
    }

    // Of blocks, or of the rows of each member in them.
    constexpr void check_alignment(const ir::node& n, const tensor_type& type, int members = 1) {
        const std::int64_t bytes = type.bytes() / blocks_of(n) / members;
        if (bytes == 0 || bytes % block_alignment != 0) fail(ir::fault_kind::unaligned_blocks, n).tensor(type).count_of(bytes);
    }

    // The shape rule has to make blocks of the results, along these extents, of the blocks of the arguments.
    constexpr void check_shape_rule(const ir::node& n, const vec<tensor_type>& given, const vec<int>& extents) {
        tensor_type results[max_results] = {};
        const int count = n.op->infer(given.begin(), results);
        for (int k = 0; k < n.results && !wrong(n); ++k) {
            const int s = result(n, k);
            if (s < 0 && count == n.results) continue;
            if (count != n.results || results[k] != block_of(type_of(s), extents[k], blocks_of(n)))
                fail(ir::fault_kind::blocks_of_another_shape, n).tensor(type_of(argument(n, 0))).count_of(blocks_of(n));
        }
    }

    vec<ir::fault> wrong_;  // by region
};

}  // namespace dovetail::pass::detail
