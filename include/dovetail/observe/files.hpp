// Files that observers write, and their names.
#pragma once

#include "../core/hasher.hpp"
#include "../launch/log.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace dovetail::observe {

// Writes files. If files of one kind cannot be written, it warns once (launch/log.hpp), and the program continues.
class files {
public:
    // `kind`: "trace", "page", "DOT file". False if the file could not be written.
    bool write(const std::string& kind, const std::string& path, const std::string& text) {
        const std::string why = written(path, text);
        if (why.empty()) return true;
        for (const std::string& k : warned_)
            if (k == kind) return false;
        warned_.push_back(kind);
        launch::log(log_level::warning, "cannot write the " + kind + " " + path + ": " + why);
        return false;
    }

private:
    // The error, or an empty text. A pipe is not written to: without a reader the program would block forever. A file keeps its contents
    // until the new ones are complete. What is not a regular file, such as a link, is written in place, as is a file in a folder that takes
    // no new one.
    static std::string written(const std::string& path, const std::string& text) {
        struct stat s = {};
        const bool exists = ::lstat(path.c_str(), &s) == 0;
        if (is_pipe(path)) return "it is a pipe, and no file";
        if (exists && (!S_ISREG(s.st_mode) || ::access(path.c_str(), W_OK) != 0)) return written_in_place(path, text);
        const std::string part = path + ".part" + std::to_string(::getpid());
        std::string why = written_in_place(part, text);
        if (exists && ::access(part.c_str(), F_OK) != 0) return written_in_place(path, text);
        if (why.empty() && exists) static_cast<void>(::chmod(part.c_str(), s.st_mode & 07777));
        if (why.empty() && std::rename(part.c_str(), path.c_str()) != 0) why = std::strerror(errno);
        if (!why.empty()) std::remove(part.c_str());
        return why;
    }
    static std::string written_in_place(const std::string& path, const std::string& text) {
        std::FILE* f = std::fopen(path.c_str(), "wb");
        if (f == nullptr) return std::strerror(errno);
        errno = 0;
        const bool all = std::fwrite(text.data(), 1, text.size(), f) == text.size() && std::fflush(f) == 0;
        const int error = errno;
        if (std::fclose(f) == 0 && all) return {};
        return std::strerror(error != 0 ? error : errno);
    }
    static bool is_pipe(const std::string& path) {
        struct stat s = {};
        return ::stat(path.c_str(), &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode));
    }

    std::vector<std::string> warned_;
};

// Whether a path has a place for a rank's number; and the path of one rank: with its number there, or in front of the ending.
inline bool has_rank(const std::string& path) { return path.find("%r") != std::string::npos; }
inline std::string of_rank(std::string path, const std::string& ending, int rank) {
    if (has_rank(path)) return path.replace(path.find("%r"), 2, std::to_string(rank));
    const std::size_t dot = path.rfind(ending), slash = path.rfind('/');
    const bool in_folder = dot == std::string::npos || (slash != std::string::npos && dot < slash);
    return path.insert(in_folder ? path.size() : dot, ".rank" + std::to_string(rank));
}

// Turns a name into one that a file can have: three_senders, pipeline_4_85. The end of a long one is replaced by a hash of all of it.
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
    if (out.empty()) return "graph";
    constexpr std::size_t longest = 100;
    if (out.size() <= longest) return out;
    dovetail::detail::hasher all;
    for (const char c : name) all(static_cast<unsigned char>(c));
    out.resize(longest);
    out += '_';
    for (int digit = 60; digit >= 0; digit -= 4) out += "0123456789abcdef"[all.h >> digit & 15];
    return out;
}
// ... into one that a type can have: graph_3d.
inline std::string type_name(const std::string& name) {
    const std::string out = file_name(name);
    return out[0] >= '0' && out[0] <= '9' ? "graph_" + out : out;
}

}  // namespace dovetail::observe
