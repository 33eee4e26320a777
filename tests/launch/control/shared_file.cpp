// Shared memory by name: what is one's own is shared, what is not is refused, and what a killed process left is removed.
#include <doctest/doctest.h>

#include <dovetail/launch/control/shared_file.hpp>

#include <support/processes.hpp>
#include <support/says.hpp>

#include <sys/mman.h>

#include <fstream>

using dovetail::control::detail::shared_file;
using support::says;

namespace {

std::string own_prefix() { return "/dev/shm/dovetail-" + std::to_string(::geteuid()) + "-"; }
bool there(const std::string& name) {
    struct stat s = {};
    return ::lstat(name.c_str(), &s) == 0;
}
std::string refused(const std::string& name, std::size_t bytes) {
    return support::processes::guarded([&] {
        shared_file::open(name, bytes);
        return std::string{"opened"};
    });
}
char* mapped(const shared_file& f, std::size_t bytes) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f.descriptor_number(), 0);
    REQUIRE(at != MAP_FAILED);
    return static_cast<char*>(at);
}

}  // namespace

TEST_CASE("two that open a file by its name see the same bytes, zero at first, also when the name has gone") {
    shared_file mine = shared_file::make(8192);
    CHECK(mine.name().substr(0, own_prefix().size()) == own_prefix());
    struct stat s = {};
    CHECK(::lstat(mine.name().c_str(), &s) == 0);
    CHECK((s.st_mode & 0777) == 0600);
    const shared_file theirs = shared_file::open(mine.name(), 8192);
    char *a = mapped(mine, 8192), *b = mapped(theirs, 8192);
    mine.forget();
    CHECK_FALSE(there(mine.name()));
    CHECK(b[8191] == 0);
    a[8191] = 7;
    CHECK(b[8191] == 7);
    ::munmap(a, 8192);
    ::munmap(b, 8192);
}

TEST_CASE("what is no file of dovetail and of this user, or another size, is not opened") {
    const shared_file good = shared_file::make(4096);
    CHECK(refused(good.name(), 4096) == "opened");
    CHECK(says(refused(good.name(), 8192), "it has 4096 bytes, not 8192"));
    for (const std::string& name : {std::string{"/etc/passwd"}, std::string{"/dev/shm/other"}, own_prefix() + "../../../etc/passwd",
                                    std::string{}, std::string{"dovetail-0-1"}})
        CHECK(says(refused(name, 1), "this is not the name of a shared-memory file of dovetail and this user"));
    CHECK(says(refused(own_prefix() + "none", 1), "No such file or directory"));

    const std::string link = own_prefix() + "test-link", pipe = own_prefix() + "test-pipe", others = own_prefix() + "test-others";
    CHECK(::symlink(good.name().c_str(), link.c_str()) == 0);
    CHECK(says(refused(link, 4096), "it is a link"));
    CHECK(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(says(refused(pipe, 0), "it is not a regular file"));
    std::ofstream{others} << "x";
    if (::geteuid() == 0) {
        CHECK(::chown(others.c_str(), 65534, 65534) == 0);
        CHECK(says(refused(others, 1), "it is another user's"));
    }
    shared_file::make(1);  // which leaves alone what it has not made
    for (const auto& name : {link, pipe, others}) {
        if (name != others || ::geteuid() == 0) CHECK(there(name));
        ::unlink(name.c_str());
    }
}

TEST_CASE("what a killed process left is removed by the next, and what a living one has is not") {
    const auto made_in = [](support::processes& all, int i) {
        static_cast<void>(i);
        int fds[2];
        REQUIRE(::pipe(fds) == 0);
        all.start([=] {
            const shared_file f = shared_file::make(4096);
            static_cast<void>(!::write(fds[1], f.name().data(), f.name().size()));
            ::sleep(10);
            return std::string{};
        });
        char name[200] = {};
        REQUIRE(::read(fds[0], name, sizeof name - 1) > 0);
        ::close(fds[0]);
        ::close(fds[1]);
        return std::string{name};
    };
    support::processes all;
    const std::string killed = made_in(all, 0), living = made_in(all, 1);
    all.kill(0);
    CHECK(there(killed));
    shared_file mine = shared_file::make(4096), second = shared_file::make(4096);
    CHECK_FALSE(there(killed));
    CHECK(there(living));
    CHECK(there(mine.name()));
    all.kill(1);
    mine.forget();
    CHECK(there(second.name()));
    shared_file::make(1);
    CHECK_FALSE(there(living));
}

TEST_CASE("a child of a fork does not take its parent's name away") {
    shared_file mine = shared_file::make(4096);
    support::processes all;
    all.start([&] {
        mine.forget();
        return std::string{there(mine.name()) ? "there" : "gone"};
    });
    CHECK(all.ends()[0] == "there");
    CHECK(there(mine.name()));
}

TEST_CASE("many processes make and forget at the same time") {
    support::processes all;
    for (int i = 0; i < 6; ++i)
        all.start([] {
            for (int k = 0; k < 100; ++k) {
                const shared_file f = shared_file::make(4096);
                if (refused(f.name(), 4096) != "opened") return refused(f.name(), 4096);
            }
            return std::string{"well"};
        });
    for (const auto& text : all.ends()) CHECK(text == "well");
}
