// The text of data/paradise_lost.txt for the transformer examples: characters as tokens, random batches of sequences, and matrices of
// random weights of which each rank takes its columns or rows. The same on every platform.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace transformer {

inline constexpr int vocabulary = 72;  // for the 69 different characters of the text: a multiple of 8, for the ranks

using tokens = std::vector<std::int32_t>;

// A text and its characters in ascending order: a token is a character's place among them.
struct text {
    std::string path;
    std::string characters;
    tokens all;

    int different() const { return static_cast<int>(characters.size()); }  // tokens are smaller
    char character(std::int32_t token) const { return characters.at(static_cast<std::size_t>(token)); }
    // The beginning of another text, on which a program writes.
    tokens encoded(const std::string& beginning) const {
        tokens t;
        for (const char c : beginning) {
            const std::size_t at = characters.find(c);
            if (at == std::string::npos)
                throw std::runtime_error{"transformer: " + path + " has no character `" + c + "` of `" + beginning +
                                         "`, the program's own beginning"};
            t.push_back(static_cast<std::int32_t>(at));
        }
        return t;
    }
};

// The path of the file relative to this header, for programs that run on the machine where they were compiled.
inline std::string default_path() {
    const std::string here = __FILE__;
    return here.substr(0, here.find_last_of('/') + 1) + "data/paradise_lost.txt";
}

inline text load(const std::string& path = default_path()) {
    std::ifstream file{path, std::ios::binary};
    if (!file) throw std::runtime_error("transformer: cannot open " + path);
    const std::string whole{std::istreambuf_iterator<char>{file}, {}};
    const std::set<char> different(whole.begin(), whole.end());
    if (different.size() > vocabulary) throw std::runtime_error("transformer: " + path + " has too many different characters");
    text t{path, std::string(different.begin(), different.end()), {}};
    t.all = t.encoded(whole);
    return t;
}

// Random numbers of our own: those of <random> differ between standard libraries.
class generator {
public:
    explicit generator(std::uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15u + 1} {}
    // A number from 0 to 1.
    double uniform() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state_ >> 11) / static_cast<double>(std::uint64_t{1} << 53);
    }
    // Approximately normally distributed with mean 0 and deviation 1.
    double normal() {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += uniform();
        return sum;
    }

private:
    std::uint64_t state_;
};

// Sequences of `length` tokens one behind the other, and the token that follows each.
struct batch {
    tokens inputs;
    tokens targets;
};

// The sequences first, ..., first + count - 1 of the batch of a step.
inline batch draw(const text& from, int step, int first, int count, int length) {
    if (from.all.size() <= static_cast<std::size_t>(length))
        throw std::runtime_error("transformer: " + from.path + " has " + std::to_string(from.all.size()) +
                                 " characters, too few for a sequence of " + std::to_string(length) + " and the one that follows");
    batch b;
    for (int i = first; i < first + count; ++i) {
        generator random{static_cast<std::uint64_t>(step) * 10'000 + static_cast<std::uint64_t>(i)};
        random.uniform();
        const auto most = static_cast<double>(from.all.size() - static_cast<std::size_t>(length) - 1);
        const auto start = from.all.begin() + static_cast<std::ptrdiff_t>(random.uniform() * most);
        b.inputs.insert(b.inputs.end(), start, start + length);
        b.targets.insert(b.targets.end(), start + 1, start + length + 1);
    }
    return b;
}

// 0, ..., length - 1 for each of `count` sequences.
inline tokens positions(int count, int length) {
    tokens p;
    for (int i = 0; i < count * length; ++i) p.push_back(i % length);
    return p;
}

// A block of a matrix [rows, columns] of normally distributed numbers: `height` rows from `top` on, `width` columns from `left` on.
struct block {
    int rows, columns;
    int top, height;
    int left, width;
};
inline std::vector<float> random_block(std::uint64_t seed, double deviation, const block& b) {
    generator random{seed};
    std::vector<float> taken;
    for (int i = 0; i < b.rows; ++i)
        for (int j = 0; j < b.columns; ++j) {
            const double number = random.normal() * deviation;
            if (i >= b.top && i < b.top + b.height && j >= b.left && j < b.left + b.width) taken.push_back(static_cast<float>(number));
        }
    return taken;
}

// A token drawn with the probabilities of a softmax of `logits` over a temperature.
inline std::int32_t sample(const float* logits, int count, double temperature, generator& random) {
    const double largest = *std::max_element(logits, logits + count);
    std::vector<double> weights;
    double sum = 0;
    for (int i = 0; i < count; ++i) weights.push_back(std::exp((logits[i] - largest) / temperature));
    for (const double w : weights) sum += w;
    double left = random.uniform() * sum;
    int token = 0;
    while (token + 1 < count && (left -= weights[static_cast<std::size_t>(token)]) > 0) ++token;
    return token;
}

}  // namespace transformer
