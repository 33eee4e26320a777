// dv::store: reading and writing its states.
#pragma once

#include "store.hpp"
#include "store_core.hpp"

namespace dovetail {

DOVETAIL_INLINE basic_store::basic_store(std::shared_ptr<memory> source, int rank)
    : core_{std::make_shared<detail::store_core>(std::move(source), rank)} {}

DOVETAIL_INLINE void basic_store::read(const tag& name, const tensor_type& type, void* to) const {
    core_->read(core_->at(&name, type), to);
}

DOVETAIL_INLINE void basic_store::write(const tag& name, const tensor_type& type, const void* from, std::int64_t count) {
    if (count != type.size())
        throw state_error{"state `" + display(name) + "` has " + std::to_string(type.size()) + " elements, and " + std::to_string(count) +
                          " were given"};
    core_->write(core_->at(&name, type), from);
}

}  // namespace dovetail
