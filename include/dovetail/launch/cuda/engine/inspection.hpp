// Inspection of the values of a run on a GPU: after each step, on its stream, a kernel searches for values that are not finite, and values
// for an observer are copied to the host. Both are read when the run has ended.
#pragma once

#include "../../control/printable.hpp"
#include "../../engine/inspection.hpp"
#include "../commands/pointers.hpp"
#include "context.hpp"
#include "finite_check.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>

namespace dovetail::cuda {

// Launches the kernels of dv::check_finite once for each element type, on the zeros of `spare` (16 bytes): no run then loads one. Loading
// a kernel may wait for what is on the GPU, which may wait for a rank whose next call waits for the loading.
inline void load_finite_checks(const block& spare, cudaStream_t stream) {
    constexpr std::int64_t largest_element = 8;
    if (finite_check_kernel == nullptr) return;
    check(calls.memset_async(spare.data(), 0, 2 * largest_element, stream), "cudaMemsetAsync");
    for (const element type : {element::float16, element::bfloat16, element::float32, element::float64})
        finite_check_kernel(stream, type, spare.data(), 1, reinterpret_cast<unsigned long long*>(spare.data() + largest_element));
    check(calls.get_last_error(), "the kernel of dv::check_finite");
}

class value_inspection {
public:
    value_inspection(std::vector<launch::inspected_step> steps, const ir::graph& g, const ir::program& p, const pointer_table& pointers,
                     const std::shared_ptr<device_memory>& memory, value_observer* observer)
        : graph_{g}, program_{p}, pointers_{pointers}, memory_{memory}, observer_{observer} {
        std::int64_t checks = 0, copied = 0;
        for (const launch::inspected_step& s : steps) {
            first_.push_back(static_cast<int>(looks_.size()));
            for (const bool before : {true, false})
                for (const launch::inspected_access& a : before ? s.before : s.behind) {
                    looks_.push_back({a, before, static_cast<int>(first_.size()) - 1, checks, copied});
                    if (a.checked) ++checks;
                    if (a.observed) copied += ir::aligned(type_of(a).bytes());
                }
        }
        first_.push_back(static_cast<int>(looks_.size()));
        if (checks > 0 && finite_check_kernel == nullptr)
            throw usage_error{
                "dv::check_finite needs a kernel of the library: compile one unit of the program that includes "
                "<dovetail/launch/cuda/engine/finite_check.hpp> with nvcc"};
        found_.resize(static_cast<std::size_t>(checks));
        if (checks > 0) flags_ = block{memory, checks * static_cast<std::int64_t>(sizeof found_[0])};
        if (copied > 0) copies_ = block{memory, copied, true};
    }

    // Issues the inspections before a step of a run, or those after it.
    void issue(int step, bool before, std::int64_t run, cudaStream_t stream) {
        for (int i = first_[static_cast<std::size_t>(step)], end = first_[static_cast<std::size_t>(step) + 1]; i < end; ++i) {
            const look& l = looks_[static_cast<std::size_t>(i)];
            if (l.before != before) continue;
            const void* const data = pointers_.at(l.at.access);
            const tensor_type& type = type_of(l.at);
            if (l.at.observed && run < observer_->runs())
                check(calls.memcpy_async(copies_.data() + l.copy, data, static_cast<std::size_t>(type.bytes()), cudaMemcpyDefault, stream),
                      "cudaMemcpyAsync");
            if (!l.at.checked) continue;
            auto* const flag = reinterpret_cast<unsigned long long*>(flags_.data()) + l.check;
            check(calls.memset_async(flag, 0xff, sizeof *flag, stream), "cudaMemsetAsync");
            finite_check_kernel(stream, type.type, data, type.size(), flag);
            check(calls.get_last_error(), "the kernel of dv::check_finite");
        }
    }

    // Called when the run has ended: passes the copied values to the observer.
    void deliver(std::int64_t run) const {
        if (observer_ == nullptr || run >= observer_->runs()) return;
        for (const look& l : looks_)
            if (l.at.observed)
                observer_->value(*graph_.symbols[l.at.symbol].name, launch::name_of(graph_, program_, l.at), type_of(l.at), run,
                                 copies_.data() + l.copy);
    }
    struct finding {
        int step = -1;
        std::string text;  // "element 17 of its result `y` is NaN"
    };
    // The first value, in issue order, that is not finite.
    std::optional<finding> first_non_finite() {
        if (found_.empty()) return {};
        memory_->to_host(found_.data(), flags_.data(), static_cast<std::int64_t>(found_.size() * sizeof found_[0]));
        for (const look& l : looks_) {
            if (!l.at.checked || found_[static_cast<std::size_t>(l.check)] == ~0ull) continue;
            const unsigned long long said = found_[static_cast<std::size_t>(l.check)];
            return finding{l.step, launch::describe({static_cast<std::int64_t>(said / 2), said % 2 != 0}, graph_, l.at, l.before)};
        }
        return {};
    }

private:
    struct look {
        launch::inspected_access at;
        bool before = false;
        int step = 0;
        std::int64_t check = 0, copy = 0;  // offsets of its flag and its copy
    };
    tensor_type type_of(const launch::inspected_access& a) const { return ir::type_of(program_, program_.accesses[a.access]); }

    const ir::graph& graph_;
    const ir::program& program_;
    const pointer_table& pointers_;
    const std::shared_ptr<device_memory> memory_;
    value_observer* const observer_;
    std::vector<look> looks_;
    std::vector<int> first_;  // index of each step's first inspection, and the end
    block flags_, copies_;
    std::vector<unsigned long long> found_;
};

// A finding as text for the other ranks: "3 10 1 reciprocaly..." has the lengths of operation and statement before them, since texts of
// processes arrive without control characters (control/printable.hpp), which might separate them.
inline std::string packed(std::int64_t order, const launch::abort_reason& c) {
    const std::string operation = control::printable(c.operation), statement = control::printable(c.statement);
    return std::to_string(order) + ' ' + std::to_string(operation.size()) + ' ' + std::to_string(statement.size()) + ' ' + operation +
           statement + c.text;
}
struct packed_finding {
    std::int64_t order = INT64_MAX;
    launch::abort_reason reason;

    packed_finding(const std::string& text, int rank) {
        std::istringstream fields{text};
        std::size_t operation = 0, statement = 0;
        fields >> order >> operation >> statement;
        fields.get();
        const std::string words{std::istreambuf_iterator<char>{fields}, {}};
        operation = std::min(operation, words.size());
        statement = std::min(statement, words.size() - operation);
        reason = {rank, words.substr(operation + statement), words.substr(0, operation), words.substr(operation, statement)};
    }
};

// Among the findings of all ranks, the one whose operation is first in the order common to all ranks, since it caused the others. `order`:
// the index of the operation of `mine` in that order, -1 if the rank has found nothing. All ranks call it; the reason returned has no rank
// if no rank has found anything.
inline launch::abort_reason first_of_all(launch::peers& world, int rank, std::int64_t order, const launch::abort_reason& mine,
                                         const std::string& what, std::chrono::nanoseconds limit) {
    const std::vector<std::string> all = world.exchange(rank, what, order < 0 ? "" : packed(order, mine), limit);
    launch::abort_reason first;
    std::int64_t least = INT64_MAX;
    for (std::size_t r = 0; r < all.size(); ++r) {
        if (all[r].empty()) continue;
        const packed_finding found{all[r], static_cast<int>(r)};
        if (found.order < least) first = found.reason, least = found.order;
    }
    return first;
}

}  // namespace dovetail::cuda
