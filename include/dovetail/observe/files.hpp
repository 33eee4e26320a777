// Files that observers write, and their names.
#pragma once

#include "../core/config.hpp"

#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

namespace dovetail::observe {

// Writes a file; false and one warning on the standard error where that does not work. A program runs on regardless.
inline bool write_file(const std::string& path, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = file == nullptr || std::fclose(file) == 0;
    if (written && closed) return true;
    static std::mutex guard;
    static std::vector<std::string> warned;
    const std::lock_guard lock{guard};
    for (const std::string& w : warned)
        if (w == path) return false;
    warned.push_back(path);
    std::fprintf(stderr, "dovetail: cannot write %s\n", path.c_str());
    return false;
}

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
