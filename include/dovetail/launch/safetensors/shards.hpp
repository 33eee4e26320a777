// The files of all positions of an axis as one: each tensor is whole, its rows are those of the positions one behind the other. A file that
// is no shard is whole already. Takes paths, gives tensors and their rows; refuses, as a file_error, files that are not one complete save.
//
//   position 0 of 2   w float[4, 8]   b float[8] (replicated)          w float[8, 8]   b float[8]
//   position 1 of 2   w float[4, 8]   b float[8] (replicated)   ->
#pragma once

#include "files.hpp"
#include "header.hpp"

#include <memory>

namespace dovetail::safetensors {

// What the metadata of a shard says, beside the program's notes: the axis, the position on it, and the tensors that are equal on all
// positions, separated by line feeds.
struct shard {
    static constexpr const char* reserved = "dovetail.";

    std::string axis;  // empty: the file is no shard
    std::int64_t index = 0, width = 1;
    std::vector<std::string> replicated;  // sorted

    bool is_replicated(const std::string& name) const { return std::binary_search(replicated.begin(), replicated.end(), name); }
    // As metadata.
    file_notes notes() const {
        if (axis.empty()) return {};
        std::string names;
        for (const std::string& name : replicated) names += (names.empty() ? "" : "\n") + name;
        return {{"dovetail.axis", axis},
                {"dovetail.index", std::to_string(index)},
                {"dovetail.width", std::to_string(width)},
                {"dovetail.replicated", names}};
    }
};

namespace detail {

inline std::int64_t number_in(const file_note& note) {
    json_reader text{note.text};
    const std::int64_t n = text.number();
    text.expect_end();
    return n;
}
// The names of replicated tensors, each of which the file has once.
inline std::vector<std::string> replicated_names(const std::string& text, const std::vector<tensor_entry>& tensors) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        names.push_back(text.substr(at, end - at));
        at = end + 1;
        if (names.size() > tensors.size() || !std::binary_search(tensors.begin(), tensors.end(), names.back(), by_name{}))
            throw malformed{"its metadata calls `" + control::printable(names.back()) + "` replicated, which is no tensor of it"};
    }
    std::sort(names.begin(), names.end());
    return names;
}
// Removes the metadata of a shard from the notes. `tensors` are those of the file, by name.
inline shard take_shard(file_notes& notes, const std::vector<tensor_entry>& tensors) {
    shard s;
    int found = 0;
    for (const file_note& n : notes) {
        if (!n.name.starts_with(shard::reserved)) continue;
        ++found;
        if (n.name == "dovetail.axis") {
            s.axis = n.text;
        } else if (n.name == "dovetail.index") {
            s.index = number_in(n);
        } else if (n.name == "dovetail.width") {
            s.width = number_in(n);
        } else if (n.name == "dovetail.replicated") {
            s.replicated = replicated_names(n.text, tensors);
        } else {
            throw malformed{"its metadata `" + control::printable(n.name) + "` is unknown"};
        }
    }
    std::erase_if(notes, [](const file_note& n) { return n.name.starts_with(shard::reserved); });
    if (found != 0 && (found != 4 || s.axis.empty() || s.index >= s.width))
        throw malformed{"its metadata does not say which shard of which axis it is"};
    return s;
}

}  // namespace detail

class shard_file {
public:
    explicit shard_file(const std::string& path) : file_{path} {
        try {
            std::string text(static_cast<std::size_t>(std::min(length_bytes, file_.bytes())), '\0');
            file_.read(text.data(), 0, static_cast<std::int64_t>(text.size()));
            const std::int64_t length = header_length(text, file_.bytes());
            text.resize(static_cast<std::size_t>(length));
            file_.read(text.data(), length_bytes, length);
            data_ = length_bytes + length;
            header_ = parse_header(text, file_.bytes() - data_);
            // The members of a JSON object have no order.
            std::sort(header_.tensors.begin(), header_.tensors.end(), by_name{});
            std::sort(header_.metadata.begin(), header_.metadata.end(), by_name{});
            position_ = detail::take_shard(header_.metadata, header_.tensors);
        } catch (const malformed& e) {
            refuse(path, e.what());
        }
    }

    const std::string& path() const { return file_.path(); }
    const shard& position() const { return position_; }
    const std::vector<tensor_entry>& tensors() const { return header_.tensors; }  // by name
    const file_notes& notes() const { return header_.metadata; }                  // by name
    // Reads bytes of a tensor.
    void read(const tensor_entry& t, std::int64_t first, std::int64_t bytes, void* to) const {
        file_.read(to, data_ + t.begin + first, bytes);
    }

private:
    input_file file_;
    std::int64_t data_ = 0;  // where the bytes behind the header begin
    header header_;
    shard position_;
};

class shards {
public:
    // One file by itself, whatever it is a shard of.
    explicit shards(const std::string& path) { add(path); }
    // All shards of a save, in any order, or one file that is whole.
    explicit shards(const std::vector<std::string>& paths) {
        if (paths.empty()) throw usage_error{"no files are given to load states from"};
        for (const std::string& path : paths) add(path);
        std::sort(files_.begin(), files_.end(), [](const auto& a, const auto& b) { return a->position().index < b->position().index; });
        width_ = first().position().width;
        if (files_.size() == 1 && width_ == 1) return;
        for (std::size_t i = 0; i < files_.size(); ++i) check_position(*files_[i], i);
        if (static_cast<std::int64_t>(files_.size()) < width_)
            refuse(first().path(), "it is a shard of " + std::to_string(width_) + ", and shard " + std::to_string(files_.size()) +
                                       " is not among the files");
        for (const auto& other : files_) check_alike(*other);
    }

    const shard_file& first() const { return *files_.front(); }
    std::int64_t width() const { return width_; }
    const std::vector<tensor_entry>& tensors() const { return first().tensors(); }
    // The tensor of that name, or null.
    const tensor_entry* find(const std::string& name) const {
        const auto at = std::lower_bound(tensors().begin(), tensors().end(), name, by_name{});
        return at == tensors().end() || at->name != name ? nullptr : &*at;
    }
    // The extents of the whole tensor.
    std::vector<std::int64_t> extents(const tensor_entry& t) const {
        return is_whole(t) ? t.extents : whole_extents(t.extents, width_, first().path());
    }
    // Reads `bytes` bytes of the whole tensor. Of one that each file has whole, those of file number `nearest` are read.
    void read(const tensor_entry& t, std::int64_t begin, std::int64_t bytes, char* to, std::int64_t nearest) const {
        const auto number = static_cast<std::size_t>(&t - tensors().data());
        if (is_whole(t)) {
            const shard_file& from = *files_[static_cast<std::size_t>(nearest) % files_.size()];
            from.read(from.tensors()[number], begin, bytes, to);
            return;
        }
        while (bytes > 0) {
            const shard_file& from = *files_[static_cast<std::size_t>(begin / t.bytes())];
            const std::int64_t first = begin % t.bytes(), some = std::min(bytes, t.bytes() - first);
            from.read(from.tensors()[number], first, some, to);
            begin += some;
            bytes -= some;
            to += some;
        }
    }
    bool is_whole(const tensor_entry& t) const { return width_ == 1 || first().position().is_replicated(t.name); }
    // The extents of the whole of which `width` positions have these: the rows of all of them; of scalars, one element for each.
    static std::vector<std::int64_t> whole_extents(std::vector<std::int64_t> extents, std::int64_t width, const std::string& path) {
        if (width == 1) return extents;
        if (extents.empty()) return {width};
        if (__builtin_mul_overflow(extents[0], width, extents.data())) refuse(path, "all shards together have too many rows");
        return extents;
    }

private:
    void add(const std::string& path) { files_.push_back(std::make_unique<shard_file>(path)); }
    void check_position(const shard_file& one, std::size_t index) const {
        const shard &mine = one.position(), &other = first().position();
        if (mine.axis.empty()) refuse(one.path(), "it is no shard, and is given together with other files");
        if (mine.axis != other.axis || mine.width != other.width)
            refuse(one.path(), "it is a shard of " + described(mine) + ", and `" + control::printable(first().path()) + "` is one of " +
                                   described(other));
        const auto expected = static_cast<std::int64_t>(index);
        if (mine.index < expected) refuse(one.path(), "it is shard " + std::to_string(mine.index) + ", and another file is, too");
        if (mine.index > expected)
            refuse(first().path(),
                   "it is a shard of " + described(other) + ", and shard " + std::to_string(index) + " is not among the files");
    }
    static std::string described(const shard& s) { return std::to_string(s.width) + " along `" + control::printable(s.axis) + "`"; }
    // Throws unless the file has the tensors and notes of the first one: those of one save.
    void check_alike(const shard_file& other) const {
        const std::string both = " and in `" + control::printable(first().path()) + "`";
        if (other.notes() != first().notes()) refuse(other.path(), "the program's notes differ in it" + both + ": they are of two saves");
        for (std::size_t i = 0; i < std::max(tensors().size(), other.tensors().size()); ++i) {
            const tensor_entry* const mine = i < tensors().size() ? &tensors()[i] : nullptr;
            const tensor_entry* const theirs = i < other.tensors().size() ? &other.tensors()[i] : nullptr;
            if (mine != nullptr && theirs != nullptr && mine->name == theirs->name && mine->type == theirs->type &&
                mine->extents == theirs->extents)
                continue;
            const bool before = theirs == nullptr || (mine != nullptr && mine->name < theirs->name);
            refuse(other.path(), detail::named((before ? mine : theirs)->name) + "differs in it" + both);
        }
        if (other.position().replicated != first().position().replicated)
            refuse(other.path(), "which tensors are replicated differs in it" + both);
    }

    std::vector<std::unique_ptr<shard_file>> files_;
    std::int64_t width_ = 1;
};

}  // namespace dovetail::safetensors
