// What an example is told in words: on its command line, `[--gpu] [OPTION VALUE]... [FILE]`, and in the notes of a file of states. What is
// not understood is refused by name.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace words {

// A whole number from 0 on, and nothing behind it.
inline std::optional<int> number(const std::string& word) {
    int n = 0;
    const char* const end = word.data() + word.size();
    const auto [behind, bad] = std::from_chars(word.data(), end, n);
    return bad == std::errc{} && behind == end && n >= 0 ? std::optional{n} : std::nullopt;
}

// The number that a file of states has among its notes: after how many steps, or epochs, it was saved.
template <class Notes>
int noted(const Notes& notes, const std::string& name, const std::string& file) {
    for (const auto& [of, text] : notes)
        if (const std::optional<int> n = number(text); n && of == name) return *n;
    throw std::runtime_error{file + " has no note of its " + name};
}

// An option, and where its value goes: a word, or a number above 0.
struct option {
    std::string name;
    std::variant<std::string*, int*> value;
    bool* given = nullptr;  // if not null, becomes true

    void set(const std::string& word) const {
        if (given != nullptr) *given = true;
        if (std::string* const* text = std::get_if<std::string*>(&value)) {
            **text = word;
            return;
        }
        const int n = number(word).value_or(0);
        if (n == 0) throw std::runtime_error{name + " takes a whole number above 0, not `" + word + '`'};
        *std::get<int*>(value) = n;
    }
};

// What a program takes besides --gpu. What is not given stays as it is.
struct command_line {
    std::vector<option> options = {};
    std::string* file = nullptr;  // where the path of a file goes; null: the program takes none
};

// Sets what the words say. Returns whether --gpu is among them.
inline bool read(const command_line& taken, int count, char** arguments) {
    bool on_gpus = false;
    const std::vector<std::string> given(arguments + std::min(count, 1), arguments + count);
    for (auto word = given.begin(); word != given.end(); ++word) {
        const auto next = word + 1;
        if (*word == "--gpu") {
            on_gpus = true;
        } else if (word->starts_with("--")) {
            const auto o = std::find_if(taken.options.begin(), taken.options.end(), [&](const option& one) { return one.name == *word; });
            if (o == taken.options.end()) throw std::runtime_error{"no such option: " + *word};
            if (next == given.end() || next->empty() || next->starts_with("--")) throw std::runtime_error{*word + " needs a value"};
            o->set(*next);
            word = next;
        } else {
            if (taken.file == nullptr || word->empty()) throw std::runtime_error{"`" + *word + "` is not understood"};
            if (next != given.end()) throw std::runtime_error{"what follows `" + *word + "` is not understood: " + *next};
            *taken.file = *word;
        }
    }
    return on_gpus;
}

}  // namespace words
