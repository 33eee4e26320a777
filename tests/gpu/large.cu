// Values of more than 2^31 bytes on GPUs: sizes, offsets and counts are 64 bits wide all the way, through a channel by NCCL
// and by peer copy, and through a collective, on streams and replayed.
#include "gpu/compare.hpp"

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {

using namespace samples;

inline constexpr std::int64_t many = (std::int64_t{1} << 31) + 5;
using bytes = dv::tensor<std::uint8_t, many>;

__global__ void write_marks(const std::uint8_t* value, std::uint8_t* to) {
    to[0] = value[0];
    to[many / 2] = value[0] + 1;
    to[many - 1] = value[0] + 2;
}
__global__ void read_marks(const std::uint8_t* from, std::uint8_t* to) {
    to[0] = from[0];
    to[1] = from[many / 2];
    to[2] = from[many - 1];
}

// Writes its number to the first element, and the next two to the one in the middle and the last.
struct mark {
    static constexpr dv::tensor_type result(dv::tensor_type) { return bytes::type; }
    template <class X>
    static void launch(dv::cuda::stream s, dv::in<X> value, dv::out<bytes> to) {
        write_marks<<<1, 1, 0, static_cast<cudaStream_t>(s.handle)>>>(value.data(), to.data());
    }
};
struct marks_of {
    static constexpr dv::tensor_type result(dv::tensor_type) { return dv::tensor<std::uint8_t, 3>::type; }
    template <class Y>
    static void launch(dv::cuda::stream s, dv::in<bytes> x, dv::out<Y> to) {
        read_marks<<<1, 1, 0, static_cast<cudaStream_t>(s.handle)>>>(x.data(), to.data());
    }
};

struct across : dv::graph<
    dv::input<x, dv::scalar<std::uint8_t>>,
    dv::on<left, dv::let<a, mark(x)>>,
    dv::on<right, dv::let<b, marks_of(a)>>,
    dv::output<b>> {};
struct largest : dv::graph<
    dv::input<x, dv::scalar<std::uint8_t>>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::let<b, marks_of(all_reduce<maximum, dp>(mark(x)))>,
    dv::output<b>> {};

template <dv::transport By>
using moved_by = dv::options<dv::machine::h200_nvlink, dv::channel_transport<By>>;

// Rank r binds 40 + r + run; `first` is what rank `reader` (-1: each) then reads.
template <class G, class O>
void marks_arrive(int reader, int first) {
    for (const auto how : {dv::replay_mode::never, dv::replay_mode::always})
        dv::cuda::world::local(2).run([&](auto& rank) {
            dv::executor<G, O> step{rank, 60s, how};
            for (int run = 0; run < 3; ++run) {
                step.bind(dv::name<x>, static_cast<std::uint8_t>(40 + rank.index() + run));
                const auto ticket = step.run();
                ticket.wait();
                if (reader >= 0 && rank.index() != reader) continue;
                const auto from = static_cast<std::uint8_t>(first + run);
                const auto got = ticket.read(dv::name<b>).host();
                static std::mutex one_at_a_time;
                const std::lock_guard lock{one_at_a_time};
                CHECK(got == std::vector<std::uint8_t>{from, static_cast<std::uint8_t>(from + 1), static_cast<std::uint8_t>(from + 2)});
            }
        });
}

}  // namespace

TEST_CASE("more than 2^31 bytes") {
    if (!gpu::enough(2, "a value of more than 2^31 bytes")) return;
    marks_arrive<across, moved_by<dv::transport::nccl>>(1, 40);
    marks_arrive<across, moved_by<dv::transport::peer_copy>>(1, 40);
    marks_arrive<largest, moved_by<dv::transport::automatic>>(-1, 41);
}
