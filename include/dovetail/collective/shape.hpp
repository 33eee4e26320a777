// The shape rule of communication: the type that each member gets, of what each gives and of the number of members. Of roots, the
// type at the root, or of what it gives.
#pragma once

#include "table.hpp"

namespace dovetail::collective {

// Whether the shape depends on the number of members, which must then be known while compiling.
constexpr bool needs_width(const row& r) { return r.gives == pieces::one_per_member || r.gets == pieces::one_per_member; }

// Whether extent 0 of the argument can be cut into a block for each of `members`.
constexpr bool is_divisible(const row& r, const tensor_type& argument, std::int64_t members) {
    return r.gives == pieces::one || (argument.rank > 0 && argument.extent[0] % members == 0);
}

// The type of the result, where the argument is divisible. A scalar of each member becomes a vector; more than fits in an extent is
// one more than the largest, which the caller finds as an overflow.
constexpr tensor_type result_of(const row& r, tensor_type t, std::int64_t members) {
    if (!needs_width(r)) return t;
    if (r.gives == pieces::one_per_member) t.extent[0] /= members;
    if (r.gets == pieces::one) return t;
    if (t.rank == 0) return t.with_extents(members);
    t.extent[0] = t.extent[0] > most_bytes / members ? most_bytes + 1 : t.extent[0] * members;
    return t;
}

}  // namespace dovetail::collective
