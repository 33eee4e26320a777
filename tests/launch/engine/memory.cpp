// Blocks of a rank's memory: each is given back once, as the kind it was taken as, whatever it is moved to.
#include <doctest/doctest.h>

#include <dovetail/launch/engine/memory.hpp>

#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

namespace dv = dovetail;

namespace {

// Counts what is held of it, of both kinds.
struct counted final : dv::memory {
    std::set<void*> held[2];
    bool empty = false;

    void* take(std::int64_t bytes, int host) {
        if (empty) throw std::runtime_error{"no memory"};
        return *held[host].insert(::operator new(static_cast<std::size_t>(bytes))).first;
    }
    void give_back(void* pointer, int host) noexcept {
        CHECK(held[host].erase(pointer) == 1);
        ::operator delete(pointer);
    }
    void* allocate(std::int64_t bytes) override { return take(bytes, 0); }
    void release(void* pointer) noexcept override { give_back(pointer, 0); }
    void* allocate_host(std::int64_t bytes) override { return take(bytes, 1); }
    void release_host(void* pointer) noexcept override { give_back(pointer, 1); }
    void to_host(void*, const void*, std::int64_t) override {}
    void from_host(void*, const void*, std::int64_t) override {}
};

}  // namespace

TEST_CASE("a block is given back as what it was taken as, and nothing is no block") {
    const auto source = std::make_shared<counted>();
    CHECK(!dv::block{});
    {
        const dv::block device{source, 10}, host{source, 20, true};
        CHECK(device);
        CHECK(device.bytes() == 10);
        CHECK(source->held[0].contains(device.data()));
        CHECK(source->held[1].contains(host.data()));
    }
    CHECK(source->held[0].empty());
    CHECK(source->held[1].empty());
    CHECK(source->device() == -1);
}

TEST_CASE("a block that is moved, also over another and over itself, is given back once") {
    const auto source = std::make_shared<counted>();
    {
        dv::block a{source, 10}, b{source, 20, true};
        char* const first = a.data();
        dv::block moved{std::move(a)};
        CHECK(!a);
        CHECK(moved.data() == first);
        b = std::move(moved);
        CHECK(b.data() == first);
        CHECK(b.bytes() == 10);
        dv::block& same = b;
        b = std::move(same);
        CHECK(b.data() == first);
        b = dv::block{};
        CHECK(source->held[0].empty());
    }
    CHECK(source->held[1].empty());
}

TEST_CASE("a block keeps its memory's source, and where there is none left is not made") {
    auto source = std::make_shared<counted>();
    const std::weak_ptr<counted> seen = source;
    {
        const dv::block last{source, 10};
        source->empty = true;
        CHECK_THROWS_AS((dv::block{source, 10}), std::runtime_error);
        source.reset();
        CHECK(!seen.expired());
    }
    CHECK(seen.expired());
}
