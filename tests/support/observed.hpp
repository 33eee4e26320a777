// For tests of observers: a recorder with a limited lifetime, a temporary folder, the contents of files, captured output.
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

// A temporary folder, removed by the destructor.
struct folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("dovetail_observe_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    folder() { std::filesystem::create_directory(path); }
    ~folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    std::string operator/(const std::string& name) const { return (path / name).string(); }
};

// While it lives, a recorder with these options observes all executors.
struct watched {
    dv::observe::recorder one;
    dv::run_observer* before = dv::observing.exchange(&one);
    explicit watched(dv::observe::environment e) : one{std::move(e)} {}
    ~watched() { dv::observing = before; }
};

// The text that a call prints to standard error.
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
