// The shape rule of communication: the type of a member's result, from the type of its argument and the number of members. For a
// collective with a root, the argument or the result at the root.
#pragma once

#include "table.hpp"

namespace dovetail::collective {

// Whether the shape depends on the number of members, which must then be known at compile time.
constexpr bool needs_width(const row& r) { return r.sends == pieces::one_per_member || r.receives == pieces::one_per_member; }

// Whether extent 0 of the argument can be split into a block for each member.
constexpr bool is_divisible(const row& r, const tensor_type& argument, std::int64_t members) {
    return r.sends == pieces::one || (argument.rank > 0 && argument.extent[0] % members == 0);
}

// The type of the result of a divisible argument. Gathered scalars become a vector. An extent that would overflow becomes most_bytes + 1,
// which the caller reports.
constexpr tensor_type result_of(const row& r, tensor_type t, std::int64_t members) {
    if (!needs_width(r)) return t;
    if (r.sends == pieces::one_per_member) t.extent[0] /= members;
    if (r.receives == pieces::one) return t;
    if (t.rank == 0) return t.with_extents(members);
    t.extent[0] = t.extent[0] > most_bytes / members ? most_bytes + 1 : t.extent[0] * members;
    return t;
}

}  // namespace dovetail::collective
