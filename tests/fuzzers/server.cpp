// Rank 0 with ranks that send any bytes: its memory stays within its limits.
#include <fuzzers/input.hpp>

#include <dovetail/launch/control/server.hpp>

#include <fcntl.h>

using namespace dovetail::control;
using namespace dovetail::control::detail;

namespace {

constexpr int ranks = 3;

resolved_identity identity() {
    resolved_identity mine;
    mine.rank = 0;
    mine.size = ranks;
    return mine;
}

class told : public server {
public:
    told() : server{identity(), {}} {}
    using server::admit;
    using server::receive;
};
// Something that is open, and takes nothing.
frame_connection connection() {
    return frame_connection{descriptor::of([] { return ::open("/dev/null", O_RDWR | O_CLOEXEC); })};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzzers::input in{data, size};
    told rank0;
    for (int steps = 0; !in.empty() && steps < 200; ++steps) {
        const char kind = in.kind();
        const std::string body = in.body(kind, ranks);
        if (kind == frame::join) {
            frame_connection link = connection();
            const auto said = join_message::unpack(body);
            if (said && !rank0.admit(link, *said)) fuzzers::require(said->rank > 0 && said->rank < ranks, "only ranks have places");
        } else {
            rank0.receive(1 + static_cast<int>(in.below(ranks - 1)), kind, body);
        }
    }
    for (const peer_status& m : rank0.statuses()) {
        fuzzers::require(m.exchanges >= 0 && m.exchanges <= 200, "exchanges are counted one by one");
        fuzzers::require(printable(m.doing.text) == m.doing.text, "what has come can be shown");
    }
    if (const auto why = rank0.why())
        fuzzers::require(why->rank >= -1 && why->rank < ranks && printable(why->text) == why->text, "the cause is one");
    return 0;
}
