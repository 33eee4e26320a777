// Runs any graph on any rank with inputs computed from rank, run and element, and returns the bytes of every output of every run, to
// compare two backends or two ways to run. Values are small integers, so that sums are exact.
#pragma once

#include <dovetail/launch/engine/engine.hpp>
#include <dovetail/launch/executor.hpp>

#include <cstring>

namespace support {

namespace dv = dovetail;

using outputs = std::vector<std::vector<char>>;  // by run and output, in order; none where the output is on another rank

template <class T>
std::vector<char> numbers(std::int64_t n, int rank, std::int64_t run, int salt) {
    std::vector<char> bytes(static_cast<std::size_t>(n) * sizeof(T));
    for (std::int64_t i = 0; i < n; ++i) {
        const T x = static_cast<T>(static_cast<float>((i * 7 + rank * 3 + run * 4 + salt) % 5));
        std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &x, sizeof(T));
    }
    return bytes;
}
inline std::vector<char> numbers(dv::tensor_type t, int rank, std::int64_t run, int salt) {
    const std::int64_t n = t.size();
    switch (t.type) {
        case dv::element::float16: return numbers<dv::half>(n, rank, run, salt);
        case dv::element::bfloat16: return numbers<dv::bfloat16>(n, rank, run, salt);
        case dv::element::float32: return numbers<float>(n, rank, run, salt);
        case dv::element::float64: return numbers<double>(n, rank, run, salt);
        case dv::element::int8: return numbers<std::int8_t>(n, rank, run, salt);
        case dv::element::uint8: return numbers<std::uint8_t>(n, rank, run, salt);
        case dv::element::int32: return numbers<std::int32_t>(n, rank, run, salt);
        case dv::element::uint32: return numbers<std::uint32_t>(n, rank, run, salt);
        case dv::element::int64: return numbers<std::int64_t>(n, rank, run, salt);
        case dv::element::uint64: return numbers<std::uint64_t>(n, rank, run, salt);
        case dv::element::none: break;
    }
    return {};
}

// Binds every input, replicated ones alike on all ranks.
inline void bind_all(dv::engine& e, int rank, std::int64_t run) {
    for (const auto& in : e.addresses.inputs()) {
        const dv::ir::symbol& s = e.graph.symbols[in.symbol];
        const std::vector<char> values = numbers(s.type, s.replicated != 0 ? 0 : rank, run, in.symbol);
        e.bind(in.symbol, {values.data(), s.type.size(), dv::binding_source::copied});
    }
}
inline void read_all(const std::shared_ptr<dv::engine>& e, const std::shared_ptr<dv::run_state>& f, outputs& to) {
    for (int s = 0; s < e->graph.symbols.size(); ++s) {
        if (!e->graph.symbols[s].output) continue;
        std::vector<char> bytes;
        if (e->has_output(s)) {
            bytes.resize(static_cast<std::size_t>(e->graph.symbols[s].type.bytes()));
            const dv::basic_reading r{e, f, s};
            r.copy(bytes.data(), 0, static_cast<std::int64_t>(bytes.size()));
        }
        to.push_back(std::move(bytes));
    }
}

// `ahead` runs are issued before the first is read; the last ones are read newest first.
template <class G, class O, class Rank, class... Extra>
outputs exercise(Rank& rank, int runs, int ahead, Extra... extra) {
    dv::executor<G, O> step{rank, std::chrono::seconds{60}, extra...};
    const std::shared_ptr<dv::engine> e = std::static_pointer_cast<dv::engine>(step.at().shared_from_this());
    outputs all;
    std::vector<std::shared_ptr<dv::run_state>> open;
    const auto read = [&](auto which) {
        e->finish(*which, std::nullopt);
        read_all(e, *which, all);
        open.erase(which);
    };
    for (int k = 0; k < runs; ++k) {
        bind_all(*e, rank.index(), k);
        open.push_back(step.run().record());
        if (static_cast<int>(open.size()) == ahead) read(open.begin());
    }
    while (!open.empty()) read(open.end() - 1);
    return all;
}

}  // namespace support
