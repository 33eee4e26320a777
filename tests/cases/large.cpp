// A value of more than 2^31 bytes on the host backend: sizes, offsets and counts are 64 bits wide, in a channel and in a buffer with
// several slots. Needs about 7 GB of memory; on a smaller machine the test prints that and passes.
#include "support/on_host.hpp"

#include <unistd.h>

namespace {

using namespace samples;

inline constexpr std::int64_t many = (std::int64_t{1} << 31) + 5;
using bytes = dv::tensor<std::uint8_t, many>;

// Writes its number to the first and the last element.
struct mark {
    static constexpr dv::tensor_type result(dv::tensor_type) { return bytes::type; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> value, dv::out<bytes> to) {
        to[0] = value[0];
        to[many - 1] = static_cast<std::uint8_t>(value[0] + 1);
    }
};
struct ends {
    static constexpr dv::tensor_type result(dv::tensor_type) { return dv::tensor<std::uint8_t, 2>::type; }
    template <class Y>
    static void launch(dv::host::stream, dv::in<bytes> x, dv::out<Y> to) {
        to[0] = x[0];
        to[1] = x[many - 1];
    }
};

struct large : dv::graph<
    dv::input<x, dv::scalar<std::uint8_t>>,
    dv::on<left, dv::let<a, mark(x)>>,
    dv::on<right, dv::let<b, ends(a)>>,
    dv::output<b>> {};

static_assert(dv::peak_bytes<large, right, sequential> > many);

}  // namespace

TEST_CASE("more than 2^31 bytes cross a channel") {
    const auto free_bytes = static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    if (free_bytes < 7'000'000'000) {
        MESSAGE("not enough memory: ", free_bytes, " bytes free");
        return;
    }
    const auto bind_x = [](auto& step, int, int) { step.bind(dv::name<x>, std::uint8_t{41}); };
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        if (step.is(dv::name<right>)) support::expect(ticket.read(dv::name<b>).host(), std::vector<std::uint8_t>{41, 42}, "b", rank, run);
    };
    support::run_with<large, sequential>(2, bind_x, check, 1);
}
