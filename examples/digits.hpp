// The handwritten digits of data/digits.txt for the examples: pixels as floats from 0 to 1, a fixed split into training
// and held-out digits, and an order of the training digits for each epoch. The same on every platform.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace digits {

inline constexpr int pixels = 64;
inline constexpr int classes = 10;
inline constexpr int training_size = 1497;
inline constexpr int held_out_size = 300;  // every sixth: splits evenly over 1, 2, 3 and 4 ranks

// Images [size, pixels] row by row, and their labels.
struct set {
    std::vector<float> images;
    std::vector<std::int32_t> labels;

    int size() const { return static_cast<int>(labels.size()); }

    // The digits with the numbers order[first], ..., order[first + count - 1].
    set take(const std::vector<int>& order, int first, int count) const {
        set s;
        for (int i = first; i < first + count; ++i) {
            const auto image = images.begin() + std::ptrdiff_t{order[static_cast<std::size_t>(i)]} * pixels;
            s.images.insert(s.images.end(), image, image + pixels);
            s.labels.push_back(labels[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
        }
        return s;
    }
};

struct split {
    set training;
    set held_out;
};

// The path of the file relative to this header, for programs that run on the machine where they were compiled.
inline std::string default_path() {
    const std::string here = __FILE__;
    return here.substr(0, here.find_last_of('/') + 1) + "data/digits.txt";
}

inline split load(const std::string& path = default_path()) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error("digits: cannot open " + path);
    split s;
    std::string line;
    for (int number = 0; std::getline(file, line); ++number) {
        set& to = number % 6 == 0 ? s.held_out : s.training;
        bool good = line.size() == pixels + 2 && line[pixels] == ' ' && line[pixels + 1] >= '0' && line[pixels + 1] <= '9';
        for (int p = 0; good && p < pixels; ++p) {
            const char c = line[static_cast<std::size_t>(p)];
            good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'g');
            to.images.push_back(static_cast<float>(c <= '9' ? c - '0' : c - 'a' + 10) / 16.0f);
        }
        if (!good) throw std::runtime_error("digits: " + path + ":" + std::to_string(number + 1) + " is not 64 pixels and a digit");
        to.labels.push_back(line[pixels + 1] - '0');
    }
    if (s.training.size() != training_size || s.held_out.size() != held_out_size)
        throw std::runtime_error("digits: " + path + " does not hold 1797 digits");
    return s;
}

// 0, ..., count - 1.
inline std::vector<int> in_order(int count) {
    std::vector<int> order;
    for (int i = 0; i < count; ++i) order.push_back(i);
    return order;
}

// The same, shuffled (Fisher and Yates) by our own random number generator: std::shuffle differs between standard libraries.
inline std::vector<int> shuffled(int count, std::uint64_t seed) {
    std::vector<int> order(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const auto j = static_cast<std::size_t>((seed >> 33) % static_cast<std::uint64_t>(i + 1));
        order[static_cast<std::size_t>(i)] = order[j];
        order[j] = i;
    }
    return order;
}

}  // namespace digits
