// Files that observers write, and their names.
#pragma once

#include "../core/config.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace dovetail::observe {

// Writes files, and warns on the standard error once for each kind of them that cannot be written. A program runs on regardless.
class files {
public:
    // `kind`: "trace", "page", "DOT file". False where that did not work.
    bool write(const std::string& kind, const std::string& path, const std::string& text) {
        const std::string why = written(path, text);
        if (why.empty()) return true;
        for (const std::string& k : warned_)
            if (k == kind) return false;
        warned_.push_back(kind);
        std::fprintf(stderr, "dovetail: cannot write the %s %s: %s\n", kind.c_str(), path.c_str(), why.c_str());
        return false;
    }

private:
    // What went wrong. A pipe is not written to: nobody may read it, and the program would wait for ever.
    static std::string written(const std::string& path, const std::string& text) {
        struct stat s = {};
        const auto is_pipe = [&] { return S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode); };
        if (::stat(path.c_str(), &s) == 0 && is_pipe()) return "it is a pipe, and no file";
        const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
        if (fd < 0) return std::strerror(errno);
        if (::fstat(fd, &s) != 0 || is_pipe() || ::fcntl(fd, F_SETFL, 0) != 0) return closed(fd, is_pipe() ? EINVAL : errno);
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return closed(fd, errno);
            done += static_cast<std::size_t>(n);
        }
        return ::close(fd) == 0 ? "" : std::strerror(errno);
    }
    static std::string closed(int fd, int error) {
        ::close(fd);
        return std::strerror(error);
    }

    std::vector<std::string> warned_;
};

// A name that can be a file's: three_senders, pipeline_4_85.
inline std::string file_name(const std::string& name) {
    std::string out;
    for (const char c : name) {
        const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (word)
            out += c;
        else if (!out.empty() && out.back() != '_')
            out += '_';
    }
    while (!out.empty() && out.back() == '_') out.pop_back();
    return out.empty() ? "graph" : out;
}

}  // namespace dovetail::observe
