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
