// The files that observers write: each has the latest contents, and a path that cannot be written gives one warning and never delays the
// program.
#include <doctest/doctest.h>

#include <dovetail/observe/files.hpp>

#include <support/processes.hpp>
#include <support/says.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

using dovetail::observe::files;
using support::says;

namespace {

// A folder of its own, removed with what is in it.
struct folder {
    std::string path = (std::filesystem::temp_directory_path() / "dovetail-files-XXXXXX").string();
    folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
    ~folder() {
        for (const char* name : {"trace.json", "pipe", "link"}) ::unlink((path + "/" + name).c_str());
        ::rmdir(path.c_str());
    }
    std::string operator/(const std::string& name) const { return path + "/" + name; }
};
std::string content(const std::string& path) {
    std::ifstream in{path};
    return {std::istreambuf_iterator<char>{in}, {}};
}
// What writing there twice says on the standard error, in a process that may be given up.
std::string warning(const std::string& path, const std::string& text) {
    support::processes all;
    all.start([=] {
        int fds[2];
        if (::pipe(fds) != 0) return std::string{"no pipe"};
        ::dup2(fds[1], 2);
        files to;
        const bool first = to.write("trace", path, text), second = to.write("trace", path, text);
        ::close(2);
        ::close(fds[1]);
        std::string said = first != second ? "not alike: " : first ? "written" : "";
        for (char c = 0; ::read(fds[0], &c, 1) == 1;) said += c;
        return said;
    });
    return all.ends(std::chrono::milliseconds{2000})[0];
}

}  // namespace

TEST_CASE("a file has what was written last, also behind a link") {
    const folder in;
    CHECK(warning(in / "trace.json", std::string(100'000, 'x')) == "written");
    CHECK(content(in / "trace.json") == std::string(100'000, 'x'));
    CHECK(::symlink((in / "trace.json").c_str(), (in / "link").c_str()) == 0);
    CHECK(warning(in / "link", "short") == "written");
    CHECK(content(in / "trace.json") == "short");
    CHECK(warning("/dev/null", "nothing") == "written");
}

TEST_CASE("a file that cannot be written completely keeps what it had, and nothing is left beside it") {
    const folder in;
    CHECK(warning(in / "trace.json", "as it was") == "written");
    support::processes all;
    all.start([&] {
        const rlimit most{1000, 1000};
        std::signal(SIGXFSZ, SIG_IGN);
        if (::setrlimit(RLIMIT_FSIZE, &most) != 0) return std::string{"no limit"};
        return std::string{files{}.write("trace", in / "trace.json", std::string(100'000, 'x')) ? "written" : "refused"};
    });
    CHECK(all.ends()[0] == "refused");
    CHECK(content(in / "trace.json") == "as it was");
    const std::filesystem::directory_iterator left{in.path};
    CHECK(std::distance(begin(left), end(left)) == 1);
}

TEST_CASE("a file keeps its mode") {
    const folder in;
    CHECK(warning(in / "trace.json", "x") == "written");
    REQUIRE(::chmod((in / "trace.json").c_str(), 0640) == 0);
    CHECK(warning(in / "trace.json", "y") == "written");
    struct stat s = {};
    CHECK(::stat((in / "trace.json").c_str(), &s) == 0);
    CHECK((s.st_mode & 0777) == 0640);
}

TEST_CASE("a path that is a pipe gives one warning and holds nothing up, whether anybody reads it or not") {
    const folder in;
    const std::string pipe = in / "pipe", text(1'000'000, 'x');
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const std::string expected = "dovetail: cannot write the trace " + pipe + ": it is a pipe, and no file\n";
    CHECK(warning(pipe, text) == expected);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    CHECK(warning(pipe, text) == expected);
    ::close(reader);
}

TEST_CASE("what cannot be written is said once, with the reason") {
    const folder in;
    CHECK(warning(in.path, "x") == "dovetail: cannot write the trace " + in.path + ": Is a directory\n");
    CHECK(warning(in / "none/trace.json", "x") ==
          "dovetail: cannot write the trace " + (in / "none/trace.json") + ": No such file or directory\n");
    CHECK(warning("/dev/full", "x") == "dovetail: cannot write the trace /dev/full: No space left on device\n");
}

TEST_CASE("the file of a rank has its number at %r, or in front of the ending") {
    using dovetail::observe::has_rank, dovetail::observe::of_rank;
    CHECK(has_rank("trace_%r.json"));
    CHECK(!has_rank("trace_r.json"));
    CHECK(of_rank("trace_%r.json", ".json", 12) == "trace_12.json");
    CHECK(of_rank("times.hpp", ".hpp", 3) == "times.rank3.hpp");
    CHECK(of_rank("times", ".hpp", 3) == "times.rank3");
    CHECK(of_rank("runs.json.d/trace", ".json", 3) == "runs.json.d/trace.rank3");
    CHECK(of_rank("runs.json.d/trace.json", ".json", 3) == "runs.json.d/trace.rank3.json");
}
