// Values as files of NumPy, read back byte by byte as its format says. tests/launch/engine/inspection.cpp has NumPy itself read them.
#include <doctest/doctest.h>

#include <dovetail/observe/npy.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace dv = dovetail;

namespace {

struct contents {
    std::string header, data;
};
// Checks what the format says of every file, and gives its parts.
contents parts_of(const std::string& file) {
    REQUIRE(file.size() > 10);
    CHECK(file.substr(0, 8) == std::string{"\x93NUMPY\1\0", 8});
    const std::size_t length = static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
    CHECK((10 + length) % 64 == 0);
    REQUIRE(file.size() >= 10 + length);
    const std::string header = file.substr(10, length);
    CHECK(header.back() == '\n');
    return {header.substr(0, header.find('}') + 1), file.substr(10 + length)};
}

template <class Tensor>
contents written(const std::vector<typename Tensor::element_type>& values) {
    return parts_of(dv::observe::npy(Tensor::type, values.data()));
}

}  // namespace

TEST_CASE("the header has element type and extents, the data are the elements as they lie") {
    const std::vector<float> values{1, -2.5f, 3, 4, 5, 6};
    const contents matrix = written<dv::tensor<float, 2, 3>>(values);
    CHECK(matrix.header == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
    REQUIRE(matrix.data.size() == 24);
    CHECK(std::memcmp(matrix.data.data(), values.data(), 24) == 0);
    CHECK(written<dv::tensor<std::int64_t, 2>>({1, 2}).header == "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }");
    CHECK(written<dv::scalar<double>>({1}).header == "{'descr': '<f8', 'fortran_order': False, 'shape': (), }");
    const contents empty = written<dv::tensor<std::uint8_t, 0, 4>>({});
    CHECK(empty.header == "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 4), }");
    CHECK(empty.data.empty());
}

TEST_CASE("every element has NumPy's name, and bfloat16, which has none, becomes float") {
    const auto name = [](dv::element e) { return std::string{dv::observe::npy_type(e)}; };
    using enum dv::element;
    CHECK(name(float16) == "<f2");
    CHECK(name(int8) == "|i1");
    CHECK(name(int32) == "<i4");
    CHECK(name(uint32) == "<u4");
    CHECK(name(uint64) == "<u8");
    const contents file = written<dv::tensor<dv::bfloat16, 3>>({dv::bfloat16{1.5f}, dv::bfloat16{-2.f}, dv::bfloat16{0.f}});
    CHECK(file.header == "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
    REQUIRE(file.data.size() == 12);
    float values[3];
    std::memcpy(values, file.data.data(), sizeof values);
    CHECK(values[0] == 1.5f);
    CHECK(values[1] == -2.f);
    CHECK(values[2] == 0.f);
}
