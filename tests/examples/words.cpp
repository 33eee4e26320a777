// What the examples are told on their command lines: each word is taken, or refused by its name; and the notes of files.
#include "../../examples/words.hpp"

#include <doctest/doctest.h>

#include <map>

namespace {

// What a program with two options and a file makes of its words: what it is set to, or why it refuses them.
std::string told(std::vector<std::string> given, bool takes_file = true) {
    std::vector<char*> arguments{nullptr};  // no name of the program
    for (std::string& word : given) arguments.push_back(word.data());
    std::string file = "its own", save = "nowhere";
    int steps = 400;
    bool trains = false;
    const words::command_line taken{.options = {{"--save", &save, &trains}, {"--steps", &steps}}, .file = takes_file ? &file : nullptr};
    try {
        const bool on_gpus = words::read(taken, static_cast<int>(arguments.size()), arguments.data());
        return file + ", " + save + ", " + std::to_string(steps) + (trains ? ", trains" : "") + (on_gpus ? ", on GPUs" : "");
    } catch (const std::runtime_error& refused) {
        return refused.what();
    }
}
std::string noted(const std::map<std::string, std::string>& notes) {
    try {
        return std::to_string(words::noted(notes, "steps", "states"));
    } catch (const std::runtime_error& refused) {
        return refused.what();
    }
}

}  // namespace

TEST_CASE("options stand in any order, the file behind them") {
    CHECK(told({}) == "its own, nowhere, 400");
    CHECK(told({"--gpu"}) == "its own, nowhere, 400, on GPUs");
    CHECK(told({"own.txt"}) == "own.txt, nowhere, 400");
    CHECK(told({"--steps", "12", "--gpu", "--save", "states", "own.txt"}) == "own.txt, states, 12, trains, on GPUs");
}

TEST_CASE("what is not understood is refused") {
    CHECK(told({"own.txt", "--save", "states"}) == "what follows `own.txt` is not understood: --save");
    CHECK(told({"own.txt", "--gpu"}) == "what follows `own.txt` is not understood: --gpu");
    CHECK(told({"--gpus"}) == "no such option: --gpus");
    CHECK(told({"own.txt"}, false) == "`own.txt` is not understood");
    CHECK(told({""}) == "`` is not understood");
}

TEST_CASE("an option has its value, a number is a whole one above 0") {
    CHECK(told({"--save"}) == "--save needs a value");
    CHECK(told({"--save", ""}) == "--save needs a value");
    CHECK(told({"--save", "--steps", "3"}) == "--save needs a value");
    for (const std::string word : {"1e3", "12x", "0", "-3", " 7", "99999999999"})
        CHECK(told({"--steps", word}) == "--steps takes a whole number above 0, not `" + word + "`");
}

TEST_CASE("a file of states has a note of what is behind it") {
    CHECK(noted({{"steps", "25"}, {"other", "7"}}) == "25");
    CHECK(noted({{"steps", "0"}}) == "0");  // before the first step
    for (const char* text : {"", "many", "25 ", "-1"}) CHECK(noted({{"steps", text}}) == "states has no note of its steps");
    CHECK(noted({{"other", "7"}}) == "states has no note of its steps");
}
