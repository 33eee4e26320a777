// A rank whose rank 0 sends any bytes.
#include <fuzzers/input.hpp>

#include <dovetail/launch/control/client.hpp>

using namespace dovetail::control;
using namespace dovetail::control::detail;

namespace {

constexpr int ranks = 3;

resolved_identity identity() {
    resolved_identity mine;
    mine.rank = 1;
    mine.size = ranks;
    return mine;
}

class told : public client {
public:
    told() : client{identity(), {}} {}
    using client::receive;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzzers::input in{data, size};
    told rank;
    for (int steps = 0; !in.empty() && steps < 200; ++steps) {
        const char kind = in.kind();
        rank.receive(kind, in.body(kind, ranks));
    }
    for (const peer_status& m : rank.statuses()) {
        fuzzers::require(m.exchanges >= 0, "exchanges are counted");
        fuzzers::require(printable(m.host) == m.host && printable(m.doing.text) == m.doing.text, "what has come can be shown");
    }
    rank.left(0);
    if (const auto why = rank.why())
        fuzzers::require(why->rank >= -1 && why->rank < ranks && printable(why->text) == why->text, "the cause is one");
    return 0;
}
