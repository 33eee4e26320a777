// What an abort leaves behind is never taken for data: neither by a rank that does not know of the abort yet, nor in a result that a
// program holds; and ranks use no memory of one that has left.
#include "support/samples.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace {
namespace app {
using namespace dv::ops;
struct x; struct u; struct v; struct y; struct across; struct along;
using rows = dv::tensor<float, 8, 64>;

struct late_on_rank_3 {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream s, dv::in<X> from, dv::out<X> to) {
        if (s.rank == 3) std::this_thread::sleep_for(60ms);
        std::copy(from.begin(), from.end(), to.begin());
    }
};
// Rank 1 sums with rank 3 first, then with rank 0.
template <dv::transport By>
struct in_turn : dv::graph<
    dv::mesh<dv::axis<across, 2>, dv::axis<along, 2>>, dv::input<x, rows>, dv::let<v, late_on_rank_3(x)>,
    dv::moved_by<By, dv::let<u, all_reduce<sum, across>(v)>, dv::let<y, all_reduce<sum, along>(u)>>, dv::output<y>> {};
struct gathered : dv::graph<
    dv::mesh<dv::axis<along, 2>>, dv::input<x, rows>, dv::let<v, add(x, x)>,
    dv::moved_by<dv::transport::peer_copy, dv::let<y, all_gather<along>(v)>>, dv::output<y>> {};
}  // namespace app

std::vector<float> filled(float value) { return std::vector<float>(app::rows::size, value); }

// The ranks of a world whose abort is known at once to the rank that aborts, and to the others after the time of a message.
struct world_of_messages {
    explicit world_of_messages(int ranks, std::chrono::microseconds message) : all{ranks}, message{message} {}
    dv::launch::local_peers all;
    const std::chrono::microseconds message;
    std::mutex mutex;
    dv::launch::abort_reason why;
    int aborted_by = -1;
    std::chrono::steady_clock::time_point aborted_at;

    bool knows(int rank) {
        const std::lock_guard lock{mutex};
        return aborted_by == rank || (aborted_by >= 0 && std::chrono::steady_clock::now() > aborted_at + message);
    }
};
class process final : public dv::launch::peers {
public:
    process(std::shared_ptr<world_of_messages> world, int rank) : world_{std::move(world)}, rank_{rank} {}
    ~process() override { end(); }
    int size() const override { return world_->all.size(); }
    std::vector<std::string> exchange(int r, const std::string& what, const std::string& mine, std::chrono::nanoseconds limit) override {
        return world_->all.exchange(r, what, mine, limit);
    }
    void abort(const dv::launch::abort_reason& why) override {
        const std::lock_guard lock{world_->mutex};
        if (world_->aborted_by >= 0) return;
        world_->why = why;
        world_->aborted_by = rank_;
        world_->aborted_at = std::chrono::steady_clock::now();
    }
    bool aborted() const noexcept override { return world_->knows(rank_); }
    dv::launch::abort_reason why() const override {
        const std::lock_guard lock{world_->mutex};
        return world_->why;
    }
    void attend(int, std::function<void()> at_stop, std::function<void()> each_period) override {
        watchdog_ = std::make_unique<dv::launch::watchdog>(std::move(at_stop), std::move(each_period));
        messages_ = std::thread{[this] {
            while (!over_ && !aborted()) std::this_thread::sleep_for(50us);
            if (!over_) watchdog_->stop();
        }};
    }
    void unattend(int) noexcept override { end(); }
    void leave(int r) noexcept override { world_->all.leave(r); }
    bool gone(int r) const noexcept override { return world_->all.gone(r); }
    void watch(int r, std::shared_ptr<const dv::launch::progress> p) override { world_->all.watch(r, std::move(p)); }
    std::string describe() const override { return world_->all.describe(); }
    std::string call_order_mismatch(int r, std::int64_t at, int e) override { return world_->all.call_order_mismatch(r, at, e); }

private:
    void end() noexcept {
        over_ = true;
        if (messages_.joinable()) messages_.join();
        watchdog_.reset();
    }
    const std::shared_ptr<world_of_messages> world_;
    const int rank_;
    std::unique_ptr<dv::launch::watchdog> watchdog_;
    std::thread messages_;
    std::atomic<bool> over_ = false;
};
template <class Body>
void run_with_messages(int ranks, std::chrono::microseconds message, Body body) {
    const auto world = std::make_shared<world_of_messages>(ranks, message);
    ncclUniqueId id{};
    dv::cuda::check(dv::cuda::calls.get_unique_id(&id), "ncclGetUniqueId");
    std::vector<std::shared_ptr<dv::cuda::context>> kept(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
            const auto mine = std::make_shared<process>(world, r);
            ncclComm_t all = nullptr;
            dv::cuda::check(dv::cuda::calls.comm_init_rank(&all, ranks, id, r, nullptr), "ncclCommInitRankConfig");
            kept[static_cast<std::size_t>(r)] = std::make_shared<dv::cuda::context>(mine, r, ranks, r, all);
            dv::cuda::rank on{kept[static_cast<std::size_t>(r)]};
            try {
                simulated::rank me{on};
                body(me);
            } catch (const std::exception& e) {
                mine->abort({r, "rank " + std::to_string(r) + " left: " + e.what(), {}, {}, true, std::current_exception()});
            }
            mine->leave(r);
        });
    for (auto& t : threads) t.join();
}

// Rank 1 throws while it waits for rank 3; what rank 0 then reads.
struct outcomes {
    int wrong = 0, refused = 0;
};
template <class G>
outcomes read_after_abort(std::chrono::microseconds message) {
    outcomes seen;
    for (int i = 0; i < 8; ++i)
        run_with_messages(4, message, [&](auto& rank) {
            dv::executor<G, dv::options<>> step{rank};
            step.bind(dv::name<app::x>, filled(1));
            step.run().wait();
            step.bind(dv::name<app::x>, filled(10));
            const auto ticket = step.run();
            if (rank.index() == 1) {
                std::this_thread::sleep_for(10ms);
                throw std::runtime_error{"on purpose"};
            }
            try {
                const bool right = ticket.read(dv::name<app::y>).host() == filled(40);
                if (rank.index() == 0 && !right) ++seen.wrong;
            } catch (const std::exception&) {
                if (rank.index() == 0) ++seen.refused;
                throw;
            }
        });
    return seen;
}
}  // namespace

TEST_CASE("a rank that learns late of an abort does not take what it left behind for data") {
    const simulated::scope simulation;
    for (const auto message : {200us, 3000us}) {
        const outcomes copies = read_after_abort<app::in_turn<dv::transport::peer_copy>>(message);
        CHECK(copies.wrong == 0);
        CHECK(copies.refused == 8);
        const outcomes nccl = read_after_abort<app::in_turn<dv::transport::nccl>>(message);
        CHECK(nccl.wrong == 0);
        CHECK(nccl.refused == 8);
    }
}

TEST_CASE("a result that copy engines of others write is not read after an abort") {
    const simulated::scope simulation;
    int changed = 0, refused = 0;
    for (int i = 0; i < 5; ++i) {
        CHECK_THROWS(simulated::run(2, [&](auto& rank) {
            dv::executor<app::gathered, dv::options<>> step{rank};
            step.bind(dv::name<app::x>, filled(1));
            const auto ticket = step.run();
            ticket.wait();
            if (rank.index() == 1) {  // one run ahead of rank 0
                step.bind(dv::name<app::x>, filled(100));
                step.run();
                std::this_thread::sleep_for(20ms);
                throw std::runtime_error{"on purpose"};
            }
            const auto held = ticket.read(dv::name<app::y>);
            const std::vector<float> before = held.host();
            std::this_thread::sleep_for(80ms);
            try {
                changed += held.host() == before ? 0 : 1;
            } catch (const dv::operation_error&) {
                ++refused;
            }
        }));
    }
    CHECK(changed == 0);
    CHECK(refused == 5);
}

TEST_CASE("a rank that leaves one run early leaves its memory to those that copy into it") {
    const simulated::scope simulation;
    std::string said = "nothing thrown";
    try {
        simulated::run(2, [](auto& rank) {
            dv::executor<app::gathered, dv::options<>> step{rank};
            step.bind(dv::name<app::x>, filled(1));
            step.run().wait();
            if (rank.index() == 1) return;
            std::this_thread::sleep_for(100ms);
            step.run().wait();
        });
    } catch (const std::exception& e) {
        said = e.what();
    }
    CHECK(said.find("rank 1 has left") != std::string::npos);
}
