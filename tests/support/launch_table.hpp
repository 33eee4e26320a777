// Function objects behind the launches of an executable plan. A launch is a plain function, so what it stands for lies in one table per
// process: launch number N calls object N of the table in use.
#pragma once

#include <dovetail/launch/executable/executable_plan.hpp>

#include <functional>
#include <utility>
#include <vector>

namespace support {

namespace dv = dovetail;

class launch_table {
public:
    using function = std::function<void(dv::host::stream, void* const*)>;
    using pointer = dv::launch_function<dv::host::stream>;

    // The launch that calls this object; null if the table is full.
    pointer add(function f) {
        if (functions_.size() == most) return nullptr;
        functions_.push_back(std::move(f));
        return pointers_[static_cast<int>(functions_.size()) - 1];
    }

    // Puts a table in use, for the life of this object.
    struct in_use {
        explicit in_use(const launch_table& table) { now_ = &table; }
        in_use(const in_use&) = delete;
        in_use& operator=(const in_use&) = delete;
        ~in_use() { now_ = nullptr; }
    };

private:
    static constexpr int most = 1088;  // more than the largest random session has
    template <int... N>
    static constexpr dv::fixed<pointer, most> pointers(std::integer_sequence<int, N...>) {
        return {most, {[](dv::host::stream s, void* const* p) { now_->functions_[N](s, p); }...}};
    }
    static const dv::fixed<pointer, most> pointers_;
    static inline const launch_table* now_ = nullptr;

    std::vector<function> functions_;
};
inline constexpr dv::fixed<launch_table::pointer, launch_table::most> launch_table::pointers_ =
    pointers(std::make_integer_sequence<int, most>{});

}  // namespace support
