// Files in memory that processes of one host and one user share by name, until all have opened them. Names are drawn at random; links and
// files that the library has not made are rejected. The process that makes a file holds a lock on it as long as the file has a name: a file
// without a lock is left over from a killed process, and the next process that makes a file removes it.
#pragma once

#include "../error.hpp"
#include "descriptor.hpp"
#include "job_key.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace dovetail::control::detail {

class shared_file {
public:
    static constexpr std::string_view folder = "/dev/shm/";

    shared_file() = default;
    // A new file, all zero.
    static shared_file make(std::size_t bytes) {
        remove_left_over();
        shared_file f;
        for (int attempts = 0; !f.named_ && attempts < 16; ++attempts) {
            f.name_ = std::string{folder} + prefix() + random_name();
            f.file_ = opened(f.name_, O_RDWR | O_CREAT | O_EXCL);
            if (!f.file_ && errno != EEXIST) refuse(f.name_, std::strerror(errno));
            f.named_ = f.file_ && f.lock();
        }
        if (!f.named_) refuse(f.name_, "it cannot be locked");
        if (const int status = ::posix_fallocate(f.file_.get(), 0, static_cast<off_t>(bytes)); status != 0)
            refuse(f.name_, std::strerror(status));
        return f;
    }
    // Opens the file of another process.
    static shared_file open(const std::string& name, std::size_t bytes) {
        const std::string first = std::string{folder} + prefix();
        if (!name.starts_with(first) || name.find('/', first.size()) != std::string::npos)
            refuse(name, "this is not the name of a shared-memory file of dovetail and this user");
        shared_file f;
        f.name_ = name;
        f.file_ = opened(name, O_RDWR);
        if (!f.file_) refuse(name, errno == ELOOP ? "it is a link" : std::strerror(errno));
        struct stat s = {};
        if (::fstat(f.file_.get(), &s) != 0) refuse(name, std::strerror(errno));
        if (!S_ISREG(s.st_mode)) refuse(name, "it is not a regular file");
        if (s.st_uid != ::geteuid()) refuse(name, "it is another user's");
        if (static_cast<std::size_t>(s.st_size) != bytes)
            refuse(name, "it has " + std::to_string(s.st_size) + " bytes, not " + std::to_string(bytes));
        return f;
    }
    shared_file(shared_file&& other) noexcept
        : name_{std::move(other.name_)}, file_{std::move(other.file_)}, named_{std::exchange(other.named_, false)} {}
    shared_file& operator=(shared_file&& other) noexcept {
        std::swap(name_, other.name_);
        std::swap(file_, other.file_);
        std::swap(named_, other.named_);
        return *this;
    }
    ~shared_file() { forget(); }

    const std::string& name() const { return name_; }
    int descriptor_number() const { return file_.get(); }
    // Removes the name; mappings remain. Only the process that made the file removes it.
    void forget() noexcept {
        if (std::exchange(named_, false) && file_.here()) ::unlink(name_.c_str());
        file_ = descriptor{};
    }

private:
    [[noreturn]] static void refuse(const std::string& name, const std::string& why) {
        throw failure{"shared memory " + name + ": " + why};
    }
    static std::string prefix() { return "dovetail-" + std::to_string(::geteuid()) + "-"; }
    static std::string random_name() {
        std::string text;
        for (const char c : random_bytes(12))
            for (const int shift : {4, 0}) text += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
        return text;
    }
    // Does not block if the name belongs to a pipe.
    static descriptor opened(const std::string& name, int how) {
        return descriptor::of([&] { return ::open(name.c_str(), how | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600); });
    }
    // False if another process has just removed it as left over.
    bool lock() const {
        struct stat mine = {}, named = {};
        return ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(file_.get(), &mine) == 0 && ::lstat(name_.c_str(), &named) == 0 &&
               mine.st_ino == named.st_ino;
    }
    static void remove_left_over() noexcept {
        DIR* const all = ::opendir(std::string{folder}.c_str());
        if (all == nullptr) return;
        while (const dirent* entry = ::readdir(all)) {
            if (!std::string_view{entry->d_name}.starts_with(prefix())) continue;
            const std::string name = std::string{folder} + entry->d_name;
            const descriptor file = opened(name, O_RDONLY);
            struct stat s = {};
            if (file && ::fstat(file.get(), &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == ::geteuid() &&
                ::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
                ::unlink(name.c_str());
        }
        ::closedir(all);
    }

    std::string name_;
    descriptor file_;
    bool named_ = false;
};

}  // namespace dovetail::control::detail
