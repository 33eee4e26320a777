// Text of another process as it is shown: nothing that a terminal would obey.
#include <doctest/doctest.h>

#include <dovetail/launch/control/printable.hpp>

using dovetail::control::printable;

TEST_CASE("text of another process shows what it is made of") {
    CHECK(printable("plain text, `y` <ü, 数>") == "plain text, `y` <ü, 数>");
    CHECK(printable("\x1b[31mred\x07") == "\\x1b[31mred\\x07");
    CHECK(printable("a\nb\tc\rd\x7f") == "a\\nb\\tc\\x0dd\\x7f");
    CHECK(printable(std::string{"a\0b", 3}) == "a\\x00b");
    CHECK(printable("\xc2\x9b" "31m") == "\\xc2\\x9b31m");            // the same code in Latin-1's control characters
    CHECK(printable("\x9b" "31m") == "\\x9b31m");                     // and as one byte
    CHECK(printable("\xe2\x80\xae" "gnp.exe") == "\\xe2\\x80\\xaegnp.exe");  // turns the direction of writing
    CHECK(printable("\xc0\x9b") == "\\xc0\\x9b");                     // longer than it needs to be
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");            // half a pair
    CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");   // beyond the last
    CHECK(printable("ab\xe2\x82") == "ab\\xe2\\x82");
    for (const std::string text : {"\x1b[31mred\n\xff", "ü\xc2\x9b"}) CHECK(printable(printable(text)) == printable(text));
}
