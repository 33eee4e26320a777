// The secret that the processes of a job share, and random numbers. A key is never sent and never printed.
#pragma once

#include "../error.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace dovetail::control {

namespace detail {

inline std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t got = 0; got < count;) {
        const auto n = ::getrandom(bytes.data() + got, count - got, 0);
        if (n < 0 && errno != EINTR) throw world_error{std::string{"the system gives no random numbers: "} + std::strerror(errno)};
        if (n > 0) got += static_cast<std::size_t>(n);
    }
    return bytes;
}
inline int hexadecimal_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace detail

class job_key {
public:
    static constexpr std::size_t least_digits = 32, most_digits = 128;

    // No key: the processes belong to one user on one machine and connect there only.
    job_key() = default;
    static job_key random() {
        job_key k;
        k.bytes_ = detail::random_bytes(32);
        return k;
    }
    // A key from hexadecimal digits. The exception contains the name of the text, never the text.
    static job_key of(std::string_view name, std::string_view digits) {
        const auto refuse = [&](const std::string& why) {
            throw world_error{std::string{name} + " is not a job key: " + why + ". A key is " + std::to_string(least_digits) + " to " +
                              std::to_string(most_digits) +
                              " hexadecimal digits, the same on all ranks: export DOVETAIL_JOB_KEY=$(openssl rand -hex 32)"};
        };
        for (const char c : digits)
            if (detail::hexadecimal_digit(c) < 0) refuse("it has other characters than hexadecimal digits");
        if (digits.size() < least_digits) refuse("it has only " + std::to_string(digits.size()) + " digits");
        if (digits.size() > most_digits) refuse("it has " + std::to_string(digits.size()) + " digits");
        if (digits.size() % 2 != 0) refuse("it has an odd number of digits");
        if (digits.find_first_not_of(digits[0]) == std::string_view::npos) refuse("all its digits are equal");
        job_key k;
        for (std::size_t i = 0; i < digits.size(); i += 2)
            k.bytes_ += static_cast<char>(detail::hexadecimal_digit(digits[i]) << 4 | detail::hexadecimal_digit(digits[i + 1]));
        return k;
    }
    // A key from the result of `secret()` in another process.
    static job_key from_secret(std::string bytes) {
        job_key k;
        k.bytes_ = std::move(bytes);
        return k;
    }

    bool given() const { return !bytes_.empty(); }
    // For the keyed hash, and for channels that are already secret.
    const std::string& secret() const { return bytes_; }

private:
    std::string bytes_;
};

}  // namespace dovetail::control
