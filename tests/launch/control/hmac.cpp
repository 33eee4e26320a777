// SHA-256 and HMAC-SHA-256 against published vectors: the examples of FIPS 180-4, RFC 4231.
#include <doctest/doctest.h>

#include <dovetail/launch/control/hmac.hpp>

#include <string>

using namespace dovetail::control::detail;

namespace {

std::string hex(const digest& d) {
    std::string text;
    for (const unsigned char c : d)
        for (const int shift : {4, 0}) text += "0123456789abcdef"[c >> shift & 15];
    return text;
}
std::string hashed(std::string_view text) { return hex(sha256{}.add(text).end()); }
std::string keyed(const std::string& key, const std::string& text) { return hex(hmac{key}.of({text})); }

}  // namespace

TEST_CASE("SHA-256 gives the digests of FIPS 180-4's examples") {
    CHECK(hashed("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hashed("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hashed("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(hashed("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu") ==
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    CHECK(hashed(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on how the message is cut, at every length around a block") {
    for (std::size_t size = 0; size < 200; ++size) {
        std::string text;
        for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i * 7);
        const std::string_view all = text;
        for (const std::size_t cut : {size / 3, size / 2, size})
            CHECK(hex(sha256{}.add(all.substr(0, cut)).add(all.substr(cut)).end()) == hashed(text));
    }
}

TEST_CASE("HMAC-SHA-256 gives the digests of RFC 4231") {
    const std::string of_25{"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19"};
    CHECK(keyed(std::string(20, '\x0b'), "Hi There") == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(keyed("Jefe", "what do ya want for nothing?") == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(keyed(std::string(20, '\xaa'), std::string(50, '\xdd')) == "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    CHECK(keyed(of_25, std::string(50, '\xcd')) == "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
    CHECK(keyed(std::string(20, '\x0c'), "Test With Truncation").substr(0, 32) == "a3b6167473100ee06e0c796c2955552b");
    CHECK(keyed(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    CHECK(
        keyed(
            std::string(131, '\xaa'),
            "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.") ==
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST_CASE("parts of a message are one message") {
    const hmac h{"key"};
    CHECK(h.of({"ab", "", "c"}) == h.of({"abc"}));
    CHECK(h.of({"ab"}) != h.of({"ab", std::string_view{"\0", 1}}));
}

TEST_CASE("texts are compared to their end") {
    CHECK(equal_in_constant_time("", ""));
    CHECK(equal_in_constant_time("abc", "abc"));
    CHECK_FALSE(equal_in_constant_time("abc", "abd"));
    CHECK_FALSE(equal_in_constant_time("xbc", "abc"));
    CHECK_FALSE(equal_in_constant_time("abc", "ab"));
}
