// A string that a program keeps in a file beside the states of its store: the metadata of safetensors.
#pragma once

#include <string>
#include <vector>

namespace dovetail {

struct file_note {
    std::string name;
    std::string text;

    friend bool operator==(const file_note&, const file_note&) = default;
};
using file_notes = std::vector<file_note>;

}  // namespace dovetail
