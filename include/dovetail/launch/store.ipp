// dv::store: reading and writing its states, in memory and in files.
#pragma once

#include "safetensors/states.hpp"
#include "store.hpp"
#include "store_core.hpp"

namespace dovetail {

DOVETAIL_INLINE basic_store::basic_store(std::shared_ptr<memory> source, int rank)
    : core_{std::make_shared<detail::store_core>(std::move(source), rank)} {}

DOVETAIL_INLINE void basic_store::read(const tag& name, const tensor_type& type, void* to) const {
    core_->read(core_->existing(name, type), to);
}

DOVETAIL_INLINE void basic_store::write(const tag& name, const tensor_type& type, const void* from, std::int64_t count) {
    if (count != type.size())
        throw state_error{"state `" + display(name) + "` has " + std::to_string(type.size()) + " elements, and " + std::to_string(count) +
                          " were given"};
    core_->write(core_->at(&name, type), from);
}

DOVETAIL_INLINE void basic_store::save(const std::string& path, const tag* axis, const file_notes& notes) const {
    const detail::store_core::usage one{core_.get()};
    core_->drain();
    const detail::axis_position along = axis != nullptr ? core_->position_along(*axis) : detail::axis_position{};
    safetensors::save_states(*core_, path, axis != nullptr ? &along : nullptr, notes);
}

DOVETAIL_INLINE file_notes basic_store::load(const std::vector<std::string>& paths, const tag* axis) {
    const detail::store_core::usage one{core_.get()};
    core_->drain();
    if (axis == nullptr) return safetensors::load_states(*core_, safetensors::shards{paths.front()}, nullptr);
    const detail::axis_position along = core_->position_along(*axis);
    return safetensors::load_states(*core_, safetensors::shards{paths}, &along);
}

DOVETAIL_INLINE void gather_shards(const std::vector<std::string>& shards, const std::string& path) {
    safetensors::gather_shards(shards, path);
}

}  // namespace dovetail
