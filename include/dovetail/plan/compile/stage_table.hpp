// stage_table<Key, Stage>: the table of a stage as a constant. It is evaluated when it is first used, from the tables that the stage reads,
// which are constants too. The key determines graph and options. README.md explains why it is written so.
#pragma once

#include "../stage.hpp"

#include <type_traits>
#include <utility>

namespace dovetail::plan::detail {

// The type of a parameter for a constant table: a value under clang, else a reference. clang needs a third less time to read a copy than a
// constant variable; for g++ and nvcc's front end the copy costs more than it saves (for the latter, memory).
#if defined(__clang__) && !defined(__CUDACC__)
template <class Table>
using const_table = Table;
#else
template <class Table>
using const_table = const Table&;
#endif

// The key of a stage's table: it contains only what the stage depends on, so that tables are shared.
template <class Key, class Stage>
using key_of = typename Stage::depends::template key<Key>;

// The stage whose table is used for this one: the stage itself, unless it passes on the table that it reads first.
template <class Key, class Stage>
struct standing_in {
    using type = Stage;
};
template <class Stage>
struct first_read;
template <class First, class... Rest>
struct first_read<stages<First, Rest...>> {
    using type = First;
};
template <class Key, optional_stage Stage>
    requires(Stage::passes_on(key_of<Key, Stage>::options))
struct standing_in<Key, Stage> {
    using type = typename first_read<typename Stage::reads>::type;
};

template <class Key, class Stage, class Given = given<Stage>>
struct table_maker;

// `Key` is the key_of the stage. The stage must not be one that passes on its input: see final_stage (keys.hpp).
template <class Key, class Stage>
inline constexpr auto stage_bound = table_maker<Key, Stage>::bound(Key::options);
template <class Key, class Stage>
inline constexpr auto stage_table = table_maker<Key, Stage>::make(Key::options);

template <class Stage, class Options, class... Table>
constexpr auto count_rows(const Options& o, const_table<Table>... tables) {
    return Stage::bound(o, tables...);
}
template <class Stage, class Store, class Options, class... Table>
constexpr auto evaluate(const Options& o, const_table<Table>... tables) {
    if constexpr (composed<Stage>) {
        looks_at_nothing observer;
        return make_of<Stage, Store>(o, observer, given<Stage>{}, tables...);
    } else if constexpr (with_bound<Stage>) {
        return Stage::template make<Store>(o, tables...);
    } else {
        return Stage::make(o, tables...);
    }
}

// The store for a table with these numbers of rows.
template <class Key, class Stage, class Tables = std::make_integer_sequence<int, sizeof(stage_bound<Key, Stage>.of) / sizeof(int)>>
struct store_for;
template <class Key, class Stage, int... I>
struct store_for<Key, Stage, std::integer_sequence<int, I...>> {
    using type = fixed_store<stage_bound<Key, Stage>.of[I]...>;
};

template <class Key, class Stage, class... Given>
struct table_maker<Key, Stage, stages<Given...>> {
    template <class Read>
    using from = typename standing_in<Key, Read>::type;

    template <class Options>
    static constexpr auto bound(const Options& o) {
        return count_rows<Stage>(o, stage_table<key_of<Key, from<Given>>, from<Given>>...);
    }
    template <class Options>
    static constexpr auto make(const Options& o) {
        if constexpr (with_bound<Stage>)
            return evaluate<Stage, typename store_for<Key, Stage>::type>(o, stage_table<key_of<Key, from<Given>>, from<Given>>...);
        else
            return evaluate<Stage, owning>(o, stage_table<key_of<Key, from<Given>>, from<Given>>...);
    }
};

}  // namespace dovetail::plan::detail
