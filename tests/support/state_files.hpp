// Stores without executors, and the files that they save: a rank that has memory alone, a folder of the test's own, files as text.
#pragma once

#include <dovetail/dsl/statements.hpp>
#include <dovetail/launch/host/host_memory.hpp>
#include <dovetail/launch/store.hpp>
#include <dovetail/launch/store_core.hpp>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

namespace support {

struct memory_rank {
    int number = 0;
    std::shared_ptr<dovetail::memory> source = std::make_shared<dovetail::host::host_memory>();

    std::shared_ptr<dovetail::memory> device_memory() const { return source; }
    int index() const { return number; }
};

// A new folder, removed with what is in it.
class folder {
public:
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "dovetail-states-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { std::filesystem::remove_all(path_); }

    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& entry : std::filesystem::directory_iterator{path_}) all.push_back(entry.path().filename().string());
        return all;
    }

private:
    std::string path_;
};

inline std::string contents(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}
inline void write_file(const std::string& path, const std::string& text) {
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << text;
}

// first, first + 1, ...
template <class T>
std::vector<T> counted(std::size_t count, int first) {
    std::vector<T> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<T>(static_cast<float>(first + static_cast<int>(i))));
    return all;
}

// The store of a position of an axis, as executors would have told it.
template <class Axis>
void place(dovetail::store& of, int index, int width) {
    of.core()->add_position({&dovetail::tag_of<Axis>, index, width});
}
template <class Tensor, class Name, class Axis>
void replicate(dovetail::store& of) {
    of.core()->at(&dovetail::tag_of<Name>, Tensor::type).equal.along.push_back(&dovetail::tag_of<Axis>);
}

}  // namespace support
