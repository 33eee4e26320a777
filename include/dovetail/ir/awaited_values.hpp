// The values that a statement starts after: the names of the `after`s around it, which become operands of its node.
#pragma once

#include "lowering_state.hpp"

namespace dovetail::ir::detail {

class awaited_values {
public:
    constexpr explicit awaited_values(lowering_state& d) : d_{d} {}

    int count = 0;

    constexpr void push(const tag& name, int source_position) {
        names_.push({&name, source_position});
        ++count;
    }
    constexpr void pop() { names_.cut(--count); }

    // The operands of a node that has its arguments. One of these is waited for already. `find`: the symbol of a name, or -1 after a
    // mistake. False after a mistake.
    template <class Find>
    constexpr bool list(node& n, Find find) {
        if (n.op->view != view_kind::none) {
            d_.fail(make_fault(fault_kind::after_of_another_statement, names_[0].source_position - 1));
            return false;
        }
        n.first_awaited = d_.operand_count;
        for (const awaited_name& x : names_) {
            const int s = find(*x.name, x.source_position);
            if (s < 0) return false;
            if (among(n.first_argument, n.arguments, s) || among(n.first_awaited, n.awaited, s)) continue;
            d_.operands[d_.operand_count++] = s;
            ++n.awaited;
        }
        return true;
    }

private:
    struct awaited_name {
        const tag* name = nullptr;
        int source_position = 0;
    };
    constexpr bool among(int first, int count, int x) const {
        for (int i = first; i < first + count; ++i)
            if (d_.operands[i] == x) return true;
        return false;
    }

    lowering_state& d_;
    vec<awaited_name> names_;  // outermost first
};

}  // namespace dovetail::ir::detail
