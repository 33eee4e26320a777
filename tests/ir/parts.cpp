// Where symbols lie: rows of values, parts of what is made of them, and rows and parts of those.
#include <doctest/doctest.h>

#include <dovetail/ir/parts.hpp>

#include "../support/samples.hpp"

namespace {

using namespace samples;

struct nested_parts : dv::graph<
    dv::input<x, blocks>,
    dv::let<a, relu(x)>, dv::let<b, relu(x)>, dv::let<c, relu(rows<1, 2>(x))>,
    dv::let<d, concat<a, b>>,
    dv::let<e, concat<c, d>>,
    dv::let<f, add(rows<1, 2>(b), rows<4, 5>(e))>,
    dv::let<y, add(rows<1, 4>(rows<0, 2>(b)), rows<1, 2>(rows<0, 4>(b)))>,
    dv::output<y, f>> {};

constexpr auto& g = dv::plan::typed<nested_parts>::value;
const dv::ir::locations where{g};
template <class Name>
constexpr int id = dv::plan::symbol_of<nested_parts, Name>;

// The k-th argument of what computes a value.
template <class Name>
int argument(int k) {
    return g.operands[g.nodes[g.symbols[id<Name>].node].first_argument + k];
}

constexpr std::int64_t row = 256;

}  // namespace

TEST_CASE("parts of parts lie in the outermost") {
    CHECK(where.whole_of(id<e>) == id<e>);
    CHECK(where.whole_of(id<d>) == id<e>);
    CHECK(where.whole_of(id<c>) == id<e>);
    CHECK(where.whole_of(id<b>) == id<e>);
    CHECK(where[id<c>].begin == 0);
    CHECK(where[id<d>].begin == 4 * row);
    CHECK(where[id<a>].begin == 4 * row);
    CHECK(where[id<b>].begin == 12 * row);
    CHECK(where[id<e>].bytes == 20 * row);
    CHECK(where.whole_of(id<x>) == id<x>);
    CHECK_FALSE(where.is_part(id<f>));
}

TEST_CASE("rows lie where their value does, and equal rows are known as such") {
    const int half = argument<f>(0), last = argument<f>(1), one = argument<y>(0), other = argument<y>(1);
    CHECK(where[half].whole == id<e>);
    CHECK(where[half].begin == 16 * row);
    CHECK(where[half].bytes == 4 * row);
    CHECK(where[half].same == half);
    CHECK(where[last].begin == where[half].begin);
    CHECK(where[last].same == half);
    CHECK(where[one].begin == 13 * row);
    CHECK(where[other].same == one);
    CHECK(where[argument<c>(0)].whole == id<x>);
    CHECK(where.overlap(half, id<b>));
    CHECK(where.overlap(half, id<e>));
    CHECK_FALSE(where.overlap(half, one));
    CHECK_FALSE(where.overlap(half, id<a>));
    CHECK_FALSE(where.overlap(id<x>, id<e>));
}

TEST_CASE("a graph without views has no locations") {
    const dv::ir::locations none{dv::plan::typed<crossing_pair>::value};
    CHECK(none.empty());
    CHECK(none.overlap(1, 1));
    CHECK_FALSE(none.overlap(1, 2));
}
