// Descriptors that belong to one process: closed with their owner, in a child of a fork at once, and not where their number is another
// file's by then.
#include <doctest/doctest.h>

#include <dovetail/launch/control/descriptor.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

using dovetail::control::detail::descriptor;

namespace {

descriptor opened() {
    return descriptor::of([] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); });
}
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

// What `child` returns in a child of this process.
int in_child(auto&& child) {
    const pid_t process = ::fork();
    if (process == 0) ::_exit(child());
    int status = 0;
    REQUIRE(::waitpid(process, &status, 0) == process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a descriptor is open as long as somebody owns it, and closed once") {
    int fd = -1;
    {
        descriptor first = opened();
        fd = first.get();
        CHECK(first);
        CHECK(first.here());
        CHECK(is_open(fd));
        descriptor second{std::move(first)};
        CHECK(!first);
        CHECK(!first.here());
        CHECK(second.get() == fd);
        first = std::move(second);
        CHECK(first.get() == fd);
        CHECK(is_open(fd));
    }
    CHECK(!is_open(fd));
}

TEST_CASE("what cannot be opened is none") {
    const descriptor none = descriptor::of([] { return ::open("/no/such/file", O_RDONLY); });
    CHECK(!none);
    CHECK(!none.here());
}

TEST_CASE("a child of a fork has none of its parent's, which stay open for the parent") {
    const descriptor mine = opened();
    CHECK(in_child([&] { return is_open(mine.get()) || mine.here() ? 1 : 0; }) == 0);
    CHECK(is_open(mine.get()));
    CHECK(mine.here());
}

TEST_CASE("a child that ends what it got closes no file of its own that has the number by then") {
    const int result = in_child([] {
        auto mine = opened();
        const int grandchild = in_child([&] {
            const int other = ::open("/dev/null", O_RDONLY);  // the number that was free
            if (other != mine.get()) return 2;
            { const descriptor ended{std::move(mine)}; }
            return is_open(other) ? 0 : 1;
        });
        return grandchild;
    });
    CHECK(result == 0);
}
