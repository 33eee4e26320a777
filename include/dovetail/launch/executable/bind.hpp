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

// The part of a compute member: it has exactly one.
constexpr const ir::participation& participation_of(const ir::program& p, int member) {
    int i = 0;
    while (p.participations[i].member != member) ++i;
    return p.participations[i];
}

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

// The launch of one member. An operation that works in place only gets the argument it aliases once, as inout.
template <class G, class O, class Stream, int Member>
struct launching {
    using planned = plan::planned<G, O>;
    static constexpr ir::member member = planned::program.members[Member];
    static constexpr ir::participation participation = participation_of(planned::program, Member);
    using called = dsl::type_at<plan::written<G>, planned::graph.nodes[member.node].source_position + 1>;
    using statement = dsl::type_at<plan::written<G>, planned::graph.nodes[member.node].statement>;

    template <int I>
    static constexpr ir::access access = planned::program.accesses[participation.first_access + I];
    template <int I>
    static constexpr tensor_type type = ir::type_of(planned::program, access<I>);
    static constexpr bool in_place = member.op->in_place_only && !planned::graph.nodes[member.node].update;
    static constexpr int taken = in_place ? (member.op->in_place < 0 ? 0 : member.op->in_place) : -1;

    template <int I>
    static constexpr auto argument([[maybe_unused]] void* const* pointers) {
        constexpr bool workspace = !type<I>.valid();
        constexpr bool merged = in_place && I == member.op->arguments;
        if constexpr (workspace || merged)
            return hana::make_tuple();
        else
            return hana::make_tuple(typed_view < I == taken ? access_mode::update : access<I>.mode,
                                    plan::tensor_at < type < I >>> (pointers[I]));
    }
    template <int... I>
    static constexpr auto arguments(void* const* pointers, std::integer_sequence<int, I...>) {
        return hana::flatten(hana::make_tuple(argument<I>(pointers)...));
    }

    // The same call with every update target as an argument that is read and a result that is written: for operations that
    // know no inout but declare that their first result may lie where that argument does.
    static constexpr ir::node node = planned::graph.nodes[member.node];
    template <int K>
    static constexpr int place_of_result = [] {
        int next = node.arguments;
        for (int k = 0; k <= K; ++k) {
            int at = -1;
            for (int i = node.arguments - 1; i >= 0; --i)  // the first of several is the one passed as inout
                if (planned::graph.operands[node.first_argument + i] == planned::graph.operands[node.first_result + k]) at = i;
            if (k == K) return at >= 0 ? at : next;
            if (at < 0) ++next;
        }
        return next;
    }();
    static constexpr bool split = node.update && node.results == 1 && member.op->in_place >= 0 && place_of_result<0> == member.op->in_place;

    template <access_mode Mode, int I>
    static constexpr auto viewed(void* const* pointers) {
        return typed_view<Mode, plan::tensor_at<type<I>>>(pointers[I]);
    }
    template <int... I>
    static constexpr auto split_arguments(void* const* pointers, std::integer_sequence<int, I...>) {
        return hana::make_tuple(viewed<access_mode::read, I>(pointers)..., viewed<access_mode::write, place_of_result<0>>(pointers));
    }

    // A variable of its own: inside the functions below nvcc's front end finds the requirement unmet.
    template <class... View>
    static constexpr bool launches = requires(Stream s, View... view) { called::launch(s, view...); };

    template <class... View>
    static constexpr void launch(Stream s, [[maybe_unused]] void* const* pointers, View... view) {
        if constexpr (!launches<View...> && split)
            hana::unpack(split_arguments(pointers, std::make_integer_sequence<int, node.arguments>{}),
                         [&](auto... v) { launch_with(s, v...); });
        else
            launch_with(s, view...);
    }
    template <class... View>
    static constexpr void launch_with(Stream s, View... view) {
        if constexpr (launches<View...>) {
            static_assert(returns_nothing<statement, called, decltype(called::launch(s, view...))>);
            called::launch(s, view...);
        } else {
            refuse_launch<statement, called, Stream, View...>();
        }
    }

    static constexpr void call(Stream s, void* const* pointers) {
        hana::unpack(arguments(pointers, std::make_integer_sequence<int, participation.accesses>{}),
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
        return fixed<launch_function<Stream>, combinations::count>{combinations::count,
                                                                   {&detail::launching<G, O, Stream, combinations::list[I]>::call...}};
    }
    static constexpr fixed<launch_function<Stream>, combinations::members> list_launches() {
        fixed<launch_function<Stream>, combinations::members> f{};
        constexpr auto distinct = functions(std::make_integer_sequence<int, combinations::count>{});
        fixed<int, combinations::members> number{};
        for (int i = 0; i < combinations::count; ++i) number[combinations::list[i]] = i;
        for (int m = 0; m < combinations::members; ++m)
            if (combinations::of[m] >= 0) f[m] = distinct[number[combinations::of[m]]];
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
