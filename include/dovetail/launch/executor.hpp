// executor<G, Options>: a graph on one rank, of any backend. Names are checked at compile time; at run time an engine gets ids only.
//   dv::executor<model> step{rank};   step.bind(dv::name<x>, values);   auto t = step.run();   t.read(dv::name<y>)
// Arguments after the rank, in any order: a dv::store, dv::width<axis>(n), a time limit (any std::chrono duration),
// dv::record_times, dv::check_finite, dv::replay, dv::tuned.
#pragma once

#include "../plan/facts.hpp"
#include "../plan/tuning.hpp"
#include "basic_executor.hpp"
#include "calls/asked.hpp"
#include "calls/executor_arguments.hpp"
#include "calls/placeholder.hpp"
#include "executable/bind.hpp"
#include "ticket.hpp"

namespace dovetail {

namespace detail {

template <class G, class O, class Stream>
constexpr bool check_launches() {
    if constexpr (plan::planned<G, O>::made) return bound<G, O, Stream>::check();
    return true;
}
template <class G, class O, class Stream>
inline constexpr bool launches_asked = check_launches<G, O, Stream>();

// Whether an executor has two plans: the backend may lack what the first one needs, and there is a second one. Both have the same kernels,
// so that the pass for the device needs one.
template <class G, class O, class Rank>
constexpr bool has_two_plans() {
    using made = executable_plan<typename Rank::stream>;
    if constexpr (!device_pass && requires(Rank& rank, const made& plan, engine_options o) { rank.make_engine(plan, plan, o); })
        return plan::has_fallback<G, O>;
    else
        return false;
}

}  // namespace detail

// The result of executor.run.
template <class G>
class ticket : public basic_ticket {
public:
    using basic_ticket::basic_ticket;
    explicit ticket(basic_ticket of) : basic_ticket{std::move(of)} {}

    // An output of this run. Waits for the end of the run.
    template <class Name>
    auto read(Name) const {
        constexpr int symbol = detail::output_asked<G, Name>;
        if constexpr (symbol >= 0) {
            wait();
            return reading<plan::tensor_of<G, typename Name::type>>{engine_, run_, symbol};
        } else {
            return detail::placeholder_reading{};
        }
    }
    // Copies an output of a run that was enqueued into a tensor, as the `copy_to` of a reading does, but on the stream to which the run was
    // enqueued: behind the run, before the later work of the stream and before the runs that this rank issues from now on. Returns at once,
    // except for pageable host memory. The tensor stays valid until the copy has ended; a run that fails leaves anything in it, so ask the
    // ticket. Throws a usage_error if the run was not enqueued, the stream is being captured, the tensor does not fit, or a later run uses
    // the slot.
    template <class Name, class To>
    void enqueue_copy(Name, const To& to) const {
        constexpr int symbol = detail::output_asked<G, Name>;
        if constexpr (symbol >= 0) {
            static_assert(detail::external_fits<To, plan::tensor_of<G, typename Name::type>>() && !detail::mdspan_of_const<To>,
                          "an output is copied to a DLTensor, a DLManagedTensor* or an mdspan of its element type and extents");
            enqueue_copy_of(symbol, detail::describe(to));
        }
    }
};

// The graph G on one rank: binds inputs, issues runs, and reads and writes states.
// Calls report their mistakes through constraints that are never false: clangd skips the bodies of functions in headers unless they are
// constexpr, but evaluates constraints. The constraint of world.run makes clangd look into a body whose rank is `auto&`.
template <class G, class Options = options<>>
class executor : public basic_executor {
    static_assert(valid<G>);  // a mistake of the graph is reported before anything else

public:
    using graph = G;

    // All ranks make the same executors in the same order; throws on all of them if they differ.
    template <detail::rank_of_a_world Rank, class... Arguments>
        requires(detail::arguments_asked<G, Options, Arguments...> && detail::launches_asked<G, Options, typename Rank::stream>)
    explicit executor([[maybe_unused]] Rank& rank, [[maybe_unused]] const Arguments&... arguments) {
        if constexpr (plan::planned<G, Options>::made) {
            engine_options o;
            (detail::take_argument(o, arguments), ...);
            if constexpr ((std::is_same_v<Arguments, tuned_option> || ...))
                open_tuned(rank, o);
            else
                open_plan(rank, o);
        }
    }
    template <class... Arguments>
        requires(!detail::starts_with_a_rank<Arguments...>)
    constexpr explicit executor(const Arguments&...) {
        if constexpr (plan::is_valid_graph<G>()) error::report<error::no_rank<G>>();
    }

    // Binds an input, to as many elements as it has: a value for a scalar, a container or a span, or a pointer and a number of elements.
    // Host memory is copied here, so the caller may change it at once. Device memory, and memory named by dv::borrowed(...), is used in
    // place and must not change before ticket.inputs_released(). A run uses the latest binding.
    // Also a DLTensor, a DLManagedTensor* (which the caller keeps and deletes) or an mdspan, in row-major order and with the element type
    // and the extents of the input: host memory is copied, memory of the rank's own GPU is used in place. Any other is a binding_error.
    template <class Name, class Value>
        requires(detail::binding_asked<G, Name, std::remove_cvref_t<Value>>)
    executor& bind(Name, [[maybe_unused]] Value&& value) {
        constexpr int symbol = detail::input_asked<G, Name>;
        if constexpr (symbol >= 0) {
            using tensor = plan::tensor_of<G, detail::name_of_constant<Name>>;
            if constexpr (detail::is_bindable<tensor, std::remove_cvref_t<Value>>) bind_symbol(symbol, detail::binding_to<tensor>(value));
        }
        return *this;
    }
    // The same for `count` elements of host memory from `data` on, which are copied.
    template <class Name, class T>
        requires(detail::binding_asked<G, Name, T*, true>)
    executor& bind(Name, const T* data, std::int64_t count) {
        constexpr int symbol = detail::input_asked<G, Name>;
        if constexpr (symbol >= 0) bind_symbol(symbol, {data, count, binding_source::copied});
        return *this;
    }
    // Binds an output to memory that runs write from now on, instead of memory of the library: a pointer and a number of elements, or a
    // DLTensor, a DLManagedTensor* or an mdspan as for `bind`, on the rank's own GPU (on the host backend, the host). It is valid when the
    // run has ended. What other ranks' copy engines or NCCL move is copied there at the end of the run; other outputs are made there, where
    // a reading reads them. Such a run begins when the earlier runs of the rank have ended, and later ones when it has. The memory lives
    // until the run has ended, which a timeout does not mean, or the executor. Memory that does not fit, or that is an input's or another
    // output's too, is a binding_error. Ignored on ranks without this output.
    template <class Name, class To>
        requires(detail::output_binding_asked<G, Name, To>)
    executor& bind_output(Name, [[maybe_unused]] const To& to) {
        constexpr int symbol = detail::output_asked<G, Name>;
        if constexpr (symbol >= 0)
            if constexpr (detail::external<To>) bind_output_symbol(symbol, detail::describe(to));
        return *this;
    }
    // The same for memory of `count` elements from `data` on.
    template <class Name, class T>
        requires(detail::output_binding_asked<G, Name, T*, true>)
    executor& bind_output(Name, [[maybe_unused]] T* data, [[maybe_unused]] std::int64_t count) {
        constexpr int symbol = detail::output_asked<G, Name>;
        if constexpr (symbol >= 0) {
            using tensor = plan::tensor_of<G, detail::name_of_constant<Name>>;
            if constexpr (detail::is_writable<tensor, T*>) bind_output_symbol(symbol, detail::elements_at<tensor>(data, count));
        }
        return *this;
    }
    // From now on runs write the output to memory of the library again.
    template <class Name>
    executor& unbind_output(Name) {
        constexpr int symbol = detail::output_asked<G, Name>;
        if constexpr (symbol >= 0) unbind_output_symbol(symbol);
        return *this;
    }
    // Issues one run with the present bindings, and returns at once unless its slot is still in use.
    ticket<G> run() { return ticket<G>{run_once()}; }
    // The same, ordered after the work already on the caller's stream (a cudaStream_t) and before its later work. Outputs are copied in
    // the same order by `enqueue_copy` of the ticket.
    ticket<G> enqueue(void* stream) { return ticket<G>{run_behind(stream)}; }

    // Whether this rank has a role of the graph.
    template <class Name>
        requires(detail::role_asked<G, Name> >= -1)
    bool is(Name) const {
        return plays(detail::role_asked<G, Name>);
    }
    // The values of a state of this rank, after the runs issued so far.
    template <class Name>
    auto read_state(Name) const {
        constexpr int symbol = detail::state_asked<G, Name>;
        if constexpr (symbol >= 0) {
            using tensor = plan::tensor_of<G, typename Name::type>;
            std::vector<typename tensor::element_type> values(static_cast<std::size_t>(tensor::size));
            read_symbol(symbol, values.data());
            return values;
        } else {
            return detail::placeholder_values{};
        }
    }
    // Sets a state of this rank, after the runs issued so far, to a container, or to a tensor as for `bind`, which is copied. What does not
    // fit is a state_error.
    template <class Name, class Values>
        requires(detail::state_values_asked<G, Name, Values>)
    void write_state(Name, const Values& values) {
        constexpr int symbol = detail::state_asked<G, Name>;
        if constexpr (symbol >= 0) {
            using tensor = plan::tensor_of<G, detail::name_of_constant<Name>>;
            if constexpr (detail::external_fits<Values, tensor>())
                write_symbol(symbol, detail::describe(values));
            else if constexpr (detail::holds<Values, typename tensor::element_type, tensor::size>)
                write_symbol(symbol, std::data(values), static_cast<std::int64_t>(std::size(values)));
        }
    }

private:
    // Opens the engine of the plan, or of the second plan.
    template <class Rank>
    void open_plan(Rank& rank, const engine_options& o) {
        using stream = typename Rank::stream;
        const auto& first = bound<G, Options, stream>::value();
        if constexpr (detail::has_two_plans<G, Options, Rank>()) {
            const auto& second = bound<G, plan::fallback_options<G, Options>, stream>::value();
            open(rank.make_engine(first, second, o), o.record_times, plan::typed<G>::value, first.s, second.s);
        } else {
            open(rank.make_engine(first, o), o.record_times, plan::typed<G>::value, first.s, first.s);
        }
    }
    // Opens the engine of each plan that dv::tuned compares.
    template <class Rank>
    struct comparison {
        executor& of;
        Rank& rank;
        engine_options& o;

        template <plan::tuning_kind Kind, class O>
        void operator()() const {
            const auto& made = bound<G, O, typename Rank::stream>::value();
            of.compare(plan::name_of(Kind), made.hash, made.plan, made.s, o,
                       [&, this] { of.open(rank.make_engine(made, o), o.record_times, plan::typed<G>::value, made.s, made.s); });
        }
    };
    template <class Rank>
    void open_tuned(Rank& rank, engine_options o) {
        plan::for_each_tuning_candidate<G, Options>(comparison<Rank>{*this, rank, o});
        begin_tuning();
    }
};

}  // namespace dovetail
