// Tensors of other libraries in bind, write_state and reading.copy_to: DLPack's structures and mdspans with values known beforehand, each
// refusal by its text, and the codes of element types against DLPack's header.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/binding/external_tensor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include "support/dlpack.hpp"
#include "support/expect.hpp"
#include "support/row_mdspan.hpp"

#if __has_include(<mdspan>)
#include <mdspan>
#endif

namespace dv = dovetail;

namespace {
namespace app {
using namespace dv::ops;
struct x;
struct w;
struct y;
using matrix = dv::tensor<float, 2, 3>;
struct sums : dv::graph<dv::input<x, matrix>, dv::state<w, matrix, zeros>, dv::let<y, add(x, w)>, dv::output<y>> {};
using nothing = dv::tensor<float, 4, 0>;
struct empty_sums : dv::graph<dv::input<x, nothing>, dv::state<w, nothing, zeros>, dv::let<y, add(x, w)>, dv::output<y>> {};
}  // namespace app
using namespace app;
using floats = std::vector<float>;
using support::message;
using dynamic = support::row_mdspan<const float, static_cast<std::size_t>(-1), static_cast<std::size_t>(-1)>;

const floats counted{1, 2, 3, 4, 5, 6};

// A contiguous DLTensor of two by three floats on the host, to be changed by a test.
struct dl_matrix {
    floats values = counted;
    std::int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
    DLTensor tensor{};
    dl_matrix() {
        tensor.data = values.data();
        tensor.device = {kDLCPU, 0};
        tensor.ndim = 2;
        tensor.dtype = {kDLFloat, 32, 1};
        tensor.shape = shape;
    }
    dl_matrix(const dl_matrix&) = delete;
};
template <class Body>
void with_executor(Body body) {
    dv::host::world{1}.run([&](auto& rank) {
        dv::executor<sums> step{rank};
        body(step);
    });
}
// What binding this matrix says, once `change` has changed it.
template <class Change>
std::string refusal(Change change) {
    std::string text;
    with_executor([&](auto& step) {
        dl_matrix m;
        change(m);
        text = message([&] { step.bind(dv::name<x>, m.tensor); });
    });
    return text;
}
template <class Tensor, class V>
constexpr bool bindable = dv::detail::is_bindable<Tensor, V>;
}  // namespace

TEST_CASE("a DLTensor and a DLManagedTensor are bound, copied and left alone") {
    with_executor([](auto& step) {
        const auto sum = [&] { return step.run().read(dv::name<y>).host(); };
        dl_matrix m;
        step.bind(dv::name<x>, m.tensor);
        m.values.assign(6, 0.0f);  // copied by bind
        CHECK(sum() == counted);
        m.values = counted;
        m.tensor.strides = m.strides;
        DLManagedTensor managed{};
        managed.dl_tensor = m.tensor;
        managed.deleter = [](DLManagedTensor*) { FAIL_CHECK("the caller deletes it"); };
        DLManagedTensor* const pointer = &managed;
        step.bind(dv::name<x>, pointer);
        CHECK(sum() == counted);
        m.values.assign({-1, 6, 5, 4, 3, 2, 1});
        m.tensor.data = m.values.data();
        m.tensor.byte_offset = sizeof(float);
        for (const DLDeviceType of_the_host : {kDLCUDAHost, kDLCUDAManaged}) {
            m.tensor.device.device_type = of_the_host;
            m.values[1] += 1;
            step.bind(dv::name<x>, m.tensor);
            CHECK(sum() == floats{m.values[1], 5, 4, 3, 2, 1});
        }
    });
}

TEST_CASE("strides of extents of one are not looked at") {
    std::int64_t shape[3] = {1, 2, 1}, strides[3] = {77, 1, 55};
    float values[2] = {1, 2};
    DLTensor t{};
    t.data = values;
    t.device = {kDLCPU, 0};
    t.ndim = 3;
    t.dtype = {kDLFloat, 32, 1};
    t.shape = shape;
    t.strides = strides;
    CHECK(dv::detail::mismatch_of(dv::detail::describe(t), dv::tensor<float, 1, 2, 1>::type, -1) == "");
    strides[1] = 2;
    CHECK(dv::detail::mismatch_of(dv::detail::describe(t), dv::tensor<float, 1, 2, 1>::type, -1) != "");
}

TEST_CASE("the pointer and the strides of a tensor without elements are not looked at") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<empty_sums> step{rank};
        float unused = 7;
        dl_matrix m;
        m.shape[0] = 4, m.shape[1] = 0;
        m.strides[0] = m.strides[1] = 1;  // as PyTorch gives them
        m.tensor.strides = m.strides;
        for (void* const data : {static_cast<void*>(nullptr), static_cast<void*>(&unused), static_cast<void*>(m.values.data() + 6)})
            for (const std::uint64_t offset : {0, 2}) {
                m.tensor.data = data;
                m.tensor.byte_offset = offset;
                step.bind(dv::name<x>, m.tensor);
                step.write_state(dv::name<w>, m.tensor);
                step.bind_output(dv::name<y>, m.tensor);
                const auto sum = step.run().read(dv::name<y>);
                sum.copy_to(m.tensor);
                CHECK(sum.host().empty());
            }
        CHECK(unused == 7);
        m.shape[0] = 0, m.shape[1] = 4;
        CHECK(message([&] { step.bind(dv::name<x>, m.tensor); }) ==
              "dovetail: input `x` is bound to a tensor of shape [0,4], and has shape [4,0], on rank 0");
        DLManagedTensor* const none = nullptr;
        CHECK(message([&] { step.bind(dv::name<x>, none); }) == "dovetail: input `x` is bound to a null pointer, on rank 0");
    });
}

TEST_CASE("mdspans are bound, and their types tell mistakes while compiling") {
    with_executor([](auto& step) {
        floats values = counted;
        const support::row_mdspan<float, 2, 3> fixed{values.data(), {2, 3}, {3, 1}};
        step.bind(dv::name<x>, fixed);
        CHECK(step.run().read(dv::name<y>).host() == counted);
        CHECK(
            message([&] { step.bind(dv::name<x>, dynamic{values.data(), {2, 3}, {1, 2}}); }) ==
            "dovetail: input `x` is bound to a tensor of shape [2,3] with strides [1,2], and has row-major order without gaps, on rank 0");
        CHECK(message([&] { step.bind(dv::name<x>, dynamic{values.data(), {3, 2}, {2, 1}}); }) ==
              "dovetail: input `x` is bound to a tensor of shape [3,2], and has shape [2,3], on rank 0");
        CHECK(message([&] { step.bind(dv::name<x>, dynamic{nullptr, {2, 3}, {3, 1}}); }) ==
              "dovetail: input `x` is bound to a null pointer, on rank 0");
#if defined(__cpp_lib_mdspan)
        step.bind(dv::name<x>, std::mdspan<const float, std::dextents<int, 2>>{values.data(), 2, 3});
        CHECK(step.run().read(dv::name<y>).host() == counted);
#endif
    });
    static_assert(bindable<matrix, dynamic> && bindable<matrix, support::row_mdspan<float, 2, 3>>);
    static_assert(!bindable<matrix, support::row_mdspan<double, 2, 3>> && !bindable<matrix, support::row_mdspan<float, 3, 2>>);
    static_assert(!bindable<dv::tensor<float, 6>, support::row_mdspan<float, 2, 3>>);
}

TEST_CASE("a DLManagedTensor with a version is bound, not written where it is read-only, not read where its version is later") {
    struct versioned {
        struct {
            std::uint32_t major, minor;
        } version{1, 1};
        std::uint64_t flags = 0;
        DLTensor dl_tensor{};
    };
    with_executor([](auto& step) {
        dl_matrix m, to;
        versioned from, out;
        from.dl_tensor = m.tensor;
        from.flags = 1;  // read-only
        out.dl_tensor = to.tensor;
        to.values.assign(6, 0);
        const auto read = step.bind(dv::name<x>, &from).run().read(dv::name<y>);
        read.copy_to(&out);
        CHECK(to.values == counted);
        out.flags = 1;
        CHECK(message([&] { read.copy_to(&out); }) == "dovetail: output `y` is copied to a read-only tensor, on rank 0");
        from.version.major = 2;
        CHECK(message([&] { step.bind(dv::name<x>, &from); }) ==
              "dovetail: input `x` is bound to a tensor of version 2 of DLPack, later than 1, on rank 0");
    });
}

TEST_CASE("each tensor that does not fit is refused by name") {
    const std::string start = "dovetail: input `x` is bound to ", end = ", on rank 0";
    CHECK(refusal([](dl_matrix& m) { m.tensor.data = nullptr; }) == start + "a null pointer" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.dtype.bits = 64; }) == start + "a tensor of double, and has elements of float" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.dtype.lanes = 4; }) ==
          start + "a tensor of a type that no element has, and has elements of float" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.dtype.code = kDLComplex; }) ==
          start + "a tensor of a type that no element has, and has elements of float" + end);
    CHECK(refusal([](dl_matrix& m) { m.shape[1] = 4; }) == start + "a tensor of shape [2,4], and has shape [2,3]" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.ndim = 1; }) == start + "a tensor of shape [2], and has shape [2,3]" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.ndim = 7, m.tensor.shape = nullptr; }) ==
          start + "a tensor of 7 dimensions, and has 2" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.ndim = -1; }) == start + "a tensor of -1 dimensions, and has 2" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.shape = nullptr; }) == start + "a tensor of shape [0,0], and has shape [2,3]" + end);
    CHECK(refusal([](dl_matrix& m) { m.shape[0] = m.shape[1] = INT64_MAX; }) ==
          start + "a tensor of shape [9223372036854775807,9223372036854775807], and has shape [2,3]" + end);
    CHECK(refusal([](dl_matrix& m) { m.strides[0] = 4, m.tensor.strides = m.strides; }) ==
          start + "a tensor of shape [2,3] with strides [4,1], and has row-major order without gaps" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.byte_offset = 2; }) ==
          start + "a tensor at an address that is no multiple of the size of its elements" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.device = {kDLCUDA, 1}; }) == start + "a tensor on GPU 1, and the rank is on the host" + end);
    CHECK(refusal([](dl_matrix& m) { m.tensor.device = {kDLVulkan, 0}; }) ==
          start + "a tensor on a device of DLPack's kind 7, which is neither the host nor a CUDA GPU" + end);
    with_executor([&](auto& step) {
        DLManagedTensor* const none = nullptr;
        CHECK(message([&] { step.bind(dv::name<x>, none); }) == start + "a null pointer" + end);
    });
    const dv::external_tensor elsewhere = [] {
        dl_matrix m;
        m.tensor.device = {kDLCUDA, 1};
        return dv::detail::describe(m.tensor);
    }();
    CHECK(dv::detail::mismatch_of(elsewhere, matrix::type, 1) == "");
    CHECK(dv::detail::mismatch_of(elsewhere, matrix::type, 0) == "a tensor on GPU 1, and the rank is on GPU 0");
}

TEST_CASE("states are written from a tensor, and outputs copied to one and described as one") {
    with_executor([](auto& step) {
        dl_matrix m;
        step.write_state(dv::name<w>, m.tensor);
        step.bind(dv::name<x>, floats(6, 1.0f));
        const auto out = step.run().read(dv::name<y>);
        dl_matrix to;
        out.copy_to(to.tensor);
        CHECK(to.values == floats{2, 3, 4, 5, 6, 7});
        floats rows(6);
        out.copy_to(support::row_mdspan<float, 2, 3>{rows.data(), {2, 3}, {3, 1}});
        CHECK(rows == to.values);
        to.shape[0] = 3;
        CHECK(message([&] { out.copy_to(to.tensor); }) ==
              "dovetail: output `y` is copied to a tensor of shape [3,3], and has shape [2,3], on rank 0");
        CHECK(message([&] { step.write_state(dv::name<w>, to.tensor); }) ==
              "dovetail: state `w` is given a tensor of shape [3,3], and has shape [2,3]");
        CHECK(step.read_state(dv::name<w>) == counted);
        DLTensor in_place{};
        out.describe_in(in_place);
        CHECK(in_place.data == out.data());
        CHECK(in_place.device.device_type == kDLCPU);
        CHECK(dv::detail::mismatch_of(dv::detail::describe(in_place), matrix::type, -1) == "");
    });
}

TEST_CASE("element types by DLPack's codes") {
    using dv::element;
    const auto of = [](int code, int bits) { return dv::detail::element_of_dlpack(code, bits, 1); };
    CHECK(of(kDLFloat, 16) == element::float16);
    CHECK(of(kDLBfloat, 16) == element::bfloat16);
    CHECK(of(kDLFloat, 32) == element::float32);
    CHECK(of(kDLFloat, 64) == element::float64);
    CHECK(of(kDLInt, 8) == element::int8);
    CHECK(of(kDLUInt, 8) == element::uint8);
    CHECK(of(kDLInt, 32) == element::int32);
    CHECK(of(kDLUInt, 32) == element::uint32);
    CHECK(of(kDLInt, 64) == element::int64);
    CHECK(of(kDLUInt, 64) == element::uint64);
    CHECK(of(kDLInt, 16) == element::none);
    CHECK(of(kDLFloat, 8) == element::none);
    static_assert(dv::detail::place_of_dlpack(kDLCPU) == dv::external_place::host);
    static_assert(dv::detail::place_of_dlpack(kDLCUDAHost) == dv::external_place::host);
    static_assert(dv::detail::place_of_dlpack(kDLCUDA) == dv::external_place::gpu);
}
