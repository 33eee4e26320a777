// Lists of CPUs as the kernel's documentation writes them, against sets made by hand; devices of a made-up bus; a thread's own CPUs.
#include <doctest/doctest.h>

#include <dovetail/launch/world/cpu_affinity.hpp>

#include <unistd.h>
#include <filesystem>
#include <initializer_list>
#include <thread>


namespace {

namespace launch = dovetail::launch;

cpu_set_t set_of(std::initializer_list<int> cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int c : cpus) CPU_SET(static_cast<std::size_t>(c), &set);
    return set;
}
bool equal(const std::optional<cpu_set_t>& a, const cpu_set_t& b) { return a && CPU_EQUAL(&*a, &b); }
cpu_set_t of_this_thread() {
    cpu_set_t set;
    REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0);
    return set;
}

}  // namespace

TEST_CASE("lists of CPUs") {
    CHECK(equal(launch::cpus_in("0"), set_of({0})));
    CHECK(equal(launch::cpus_in("0-3"), set_of({0, 1, 2, 3})));
    CHECK(equal(launch::cpus_in("0-1,64-66,7"), set_of({0, 1, 7, 64, 65, 66})));
    CHECK(equal(launch::cpus_in("1023"), set_of({1023})));
    for (const char* bad : {"", "a", "0-", "-1", "3-1", "0,", ",0", "0-1-2", "1024", "0-1024", "99999999999", "0 1", "0\n"}) {
        CAPTURE(bad);
        CHECK(!launch::cpus_in(bad));
    }
}

TEST_CASE("the CPUs near a device of the PCI bus") {
    const std::filesystem::path bus = std::filesystem::temp_directory_path() / ("dovetail.pci." + std::to_string(::getpid()));
    std::filesystem::create_directories(bus / "0000:3b:00.0");
    std::ofstream{bus / "0000:3b:00.0" / "local_cpulist"} << "2-3\n";
    CHECK(equal(launch::cpus_near("0000:3B:00.0", bus), set_of({2, 3})));
    CHECK(!launch::cpus_near("0000:AF:00.0", bus));
    std::filesystem::remove_all(bus);
}

TEST_CASE("a thread keeps to the CPUs given, those that it starts too, and is free again") {
    const cpu_set_t before = of_this_thread();
    cpu_set_t half;
    CPU_ZERO(&half);
    for (std::size_t c = 0; 2 * CPU_COUNT(&half) < CPU_COUNT(&before); ++c)
        if (CPU_ISSET(c, &before)) CPU_SET(c, &half);
    {
        const launch::cpu_affinity near{half};
        CHECK(equal(of_this_thread(), half));
        std::thread{[&] { CHECK(equal(of_this_thread(), half)); }}.join();
    }
    CHECK(equal(of_this_thread(), before));
    {
        const launch::cpu_affinity nothing_known{std::nullopt}, none_allowed{set_of({CPU_SETSIZE - 1})};
        CHECK(equal(of_this_thread(), before));
    }
    CHECK(equal(of_this_thread(), before));
}

TEST_CASE("one of many CPUs is not enough for a thread and all that it starts") {
    cpu_set_t many;
    CPU_ZERO(&many);
    for (std::size_t c = 0; c < 32; ++c) CPU_SET(c, &many);
    const auto enough = [&](std::initializer_list<int> near) { return launch::cpus_to_keep_to(set_of(near), many).has_value(); };
    CHECK(enough({0, 1}));
    CHECK_FALSE(enough({0}));
    CHECK_FALSE(enough({0, 33, 34}));
    CHECK_FALSE(enough({40}));
}
