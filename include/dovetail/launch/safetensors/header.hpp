// The header of a safetensors file: eight bytes with its length (little-endian), then JSON with the name, element type, extents and
// offsets of each tensor, and metadata, strings by name. Takes and gives the text; what is wrong with a text is thrown as malformed.
#pragma once

#include "../../core/tensor.hpp"
#include "../file_note.hpp"
#include "json_reader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace dovetail::safetensors {

// The bytes of the length, and the longest header, as in the reference implementation.
inline constexpr std::int64_t length_bytes = 8;
inline constexpr std::int64_t most_header_bytes = 100'000'000;

struct tensor_entry {
    std::string name;
    element type = element::none;
    std::vector<std::int64_t> extents;
    std::int64_t begin = 0, end = 0;  // bytes behind the header

    std::int64_t bytes() const { return end - begin; }
};

// Compares things by their names, also with a name itself.
struct by_name {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        return of(a) < of(b);
    }

private:
    static const std::string& of(const std::string& text) { return text; }
    template <class Named>
    static const std::string& of(const Named& one) {
        return one.name;
    }
};

struct header {
    std::vector<tensor_entry> tensors;
    std::vector<file_note> metadata;
};

// The formats' names of the element types; their order is that of `element`.
inline constexpr const char* dtypes[] = {"", "F16", "BF16", "F32", "F64", "I8", "U8", "I32", "U32", "I64", "U64"};

// "float[4, 8]"
inline std::string type_text(element type, const std::vector<std::int64_t>& extents) {
    std::string text = name_of(type);
    text += "[";
    for (std::size_t i = 0; i < extents.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(extents[i]);
    return text + "]";
}

namespace detail {

inline std::string named(const std::string& name) { return "tensor `" + control::printable(name) + "` "; }

class header_reader {
public:
    explicit header_reader(std::string_view text) : json_{text} {}

    header read() {
        header h;
        json_.expect('{');
        if (!json_.next('}')) {
            do read_member(h);
            while (json_.next(','));
            json_.expect('}');
        }
        json_.expect_end();
        return h;
    }

private:
    void read_member(header& h) {
        std::string name = json_.string();
        json_.expect(':');
        if (name != "__metadata__") {
            h.tensors.push_back(read_tensor(std::move(name)));
            return;
        }
        if (std::exchange(has_metadata_, true)) throw malformed{"it has metadata twice"};
        json_.expect('{');
        if (json_.next('}')) return;
        do {
            std::string key = json_.string();
            json_.expect(':');
            h.metadata.push_back({std::move(key), json_.string()});
        } while (json_.next(','));
        json_.expect('}');
    }
    tensor_entry read_tensor(std::string name) {
        tensor_entry t;
        t.name = std::move(name);
        bool seen[3] = {};
        json_.expect('{');
        do {
            const std::string field = json_.string();
            json_.expect(':');
            const int which = field == "dtype" ? 0 : field == "shape" ? 1 : field == "data_offsets" ? 2 : -1;
            if (which < 0) throw malformed{named(t.name) + "has an unknown field `" + control::printable(field) + "`"};
            if (std::exchange(seen[which], true)) throw malformed{named(t.name) + "has `" + field + "` twice"};
            if (which == 0) read_type(t);
            if (which == 1) read_extents(t);
            if (which == 2) read_offsets(t);
        } while (json_.next(','));
        json_.expect('}');
        for (int i = 0; i < 3; ++i)
            if (!seen[i]) throw malformed{named(t.name) + "has no " + (i == 0 ? "dtype" : i == 1 ? "shape" : "data_offsets")};
        return t;
    }
    void read_type(tensor_entry& t) {
        const std::string dtype = json_.string();
        for (std::size_t i = 1; i < std::size(dtypes); ++i)
            if (dtype == dtypes[i]) t.type = static_cast<element>(i);
        if (t.type == element::none)
            throw malformed{named(t.name) + "has the dtype `" + control::printable(dtype) + "`, which is no element type of dovetail"};
    }
    void read_extents(tensor_entry& t) {
        json_.expect('[');
        if (json_.next(']')) return;
        do {
            if (t.extents.size() == max_rank) throw malformed{named(t.name) + "has more than six extents"};
            t.extents.push_back(json_.number());
        } while (json_.next(','));
        json_.expect(']');
    }
    void read_offsets(tensor_entry& t) {
        json_.expect('[');
        t.begin = json_.number();
        json_.expect(',');
        t.end = json_.number();
        json_.expect(']');
    }

    json_reader json_;
    bool has_metadata_ = false;
};

// Throws if two of the named things have one name. Takes time n log n: the header may have a million names.
template <class Named>
void check_distinct(const std::vector<Named>& all, const char* what) {
    std::vector<const std::string*> names;
    names.reserve(all.size());
    for (const Named& one : all) names.push_back(&one.name);
    std::sort(names.begin(), names.end(), [](const auto* a, const auto* b) { return *a < *b; });
    for (std::size_t i = 1; i < names.size(); ++i)
        if (*names[i] == *names[i - 1]) throw malformed{std::string{what} + " `" + control::printable(*names[i]) + "` is in it twice"};
}

// The bytes of a tensor's elements, or -1 if they do not fit in 63 bits.
inline std::int64_t bytes_of(const tensor_entry& t) {
    if (std::find(t.extents.begin(), t.extents.end(), 0) != t.extents.end()) return 0;
    std::int64_t n = dovetail::bytes_of(t.type);
    for (const std::int64_t e : t.extents)
        if (__builtin_mul_overflow(n, e, &n)) return -1;
    return n;
}

// Throws unless the tensors, by their offsets, fill the bytes behind the header without a gap, an overlap or a rest.
inline void check_offsets(const header& h, std::int64_t data_bytes) {
    std::vector<const tensor_entry*> by_offset;
    by_offset.reserve(h.tensors.size());
    for (const tensor_entry& t : h.tensors) {
        if (t.end < t.begin || t.bytes() != bytes_of(t))
            throw malformed{named(t.name) + "has the offsets " + std::to_string(t.begin) + " and " + std::to_string(t.end) +
                            ", which are not those of " + type_text(t.type, t.extents)};
        by_offset.push_back(&t);
    }
    std::sort(by_offset.begin(), by_offset.end(),
              [](const auto* a, const auto* b) { return std::pair{a->begin, a->end} < std::pair{b->begin, b->end}; });
    std::int64_t next = 0;
    for (const tensor_entry* t : by_offset) {
        if (t->begin != next)
            throw malformed{named(t->name) + "begins at byte " + std::to_string(t->begin) + " behind the header, where " +
                            (t->begin < next ? "another tensor is" : "the one before it ends at byte " + std::to_string(next))};
        next = t->end;
    }
    if (next > data_bytes)
        throw malformed{"it is truncated: its tensors have " + std::to_string(next) + " bytes, and " + std::to_string(data_bytes) +
                        " follow the header"};
    if (next < data_bytes) throw malformed{std::to_string(data_bytes - next) + " bytes follow its last tensor"};
}

}  // namespace detail

// The length of the header, from the first bytes of a file of `file_bytes`.
inline std::int64_t header_length(std::string_view first, std::int64_t file_bytes) {
    static_assert(std::endian::native == std::endian::little, "dovetail: safetensors files are little-endian");
    if (static_cast<std::int64_t>(first.size()) < length_bytes)
        throw malformed{"it is truncated: it has " + std::to_string(first.size()) + " bytes, and a safetensors file has 8 at least"};
    std::uint64_t length = 0;
    std::memcpy(&length, first.data(), sizeof length);
    if (length > static_cast<std::uint64_t>(most_header_bytes))
        throw malformed{"its header would have " + std::to_string(length) + " bytes, more than 100,000,000: it is no safetensors file"};
    if (static_cast<std::int64_t>(length) > file_bytes - length_bytes)
        throw malformed{"it is truncated: its header has " + std::to_string(length) + " bytes, and " +
                        std::to_string(file_bytes - length_bytes) + " follow the length"};
    return static_cast<std::int64_t>(length);
}

// The header in `text`, checked against the number of bytes that follow it in the file.
inline header parse_header(std::string_view text, std::int64_t data_bytes) {
    if (!text.starts_with('{')) throw malformed{"its header does not begin with `{`: it is no safetensors file"};
    header h = detail::header_reader{text}.read();
    detail::check_distinct(h.tensors, "tensor");
    detail::check_distinct(h.metadata, "metadata");
    detail::check_offsets(h, data_bytes);
    return h;
}

// Places the tensors one behind the other, those of large elements first so that each is aligned to its element, and gives the bytes in
// front of them: length and JSON.
inline std::string place_and_format(header& h) {
    std::sort(h.tensors.begin(), h.tensors.end(), [](const tensor_entry& a, const tensor_entry& b) {
        const int size_a = dovetail::bytes_of(a.type), size_b = dovetail::bytes_of(b.type);
        return size_a != size_b ? size_a > size_b : a.name < b.name;
    });
    std::string json = "{";
    if (!h.metadata.empty()) {
        json += "\"__metadata__\":{";
        for (const file_note& n : h.metadata) json += json_string(n.name) + ":" + json_string(n.text) + ",";
        json.back() = '}';
        json += ',';
    }
    std::int64_t next = 0;
    for (tensor_entry& t : h.tensors) {
        t.begin = next;
        t.end = next += detail::bytes_of(t);
        json += json_string(t.name) + ":{\"dtype\":\"" + dtypes[static_cast<int>(t.type)] + "\",\"shape\":[";
        for (std::size_t i = 0; i < t.extents.size(); ++i) json += (i > 0 ? "," : "") + std::to_string(t.extents[i]);
        json += "],\"data_offsets\":[" + std::to_string(t.begin) + "," + std::to_string(t.end) + "]},";
    }
    if (json.back() == ',') json.pop_back();
    json += '}';
    while (json.size() % length_bytes != 0) json += ' ';
    const std::uint64_t length = json.size();
    std::string out(sizeof length, '\0');
    std::memcpy(out.data(), &length, sizeof length);
    return out += json;
}

}  // namespace dovetail::safetensors
