// The roles that a graph lists by `roles<...>`, by which ranks are numbered; some of them may be idle.
#pragma once

#include "lowering_state.hpp"

namespace dovetail::ir::detail {

class listed_roles {
public:
    constexpr bool empty() const { return !found_; }

    // The names of a `roles<...>`, or of an `all` in it.
    constexpr void add(const descriptor& list, int source_position) {
        if (list.kind == keyword::roles) {
            twice_ = twice_ || found_;
            found_ = true;
        }
        int at = source_position + 1;
        for (int i = 0; i < list.child_count; at += list.children[i]->positions, ++i)
            if (list.children[i]->kind == keyword::all)
                add(*list.children[i], at);
            else
                names_.push({list.children[i], at});
    }

    // Gives the roles of `d`, which are in order of first appearance, the order of the list, and adds those that are idle. Returns the new
    // number of each former one.
    constexpr vec<int> number(lowering_state& d) const {
        check(d);
        vec<int> number(d.roles.size(), -1);
        vec<role> roles;
        for (const listed& x : names_) {
            const int used = d.find_role(x.name->id);
            if (used >= 0) number[used] = roles.size();
            roles.push(used >= 0 ? d.roles[used] : role{&x.name->id, 0, 0, x.source_position});
        }
        for (int r = 0; r < d.roles.size(); ++r)
            if (number[r] < 0) d.fail(make_fault(fault_kind::role_not_listed, d.roles[r].source_position));
        if (!d.wrong()) d.roles = roles;
        return number;
    }

private:
    struct listed {
        const descriptor* name = nullptr;
        int source_position = 0;
    };

    constexpr void check(lowering_state& d) const {
        for (int i = 0; i < names_.size(); ++i) {
            const listed& x = names_[i];
            if (x.name->kind != keyword::name) d.fail(make_fault(uncountable(*x.name, fault_kind::not_a_name), x.source_position));
            for (int k = 0; k < i; ++k)
                if (same(&names_[k].name->id, &x.name->id)) d.fail(make_fault(fault_kind::role_listed_twice, x.source_position));
        }
        if (twice_ && !names_.empty()) d.fail(make_fault(fault_kind::role_listed_twice, names_.back().source_position));
    }

    vec<listed> names_;
    bool found_ = false, twice_ = false;
};

}  // namespace dovetail::ir::detail
