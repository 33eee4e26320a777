// The header of safetensors files: what Python's library has written is read, what we write is what the format says, and whatever the
// format does not allow is refused with the reason.
#include <doctest/doctest.h>

#include <dovetail/launch/safetensors/header.hpp>

#include "support/expect.hpp"

#include <string>

namespace st = dovetail::safetensors;
using dovetail::element;
using support::has;

namespace {

// Why the JSON is refused in front of so many bytes; empty if it is not.
std::string refused(const std::string& json, std::int64_t data_bytes = 0) {
    try {
        st::parse_header(json, data_bytes);
        return {};
    } catch (const st::malformed& e) {
        return e.what();
    }
}
std::string tensor(const std::string& fields) { return R"({"w":{)" + fields + "}}"; }

// The first bytes of a file that Python's safetensors 0.8 has written:
//   save({"b": arange(3, dtype=int8), "w": arange(6, dtype=float32).reshape(2, 3)}, metadata={"epoch": "4"})
const std::string pythons_length{"\x90\0\0\0\0\0\0\0", 8};
constexpr const char* pythons_json = R"({"__metadata__":{"epoch":"4"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                                     R"("b":{"dtype":"I8","shape":[3],"data_offsets":[24,27]}})";

}  // namespace

TEST_CASE("a header that Python has written") {
    CHECK(st::header_length(pythons_length, 8 + 0x90 + 27) == 0x90);
    const st::header h = st::parse_header(std::string{pythons_json} + "    ", 27);
    REQUIRE(h.tensors.size() == 2);
    CHECK(h.tensors[0].name == "w");
    CHECK(h.tensors[0].type == element::float32);
    CHECK(h.tensors[0].extents == std::vector<std::int64_t>{2, 3});
    CHECK(h.tensors[0].end == 24);
    CHECK(h.tensors[1].type == element::int8);
    CHECK(h.tensors[1].begin == 24);
    CHECK(h.metadata == dovetail::file_notes{{"epoch", "4"}});
}

TEST_CASE("what is written is the format, aligned, and is read again") {
    st::header h;
    h.metadata = {{"quote\"", "line\n\\ \x01 \xc3\xa9"}};
    h.tensors = {{"small", element::int8, {3}}, {"scalar", element::float64, {}}, {"big", element::uint64, {2, 2}}};
    const std::string text = st::place_and_format(h);
    CHECK(text.size() % 8 == 0);
    CHECK(st::header_length(text, static_cast<std::int64_t>(text.size())) == static_cast<std::int64_t>(text.size()) - 8);
    CHECK(text.substr(8, text.find_last_of('}') - 7) ==
          R"({"__metadata__":{"quote\"":"line\u000a\\ \u0001 )"
          "\xc3\xa9"
          R"("},"big":{"dtype":"U64","shape":[2,2],"data_offsets":[0,32]},"scalar":{"dtype":"F64","shape":[],"data_offsets":[32,40]},)"
          R"("small":{"dtype":"I8","shape":[3],"data_offsets":[40,43]}})");
    const st::header again = st::parse_header(text.substr(8), 43);
    CHECK(again.metadata == h.metadata);
    REQUIRE(again.tensors.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(again.tensors[i].name == h.tensors[i].name);
        CHECK(again.tensors[i].type == h.tensors[i].type);
        CHECK(again.tensors[i].extents == h.tensors[i].extents);
        CHECK(again.tensors[i].begin == h.tensors[i].begin);
    }
    st::header empty;
    CHECK(st::place_and_format(empty).substr(8) == "{}      ");
    CHECK(st::parse_header("{}", 0).tensors.empty());
}

TEST_CASE("every element type has the format's name") {
    const std::pair<element, const char*> all[] = {{element::float16, "F16"}, {element::bfloat16, "BF16"}, {element::float32, "F32"},
                                                   {element::float64, "F64"}, {element::int8, "I8"},       {element::uint8, "U8"},
                                                   {element::int32, "I32"},   {element::uint32, "U32"},    {element::int64, "I64"},
                                                   {element::uint64, "U64"}};
    for (const auto& [type, name] : all) {
        st::header h;
        h.tensors = {{"x", type, {5}}};
        has(st::place_and_format(h), std::string{"\"dtype\":\""} + name + "\"");
    }
    CHECK(std::size(all) + 1 == std::size(st::dtypes));
}

TEST_CASE("strings: escapes and UTF-8") {
    const auto read = [](const std::string& text) { return st::json_reader{text}.string(); };
    CHECK(read(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
    CHECK(read(R"("\u0041\u00e9\u20AC\ud83d\uDE00")") == "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK(read("\"\xf0\x9f\x98\x80\"") == "\xf0\x9f\x98\x80");
    for (const char* wrong : {R"("\ud83d")", R"("\ud83dx")", R"("\ud83d\n")", R"("\ud83d\u0041")", R"("\ude00")"})
        has(refused(std::string{"{"} + wrong + ":1}"), "half a surrogate pair");
    has(refused(R"({"\x41":1})"), "an unknown escape");
    has(refused(R"({"\u00g1":1})"), "an escape without four hexadecimal digits");
    has(refused("{\"a\nb\":1}"), "a control character in a string");
    for (const char* wrong : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"})
        has(refused(std::string{"{\""} + wrong + "\":1}"), "a string that is not UTF-8");
    for (const char* wrong : {"{\"", "{\"a", "{\"a\\", "{\"a\\u00"}) has(refused(wrong), "a string does not end");
}

TEST_CASE("what the format does not allow") {
    const std::pair<std::string, std::string> all[] = {
        {"", "does not begin with `{`"},
        {" {}", "does not begin with `{`"},
        {"[]", "does not begin with `{`"},
        {"{", "`\"` is expected"},
        {"{}}", "nothing more is expected"},
        {"{} x", "nothing more is expected"},
        {"{,}", "`\"` is expected"},
        {R"({"w"})", "`:` is expected"},
        {R"({"w":})", "`{` is expected"},
        {R"({"w":[]})", "`{` is expected"},
        {R"({"w":{}})", "`\"` is expected"},
        {R"({"w":{"dtype":"I8"}})", "tensor `w` has no shape"},
        {tensor(R"("dtype":"I8","shape":[])"), "tensor `w` has no data_offsets"},
        {tensor(R"("shape":[],"data_offsets":[0,1])"), "tensor `w` has no dtype"},
        {tensor(R"("dtype":"I8","dtype":"I8")"), "tensor `w` has `dtype` twice"},
        {tensor(R"("dtype":"I8","stride":[1])"), "tensor `w` has an unknown field `stride`"},
        {tensor(R"("dtype":"F8_E4M3","shape":[],"data_offsets":[0,1])"), "dtype `F8_E4M3`, which is no element type of dovetail"},
        {tensor(R"("dtype":"","shape":[],"data_offsets":[0,1])"), "dtype ``, which is no element type"},
        {tensor(R"("dtype":1)"), "`\"` is expected"},
        {tensor(R"("dtype":"I8","shape":[-1])"), "a natural number is expected"},
        {tensor(R"("dtype":"I8","shape":[1.5])"), "`]` is expected"},
        {tensor(R"("dtype":"I8","shape":[1e9])"), "`]` is expected"},
        {tensor(R"("dtype":"I8","shape":[01])"), "a number begins with 0"},
        {tensor(R"("dtype":"I8","shape":[9223372036854775808])"), "a number is too large"},
        {tensor(R"("dtype":"I8","shape":[99999999999999999999999])"), "a number is too large"},
        {tensor(R"("dtype":"I8","shape":[null])"), "a natural number is expected"},
        {tensor(R"("dtype":"I8","shape":[1,])"), "a natural number is expected"},
        {tensor(R"("dtype":"I8","shape":[1,1,1,1,1,1,1])"), "tensor `w` has more than six extents"},
        {tensor(R"("dtype":"I8","shape":[[1]])"), "a natural number is expected"},
        {tensor(R"("dtype":"I8","shape":)" + std::string(100'000, '[')), "a natural number is expected"},
        {tensor(R"("dtype":"I8","shape":[2],"data_offsets":[0])"), "`,` is expected"},
        {tensor(R"("dtype":"I8","shape":[2],"data_offsets":[0,2,2])"), "`]` is expected"},
        {tensor(R"("dtype":"I8","shape":[2],"data_offsets":[2,0])"), "the offsets 2 and 0, which are not those of int8[2]"},
        {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,2])"), "the offsets 0 and 2, which are not those of float[2]"},
        {tensor(R"("dtype":"I64","shape":[4294967296,4294967296],"data_offsets":[0,0])"),
         "which are not those of int64[4294967296, 4294967296]"},
        {tensor(R"("dtype":"I64","shape":[2305843009213693952],"data_offsets":[0,0])"), "which are not those of int64["},
        {tensor(R"("dtype":"I8","shape":[2],"data_offsets":[1,3])"),
         "begins at byte 1 behind the header, where the one before it ends at byte 0"},
        {tensor(R"("dtype":"I8","shape":[9],"data_offsets":[0,9])"), "it is truncated: its tensors have 9 bytes, and 4 follow the header"},
        {tensor(R"("dtype":"I8","shape":[3],"data_offsets":[0,3])"), "1 bytes follow its last tensor"},
        {R"({"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
         "tensor `b` begins at byte 2 behind the header, where another tensor is"},
        {R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}})",
         "begins at byte 0 behind the header, where another tensor is"},
        {R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
         "tensor `b` begins at byte 2 behind the header, where the one before it ends at byte 1"},
        {R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
         "tensor `a` is in it twice"},
        {R"({"a\u001b[2J":{"dtype":"I8","shape":[9],"data_offsets":[0,2]}})", "tensor `a\\x1b[2J` has"},
        {R"({"__metadata__":{"a":"1","a":"2"}})", "metadata `a` is in it twice"},
        {R"({"__metadata__":{},"__metadata__":{}})", "it has metadata twice"},
        {R"({"__metadata__":{"a":1}})", "`\"` is expected"},
        {R"({"__metadata__":{"a":{}}})", "`\"` is expected"},
        {R"({"__metadata__":null})", "`{` is expected"},
    };
    for (const auto& [json, why] : all) has(refused(json, 4), why);
    CHECK(refused(tensor(R"("dtype":"I64","shape":[9223372036854775807,9223372036854775807,0],"data_offsets":[0,0])"), 0) == "");
    // Order, blanks and tensors without elements are the file's own.
    CHECK(refused(" \n{ }", 0) != "");
    CHECK(refused("{ \"w\" : {\n\"data_offsets\" : [ 0 , 4 ] ,\t\"shape\":[ 4 ],\r\"dtype\":\"I8\" } , \"none\" : "
                  "{\"dtype\":\"I8\",\"shape\":[0,7],\"data_offsets\":[4,4]} }  ",
                  4) == "");
}

TEST_CASE("a header that is cut at any byte, or in which a byte is another, is refused or read, and nothing else") {
    const std::string whole = pythons_json;
    for (std::size_t n = 0; n < whole.size(); ++n) CHECK(refused(whole.substr(0, n), 27) != "");
    for (std::size_t n = 0; n < whole.size(); ++n)
        for (int b = 0; b < 256; ++b) {
            std::string damaged = whole;
            damaged[n] = static_cast<char>(b);
            refused(damaged, 27);
        }
    CHECK(refused(whole, 27) == "");
}

TEST_CASE("the length of a header") {
    const auto length = [](std::uint64_t value, std::int64_t file_bytes) {
        std::string first(8, '\0');
        std::memcpy(first.data(), &value, 8);
        try {
            return std::to_string(st::header_length(first, file_bytes));
        } catch (const st::malformed& e) {
            return std::string{e.what()};
        }
    };
    CHECK(length(2, 10) == "2");
    has(length(3, 10), "it is truncated: its header has 3 bytes, and 2 follow the length");
    has(length(100'000'001, INT64_MAX), "its header would have 100000001 bytes");
    CHECK(length(100'000'000, INT64_MAX) == "100000000");
    has(length(UINT64_MAX, INT64_MAX), "18446744073709551615 bytes");
    for (std::size_t n = 0; n < 8; ++n)
        CHECK_THROWS_AS(st::header_length(std::string(n, '\0'), static_cast<std::int64_t>(n)), st::malformed);
}
