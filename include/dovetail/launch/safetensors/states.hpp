// The states of a store as the tensors of a file, and back. A state's tensor has its name as plans print it; along an axis the file is one
// shard of the states that are not replicated on it.
#pragma once

#include "../../core/display.hpp"
#include "../store_core.hpp"
#include "shards.hpp"

namespace dovetail::safetensors {

using dovetail::detail::axis_position;
using dovetail::detail::store_core;
using dovetail::detail::stored_state;

inline std::vector<std::int64_t> extents_of(const tensor_type& t) { return {t.extent, t.extent + t.rank}; }

// A state, its name in files, and whether each position of the axis has all of it.
struct named_state {
    std::string name;
    stored_state* state = nullptr;
    bool replicated = true;

    std::string described() const { return "state `" + name + "` (" + type_text(state->type.type, extents_of(state->type)) + ")"; }
};

// The states, by name. Names are without namespaces, and two states may differ in the tensor alone: then they have one name in a file.
inline std::vector<named_state> named_states(store_core& of, const axis_position* along) {
    std::vector<named_state> all;
    for (stored_state* s : of.whole_states()) all.push_back({display(*s->name), s, along == nullptr || s->equal.is_along(*along->axis)});
    std::sort(all.begin(), all.end(), by_name{});
    for (std::size_t i = 1; i < all.size(); ++i)
        if (all[i].name == all[i - 1].name)
            throw state_error{all[i - 1].described() + " and " + all[i].described() + " of rank " + std::to_string(of.rank) +
                              " would have one name in a file"};
    return all;
}

inline void check_notes(const file_notes& notes) {
    for (const file_note& n : notes) {
        if (n.name.starts_with(shard::reserved))
            throw usage_error{"note `" + n.name + "`: names that begin with `dovetail.` are the library's"};
        if (!is_utf8(n.name) || !is_utf8(n.text)) throw usage_error{"note `" + control::printable(n.name) + "` is not UTF-8"};
    }
    try {
        detail::check_distinct(notes, "note");
    } catch (const malformed& e) {
        throw usage_error{std::string{"the notes for a file: "} + e.what()};
    }
}

// Writes the file: `read(t, begin, bytes, to)` gives bytes of the tensor t.
template <class Read>
void write_file(const std::string& path, header& h, Read read) {
    const std::string first = place_and_format(h);
    if (static_cast<std::int64_t>(first.size()) - length_bytes > most_header_bytes)
        refuse(path, "its header would have more than 100,000,000 bytes");
    replacing_file file{path};
    file.write(first.data(), static_cast<std::int64_t>(first.size()));
    constexpr std::int64_t most = std::int64_t{1} << 24;
    std::string buffer;
    for (const tensor_entry& t : h.tensors)
        for (std::int64_t begin = 0; begin < t.bytes(); begin += most) {
            const std::int64_t bytes = std::min(most, t.bytes() - begin);
            if (static_cast<std::int64_t>(buffer.size()) < bytes) buffer.resize(static_cast<std::size_t>(bytes));
            read(t, begin, bytes, buffer.data());
            file.write(buffer.data(), bytes);
        }
    file.commit();
}

inline void save_states(store_core& of, const std::string& path, const axis_position* along, const file_notes& notes) {
    check_notes(notes);
    header h;
    shard position;
    const std::vector<named_state> all = named_states(of, along);
    for (const named_state& s : all) {
        of.check_valid(*s.state);
        h.tensors.push_back({s.name, s.state->type.type, extents_of(s.state->type)});
        if (s.replicated) position.replicated.push_back(s.name);
    }
    if (along != nullptr) {
        position.axis = display(*along->axis);
        position.index = along->index;
        position.width = along->width;
        h.metadata = position.notes();
    }
    h.metadata.insert(h.metadata.end(), notes.begin(), notes.end());
    write_file(path, h, [&](const tensor_entry& t, std::int64_t begin, std::int64_t bytes, char* to) {
        const auto found = std::lower_bound(all.begin(), all.end(), t.name, by_name{});
        of.copy_to_host(*found->state, begin, bytes, to);
    });
}

// The tensor of a state; throws if the files have none that fits it.
inline const tensor_entry& tensor_of(const named_state& s, const shards& from, const axis_position* along) {
    const tensor_entry* const found = from.find(s.name);
    if (found == nullptr) refuse(from.first().path(), s.described() + " of the store is missing in it");
    const bool parts = along != nullptr && !s.replicated;
    const auto wanted = shards::whole_extents(extents_of(s.state->type), parts ? along->width : 1, from.first().path());
    const auto whole = from.extents(*found);
    if (found->type == s.state->type.type && whole == wanted) return *found;
    refuse(from.first().path(), detail::named(s.name) + "is " + type_text(found->type, whole) +
                                    (from.width() > 1 ? " in all shards together" : " in it") + ", and the store has " +
                                    type_text(s.state->type.type, wanted) +
                                    (parts ? " on the " + std::to_string(along->width) + " positions of the axis" : ""));
}

inline std::int64_t first_byte(const named_state& s, const axis_position* along) {
    return along == nullptr || s.replicated ? 0 : along->index * s.state->type.bytes();
}

// Reads all states into memory of the host, and then copies them: what fails before leaves the store as it was.
inline file_notes load_states(store_core& to, const shards& from, const axis_position* along) {
    if (along != nullptr && from.width() > 1 && from.first().position().axis != display(*along->axis))
        refuse(from.first().path(), "it is a shard along `" + control::printable(from.first().position().axis) + "`, and not along `" +
                                        display(*along->axis) + "`");
    const std::vector<named_state> all = named_states(to, along);
    std::vector<const tensor_entry*> tensors;
    tensors.reserve(all.size());
    for (const named_state& s : all) tensors.push_back(&tensor_of(s, from, along));
    for (const tensor_entry& t : from.tensors())
        if (!std::binary_search(all.begin(), all.end(), t.name, by_name{}))
            refuse(from.first().path(), detail::named(t.name) + "is no state of the store of rank " + std::to_string(to.rank));
    std::vector<store_core::contents> read;
    read.reserve(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::int64_t bytes = all[i].state->type.bytes();
        read.push_back({all[i].state, std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes))});
        from.read(*tensors[i], first_byte(all[i], along), bytes, read.back().data.get(), along == nullptr ? 0 : along->index);
    }
    to.replace(read);
    return from.first().notes();
}

// The shards of a save as one file, in which each tensor is whole.
inline void gather_shards(const std::vector<std::string>& paths, const std::string& to) {
    const shards from{paths};
    header h;
    for (const tensor_entry& t : from.tensors()) h.tensors.push_back({t.name, t.type, from.extents(t)});
    h.metadata = from.first().notes();
    write_file(to, h, [&](const tensor_entry& t, std::int64_t begin, std::int64_t bytes, char* at) {
        from.read(*from.find(t.name), begin, bytes, at, 0);
    });
}

}  // namespace dovetail::safetensors
