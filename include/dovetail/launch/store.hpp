// The states of one rank by name and tensor: weights, optimizer state, caches. Executors made with the same store share them; an executor
// made without a store has its own. They are saved to and loaded from files in safetensors' format.
#pragma once

#include "../core/tag.hpp"
#include "../core/vocabulary.hpp"
#include "file_note.hpp"
#include "linkage.hpp"

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
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
    // `axis` may be null.
    void save(const std::string& path, const tag* axis, const file_notes& notes) const;
    file_notes load(const std::vector<std::string>& paths, const tag* axis);

private:
    std::shared_ptr<detail::store_core> core_;
};

// An axis, as an argument of store.save and store.load: dv::along<tp>.
template <class Axis>
struct along_axis {};
template <class Axis>
inline constexpr along_axis<Axis> along{};

// Makes one file of the shards of a save, in any order: each state is whole in it, its rows those of the positions of the axis one behind
// the other. Needs no store: call it when all ranks have saved. Throws file_error.
void gather_shards(const std::vector<std::string>& shards, const std::string& path);

// The states of one rank. Made before the executors that share it, of the same rank.
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

    // Writes all states of this rank to a file, after the runs issued before: each rank has its own path. The file at that path is replaced
    // as a whole: if the save fails or is killed, it is what it was. Throws state_error if a state is lost or was never initialised, and
    // file_error if the file cannot be written or while another save to the same path goes on. One file_error comes when the file is
    // replaced already: its folder cannot be flushed, and the new file may be lost if the machine fails.
    void save(const std::string& path, const file_notes& notes = {}) const { basic_store::save(path, nullptr, notes); }
    // The same as a shard: the file also tells the position of this rank along the axis and which states are replicated along it, as the
    // executors made with the store say.
    template <class Axis>
    void save(const std::string& path, along_axis<Axis>, const file_notes& notes = {}) const {
        basic_store::save(path, &tag_of<Axis>, notes);
    }
    // Reads all states of this rank, those of the executors made before, and returns the notes of the file, sorted by name. Throws
    // file_error, and changes nothing, unless the file has exactly these states with their types.
    file_notes load(const std::string& path) { return basic_store::load({path}, nullptr); }
    // The same from all shards of a save, in any order, or from one file with whole states. This rank takes its rows of them: the axis may
    // have had another width, or a state may have been replicated. All of a replicated state is taken.
    template <class Axis>
    file_notes load(const std::vector<std::string>& paths, along_axis<Axis>) {
        return basic_store::load(paths, &tag_of<Axis>);
    }
};

}  // namespace dovetail

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "store.ipp"
#endif
