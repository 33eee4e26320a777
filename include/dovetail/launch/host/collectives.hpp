// Communication on the host, as movement of memory: all members' pointers are at hand, one thread does the work in member
// order. Reductions are deterministic: half and bfloat16 are summed in float and rounded once, integers wrap around, an
// average is the sum divided by the number of members, minimum and maximum are those of core/extremes.hpp. In and out may be the same
// memory.
#pragma once

#include "../../core/extremes.hpp"
#include "../../core/vocabulary.hpp"

#include <cstring>
#include <type_traits>
#include <vector>

namespace dovetail::host {

// One member's memory in one communication. A null pointer: it sends or gets nothing.
struct participant {
    const void* send = nullptr;
    void* recv = nullptr;
    std::int64_t send_bytes = 0;
    std::int64_t recv_bytes = 0;
};

struct communication {
    op_kind kind = op_kind::transfer;
    element type = element::float32;
    reduction reduce = reduction::none;
    int root = -1;
    int offset = 0;
    bool zero_edge = false;
};

namespace detail {

inline void move(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0 && to != nullptr && from != nullptr && to != from) std::memmove(to, from, static_cast<std::size_t>(bytes));
}

// What a reduction is computed in: wide enough for one rounding, unsigned so that integers wrap.
template <class T>
using accumulator =
    std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float, std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>>;

template <class T>
accumulator<T> widened(const T& x) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
    else
        return static_cast<accumulator<T>>(x);
}

template <class T>
T divided(accumulator<T> sum, int n) {
    if constexpr (std::is_unsigned_v<T>)
        return static_cast<T>(sum / static_cast<std::uint64_t>(n));
    else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::int64_t>(sum) / n);
    else
        return static_cast<T>(sum / static_cast<accumulator<T>>(n));
}

// to[i] = reduction over members of from[m][i], `count` elements; `to` does not overlap a source.
template <class T>
void reduce(reduction how, const std::vector<const void*>& from, void* to, std::int64_t count) {
    T* out = static_cast<T*>(to);
    const int n = static_cast<int>(from.size());
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = [&](int m) -> const T& { return static_cast<const T*>(from[static_cast<std::size_t>(m)])[i]; };
        if (how == reduction::minimum || how == reduction::maximum) {
            T best = value(0);
            for (int m = 1; m < n; ++m) best = how == reduction::minimum ? minimum_of(best, value(m)) : maximum_of(best, value(m));
            out[i] = best;
            continue;
        }
        accumulator<T> sum = widened(value(0));
        for (int m = 1; m < n; ++m) {
            if (how == reduction::product)
                sum = sum * widened(value(m));
            else
                sum = sum + widened(value(m));
        }
        out[i] = how == reduction::average ? divided<T>(sum, n) : static_cast<T>(sum);
    }
}

inline void reduce(element type, reduction how, const std::vector<const void*>& from, void* to, std::int64_t bytes) {
    const std::int64_t count = bytes / bytes_of(type);
    switch (type) {
        case element::float16: return reduce<half>(how, from, to, count);
        case element::bfloat16: return reduce<bfloat16>(how, from, to, count);
        case element::float32: return reduce<float>(how, from, to, count);
        case element::float64: return reduce<double>(how, from, to, count);
        case element::int8: return reduce<std::int8_t>(how, from, to, count);
        case element::uint8: return reduce<std::uint8_t>(how, from, to, count);
        case element::int32: return reduce<std::int32_t>(how, from, to, count);
        case element::uint32: return reduce<std::uint32_t>(how, from, to, count);
        case element::int64: return reduce<std::int64_t>(how, from, to, count);
        case element::uint64: return reduce<std::uint64_t>(how, from, to, count);
        case element::none: return;
    }
}

inline const char* participation_of(const void* p, std::int64_t offset) { return static_cast<const char*>(p) + offset; }

}  // namespace detail

// Does it. `scratch` is kept by the caller from time to time, so that memory does not grow.
inline void move_data(const communication& x, const std::vector<participant>& participants, std::vector<char>& scratch) {
    const auto n = static_cast<std::int64_t>(participants.size());
    const auto room = [&](std::int64_t bytes) {
        if (static_cast<std::int64_t>(scratch.size()) < bytes) scratch.resize(static_cast<std::size_t>(bytes));
        return scratch.data();
    };
    // All that is sent, in member order, each `bytes` long: a copy, so that results may overwrite their sources.
    const auto gathered = [&](std::int64_t bytes) {
        char* all = room(n * bytes);
        for (std::int64_t i = 0; i < n; ++i) detail::move(all + i * bytes, participants[i].send, bytes);
        return all;
    };
    const auto sources = [&](std::int64_t offset) {
        std::vector<const void*> from;
        for (const participant& s : participants)
            if (s.send != nullptr) from.push_back(detail::participation_of(s.send, offset));
        return from;
    };
    const auto copied_to_all = [&](const char* data, std::int64_t bytes) {
        for (const participant& s : participants) detail::move(s.recv, data, bytes);
    };
    const participant* root = x.root >= 0 && x.root < n ? &participants[static_cast<std::size_t>(x.root)] : nullptr;
    switch (x.kind) {
        case op_kind::transfer: return detail::move(participants[1].recv, participants[0].send, participants[0].send_bytes);
        case op_kind::all_reduce:
        case op_kind::reduce: {
            std::int64_t bytes = 0;
            for (const participant& s : participants)
                if (s.send != nullptr) bytes = s.send_bytes;
            char* sum = room(bytes);
            detail::reduce(x.type, x.reduce, sources(0), sum, bytes);
            if (x.kind == op_kind::all_reduce) return copied_to_all(sum, bytes);
            return detail::move(root->recv, sum, bytes);
        }
        case op_kind::broadcast:
            for (const participant& s : participants)
                if (&s != root) detail::move(s.recv, root->send, root->send_bytes);
            return detail::move(root->recv, root->send, root->send_bytes);
        case op_kind::all_gather:
        case op_kind::gather: {
            std::int64_t each = 0;
            for (const participant& s : participants)
                if (s.send != nullptr) each = s.send_bytes;
            const char* all = gathered(each);
            if (x.kind == op_kind::all_gather) return copied_to_all(all, n * each);
            return detail::move(root->recv, all, n * each);
        }
        case op_kind::reduce_scatter: {
            const std::int64_t each = participants[0].send_bytes / n;
            char* sums = room(n * each);
            for (std::int64_t i = 0; i < n; ++i) detail::reduce(x.type, x.reduce, sources(i * each), sums + i * each, each);
            for (std::int64_t i = 0; i < n; ++i) detail::move(participants[i].recv, sums + i * each, each);
            return;
        }
        case op_kind::scatter: {
            // One piece for each group index that receives: over roles, the root need not be one of them.
            std::int64_t pieces = 0, next = 0;
            for (const participant& s : participants) pieces += s.recv != nullptr ? 1 : 0;
            if (pieces == 0) return;
            const std::int64_t each = root->send_bytes / pieces;
            char* all = room(pieces * each);
            detail::move(all, root->send, pieces * each);
            for (const participant& s : participants)
                if (s.recv != nullptr) detail::move(s.recv, all + next++ * each, each);
            return;
        }
        case op_kind::all_to_all: {
            const std::int64_t all_bytes = participants[0].send_bytes, each = all_bytes / n;
            const char* all = gathered(all_bytes);
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j)
                    if (participants[i].recv != nullptr)
                        detail::move(static_cast<char*>(participants[i].recv) + j * each, all + j * all_bytes + i * each, each);
            return;
        }
        case op_kind::shift: {
            const std::int64_t each = participants[0].send_bytes;
            const char* all = gathered(each);
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t from = i - x.offset;
                const bool outside = from < 0 || from >= n;
                if (participants[i].recv == nullptr || each == 0) continue;
                if (outside && x.zero_edge)
                    std::memset(participants[i].recv, 0, static_cast<std::size_t>(each));
                else
                    detail::move(participants[i].recv, all + ((from % n + n) % n) * each, each);
            }
            return;
        }
        case op_kind::compute:
        case op_kind::input:
        case op_kind::to_host:
        case op_kind::from_host: return;
    }
}

// Bytes that the busiest member sends or gets, in the algorithms that use a ring.
inline std::int64_t wire_bytes(const communication& x, const std::vector<participant>& participants) {
    const auto n = static_cast<std::int64_t>(participants.size());
    std::int64_t most = 0;
    for (const participant& s : participants) {
        most = s.send_bytes > most ? s.send_bytes : most;
        most = s.recv_bytes > most ? s.recv_bytes : most;
    }
    if (is_collective(x.kind) && n == 1) return 0;
    if (x.kind == op_kind::all_reduce) return 2 * most / n * (n - 1);
    if (x.kind == op_kind::all_gather || x.kind == op_kind::reduce_scatter || x.kind == op_kind::all_to_all || x.kind == op_kind::gather ||
        x.kind == op_kind::scatter)
        return most / n * (n - 1);
    return most;
}

}  // namespace dovetail::host
