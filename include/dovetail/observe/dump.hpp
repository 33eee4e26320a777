// Values of the first runs of an executor as files such as `graph.name.run0.rank1.npy`: one for each name, run and rank; of a value that is
// computed in blocks one for each block, `graph.name_2_4.run0.rank1.npy`. What would have the name of another file gets a number: the files
// of the second executor of a graph on a rank begin with `graph-2`.
#pragma once

#include "../core/display.hpp"
#include "../launch/engine/inspection.hpp"
#include "../launch/log.hpp"
#include "files.hpp"
#include "npy.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

namespace dovetail::observe {

// "y,weight<3>,grid<1, 2>" -> y, weight<3>, grid<1, 2>: commas within angle brackets belong to a name.
inline std::vector<std::string> names_in(std::string_view list) {
    std::vector<std::string> names(1);
    int depth = 0;
    for (const char c : list) {
        depth += c == '<' ? 1 : c == '>' ? -1 : 0;
        if (c == ',' && depth == 0)
            names.emplace_back();
        else if (c != ' ' || depth > 0)
            names.back() += c;
    }
    std::erase(names, "");
    return names;
}

// A listed name matches the value of that name; `weight` also matches weight<0>, weight<1>, ... Blanks are ignored.
inline bool is_meant(const std::string& listed, const std::string& name) {
    const auto plain = [](std::string text) {
        std::erase(text, ' ');
        return text;
    };
    return plain(listed) == plain(name) || listed == name.substr(0, name.find('<'));
}

// The first of its name by that, the others by their numbers as well.
inline std::string numbered(const std::string& name, int number) { return number == 1 ? name : name + '-' + std::to_string(number); }

// The dumps of all executors of a process, and the listed names that match no value.
class dumps {
public:
    static constexpr std::int64_t runs_written = 4;

    explicit dumps(std::string_view list) : names_{names_in(list)}, unknown_{names_} {}

    bool any() const { return !names_.empty(); }
    // What the names of the files of another executor of a graph on a rank begin with.
    std::string begin(const std::string& graph, int rank) {
        const std::lock_guard lock{mutex_};
        return numbered(graph, ++executors_[{graph, rank}]);
    }
    bool wants(const std::string& name) {
        const std::lock_guard lock{mutex_};
        const auto means = [&](const std::string& listed) { return is_meant(listed, name); };
        std::erase_if(unknown_, means);
        return std::any_of(names_.begin(), names_.end(), means);
    }
    void write(const std::string& path, const std::string& text) {
        const std::lock_guard lock{mutex_};
        files_.write("values", path, text);
    }
    // Called when the executors have ended: prints the names that match no value, once.
    void warn() {
        const std::lock_guard lock{mutex_};
        for (const std::string& name : unknown_)
            launch::log(log_level::warning, "DOVETAIL_DUMP: no operation that ran makes a value `" + name + "` or reads it as a whole");
        unknown_.clear();
    }

private:
    const std::vector<std::string> names_;
    std::vector<std::string> unknown_;                      // names that no executor has matched so far
    std::map<std::pair<std::string, int>, int> executors_;  // by graph and rank: how many there were
    files files_;
    std::mutex mutex_;
};

// The dumps of one executor.
class value_dump final : public value_observer {
public:
    value_dump(dumps& to, const std::string& graph, int rank) : to_{to}, begin_{to.begin(graph, rank)}, rank_{rank} {}

    bool wants(const tag& name) override { return to_.wants(display(name)); }
    std::int64_t runs() const override { return dumps::runs_written; }
    void value(const tag& name, const std::string& shown, const tensor_type& type, std::int64_t run, const void* data) override {
        to_.write(begin_ + "." + stem_of(name, shown) + ".run" + std::to_string(run) + ".rank" + std::to_string(rank_) + ".npy",
                  npy(type, data));
    }

private:
    // What stands for a value in the names of its files.
    std::string stem_of(const tag& name, const std::string& shown) {
        const std::string qualified{name.spelling.first, static_cast<std::size_t>(name.spelling.size)}, stem = file_name(shown);
        const std::lock_guard lock{mutex_};
        const auto [found, fresh] = numbers_.try_emplace({qualified, shown});
        if (fresh) found->second = ++values_[stem];
        return numbered(stem, found->second);
    }

    dumps& to_;
    const std::string begin_;
    const int rank_;
    std::map<std::pair<std::string, std::string>, int> numbers_;  // by qualified and shown name, among those with the same stem
    std::map<std::string, int> values_;                           // by stem: how many there were
    std::mutex mutex_;
};

}  // namespace dovetail::observe
