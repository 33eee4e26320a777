// Any bytes as a safetensors file: refused, or a header whose tensors lie in the file one behind the other, and that is read as written.
#include <fuzzers/input.hpp>

#include <dovetail/launch/safetensors/shards.hpp>

namespace st = dovetail::safetensors;

namespace {

void parse(const std::string& file) {
    const auto bytes = static_cast<std::int64_t>(file.size());
    st::header h;
    try {
        const std::int64_t length = st::header_length(file, bytes);
        h = st::parse_header(std::string_view{file}.substr(8, static_cast<std::size_t>(length)), bytes - 8 - length);
        std::int64_t sum = 0;
        for (const st::tensor_entry& t : h.tensors) sum += t.bytes();
        fuzzers::require(sum == bytes - 8 - length, "the tensors fill the file");
    } catch (const st::malformed&) {
        return;
    }
    try {
        dovetail::file_notes notes = h.metadata;
        std::sort(h.tensors.begin(), h.tensors.end(), st::by_name{});
        const st::shard s = st::detail::take_shard(notes, h.tensors);
        fuzzers::require(s.replicated.size() <= h.tensors.size(), "what is replicated is in the file");
        fuzzers::require(s.index >= 0 && s.index < s.width, "a shard is one of its width");
    } catch (const st::malformed&) {}
    const std::string written = st::place_and_format(h);
    const st::header again = st::parse_header(std::string_view{written}.substr(8), h.tensors.empty() ? 0 : h.tensors.back().end);
    fuzzers::require(again.metadata == h.metadata && again.tensors.size() == h.tensors.size(), "a header is read as it is written");
    for (std::size_t i = 0; i < h.tensors.size(); ++i)
        fuzzers::require(again.tensors[i].name == h.tensors[i].name && again.tensors[i].extents == h.tensors[i].extents,
                         "a tensor is read as it is written");
}

const char* const keys[] = {"dovetail.axis", "dovetail.index", "dovetail.width", "dovetail.replicated"};

// A file with some tensors, so that the fuzzer need not discover the format; one of its bytes may be another.
std::string made(fuzzers::input& in) {
    st::header h;
    for (unsigned n = in.below(4); n > 0; --n) {
        h.tensors.push_back({in.text(), static_cast<dovetail::element>(1 + in.below(10)), {}});
        for (unsigned e = in.below(4); e > 0; --e) h.tensors.back().extents.push_back(in.below(4));
    }
    for (unsigned n = in.below(6); n > 0; --n)
        h.metadata.push_back(
            {in.below(2) == 0 ? in.text() : keys[in.below(4)], in.below(2) == 0 ? in.text() : std::to_string(in.number())});
    std::string file = st::place_and_format(h);
    file.resize(file.size() + static_cast<std::size_t>(h.tensors.empty() ? 0 : h.tensors.back().end));
    for (unsigned n = in.below(3); n > 0; --n) file[in.byte() % file.size()] = static_cast<char>(in.byte());
    return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzzers::input in{data, size};
    switch (in.below(3)) {
        case 0: parse(in.bytes(size)); break;
        case 1: {
            const std::string json = "{" + in.bytes(size);
            std::string length(8, '\0');
            for (std::size_t i = 0; i < 2; ++i) length[i] = static_cast<char>(json.size() >> 8 * i & 0xff);
            parse(length + json);
            break;
        }
        default: parse(made(in));
    }
    return 0;
}
