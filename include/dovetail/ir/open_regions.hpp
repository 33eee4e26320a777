// The statements that ask for a rewrite and stand around the one that is being lowered: each becomes a region of the graph. Takes their
// descriptors as the walk enters and leaves them.
#pragma once

#include "lowering_state.hpp"

namespace dovetail::ir::detail {

class open_regions {
public:
    constexpr explicit open_regions(lowering_state& d) : d_{d} {}

    constexpr int innermost() const { return innermost_; }
    constexpr void enter(const descriptor& r, int source_position) {
        if (r.kind == keyword::split) check_split(r, source_position);
        if (r.kind == keyword::bucket && r.number < 0) d_.fail(make_fault(fault_kind::bad_bucket_size, source_position));
        d_.regions.push({asked_by(r.kind), r.number, innermost_, source_position});
        innermost_ = d_.regions.size() - 1;
    }
    constexpr void leave() { innermost_ = d_.regions[innermost_].parent; }

private:
    static constexpr rewrite asked_by(keyword k) {
        switch (k) {
            case keyword::split: return rewrite::split;
            case keyword::keep: return rewrite::keep;
            case keyword::bucket: return rewrite::bucket;
            case keyword::shard_update: return rewrite::shard_update;
            case keyword::moved_by: return rewrite::copy_engines;
            case keyword::decompose: return rewrite::decompose;
            default: break;  // no keyword of a region
        }
        __builtin_unreachable();  // no constant expression
    }
    constexpr void check_split(const descriptor& r, int source_position) {
        if (r.number < 0) d_.fail(make_fault(fault_kind::bad_block_count, source_position));
        if (r.child_count == 0) d_.fail(make_fault(fault_kind::nothing_to_split, source_position));
        for (int outer = innermost_; outer >= 0; outer = d_.regions[outer].parent)
            if (d_.regions[outer].kind == rewrite::split)
                d_.fail(make_fault(fault_kind::split_in_split, d_.regions[outer].source_position, source_position));
    }

    lowering_state& d_;
    int innermost_ = -1;
};

}  // namespace dovetail::ir::detail
