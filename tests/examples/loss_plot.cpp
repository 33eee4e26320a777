// The picture of losses that examples/04_transformer draws: its points against the positions that the axes give, and its tags balanced.
#include "../../examples/loss_plot.hpp"

#include <doctest/doctest.h>


namespace {

// What stands between `before` and `after`, at its first place from `from` on.
std::string between(const std::string& text, const std::string& before, const std::string& after, std::size_t from = 0) {
    const std::size_t at = text.find(before, from) + before.size();
    return text.substr(at, text.find(after, at) - at);
}
long count(const std::string& text, const std::string& what) {
    long found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("a curve goes through its losses, from the first step at the left to the last at the right") {
    const std::string svg = reports::loss_plot{{{"one", {4.0, 3.5, 3.0}}, {"shorter", {4.0, 2.2}}}}.text();
    CHECK(between(svg, "points=\"", "\"") == "48.0,24.0 284.0,98.0 520.0,172.0 ");  // 2 to 4 on 296 points
    CHECK(between(svg, "points=\"", "\"", svg.find("points=\"") + 1) == "48.0,24.0 284.0,290.4 ");
    CHECK(count(svg, "<polyline") == 2);
    CHECK(count(svg, "#ddd") == 5);  // 2, 2.5, 3, 3.5, 4
    for (const char* text : {">2.0<", ">4.0<", ">one<", ">shorter<", ">step<", ">loss<"}) CHECK(count(svg, text) == 1);
}

TEST_CASE("each element is closed") {
    const std::string svg = reports::loss_plot{{{"a", {1.0}}}}.text();
    CHECK(svg.substr(0, 5) == "<svg ");
    CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
    CHECK(count(svg, "<") == count(svg, ">"));
    CHECK(count(svg, "<text") == count(svg, "</text>"));
    CHECK(count(svg, "<line") + count(svg, "<rect") + count(svg, "<polyline") == count(svg, "/>"));
    CHECK(count(svg, "nan") + count(svg, "inf") == 0);
}

TEST_CASE("constant losses and more curves than colours are drawn") {
    std::vector<reports::curve> curves;
    for (int i = 0; i < 8; ++i) curves.push_back({"c" + std::to_string(i), {2.0, 2.0}});
    const std::string svg = reports::loss_plot{curves}.text();
    CHECK(count(svg, "48.0,320.0 520.0,320.0") == 8);
    CHECK(count(svg, "nan") == 0);
}
