// What a text says.
#pragma once

#include <string>

namespace support {

inline bool says(const std::string& text, const std::string& wanted) { return text.find(wanted) != std::string::npos; }
inline int times(const std::string& text, const std::string& wanted) {
    int n = 0;
    for (std::size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) ++n;
    return n;
}

}  // namespace support
