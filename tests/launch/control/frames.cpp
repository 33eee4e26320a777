// What the control channel says, as bytes: frames in any pieces, and tags that notice every change.
// No sockets here: what strangers send is tested in admission.cpp, what only fuzzers find in tests/fuzzers.
#include <doctest/doctest.h>

#include <dovetail/launch/control/frames.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

using namespace dovetail::control;
using namespace dovetail::control::detail;

namespace {

digest key_of(unsigned char c) {
    digest d;
    d.fill(c);
    return d;
}
// What two frames and a third look like on the way, sealed or not.
std::vector<std::string> three_frames(bool sealed) {
    std::optional<frame_tags> tags;
    if (sealed) tags.emplace(key_of('k'));
    std::vector<std::string> all(3);
    append_frame(all[0], 'a', "first", tags);
    append_frame(all[1], 'b', "", tags);
    append_frame(all[2], 'c', std::string(1000, 'x'), tags);
    return all;
}
// What comes out of bytes: "a:first b: ", and the fault.
std::string taken(frame_buffer& in) {
    std::string text, body;
    for (char kind = 0; in.next(kind, body, 2000);) text += std::string{kind} + ":" + body.substr(0, 5) + " ";
    return text + in.fault();
}
std::string taken(const std::string& bytes, bool sealed = true) {
    frame_buffer in;
    if (sealed) in.expect(key_of('k'));
    in.append(bytes);
    return taken(in);
}
const std::string not_his = "a message without a valid tag of the process that has proven the job's key";

}  // namespace

TEST_CASE("frames come out as they went in, in whatever pieces they come") {
    for (const bool sealed : {false, true}) {
        std::string all;
        for (const auto& f : three_frames(sealed)) all += f;
        for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{7}, std::size_t{64}, all.size()}) {
            frame_buffer in;
            if (sealed) in.expect(key_of('k'));
            std::string text;
            for (std::size_t i = 0; i < all.size(); i += piece) {
                in.append(all.substr(i, piece));
                text += taken(in);
            }
            CHECK(text == "a:first b: c:xxxxx ");
            CHECK(in.size() == 0);
        }
    }
}

TEST_CASE("many small frames take as long as few large ones of the same bytes") {
    std::string all;
    std::optional<frame_tags> none;
    constexpr int count = 400'000;
    for (int i = 0; i < count; ++i) append_frame(all, 'x', "12", none);
    const auto start = std::chrono::steady_clock::now();
    frame_buffer in;
    in.append(all);
    char kind = 0;
    std::string body;
    int found = 0;
    while (in.next(kind, body, 100)) ++found;
    CHECK(found == count);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds{3});  // by erasing each from the front: minutes
}

TEST_CASE("a sealed frame that is changed, added, repeated, left out or turned round is noticed") {
    const auto f = three_frames(true);
    CHECK(taken(f[0] + f[1] + f[2]) == "a:first b: c:xxxxx ");
    CHECK(taken(f[0] + f[2]) == "a:first " + not_his);
    CHECK(taken(f[0] + f[0]) == "a:first " + not_his);
    CHECK(taken(f[1] + f[0]) == not_his);
    CHECK(taken(f[0] + three_frames(false)[1] + f[1]) == "a:first " + std::string{"a message of invalid length, 1 bytes (at most 2017)"});
    for (std::size_t i = 4; i < f[0].size(); ++i) {
        std::string changed = f[0];
        changed[i] = static_cast<char>(changed[i] ^ 1);
        CHECK(taken(changed + f[1]) == not_his);
    }
    frame_buffer other_way;
    other_way.expect(key_of('l'));
    other_way.append(f[0]);
    CHECK(taken(other_way) == not_his);
}

TEST_CASE("a frame that is too long, or shorter than its tag, ends what can be read before it has come") {
    CHECK(taken(std::string{"\xff\xff\xff\xffx"}, false) == "a message of invalid length, 4294967295 bytes (at most 2001)");
    CHECK(taken(std::string{"\0\0\0\0x", 5}, false) == "a message of invalid length, 0 bytes (at most 2001)");
    CHECK(taken(std::string{"\x10\0\0\0x", 5}) == "a message of invalid length, 16 bytes (at most 2017)");
    CHECK(taken(std::string{"\xd2\7\0\0x", 5}, false) == "a message of invalid length, 2002 bytes (at most 2001)");
    CHECK(taken(std::string{"\xd1\7\0\0x", 5}, false).empty());
    frame_buffer in;
    in.append(std::string{"\xff\xff\xff\xffx"} + std::string(10'000, 'x'));
    taken(in);
    CHECK(in.size() == 0);
}

TEST_CASE("a message is read as it was written, and not at all where it is cut, lengthened or out of range") {
    const peer_status m = somebody();
    const std::vector<peer_status> all{m, m, m};
    std::vector<peer_status> known(3);
    const auto check = [](const std::string& whole, auto&& readable) {
        CHECK(readable(whole));
        CHECK_FALSE(readable(whole + "x"));
        for (std::size_t i = 0; i < whole.size(); ++i) CHECK_FALSE(readable(whole.substr(0, i)));
    };
    check(join_message{"1.2.3", 1, 3, "job", "instance", m}.pack(), [](std::string_view b) { return join_message::unpack(b).has_value(); });
    check(refusal_message{refusal::stale, "why"}.pack(), [](std::string_view b) { return refusal_message::unpack(b).has_value(); });
    check(packed_welcome(all), [&](std::string_view b) { return unpack_welcome(b, known); });
    check(packed_table(all), [&](std::string_view b) { return unpack_table(b, known); });
    check(heartbeat_message{m, {17, {1, 2, 3}}}.pack(), [](std::string_view b) { return heartbeat_message::unpack(b).has_value(); });
    check(leave_message{1, 2, 3}.pack(), [](std::string_view b) { return leave_message::unpack(b, 3).has_value(); });
    check(packed(abort_reason{2, "why", "f", "y", true}), [](std::string_view b) { return unpacked_abort_reason(b, 3).has_value(); });
    check(contribution{4, 1, "what", "text"}.pack(), [](std::string_view b) { return contribution::unpack(b, 1).has_value(); });
    check(packed(6, exchange_result{{"a", "b", "c"}, {}}), [](std::string_view b) { return unpacked_exchange_result(b, 3).has_value(); });
    check(packed(6, exchange_result{{}, "fault"}), [](std::string_view b) { return unpacked_exchange_result(b, 3).has_value(); });

    CHECK(known[1].doing.operation == "f");
    CHECK(known[1].exchanges == 5);
    CHECK(known[1].host == "host");
    CHECK(heartbeat_message::unpack(heartbeat_message{m, {17, {1, 2, 3}}}.pack())->calls.first == 17);
    CHECK(unpacked_abort_reason(packed(abort_reason{2, "why", "f", "y", true}), 3)->by_leaving);
    CHECK(contribution::unpack(contribution{4, 1, "what", "text"}.pack(), 1)->text == "text");

    CHECK_FALSE(unpacked_abort_reason(packed(abort_reason{3, "why", {}, {}, false}), 3));
    CHECK_FALSE(unpacked_abort_reason(packed(abort_reason{-2, "why", {}, {}, false}), 3));
    CHECK_FALSE(leave_message::unpack(leave_message{3, 0, 0}.pack(), 3));
    CHECK_FALSE(contribution::unpack(contribution{-1, 1, {}, {}}.pack(), 1));
    CHECK_FALSE(contribution::unpack(contribution{INT64_MAX, 1, {}, {}}.pack(), 1));
    CHECK_FALSE(heartbeat_message::unpack(heartbeat_message{m, {INT64_MAX, {1}}}.pack()));
    CHECK_FALSE(heartbeat_message::unpack(heartbeat_message{m, {-1, {1}}}.pack()));
    CHECK_FALSE(heartbeat_message::unpack(heartbeat_message{m, {0, std::vector<std::int64_t>(257)}}.pack()));
    CHECK_FALSE(join_message::unpack(join_message{"1", 1, 3, std::string(600, 'j'), "i", m}.pack()));
    CHECK_FALSE(refusal_message::unpack(writer{}.number(3).text("why").take()));
    CHECK_FALSE(refusal_message::unpack(writer{}.number(0).text(std::string(longest_words + 1, 'x')).take()));
}

TEST_CASE("words of any length are cut before they are sent, and can be read") {
    const std::string long_text(100'000, 'x');
    CHECK(unpacked_abort_reason(packed(abort_reason{0, long_text, long_text, long_text, false}), 1)->text.size() == longest_words);
    peer_status m = somebody();
    m.doing.text = std::string(longest_words, '\x1b');  // which is longer when it can be shown
    const auto once = heartbeat_message::unpack(heartbeat_message{m, {}}.pack());
    REQUIRE(once);
    std::vector<peer_status> known(1);
    CHECK(unpack_table(packed_table({once->of}), known));
}

TEST_CASE("calls are compared wherever their lists begin") {
    CHECK(different_call({0, {1, 2, 3}}, {1, {2, 3, 4}}, 1).empty());
    CHECK(different_call({0, {1, 2, 3}}, {1, {2, 4}}, 5) == "executors are called in different order: run number 2 of rank 5 is executor 4, of rank 0 executor 3");
    CHECK(different_call({INT64_MAX, {1}}, {0, {2, 3}}, 1).empty());
    CHECK(different_call({INT64_MAX, {1, 1, 1}}, {INT64_MAX - 1, {1, 1, 1}}, 1).empty());
    CHECK(different_call({}, {}, 1).empty());
}

TEST_CASE("an exchange is over when all ranks have brought their text, whoever brings more than one") {
    pending_exchanges all{3};
    CHECK_FALSE(all.add({0, 1, "the id", "a"}));
    const auto twice = all.add({0, 1, "the id", "b"});
    REQUIRE(twice);
    CHECK(twice->fault == "rank 1 sends two texts for the id");
    CHECK(twice->texts.empty());
    CHECK_FALSE(all.add({0, 1, "the id", "c"}));
    CHECK_FALSE(all.add({0, 0, "the id", "d"}));
    CHECK_FALSE(all.add({0, 2, "the id", "e"}));  // it has failed

    for (const int r : {2, 0}) CHECK_FALSE(all.add({1, r, "the next", std::to_string(r)}));
    const auto end = all.add({1, 1, "the next", "1"});
    REQUIRE(end);
    CHECK(end->fault.empty());
    CHECK(end->texts == std::vector<std::string>{"0", "1", "2"});
}

TEST_CASE("exchanges that are never complete stay few, and what they bring together has a limit") {
    pending_exchanges all{2};
    int faults = 0;
    for (int i = 0; i < 1000; ++i)
        if (const auto end = all.add({i, 1, "x", "y"})) faults += end->fault == "the ranks have more than 64 exchanges open" ? 1 : 0;
    CHECK(faults == 1000 - static_cast<int>(pending_exchanges::most_open));

    pending_exchanges large{20};
    std::optional<exchange_result> end;
    for (int r = 0; r < 20 && !end; ++r) end = large.add({0, r, "x", std::string(longest_contribution, 'y')});
    REQUIRE(end);
    CHECK(end->fault == "the ranks send more than 134217728 bytes for x");
}

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

TEST_CASE("of many ranks the first are named") {
    CHECK(list_of_ranks({}) == "");
    CHECK(list_of_ranks({1, 3}) == "rank 1, rank 3");
    std::vector<int> many;
    for (int r = 0; r < 1000; ++r) many.push_back(r);
    const std::string text = list_of_ranks(many);
    CHECK(text.size() < 400);
    CHECK(text.substr(text.size() - 12) == "and 968 more");
}
