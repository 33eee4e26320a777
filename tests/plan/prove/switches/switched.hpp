// What `run` puts around the conditions of its copy of the prover: each of them has a number, can be left out, and says where leaving
// it out would make a difference.
#pragma once

#include <type_traits>

namespace switched {

inline int left_out = -1;
inline unsigned char* matters = nullptr;  // by condition: where its value is not what it would be if it were left out

inline bool decided(int n, bool value, bool neutral) {
    if (n == left_out) return neutral;
    if (value != neutral) matters[n] = 1;
    return value;
}

// An operand of ||, or the condition of an `if`: false where it is left out.
constexpr bool any(int n, bool value) { return std::is_constant_evaluated() ? value : decided(n, value, false); }
// An operand of &&: true.
constexpr bool all(int n, bool value) { return std::is_constant_evaluated() ? value : decided(n, value, true); }

}  // namespace switched
