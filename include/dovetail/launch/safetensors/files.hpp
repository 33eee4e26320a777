// Files as safetensors needs them: one that is read by ranges, and one that replaces another as a whole or not at all. Errors are thrown as
// file_error with the path and the system's text.
#pragma once

#include "../control/descriptor.hpp"
#include "../control/printable.hpp"
#include "../error.hpp"

#include <fcntl.h>
#include <sys/file.h>
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
// killed. A save holds a lock on its PATH.saving: while it goes on, another save to the same path is refused. A PATH.saving without a lock
// is left over from a killed save, and the next save removes it. On a file system without locks the later save takes the name, and the
// other is told when it commits. The new file has the permissions of the one that it replaces; a symbolic link at PATH is itself replaced.
class replacing_file {
public:
    explicit replacing_file(std::string path) : path_{std::move(path)}, temporary_{path_ + ".saving"} {
        struct stat s = {};
        replaces_ = ::stat(path_.c_str(), &s) == 0;
        if (replaces_ && !S_ISREG(s.st_mode)) refuse(path_, "it is not a regular file");
        if (replaces_) permissions_ = s.st_mode & 0777;
        // Before anything changes: `commit` flushes the folder.
        const std::size_t slash = path_.rfind('/');
        const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
        folder_ = control::detail::descriptor::of([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
        if (!folder_) fail("it cannot be written, since its folder cannot be opened", errno);
        for (int attempts = 0; !file_; ++attempts) {
            if (attempts == 16) refuse_second();
            remove_left_over();
            file_ = make();
        }
    }
    replacing_file(const replacing_file&) = delete;
    replacing_file& operator=(const replacing_file&) = delete;
    ~replacing_file() {
        if (!committed_ && is_named(file_)) ::unlink(temporary_.c_str());
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
        // What the umask took from them. Not all file systems have permissions.
        if (replaces_) static_cast<void>(::fchmod(file_.get(), permissions_));
        if (::fsync(file_.get()) != 0) fail("it cannot be written", errno);
        if (!is_named(file_)) refuse_second();
        if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("it cannot be replaced", errno);
        committed_ = true;
        flush_folder();
    }

private:
    [[noreturn]] void fail(const std::string& what, int error) const { refuse(path_, what + ": " + std::strerror(error)); }
    [[noreturn]] void refuse_second() const {
        refuse(path_, "another save to the same path has begun: each rank and process has its own path");
    }
    // Whether the temporary name is that of this file.
    bool is_named(const control::detail::descriptor& file) const {
        struct stat mine = {}, named = {};
        return ::fstat(file.get(), &mine) == 0 && ::lstat(temporary_.c_str(), &named) == 0 && mine.st_dev == named.st_dev &&
               mine.st_ino == named.st_ino;
    }
    control::detail::descriptor open_temporary(int flags) const {
        return control::detail::descriptor::of([&, this] {
            return ::open(temporary_.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, permissions_ | S_IRUSR | S_IWUSR);
        });
    }
    // Refuses if another save has locked the file. Other errors are those of file systems without locks.
    void lock(const control::detail::descriptor& file) const {
        if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) refuse_second();
    }
    // Only who has locked a file removes its name. NFS locks only what is open for writing; the file of another user may not be.
    void remove_left_over() const {
        struct stat named = {};
        if (::lstat(temporary_.c_str(), &named) != 0) return;
        control::detail::descriptor left;
        if (S_ISREG(named.st_mode)) {
            left = open_temporary(O_RDWR);
            if (!left && errno == EACCES) left = open_temporary(O_RDONLY);
            if (!left && errno == ENOENT) return;
            if (!left) fail("it cannot be written, since what is left of another save cannot be opened", errno);
            lock(left);
            if (!is_named(left)) return;
        }
        if (::unlink(temporary_.c_str()) != 0 && errno != ENOENT) fail("it cannot be written", errno);
    }
    // A new temporary file, locked, which its owner can open as long as it has that name; none if another save was faster.
    control::detail::descriptor make() const {
        control::detail::descriptor made = open_temporary(O_WRONLY | O_CREAT | O_EXCL);
        if (!made && errno == EEXIST) return {};
        if (!made) fail("it cannot be written", errno);
        lock(made);
        return is_named(made) ? std::move(made) : control::detail::descriptor{};
    }
    // The new name is on the disk when the folder is. Some file systems do not flush folders, and say EINVAL.
    void flush_folder() const {
        if (::fsync(folder_.get()) != 0 && errno != EINVAL)
            fail("it is written, and may be lost if the machine fails, since its folder cannot be flushed", errno);
    }

    std::string path_, temporary_;
    control::detail::descriptor file_, folder_;
    mode_t permissions_ = 0666;
    bool replaces_ = false, committed_ = false;
};

}  // namespace dovetail::safetensors
