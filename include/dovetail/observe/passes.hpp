// The table of each stage of the planner as text, with the names of operations and values: explain_passes<G, O>(stream) for a graph,
// explain_passes(plan_tables) for tables. The stages are those listed in plan/pipeline.hpp; a stage without a text function does not
// compile. DOVETAIL_EXPLAIN=passes also needs this header in one file of the program: it adds the whole planner to that file, which costs
// ten seconds of optimised compilation.
#pragma once

#include "../plan/diagnose/verdict_text.hpp"
#include "../plan/make.hpp"
#include "observe.hpp"
#include "stage_text.hpp"

#include <ostream>

namespace dovetail::observe {

namespace detail {

template <class Stage>
inline constexpr candidate candidate_of = candidate::automatic;
template <template <candidate> class Stage, candidate C>
inline constexpr candidate candidate_of<Stage<C>> = C;

template <class... Read>
std::string names_of(dovetail::plan::stages<Read...>) {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + std::string(Read::name)), ...);
    return text;
}
template <class Stage>
std::string heading() {
    const std::string read = names_of(typename Stage::reads{}), of = name_of(candidate_of<Stage>);
    return "\n" + std::string(Stage::name) + (candidate_of<Stage> == candidate::automatic ? "" : " (" + of + ")") + ": " + Stage::makes +
           (read.empty() ? "" : "; reads " + read) + "\n";
}

// Prints the stages that run within another stage, whose tables exist only meanwhile.
struct passing {
    template <class Stage, class Table>
    void operator()(Stage stage, const Table& table) const {
        all->push_back({Stage::name, candidate_of<Stage>, heading<Stage>() + shown(stage, table, *names)});
    }
    struct seen {
        const char* stage;
        candidate of;
        std::string text;
    };
    std::vector<seen>* all;
    stage_names* names;
};

}  // namespace detail

// The tables of all stages that run for this graph and these options, in the order of the list: first those that all candidates share, then
// those of each candidate of the search, the chosen one last.
inline std::string explain_passes(const plan_tables& asked) {
    namespace plan = dovetail::plan;
    stage_names names{asked};
    std::vector<detail::passing::seen> seen;
    plan::tables t{asked.graph, asked.s, detail::passing{&seen, &names}};
    using kept = decltype(t);
    std::string text = "stages of `" + names.title() + "` for " + asked.s.machine.name + "\n";
    const auto show = [&]<class Stage>(Stage stage) {
        if constexpr (kept::template keeps<Stage>()) {
            if (t.template has<Stage>()) text += detail::heading<Stage>() + detail::shown(stage, t.template read<Stage>(), names);
        } else {
            for (const detail::passing::seen& s : seen)
                if (s.stage == Stage::name && s.of == detail::candidate_of<Stage>) text += s.text;
        }
    };
    const auto show_all = [&]<class... Stage>(plan::stages<Stage...>) { (show(Stage{}), ...); };
    const auto show_candidate = [&](candidate c) {
        plan::with_candidate(c, [&](auto chosen) { show_all(plan::pipeline_of<decltype(chosen)::value>{}); });
    };

    if (t.read<plan::stage::check>()) {
        show_all(plan::pipeline{});
        return text;
    }
    names.take(t.read<plan::stage::rewrite>(), t.read<plan::stage::expand>());
    if (t.read<plan::stage::cycle>()) {
        show_all(plan::pipeline{});
        return text;
    }
    const plan::decision d = plan::decide(t, asked.s);
    plan::with_candidate(d.taken, [&](auto taken) { static_cast<void>(t.template read<plan::stage::prove<decltype(taken)::value>>()); });
    show_all(plan::pipeline{});
    for (int c = 0; c < candidates; ++c)
        if (static_cast<candidate>(c) != d.taken) show_candidate(static_cast<candidate>(c));
    show_candidate(d.taken);
    return text + "\ntaken: " + name_of(d.taken) + "\n";
}

namespace detail {
inline const bool shows_passes = (text_of_passes = &explain_passes, true);
}  // namespace detail

}  // namespace dovetail::observe

namespace dovetail {

// Prints the table of each stage for a graph.
template <class G, class O = options<>>
void explain_passes(std::ostream& to) {
    if constexpr (dovetail::plan::is_valid_graph<G>())
        to << observe::explain_passes(
            {&tag_of<G>, dovetail::plan::typed<G>::value, {}, {}, dovetail::plan::detail::decided<G, O>::options::value});
}

}  // namespace dovetail
