// The states of one rank by name and tensor: weights, optimizer state, caches. Executors made with the same store share them; an executor
// made without a store has its own.
#pragma once

#include "../core/tag.hpp"
#include "../core/vocabulary.hpp"
#include "linkage.hpp"

#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

namespace dovetail {

class memory;

namespace detail {
class store_core;
}

// The part without the types of states.
class basic_store {
public:
    const std::shared_ptr<detail::store_core>& core() const { return core_; }

protected:
    basic_store(std::shared_ptr<memory> source, int rank);
    void read(const tag& name, const tensor_type& type, void* to) const;
    // `count` is the number of elements given; throws if the state has another number.
    void write(const tag& name, const tensor_type& type, const void* from, std::int64_t count);

private:
    std::shared_ptr<detail::store_core> core_;
};

class store : public basic_store {
public:
    template <class Rank>
        requires requires(Rank& rank) {
            rank.device_memory();
            rank.index();
        }
    explicit store(Rank& rank) : basic_store{rank.device_memory(), rank.index()} {}

    // The contents of a state, after the runs issued before.
    template <class Tensor, class Name>
    std::vector<typename Tensor::element_type> read(Name) const {
        std::vector<typename Tensor::element_type> values(static_cast<std::size_t>(Tensor::size));
        basic_store::read(tag_of<typename Name::type>, Tensor::type, values.data());
        return values;
    }
    // Sets the contents, as from a checkpoint; the state then counts as initialised.
    template <class Tensor, class Name, class Values>
    void write(Name, const Values& values) {
        const typename Tensor::element_type* const from = std::data(values);
        basic_store::write(tag_of<typename Name::type>, Tensor::type, from, static_cast<std::int64_t>(std::size(values)));
    }
};

}  // namespace dovetail

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "store.ipp"
#endif
