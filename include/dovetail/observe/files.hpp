// Files that observers write, and their names.
#pragma once

#include "../core/config.hpp"

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
        std::FILE* file = std::fopen(path.c_str(), "wb");
        const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
        const int error = errno;
        const bool closed = file == nullptr || std::fclose(file) == 0;
        if (written && closed) return true;
        for (const std::string& k : warned_)
            if (k == kind) return false;
        const char* why = std::strerror(written ? errno : error);
        warned_.push_back(kind);
        std::fprintf(stderr, "dovetail: cannot write the %s %s: %s\n", kind.c_str(), path.c_str(), why);
        return false;
    }

private:
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
