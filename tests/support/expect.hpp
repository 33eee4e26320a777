// Expectations on results and exceptions that ranks check on their threads; a mutex serialises the assertions of doctest.
#pragma once

#include <doctest/doctest.h>

#include <exception>
#include <mutex>
#include <string>
#include <vector>

namespace support {

inline std::mutex& report() {
    static std::mutex m;
    return m;
}

template <class T>
void expect(const std::vector<T>& got, const std::vector<T>& wanted, const std::string& what, int rank, int run) {
    const std::lock_guard lock{report()};
    CAPTURE(what);
    CAPTURE(rank);
    CAPTURE(run);
    CHECK(got == wanted);
}

std::string message(auto&& f) {
    try {
        f();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "nothing thrown";
}
inline bool has(const std::string& text, const std::string& wanted) {
    const std::lock_guard lock{report()};
    CAPTURE(text);
    CAPTURE(wanted);
    const bool found = text.find(wanted) != std::string::npos;
    CHECK(found);
    return found;
}

}  // namespace support
