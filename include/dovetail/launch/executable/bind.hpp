// bind: from ids back to types. Takes a graph, the options of its plan and a backend's stream, gives the executable plan that the
// backend runs: the tables, and for every compute member a function that calls the user's operation with typed views. A
// function is instantiated once for each distinct combination of operation and tensors, however many members share it.
#pragma once

#include "../../core/hana.hpp"
#include "../../core/view.hpp"
#include "combinations.hpp"
#include "executable_plan.hpp"

namespace dovetail {

namespace detail {

template <access_mode Mode, class X>
constexpr auto typed_view(void* pointer) {
    using element = typename X::element_type;
    if constexpr (Mode == access_mode::read)
        return in<X>{{static_cast<const element*>(pointer)}};
    else if constexpr (Mode == access_mode::write)
        return out<X>{{static_cast<element*>(pointer)}};
    else
        return inout<X>{{static_cast<element*>(pointer)}};
}

// Reports an operation that cannot be launched so.
template <class Name, class Operation, class Stream, class... View>
constexpr void refuse_launch() {
    if constexpr (dsl::detail::names_launch<Operation>)
        error::report<error::launch_mismatch<Name, Operation, Stream, View...>>();
    else
        error::report<error::no_launch<Name, Operation, Stream, View...>>();
}
// True; a launch that returns something is reported.
template <class Name, class Operation, class Returned>
inline constexpr bool returns_nothing = sizeof(error::reported<error::launch_returns<Name, Operation, Returned>>) > 0;
template <class Name, class Operation>
inline constexpr bool returns_nothing<Name, Operation, void> = true;

// A variable, because within functions nvcc's front end finds the requirement unmet.
template <class Operation, class Stream, class... View>
inline constexpr bool launches = requires(Stream s, View... view) { Operation::launch(s, view...); };

// The launch of an operation with the views of a call.
template <class G, class O, class Stream, int Combination>
struct launching {
    static constexpr auto call = combinations<G, O>::calls[Combination];
    using operation = dsl::type_at<plan::written<G>, call.operation>;
    using statement = dsl::type_at<plan::written<G>, call.statement>;

    template <bool Beside, int I>
    static constexpr passed_view passed = (Beside ? call.beside : call.views)[I];
    template <bool Beside, int I>
    static constexpr tensor_type type = passed<Beside, I>.type;  // a variable: clang before 18 takes no member as a template argument
    template <bool Beside, int I>
    static constexpr auto view(void* const* pointers) {
        return typed_view<passed<Beside, I>.mode, plan::tensor_at<type<Beside, I>>>(pointers[passed<Beside, I>.access]);
    }
    template <bool Beside, int... I>
    static constexpr auto views(void* const* pointers, std::integer_sequence<int, I...>) {
        return hana::make_tuple(view<Beside, I>(pointers)...);
    }

    template <class... View>
    static constexpr void launch(Stream s, [[maybe_unused]] void* const* pointers, View... view) {
        if constexpr (!launches<operation, Stream, View...> && call.beside.count > 0)
            hana::unpack(views<true>(pointers, std::make_integer_sequence<int, call.beside.count>{}),
                         [&](auto... v) { launch_with(s, v...); });
        else
            launch_with(s, view...);
    }
    template <class... View>
    static constexpr void launch_with(Stream s, View... view) {
        if constexpr (launches<operation, Stream, View...>) {
            static_assert(returns_nothing<statement, operation, decltype(operation::launch(s, view...))>);
            operation::launch(s, view...);
        } else {
            refuse_launch<statement, operation, Stream, View...>();
        }
    }

    static constexpr void run(Stream s, void* const* pointers) {
        hana::unpack(views<false>(pointers, std::make_integer_sequence<int, call.views.count>{}),
                     [&](auto... view) { launch(s, pointers, view...); });
    }
};

template <class Statement>
struct state_attributes;
template <class N, class T, class... A>
struct state_attributes<state<N, T, A...>> {
    static constexpr bool supplied = (std::is_same_v<A, dovetail::from_store> || ... || false);
    template <class Stream>
    static constexpr launch_function<Stream> initialiser() {
        launch_function<Stream> f = nullptr;
        static_cast<void>(
            ((dsl::describe<A>.kind == dsl::keyword::no_shape_rule ? (f = function<A, Stream>(), true) : false) || ... || false));
        return f;
    }
    template <class Init, class Stream>
    static constexpr launch_function<Stream> function() {
        if constexpr (dsl::describe<Init>.kind != dsl::keyword::no_shape_rule) {
            return nullptr;
        } else if constexpr (!requires(Stream s, out<T> x) { Init::launch(s, x); }) {
            refuse_launch<N, Init, Stream, out<T>>();
            return nullptr;
        } else {
            static_assert(returns_nothing<N, Init, decltype(Init::launch(std::declval<Stream>(), std::declval<out<T>>()))>);
            return [](Stream s, void* const* pointers) { Init::launch(s, typed_view<access_mode::write, T>(pointers[0])); };
        }
    }
};

// The states of a graph. Only they are asked for attributes: a class for every symbol costs nvcc's pass for the device more
// than everything else.
template <class G>
struct states_of {
    static constexpr int symbols = plan::typed<G>::value.symbols.size();
    static constexpr int counted(const ir::graph& g) {
        int n = 0;
        for (const ir::symbol& s : g.symbols) n += s.kind == ir::symbol_kind::state ? 1 : 0;
        return n;
    }
    static constexpr int count = counted(plan::typed<G>::value);
    struct state_list {
        fixed<int, count> symbol{}, source_position{};
    };
    static constexpr state_list listed(const ir::graph& g) {
        state_list list;
        for (int s = 0, n = 0; s < symbols; ++s)
            if (g.symbols[s].kind == ir::symbol_kind::state) {
                list.symbol[n] = s;
                list.source_position[n++] = g.symbols[s].source_position - 1;  // the name stands right behind its statement
            }
        return list;
    }
    static constexpr state_list list = listed(plan::typed<G>::value);
    template <int I>
    using attributes = state_attributes<dsl::type_at<plan::written<G>, list.source_position[I]>>;

    template <class Stream, int... I>
    static constexpr fixed<launch_function<Stream>, symbols> initialisers(std::integer_sequence<int, I...>) {
        const fixed<launch_function<Stream>, count> each{count, {attributes<I>::template initialiser<Stream>()...}};
        fixed<launch_function<Stream>, symbols> f{};
        for (int n = 0; n < count; ++n) f[list.symbol[n]] = each[n];
        return f;
    }
    template <int... I>
    static constexpr fixed<bool, symbols> supplied(std::integer_sequence<int, I...>) {
        const fixed<bool, count> each{count, {attributes<I>::supplied...}};
        fixed<bool, symbols> f{};
        for (int n = 0; n < count; ++n) f[list.symbol[n]] = each[n];
        return f;
    }
};

}  // namespace detail

template <class G, class O, class Stream>
struct bound {
    static const executable_plan<Stream>& value() {
        static const executable_plan<Stream> made = make();
        return made;
    }
    // True; reports an operation that cannot be launched on such streams.
    static constexpr bool check() { return launches.size() == combinations::members; }

private:
    using planned = plan::planned<G, O>;
    using combinations = detail::combinations<G, O>;

    template <int... I>
    static constexpr auto functions(std::integer_sequence<int, I...>) {
        return fixed<launch_function<Stream>, combinations::count>{combinations::count, {&detail::launching<G, O, Stream, I>::run...}};
    }
    static constexpr fixed<launch_function<Stream>, combinations::members> list_launches() {
        fixed<launch_function<Stream>, combinations::members> f{};
        constexpr auto each = functions(std::make_integer_sequence<int, combinations::count>{});
        for (int m = 0; m < combinations::members; ++m)
            if (combinations::of[m] >= 0) f[m] = each[combinations::of[m]];
        return f;
    }
    static constexpr fixed<launch_function<Stream>, combinations::members> launches = list_launches();

    using states = detail::states_of<G>;
    static constexpr auto each_state = std::make_integer_sequence<int, states::count>{};
    static constexpr fixed<launch_function<Stream>, states::symbols> initialisers = states::template initialisers<Stream>(each_state);
    static constexpr fixed<bool, states::symbols> supplied = states::supplied(each_state);

    static executable_plan<Stream> make() {
        if constexpr (device_pass)
            return {.launches = launches.view(), .initialisers = initialisers.view()};  // their kernels; tables are not used there
        else
            return {&tag_of<G>,          planned::graph,   planned::program,
                    planned::plan,       planned::options, launches.view(),
                    initialisers.view(), supplied.view(),  hash_of(planned::graph, planned::program, planned::plan)};
    }
};

}  // namespace dovetail
