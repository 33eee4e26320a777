// A view converts to an mdspan with static extents: cuda::std's under nvcc, elsewhere any type with the same members.
#include <dovetail/core/view.hpp>

#include <doctest/doctest.h>

#if defined(__CUDACC__)
#include <cuda/std/mdspan>
using matrix_span = cuda::std::mdspan<const float, cuda::std::extents<std::int64_t, 2, 3>>;
#else
struct matrix_span {
    struct mapping_type {};
    using data_handle_type = const float*;
    explicit matrix_span(const float* p) : p_{p} {}
    const float& operator()(int i, int j) const { return p_[3 * i + j]; }
    const float* p_;
};
#endif

TEST_CASE("a view is an mdspan of the same memory") {
    float data[6] = {0, 1, 2, 3, 4, 5};
    const dovetail::in<dovetail::tensor<float, 2, 3>> view{{data}};
    const matrix_span m = view;
    CHECK(&m(1, 2) == data + 5);
    CHECK(view.extent<0> == 2);
    CHECK(view.size == 6);
    CHECK(view.end() - view.begin() == 6);
}

#if !defined(__CUDACC__)
TEST_CASE("an index beyond the tensor") {
    float data[6] = {0, 1, 2, 3, 4, 5};
    const dovetail::inout<dovetail::tensor<float, 2, 3>> view{{data}};
    CHECK(view[5] == 5);
    CHECK_THROWS_WITH_AS(static_cast<void>(view[6]), "element 6 of a view of 6 elements", dovetail::view_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(view[-1]), "element -1 of a view of 6 elements", dovetail::view_error);
}
#endif
