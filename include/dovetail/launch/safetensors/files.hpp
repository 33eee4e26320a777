// Files as safetensors needs them: one that is read by ranges, and one that replaces another as a whole or not at all. Errors are thrown as
// file_error with the path and the system's text.
#pragma once

#include "../control/descriptor.hpp"
#include "../control/printable.hpp"
#include "../error.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace dovetail::safetensors {

[[noreturn]] inline void refuse(const std::string& path, const std::string& why) {
    throw file_error{"file `" + control::printable(path) + "`: " + why, path};
}

class input_file {
public:
    explicit input_file(std::string path) : path_{std::move(path)} {
        // Opening a pipe would block until another process writes to it.
        file_ = control::detail::descriptor::of([&, this] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
        struct stat s = {};
        if (!file_ || ::fstat(file_.get(), &s) != 0) refuse(path_, std::string{"it cannot be opened: "} + std::strerror(errno));
        if (!S_ISREG(s.st_mode)) refuse(path_, "it is not a regular file");
        bytes_ = s.st_size;
    }

    const std::string& path() const { return path_; }
    std::int64_t bytes() const { return bytes_; }
    void read(void* to, std::int64_t offset, std::int64_t bytes) const {
        auto* at = static_cast<char*>(to);
        while (bytes > 0) {
            const ssize_t got = ::pread(file_.get(), at, static_cast<std::size_t>(bytes), static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) refuse(path_, std::string{"it cannot be read: "} + std::strerror(errno));
            if (got == 0) refuse(path_, "it became shorter while it was read");
            at += got;
            offset += got;
            bytes -= got;
        }
    }

private:
    std::string path_;
    control::detail::descriptor file_;
    std::int64_t bytes_ = 0;
};

// Written to PATH.saving, which `commit` renames to PATH when all is on the disk. Until then PATH is what it was, also if the process is
// killed; what that leaves in PATH.saving is overwritten by the next save. The new file has the permissions of the one that it replaces; a
// symbolic link at PATH is itself replaced.
class replacing_file {
public:
    explicit replacing_file(std::string path) : path_{std::move(path)}, temporary_{path_ + ".saving"} {
        struct stat s = {};
        const bool replaces = ::stat(path_.c_str(), &s) == 0;
        if (replaces && !S_ISREG(s.st_mode)) refuse(path_, "it is not a regular file");
        const mode_t permissions = replaces ? s.st_mode & 0777 : 0666;
        if (::unlink(temporary_.c_str()) != 0 && errno != ENOENT) fail("it cannot be written", errno);
        file_ = control::detail::descriptor::of(
            [&, this] { return ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, permissions); });
        if (!file_) fail("it cannot be written", errno);
        // What the umask took from them. Not all file systems have permissions.
        if (replaces) static_cast<void>(::fchmod(file_.get(), permissions));
    }
    replacing_file(const replacing_file&) = delete;
    replacing_file& operator=(const replacing_file&) = delete;
    ~replacing_file() {
        if (!committed_ && is_named()) ::unlink(temporary_.c_str());
    }

    void write(const void* from, std::int64_t bytes) {
        const auto* at = static_cast<const char*>(from);
        while (bytes > 0) {
            const ssize_t put = ::write(file_.get(), at, static_cast<std::size_t>(bytes));
            if (put < 0 && errno == EINTR) continue;
            if (put <= 0) fail("it cannot be written", put < 0 ? errno : EIO);
            at += put;
            bytes -= put;
        }
    }
    void commit() {
        if (::fsync(file_.get()) != 0) fail("it cannot be written", errno);
        if (!is_named()) refuse(path_, "another save to the same path has begun: each rank and process has its own path");
        if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("it cannot be replaced", errno);
        committed_ = true;
        flush_folder();
    }

private:
    [[noreturn]] void fail(const std::string& what, int error) const { refuse(path_, what + ": " + std::strerror(error)); }
    // Whether the temporary name is still that of this file. Another save to the same path takes the name.
    bool is_named() const {
        struct stat mine = {}, named = {};
        return ::fstat(file_.get(), &mine) == 0 && ::lstat(temporary_.c_str(), &named) == 0 && mine.st_dev == named.st_dev &&
               mine.st_ino == named.st_ino;
    }
    // The new name is on the disk when the folder is. Some file systems do not flush folders, and say EINVAL.
    void flush_folder() const {
        const std::size_t slash = path_.rfind('/');
        const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
        const auto opened = control::detail::descriptor::of([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
        if (!opened || (::fsync(opened.get()) != 0 && errno != EINVAL))
            fail("it is written, and may be lost if the machine fails, since its folder cannot be flushed", errno);
    }

    std::string path_, temporary_;
    control::detail::descriptor file_;
    bool committed_ = false;
};

}  // namespace dovetail::safetensors
