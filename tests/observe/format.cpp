// Numbers, strings and tables as observers print them.
#include <doctest/doctest.h>

#include <dovetail/observe/format.hpp>

#include <string>
#include <vector>

namespace observe = dovetail::observe;

TEST_CASE("numbers as text") {
    CHECK(observe::with_separators(0) == "0");
    CHECK(observe::with_separators(1234567) == "1,234,567");
    CHECK(observe::with_separators(-1000) == "-1,000");
    CHECK(observe::microseconds(1'234'567'890) == "1234.567");
    CHECK(observe::microseconds(-5'000) == "-0.005");
    CHECK(observe::ratio(2, 3, 2) == "0.66");
    CHECK(observe::ratio(-1, 2, 1) == "-0.5");
    CHECK(observe::ratio(1, 0, 1) == "-");
    CHECK(observe::ratio(INT64_MAX, INT64_MAX, 3) == "1.000");
    CHECK(observe::percent(1, 3) == "33.3 %");
    CHECK(observe::bytes_text(512) == "512 B");
    CHECK(observe::bytes_text(1536) == "1.5 KiB");
    CHECK(observe::bytes_text(std::int64_t{3} << 30) == "3 GiB");
    CHECK(observe::bytes_text(0) == "0 B");
    CHECK(observe::bytes_text(INT64_MAX) == "8388607.9 TiB");
    CHECK(observe::duration_text(999'999'999) == "999.999 us");
    CHECK(observe::duration_text(1'000'000'000) == "1.000 ms");
    CHECK(observe::microseconds(999) == "0.000");
    CHECK(observe::percent(INT64_MAX, INT64_MAX) == "100.0 %");
    CHECK(observe::percent(5, 0) == "-");
}

TEST_CASE("strings are safe where they are put") {
    CHECK(observe::in_quotes("a<0>\"\\\n") == "\"a\\u003c0>\\\"\\\\\\n\"");
    CHECK(observe::html_text("a<b> & \"c\"") == "a&lt;b&gt; &amp; &quot;c&quot;");
    CHECK(observe::in_quotes("\x01</script>") == "\"\\u0001\\u003c/script>\"");
    CHECK(observe::in_quotes("a<0>\x01", false) == "\"a<0>\x01\"");  // DOT knows no codes
}

TEST_CASE("a table's columns are as wide as their widest cell, numbers to the right, and no line ends in blanks") {
    const std::vector<std::vector<std::string>> rows{{"name", "bytes", "note"}, {"a", "1,000", ""}, {"longer", "5"}};
    CHECK(observe::table(rows, "lrl") == "  name    bytes  note\n  a       1,000\n  longer      5\n");
    CHECK(observe::padded("abc", 2) == "abc");
    CHECK(observe::padded("abc", 5, true) == "  abc");
}
