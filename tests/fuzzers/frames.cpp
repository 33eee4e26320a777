// Any bytes as frames, with and without tags: the frames do not depend on how the bytes are split, none is longer than allowed, and with
// tags no forged frame is accepted.
#include <fuzzers/input.hpp>

#include <dovetail/launch/control/frames.hpp>

using namespace dovetail::control::detail;

namespace {

struct taken {
    std::string all;
    std::string fault;
};
void take(frame_buffer& in, taken& to, std::size_t most) {
    std::string body;
    for (char kind = 0; in.next(kind, body, most);) {
        fuzzers::require(body.size() <= most, "a body is as long as it may be");
        to.all += kind + body + "|";
    }
    to.fault = in.fault();
    fuzzers::require(to.fault.empty() || in.size() == 0, "nothing is kept behind a fault");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzzers::input in{data, size};
    digest key = {};
    const unsigned how = in.byte();
    const bool sealed = (how & 1) != 0;
    const std::size_t most = in.byte() * 16, piece = 1 + in.byte();
    // Frames that are well-formed, tags and all, with any bytes between them.
    std::string bytes;
    std::optional<frame_tags> tags;
    if (sealed) tags.emplace(key);
    std::string said;
    for (unsigned n = how >> 4; n > 0; --n) {
        const char kind = in.kind();
        const std::string body = in.text();
        append_frame(bytes, kind, body, tags);
        said += kind + body + "|";
    }
    if ((how & 2) != 0 && !bytes.empty()) bytes[in.byte() % bytes.size()] = static_cast<char>(in.byte());
    bytes += in.bytes(size);

    frame_buffer whole, pieces;
    if (sealed) whole.expect(key), pieces.expect(key);
    taken a, b;
    whole.append(bytes);
    take(whole, a, most);
    for (std::size_t i = 0; i < bytes.size() && b.fault.empty(); i += piece) {
        pieces.append(std::string_view{bytes}.substr(i, piece));
        take(pieces, b, most);
    }
    fuzzers::require(a.all == b.all && a.fault == b.fault, "pieces change nothing");
    if (sealed) fuzzers::require(said.starts_with(a.all), "nothing comes out that did not go in with a tag");
    return 0;
}
