// Names: found in the table whatever their hashes are, and compared as a reader compares them. Number of edits: against the recursion
// of the textbook.
#include <doctest/doctest.h>

#include <dovetail/ir/names.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace dv = dovetail;

namespace {

struct x;
template <int>
struct numbered;

constexpr dv::letters letters(std::string_view s) { return {s.data(), static_cast<int>(s.size())}; }

// By definition: the last letters are equal or exchanged, or one of the two words has one more.
int edits(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) return static_cast<int>(a.size() + b.size());
    const auto shorter_a = a.substr(1), shorter_b = b.substr(1);
    if (a[0] == b[0]) return edits(shorter_a, shorter_b);
    return 1 + std::min({edits(shorter_a, shorter_b), edits(shorter_a, b), edits(a, shorter_b)});
}

}  // namespace

TEST_CASE("the number of edits is that of the definition, up to the limit") {
    std::mt19937 random{1};
    const auto word = [&] {
        std::string w(random() % 7, ' ');
        for (char& c : w) c = static_cast<char>('a' + random() % 3);
        return w;
    };
    for (int i = 0; i < 3000; ++i) {
        const std::string a = word(), b = word();
        CAPTURE(a);
        CAPTURE(b);
        for (const int limit : {1, 2, 4, 20}) CHECK(dv::ir::edit_distance(letters(a), letters(b), limit) == std::min(limit, edits(a, b)));
    }
    CHECK(dv::ir::edit_distance(letters("block<3>"), letters("blok<3>"), 9) == 1);
    const std::string longest(63, 'a'), longer(64, 'a');
    CHECK(dv::ir::edit_distance(letters(longest), letters(longest), 5) == 0);
    CHECK(dv::ir::edit_distance(letters(longer), letters(longer), 5) == 5);  // too long to be near to anything
}

TEST_CASE("names are compared without their namespaces, members of families with their numbers") {
    const auto unqualified = [](std::string_view s) {
        const dv::letters name = dv::ir::unqualified(letters(s));
        return std::string_view{name.first, static_cast<std::size_t>(name.size)};
    };
    CHECK(unqualified("app::inner::block<app::k>") == "block<app::k>");
    CHECK(unqualified("app::<unnamed>::block<app::k>") == "block<app::k>");
    CHECK(unqualified("{anonymous}::block<<unnamed>::k>") == "block<<unnamed>::k>");
    CHECK(unqualified("block<<unnamed>::k>") == "block<<unnamed>::k>");

    const auto shortened = [](const dv::tag& t) {
        const dv::ir::short_name name{t};
        return std::string(name.text().first, static_cast<std::size_t>(name.text().size));
    };
    CHECK(shortened(dv::tag_of<numbered<0>>) == "numbered<0>");
    CHECK(shortened(dv::tag_of<numbered<-120>>) == "numbered<-120>");
    CHECK(shortened(dv::tag_of<x>) == "x");
}

TEST_CASE("every name finds the symbol that was entered first, also where all hashes are alike") {
    // Full to the capacity, with hashes that are all different, mostly alike, and all alike.
    for (const unsigned long long hashes : {1'000'003ull, 5ull, 1ull}) {
        constexpr int count = 500;
        std::vector<std::string> spellings;
        for (int i = 0; i < count; ++i) spellings.push_back("name" + std::to_string(i % 400));  // the last hundred come twice
        std::vector<dv::tag> tags;
        for (int i = 0; i < count; ++i)
            tags.push_back({letters(spellings[static_cast<std::size_t>(i)]), static_cast<unsigned>(i % 400 * 7919) % hashes});
        std::vector<dv::ir::symbol> symbols(count);
        for (std::size_t i = 0; i < count; ++i) symbols[i].name = &tags[i];

        dv::ir::name_table table{count, symbols.data()};
        std::map<std::string, int> entered;
        for (int i = 0; i < count; ++i) {
            const auto& name = spellings[static_cast<std::size_t>(i)];
            CHECK(table.find(&tags[static_cast<std::size_t>(i)]) == (entered.contains(name) ? entered[name] : -1));
            CHECK(table.insert(i) == entered.emplace(name, i).first->second);
        }
        for (int i = 0; i < count; ++i)
            CHECK(table.find(&tags[static_cast<std::size_t>(i)]) == entered[spellings[static_cast<std::size_t>(i)]]);
    }
}
