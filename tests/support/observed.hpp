// What observers leave behind, for tests of them: a recorder for a while, a folder, the contents of files, what is printed.
#pragma once

#include <dovetail/observe/observe.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace support {

namespace dv = dovetail;

inline std::string content(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// A folder of this test's own, gone with it.
struct folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("dovetail_observe_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    folder() { std::filesystem::create_directory(path); }
    ~folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    std::string operator/(const std::string& name) const { return (path / name).string(); }
};

// While it lives, executors are seen by a recorder with these wishes.
struct watched {
    dv::observe::recorder one;
    dv::run_observer* before = dv::observing.exchange(&one);
    explicit watched(dv::observe::environment e) : one{std::move(e)} {}
    ~watched() { dv::observing = before; }
};

// What a call prints on the standard error.
template <class Call>
std::string printed(Call call) {
    folder here;
    const std::string path = here / "printed";
    std::fflush(stderr);
    const int before = dup(2);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    REQUIRE(file != nullptr);
    dup2(fileno(file), 2);
    call();
    std::fflush(stderr);
    dup2(before, 2);
    close(before);
    std::fclose(file);
    return content(path);
}

}  // namespace support
