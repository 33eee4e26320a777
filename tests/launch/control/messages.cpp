// The messages of the control channel: read as they were written, and refused where they are wrong in any way.
#include <doctest/doctest.h>

#include <dovetail/launch/control/messages.hpp>

using namespace dovetail::control;
using namespace dovetail::control::detail;

namespace {

peer_status somebody() {
    peer_status m{.host = "host", .machine = "machine", .process = 7, .at = {3, 4}, .doing = {"does", "f", "y"}};
    m.exchanges = 5;
    return m;
}

}  // namespace

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
    CHECK(!unpacked_abort_reason(packed(abort_reason{2, "why", "f", "y", true}), 3)->timed_out);
    CHECK(unpacked_abort_reason(packed(abort_reason{2, "why", "f", "y", false, nullptr, true}), 3)->timed_out);
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
