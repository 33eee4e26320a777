// The counts of repeat and all. They are template parameters of type int; down<N> is the int INT_MIN + N, so that counts of both kinds, and
// negative ones, which are an error, are told apart.
#pragma once

#include <climits>

namespace dovetail::dsl {

// The count that stands for N - 1 to 0. A negative one stays a negative one, for the error.
constexpr int counting_down(int n) { return n < 0 ? n : INT_MIN + n; }
constexpr bool goes_down(int count) { return count < INT_MIN / 2; }
// How many indices a count stands for.
constexpr int indices_of(int count) { return goes_down(count) ? count - INT_MIN : count; }
// The index at a place, counted from 0.
constexpr int index_at(int count, int place) { return goes_down(count) ? indices_of(count) - 1 - place : place; }

// Several counts as one template argument. They are in the type: nvcc's front end accepts no class-type argument that holds an array.
template <int... N>
struct count_list {};

}  // namespace dovetail::dsl
