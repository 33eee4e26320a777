// The stages of each candidate: from the order of the tasks to the tables of the plan and their proof. ../stage.hpp defines a stage,
// ../pipeline.hpp the order of stages.
#pragma once

#include "../candidates.hpp"
#include "../emit.hpp"
#include "../prove.hpp"
#include "../steady_state.hpp"
#include "shared.hpp"

namespace dovetail::plan::stage {

// Of a candidate on three streams.
template <candidate C>
struct order {
    static constexpr const char* name = "order";
    static constexpr const char* makes =
        booked(C) ? "the order of the operations, with the times by which memory is booked" : "the order of the operations";
    using depends = of_plan;
    using reads =
        std::conditional_t<booked(C), stages<expand, occupancy, edges, costs, reference>, stages<expand, occupancy, edges, costs>>;
    template <class Program, class Occupancy, class Edges, class Costs>
    static constexpr auto make(const plan_options& s, const Program& p, const Occupancy& r, const Edges& e, const Costs& c) {
        return pass::overlapped_order(C, p, r, e, c, s);
    }
    template <class Program, class Occupancy, class Edges, class Costs, class Order>
    static constexpr auto make(const plan_options& s, const Program& p, const Occupancy& r, const Edges& e, const Costs& c,
                               const Order& reference) {
        return pass::booked_order(p, r, e, c, reference.view(), budget_of(C), s);
    }
};

// Of a booked candidate.
template <candidate C>
struct book_memory {
    static constexpr const char* name = "book memory";
    static constexpr const char* makes = "the place of each buffer, and how far the streams must be before a step takes bytes over";
    using depends = of_plan;
    using reads = stages<expand, order<C>>;
    template <class Program, class Booking>
    static constexpr auto make(const plan_options&, const Program& p, const Booking& booking) {
        return pass::book_memory(p, booking);
    }
};

template <candidate C>
struct schedule;

namespace detail {
template <candidate C>
struct schedule_reads {
    using type = stages<expand, occupancy, order<C>, edges, costs>;
};
template <candidate C>
    requires(booked(C))
struct schedule_reads<C> {
    using type = stages<expand, order<C>, book_memory<C>, edges, costs>;
};
template <candidate C>
    requires(one_stream(C))
struct schedule_reads<C> {
    using type = stages<expand, edges, costs>;
};
template <>
struct schedule_reads<candidate::listed_serial> {
    using type = stages<expand, schedule<candidate::listed>, costs>;
};
}  // namespace detail

template <candidate C>
struct schedule {
    static constexpr const char* name = "schedule";
    static constexpr const char* makes = "the order of the operations, with their streams and predicted times";
    using depends = of_plan;
    using reads = typename detail::schedule_reads<C>::type;
    static constexpr bool counts_rows = true;
    template <class Program, class... Other>
    static constexpr ir::sizes<4> bound(const plan_options&, const Program& p, const Other&...) {
        return {{p.tasks.size(), p.tasks.size(), p.tasks.size(), p.tasks.size()}};
    }
    template <class Store, class Program, class Edges, class Costs>
        requires(C != candidate::listed_serial)
    static constexpr auto make(const plan_options&, const Program& p, const Edges& e, const Costs& c) {
        return on_one_stream<pass::basic_schedule<Store>>(C, p, e, c);
    }
    template <class Store, class Program, class Listed, class Costs>
        requires(C == candidate::listed_serial)
    static constexpr auto make(const plan_options&, const Program& p, const Listed& listed, const Costs& c) {
        return pass::serial_schedule<pass::basic_schedule<Store>>(p, c, listed.order.view());
    }
    template <class Store, class Program, class Occupancy, class Order, class Edges, class Costs>
        requires(!booked(C))
    static constexpr auto make(const plan_options& s, const Program& p, const Occupancy& occupancy, const Order& order, const Edges& e,
                               const Costs& c) {
        return overlapped<pass::basic_schedule<Store>>(p, occupancy, order.view(), e, c, s);
    }
    template <class Store, class Program, class Booking, class Memory, class Edges, class Costs>
        requires(booked(C))
    static constexpr auto make(const plan_options& s, const Program& p, const Booking& booking, const Memory& memory, const Edges& e,
                               const Costs& c) {
        return booked_schedule<pass::basic_schedule<Store>>(p, booking, memory, e, c, s);
    }
};

template <candidate C>
struct ready {
    static constexpr const char* name = "ready";
    static constexpr const char* makes = "when the output that the objective names is ready";
    using depends = of_plan;
    using reads = stages<expand, schedule<C>>;
    template <class Program, class Schedule>
    static constexpr std::int64_t make(const plan_options& s, const Program& p, const Schedule& t) {
        return pass::objective_of(p, t, s);
    }
};

template <candidate C>
struct slowed {
    static constexpr const char* name = "slowed";
    static constexpr const char* makes = "the predicted time if communication takes three times as long";
    using depends = of_plan;
    using reads = stages<expand, occupancy, costs, schedule<C>>;
    template <class Program, class Occupancy, class Costs, class Schedule>
    static constexpr std::int64_t make(const plan_options& s, const Program& p, const Occupancy& r, const Costs& c, const Schedule& t) {
        return slowed_length(p, r, c, t, s);
    }
};

// issue, synchronise, assign_memory and wait_across_runs run within `emit`, in one evaluation.
template <candidate C>
struct issue {
    static constexpr const char* name = "issue";
    static constexpr const char* makes = "each role's steps in issue order";
    using depends = of_plan;
    using reads = stages<expand, schedule<C>>;
    template <class Program, class Schedule>
    static constexpr auto make(const plan_options&, const Program& p, const Schedule& t) {
        return pass::issue_order(p, t.order.view(), t.stream.view());
    }
};

template <candidate C>
struct synchronise {
    static constexpr const char* name = "synchronise";
    static constexpr const char* makes = "the waits between streams within a run, and how long each buffer is needed";
    using depends = of_plan;
    using reads = std::conditional_t<booked(C), stages<expand, issue<C>, book_memory<C>>, stages<expand, issue<C>>>;
    template <class Program, class Issue>
    static constexpr auto make(const plan_options&, const Program& p, const Issue& issued) {
        return pass::synchronise(p, issued);
    }
    template <class Program, class Issue, class Booked>
    static constexpr auto make(const plan_options&, const Program& p, const Issue& issued, const Booked& booked) {
        return pass::synchronise(p, issued, booked.waits.view());
    }
};

template <candidate C>
struct assign_memory {
    static constexpr const char* name = "assign memory";
    static constexpr const char* makes = "the place of each buffer in its arena";
    using depends = of_plan;
    using reads = std::conditional_t<booked(C), stages<expand, issue<C>, book_memory<C>>, stages<expand, issue<C>, synchronise<C>>>;
    template <class Program, class Issue, class Of>
    static constexpr auto make(const plan_options&, const Program& p, const Issue& issued, const Of& of) {
        if constexpr (booked(C))
            return pass::booked_assignment(p, issued, of);
        else
            return pass::assign_buffers(p, issued, of.waits.known, of.lives);
    }
};

template <candidate C>
struct wait_across_runs {
    static constexpr const char* name = "wait across runs";
    static constexpr const char* makes = "the waits on earlier runs";
    using depends = of_plan;
    using reads = stages<expand, issue<C>, synchronise<C>, assign_memory<C>>;
    template <class Program, class Issue, class Flow, class Memory>
    static constexpr vec<pass::pending_wait> make(const plan_options& s, const Program& p, const Issue& issued, const Flow& flow,
                                                  const Memory& memory) {
        if (!dovetail::plan::within(s.memory_limit, memory.roles.view())) return {};
        return pass::waits_across_runs(p, issued, flow.waits, flow.lives, memory);
    }
};

template <candidate C>
struct emit {
    static constexpr const char* name = "emit";
    static constexpr const char* makes = "the plan: steps with their waits and events, and the places of buffers";
    using depends = of_plan;
    using within = stages<issue<C>, synchronise<C>, assign_memory<C>, wait_across_runs<C>>;
    using given = std::conditional_t<booked(C), stages<role_order, expand, edges, schedule<C>, serial_time, book_memory<C>>,
                                     stages<role_order, expand, edges, schedule<C>, serial_time>>;
    using reads = stages<role_order, expand, schedule<C>, serial_time, issue<C>, synchronise<C>, assign_memory<C>, wait_across_runs<C>>;
    static constexpr bool counts_rows = true;
    // A step waits for at most two other streams in each run.
    template <class Order, class Program, class Edges, class Schedule, class... OfBooked>
    static constexpr ir::sizes<5> bound(const plan_options& s, const Order&, const Program& p, const Edges& e, const Schedule& t,
                                        std::int64_t, const OfBooked&...) {
        const int tasks = p.tasks.size(), participations = p.participations.size(), edges = e.size();
        const int event_slots = s.in_flight > s.channel_slots ? s.in_flight : s.channel_slots;
        const int in_run = !booked(C) && edges < 2 * participations ? edges : 2 * participations;
        const int waits = t.overlapped ? in_run + 2 * event_slots * participations : 0;
        return {{tasks, participations, waits, p.roles, p.buffers.size()}};
    }
    template <class Store>
    using table = ir::rebound<dovetail::plan::plan, Store>;
    template <class Order, class Program, class Schedule, class Issue, class Flow, class Memory, class Table>
    static constexpr void fill(const plan_options& s, const Order& order, const Program& p, const Schedule& t, std::int64_t sequential,
                               const Issue& issued, const Flow& flow, const Memory& memory, const vec<pass::pending_wait>& across,
                               Table& to) {
        dovetail::plan::emit(p, t, sequential, s.memory_limit, issued, flow, memory, across, to);
        for (int k = 0; k < to.roles.size(); ++k) to.roles.first[order[k]].rank_order = k;
    }
};

template <candidate C>
struct interval {
    static constexpr const char* name = "interval";
    static constexpr const char* makes = "the time between runs that follow one another";
    using depends = of_plan;
    using reads = stages<expand, costs, emit<C>>;
    template <class Program, class Costs, class Plan>
    static constexpr std::int64_t make(const plan_options& s, const Program& p, const Costs& c, const Plan& made) {
        return dovetail::plan::interval(p, c, made, s);
    }
};

template <candidate C>
struct prove {
    static constexpr const char* name = "prove";
    static constexpr const char* makes = "the verdict of the prover";
    using depends = of_plan;
    using reads = stages<rewrite, expand, emit<C>>;
    template <class Graph, class Program, class Plan>
    static constexpr verdict make(const plan_options& s, const Graph& g, const Program& p, const Plan& made) {
        return dovetail::plan::prove(ir::view(g), ir::view(p), ir::view(made), s);
    }
};

}  // namespace dovetail::plan::stage
