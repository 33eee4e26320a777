// Names as a person writes them, from what a compiler prints. Takes a spelling or a tag, gives a string.
#pragma once

#include "tag.hpp"

#include <string>
#include <string_view>

namespace dovetail {

// The name as a person writes it: without namespaces, `struct`, casts of integers and blanks; the same on every compiler.
constexpr std::string display(std::string_view spelling) {
    std::string out;
    auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    std::size_t word_start = 0;  // where the identifier being written begins in `out`
    for (std::size_t i = 0; i < spelling.size(); ++i) {
        const std::string_view rest = spelling.substr(i);
        bool skipped = false;
        for (std::string_view noise : {"(anonymous namespace)::", "{anonymous}::", "<unnamed>::", "(int)", "(long)", "(bool)"})
            if (rest.substr(0, noise.size()) == noise) {
                i += noise.size() - 1;
                skipped = true;
                break;
            }
        if (skipped) continue;
        const char c = spelling[i];
        if (c == ':') {  // drop the qualifier just written
            out.resize(word_start);
            ++i;
            continue;
        }
        if (c == ' ') {
            const std::string_view last = std::string_view{out}.substr(word_start);
            if (last == "struct" || last == "class") out.resize(word_start);
            continue;
        }
        if (!word(c)) {
            // g++ marks suffixes of integer arguments: 3 and 3L are the same argument
            while (out.size() > word_start && out[word_start] >= '0' && out[word_start] <= '9' &&
                   (out.back() == 'l' || out.back() == 'L' || out.back() == 'u' || out.back() == 'U'))
                out.pop_back();
            out.push_back(c);
            if (c == ',') out.push_back(' ');
            word_start = out.size();
            continue;
        }
        out.push_back(c);
    }
    return out;
}

// Without the number of a member of a family.
constexpr std::string_view spelled(const tag& t) { return {t.spelling.first, static_cast<std::size_t>(t.spelling.size)}; }

inline std::string display(const tag& t) {
    std::string name = display(spelled(t));
    if (t.number != tag::none) name += "<" + std::to_string(t.number) + ">";
    return name;
}

}  // namespace dovetail
