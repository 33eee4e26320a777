// The hash against published values of FNV-1a for bytes, of which each is a word here; and that every part of what is hashed counts.
#include <dovetail/core/hasher.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;

namespace {

constexpr std::uint64_t hash_of(const char* text) {
    dv::detail::hasher h;
    while (*text != 0) h(static_cast<std::uint64_t>(*text++));
    return h.h;
}
static_assert(hash_of("") == 0xcbf29ce484222325);
static_assert(hash_of("a") == 0xaf63dc4c8601ec8c);
static_assert(hash_of("foobar") == 0x85944171f73967e8);

constexpr std::uint64_t hash_of(const dv::tensor_type& t) {
    dv::detail::hasher h;
    h(t);
    return h.h;
}
constexpr dv::tensor_type matrix = dv::tensor<float, 2, 3>::type;
static_assert(hash_of(matrix) == hash_of(dv::tensor<float, 2, 3>::type));
static_assert(hash_of(matrix) != hash_of(dv::tensor<float, 3, 2>::type));
static_assert(hash_of(matrix) != hash_of(dv::tensor<double, 2, 3>::type));
static_assert(hash_of(matrix) != hash_of(dv::tensor<float, 2, 3, 1>::type));

}  // namespace

TEST_CASE("a list of words is one word after the other") {
    dv::detail::hasher together, apart;
    together.all(1, true, 'x');
    for (const std::uint64_t word : {std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{'x'}}) apart(word);
    CHECK(together.h == apart.h);
}
