// Numbers and texts as bytes: they come back as they were, and whatever is cut, too long or out of range gives nothing.
#include <doctest/doctest.h>

#include <dovetail/launch/control/bytes.hpp>

#include <string>

using namespace dovetail::control::detail;

TEST_CASE("numbers are eight bytes, the lowest first") {
    CHECK(writer{}.number(0x0102030405060708).take() == "\x08\x07\x06\x05\x04\x03\x02\x01");
    CHECK(writer{}.number(-2).take() == "\xfe\xff\xff\xff\xff\xff\xff\xff");
    CHECK(writer{}.text("ab").take() == std::string{"\2\0\0\0\0\0\0\0ab", 10});
}

TEST_CASE("what was written is read, and nothing is left") {
    const std::string long_text(100'000, 'x'), binary{"a\0b", 3};
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX, INT64_MIN, std::int64_t{1} << 40}) {
        const std::string bytes = writer{}.number(n).text(binary).text("").text(long_text).number(7).take();
        reader in{bytes};
        CHECK(in.number() == n);
        CHECK(in.text() == binary);
        CHECK(in.text().empty());
        CHECK(in.text() == long_text);
        CHECK(!in.complete());
        CHECK(in.number(7, 7) == 7);
        CHECK(in.complete());
    }
}

TEST_CASE("after the first thing that is wrong everything is nothing") {
    const std::string bytes = writer{}.number(5).text("abc").number(6).take();
    const auto fails = [&](auto&& read) {
        reader in{bytes};
        read(in);
        CHECK(!in.good());
        CHECK(in.number() == 0);
        CHECK(in.text().empty());
        CHECK(!in.complete());
    };
    fails([](reader& in) { CHECK(in.number(0, 4) == 0); });
    fails([](reader& in) { CHECK(in.number(6, 9) == 0); });
    fails([](reader& in) {
        in.number();
        CHECK(in.text(2).empty());  // longer than allowed
    });
    fails([](reader& in) {
        in.number();
        in.text();
        CHECK(in.text(100).empty());  // says six letters, and has none
    });
    fails([](reader& in) {
        in.number(), in.text(), in.number();
        in.number();
    });
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        reader in{std::string_view{bytes}.substr(0, size)};
        in.number(), in.text(), in.number();
        CHECK(!in.complete());
    }
    const std::string negative = writer{}.number(-1).take();
    reader in{negative};
    CHECK(in.text().empty());
    CHECK(!in.good());
}

TEST_CASE("words are cut where they are written, and may be shown where they are read") {
    CHECK(writer{}.words("abcdef", 3).take() == writer{}.text("abc").take());
    const std::string bytes = writer{}.words(std::string(longest_words + 5, 'x')).words("\x1b[2J").take();
    reader in{bytes};
    CHECK(in.words().size() == longest_words);
    CHECK(in.words() == "\\x1b[2J");
    CHECK(in.complete());
    const std::string too_long = writer{}.text(std::string(longest_words + 1, 'x')).take();
    reader refused{too_long};
    CHECK(refused.words().empty());
    CHECK(!refused.good());
}
