// Operations of random graphs: every byte of every argument changes every element of every result, so that a stale, torn or
// misplaced value shows. One implementation for all of them, plus the collectives on whole values; both the interpreter and
// the simulator compute with these.
#pragma once

#include <dovetail/core/vocabulary.hpp>

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace support {

namespace dv = dovetail;

using word = std::uint64_t;

constexpr word mix(word x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// A seeded source of choices, the same on every platform.
struct chooser {
    word state = 0;

    word next() { return mix(state += 0x9e3779b97f4a7c15ull); }
    int below(int n) { return static_cast<int>(next() % static_cast<word>(n)); }
    int between(int low, int high) { return low + below(high - low + 1); }
    bool chance(int percent) { return below(100) < percent; }
};

// Some bytes in somebody's memory.
struct piece {
    unsigned char* data = nullptr;
    std::int64_t bytes = 0;
};

inline bool same(piece a, piece b) { return a.bytes == b.bytes && (a.bytes == 0 || std::memcmp(a.data, b.data, static_cast<std::size_t>(a.bytes)) == 0); }

// Words seen as bytes.
inline piece snapshot(std::vector<word>& words, std::int64_t bytes) { return {reinterpret_cast<unsigned char*>(words.data()), bytes}; }

inline word hash_bytes(word h, const unsigned char* data, std::int64_t bytes) {
    std::int64_t i = 0;
    for (; i + 8 <= bytes; i += 8) {
        word w;
        std::memcpy(&w, data + i, 8);
        h = mix(h ^ w) + 0x9e3779b97f4a7c15ull;
    }
    for (; i < bytes; ++i) h = mix(h ^ data[i]) + 1;
    return mix(h ^ static_cast<word>(bytes));
}

// Fills with a sequence of its own for each seed.
inline void fill(piece p, word seed) {
    std::int64_t i = 0;
    for (; i + 8 <= p.bytes; i += 8) {
        const word w = mix(seed + static_cast<word>(i));
        std::memcpy(p.data + i, &w, 8);
    }
    for (; i < p.bytes; ++i) p.data[i] = static_cast<unsigned char>(mix(seed + static_cast<word>(i)));
}

// Any compute operation. The results may lie at the bytes of an argument.
inline word apply(const dv::operation* op, const std::vector<piece>& in, const std::vector<piece>& out) {
    word h = op->name->hash;
    for (const piece& p : in) h = hash_bytes(h, p.data, p.bytes);
    for (std::size_t j = 0; j < out.size(); ++j) fill(out[j], mix(h + 0x1000003 * (j + 1)));
    return h;
}

// What the member at `seat` of `n` receives: `in[i]` is the argument of member i. Elements are uint64.
struct collective {
    dv::op_kind kind = dv::op_kind::transfer;
    dv::reduction reduce = dv::reduction::none;
    int root = -1;
    int offset = 0;
    bool open = false;
};

inline void reduce_into(dv::reduction r, unsigned char* to, const unsigned char* from, std::int64_t bytes) {
    for (std::int64_t i = 0; i + 8 <= bytes; i += 8) {
        word a, b;
        std::memcpy(&a, to + i, 8);
        std::memcpy(&b, from + i, 8);
        if (r == dv::reduction::sum) a += b;
        if (r == dv::reduction::product) a *= b;
        if (r == dv::reduction::minimum) a = b < a ? b : a;
        if (r == dv::reduction::maximum) a = b > a ? b : a;
        std::memcpy(to + i, &a, 8);
    }
}

inline void receive(const collective& c, const std::vector<piece>& in, int seat, piece out) {
    using enum dv::op_kind;
    const int n = static_cast<int>(in.size());
    const auto copy = [&](std::int64_t at, const piece& from, std::int64_t begin, std::int64_t bytes) {
        if (bytes > 0) std::memcpy(out.data + at, from.data + begin, static_cast<std::size_t>(bytes));
    };
    const auto reduced = [&](std::int64_t begin) {
        copy(0, in[0], begin, out.bytes);
        for (int i = 1; i < n; ++i) reduce_into(c.reduce, out.data, in[i].data + begin, out.bytes);
    };
    switch (c.kind) {
        case transfer: copy(0, in[0], 0, out.bytes); break;
        case shift: {
            const int from = seat - c.offset;
            if (out.bytes == 0) break;
            if (c.open && (from < 0 || from >= n)) std::memset(out.data, 0, static_cast<std::size_t>(out.bytes));
            else copy(0, in[(from % n + n) % n], 0, out.bytes);
            break;
        }
        case all_reduce: reduced(0); break;
        case reduce:
            if (seat == c.root) reduced(0);
            break;
        case broadcast: copy(0, in[c.root], 0, out.bytes); break;
        case all_gather:
        case gather:
            if (c.kind == all_gather || seat == c.root)
                for (int i = 0; i < n; ++i) copy(i * in[i].bytes, in[i], 0, in[i].bytes);
            break;
        case reduce_scatter: reduced(seat * out.bytes); break;
        case all_to_all:
            for (int i = 0; i < n; ++i) copy(i * (out.bytes / n), in[i], seat * (out.bytes / n), out.bytes / n);
            break;
        case scatter: copy(0, in[c.root], seat * out.bytes, out.bytes); break;
        default: break;
    }
}

// True where this member's result holds something.
constexpr bool receives(dv::op_kind kind, int root, int seat) {
    return (kind != dv::op_kind::reduce && kind != dv::op_kind::gather) || seat == root;
}

// Shape rules. `sized<K, R>` gives R vectors whatever the arguments are, `like<R>` gives result j the type of argument j.
inline constexpr std::int64_t extents[] = {12, 4, 24, 1, 36, 6, 3, 2, 72, 0, 144};
inline constexpr int extent_count = 11;

constexpr dv::tensor_type vector_of(std::int64_t extent) { return dv::tensor_type{dv::element::uint64, 0, {}}.with_extents(extent); }

template <int K, int R>
inline constexpr auto sized = +[](const dv::tensor_type*, dv::tensor_type* to) {
    for (int j = 0; j < R; ++j) to[j] = vector_of(extents[(K + j) % extent_count]);
    return R;
};
template <int R>
inline constexpr auto like = +[](const dv::tensor_type* arguments, dv::tensor_type* to) {
    for (int j = 0; j < R; ++j) to[j] = arguments[j];
    return R;
};

using shape_rule = int (*)(const dv::tensor_type*, dv::tensor_type*);

template <int... K>
constexpr shape_rule sized_rule(int k, int r, std::integer_sequence<int, K...>) {
    constexpr shape_rule rules[][3] = {{sized<K, 1>, sized<K, 2>, sized<K, 3>}...};
    return rules[k][r - 1];
}
constexpr shape_rule sized_rule(int k, int r) { return sized_rule(k, r, std::make_integer_sequence<int, extent_count>{}); }
constexpr shape_rule like_rule(int r) {
    constexpr shape_rule rules[] = {like<1>, like<2>, like<3>};
    return rules[r - 1];
}

using work_rule = dv::cost (*)(const dv::tensor_type*, const dv::tensor_type*);
template <std::int64_t Flops>
inline constexpr auto work_of = +[](const dv::tensor_type*, const dv::tensor_type*) { return dv::floating_operations(Flops); };
inline constexpr work_rule work_rules[] = {nullptr, work_of<0>, work_of<100'000'000>, work_of<500'000'000>, work_of<2'000'000'000>};

using workspace_rule = std::int64_t (*)(const dv::tensor_type*);
template <std::int64_t Bytes>
inline constexpr auto scratch = +[](const dv::tensor_type*) { return Bytes; };
inline constexpr workspace_rule workspace_rules[] = {nullptr, scratch<0>, scratch<8>, scratch<300>, scratch<1000>};

// Tags and operations made at run time; they stay where they are.
struct names {
    std::deque<std::string> text;
    std::deque<dv::tag> tags;
    std::deque<dv::operation> operations;

    const dv::tag* tag(std::string name) {
        text.push_back(std::move(name));
        tags.push_back(dv::detail::make_tag(text.back().data(), static_cast<int>(text.back().size())));
        return &tags.back();
    }
    dv::operation* operation(std::string name) {
        operations.emplace_back();
        operations.back().name = tag(std::move(name));
        return &operations.back();
    }
};

}  // namespace support
