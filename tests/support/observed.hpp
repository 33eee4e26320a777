// For tests of observers: a recorder with a limited lifetime, a temporary folder, files of values, the contents of files, captured output.
#pragma once

#include <dovetail/observe/observe.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

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

// The current folder, empty and gone afterwards, while executors are seen by a recorder that writes these names.
struct dumping {
    static dv::observe::environment asking_for(const std::string& names) {
        dv::observe::environment e;
        e.dump = names;
        return e;
    }
    watched recorder;
    folder here;
    std::filesystem::path before = std::filesystem::current_path();

    explicit dumping(const std::string& names) : recorder{asking_for(names)} { std::filesystem::current_path(here.path); }
    dumping(const dumping&) = delete;
    ~dumping() { std::filesystem::current_path(before); }
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator{here.path}) names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }
    // The elements of a file, whose header has to be this one.
    template <class T>
    std::vector<T> read(const std::string& name, const std::string& header) const {
        const std::string all = content(here / name);
        REQUIRE(all.size() > 10);
        CHECK(all.substr(0, 8) == std::string{"\x93NUMPY\x01\x00", 8});
        const std::size_t length = static_cast<unsigned char>(all[8]) + 256u * static_cast<unsigned char>(all[9]);
        CHECK((10 + length) % 64 == 0);
        const std::string said = all.substr(10, length);
        CHECK(said.substr(0, said.find('}') + 1) == header);
        CHECK(said.back() == '\n');
        std::vector<T> values((all.size() - 10 - length) / sizeof(T));
        std::memcpy(values.data(), all.data() + 10 + length, values.size() * sizeof(T));
        return values;
    }
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
