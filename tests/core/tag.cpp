// Tags: each type has one identity, and its name is printed alike, whichever compiler produced it.
#include <dovetail/core/display.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <utility>

using dovetail::display;
using dovetail::tag_of;

namespace app {
struct value;
template <int> struct block;
template <int, int> struct cell;
template <class...> struct family;
template <bool> struct flag;
template <long> struct wide;
template <int, class = void> struct either;
namespace inner {
template <int> struct block;
struct structure;
struct class_name;
}  // namespace inner
}  // namespace app

struct outside;

namespace {
struct hidden;
template <int> struct numbered;
}  // namespace

TEST_CASE("a tag is compared by address and found by hash") {
    static constexpr const dovetail::tag* value = &tag_of<app::value>;
    static_assert(value == &tag_of<app::value>);
    static_assert(&tag_of<app::block<1>> != &tag_of<app::block<2>>);
    static_assert(tag_of<app::block<1>>.hash != tag_of<app::block<2>>.hash);
    static_assert(tag_of<app::block<1>>.hash != 0 && tag_of<app::value>.spelling.size > 0);
}

TEST_CASE("a member of a family is known by the family and its number") {
    static_assert(dovetail::same(&tag_of<app::block<7>>, &tag_of<app::block<7>>));
    static_assert(!dovetail::same(&tag_of<app::block<7>>, &tag_of<app::block<8>>));
    static_assert(!dovetail::same(&tag_of<app::block<7>>, &tag_of<app::inner::block<7>>));
    static_assert(!dovetail::same(&tag_of<app::block<7>>, &tag_of<app::cell<7, 7>>));
    static_assert(!dovetail::same(&tag_of<app::either<7>>, &tag_of<app::either<7, int>>));
    static_assert(!dovetail::same(&tag_of<app::flag<true>>, &tag_of<app::flag<false>>));
}

TEST_CASE("the display name is what the user wrote, without its namespace") {
    CHECK(display(tag_of<app::value>) == "value");
    CHECK(display(tag_of<outside>) == "outside");
    CHECK(display(tag_of<app::block<0>>) == "block<0>");
    CHECK(display(tag_of<app::block<-17>>) == "block<-17>");
    CHECK(display(tag_of<app::cell<3, 21>>) == "cell<3, 21>");
    CHECK(display(tag_of<app::flag<true>>) == "flag<true>");
    CHECK(display(tag_of<app::wide<5>>) == "wide<5>");
    CHECK(display(tag_of<app::inner::structure>) == "structure");
    CHECK(display(tag_of<app::inner::class_name>) == "class_name");
    CHECK(display(tag_of<hidden>) == "hidden");
    CHECK(display(tag_of<numbered<4>>) == "numbered<4>");
    CHECK(display(tag_of<app::family<app::value, app::block<2>, app::inner::structure>>) == "family<value, block<2>, structure>");
}

TEST_CASE("what each compiler prints comes out the same") {
    for (const char* spelling : {"app::cell<3, 21>", "app::cell<3,21>", "app::cell<(int)3, (int)21>", "struct app::cell<3, 21>"})
        CHECK(display(spelling) == "cell<3, 21>");
    for (const char* spelling : {"app::wide<5>", "app::wide<5l>", "app::wide<5L>", "app::wide<(long)5>"})
        CHECK(display(spelling) == "wide<5>");
    for (const char* spelling : {"{anonymous}::hidden", "(anonymous namespace)::hidden", "<unnamed>::hidden"})
        CHECK(display(spelling) == "hidden");
}

TEST_CASE("a family of a thousand has a thousand hashes") {
    auto equal_hashes = []<int... I>(std::integer_sequence<int, I...>) {
        const unsigned long long all[] = {tag_of<app::block<I>>.hash...};
        int equal = 0;
        for (int i = 0; i < int(sizeof...(I)); ++i)
            for (int j = 0; j < i; ++j) equal += all[i] == all[j];
        return equal;
    };
    CHECK(equal_hashes(std::make_integer_sequence<int, 1000>{}) == 0);
}
