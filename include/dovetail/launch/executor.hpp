// executor<G, Options>: a graph made ready to run on one rank, of any backend. Names are checked when compiling; behind
// them is an engine that knows only ids.
//   dv::executor<model> step{rank};   step.bind(dv::name<x>, values);   auto t = step.run();   t.read(dv::name<y>)
// Arguments after the rank, in any order: a dv::store, dv::width<axis>(n), a time limit (any std::chrono duration),
// dv::record_times, dv::replay.
#pragma once

#include "../core/display.hpp"
#include "../cost/options.hpp"
#include "../dsl/words.hpp"
#include "../error/launch.hpp"
#include "../error/memory.hpp"
#include "../plan/planned.hpp"
#include "bind.hpp"
#include "observer.hpp"
#include "ticket.hpp"

#include <array>
#include <iterator>
#include <type_traits>

namespace dovetail {

// Memory that an input uses in place: on a GPU a device pointer. It must stay as it is until ticket.consumed().
template <class T>
struct device_pointer {
    const T* data = nullptr;
    std::int64_t count = 0;
};
template <class T>
device_pointer(T*, std::int64_t) -> device_pointer<std::remove_const_t<T>>;

struct record_times_option {};
inline constexpr record_times_option record_times{};

// On a GPU every run is the launch of one CUDA graph. `replay`: an operation that cannot be captured is an error;
// `replay_or_streams`: runs then go to streams.
inline constexpr replay_mode replay = replay_mode::always;
inline constexpr replay_mode replay_or_streams = replay_mode::if_possible;

namespace detail {

// An object of the error: its own sentence is what the compiler prints.
template <class Error>
constexpr void refuse() {
    static_assert(sizeof(Error) > 0);
}

inline void take(engine_options& o, const store& s) { o.store = s.core(); }
inline void take(engine_options& o, axis_width w) { o.widths.push_back(w); }
inline void take(engine_options& o, record_times_option) { o.record_times = true; }
inline void take(engine_options& o, replay_mode r) { o.replay = r; }
template <class Rep, class Period>
void take(engine_options& o, std::chrono::duration<Rep, Period> limit) {
    o.time_limit = launch::nanoseconds_of(limit);
}

// Number of elements where the type tells it, else -1.
template <class V>
inline constexpr std::int64_t static_count = -1;
template <class T, std::size_t N>
inline constexpr std::int64_t static_count<T[N]> = static_cast<std::int64_t>(N);
template <class T, std::size_t N>
inline constexpr std::int64_t static_count<std::array<T, N>> = static_cast<std::int64_t>(N);
template <template <class, std::size_t> class Span, class T, std::size_t N>
    requires(N != static_cast<std::size_t>(-1))
inline constexpr std::int64_t static_count<Span<T, N>> = static_cast<std::int64_t>(N);

template <class V>
concept sequence = requires(const V& v) {
    std::data(v);
    std::size(v);
};

}  // namespace detail

// What `run` of an executor returns.
template <class G>
class ticket : public basic_ticket {
public:
    using basic_ticket::basic_ticket;

    // An output of this run, when it has ended.
    template <class Name>
    auto read(Name) const {
        using N = typename Name::type;
        constexpr int symbol = plan::symbol_of<G, N>;
        if constexpr (symbol < 0)
            detail::refuse<error::not_an_output<N>>();
        else if constexpr (!plan::typed<G>::value.symbols[symbol].output)
            detail::refuse<error::not_an_output<N>>();
        else {
            wait();
            return reading<plan::tensor_of<G, N>>{engine_, flight_, symbol};
        }
    }
};

template <class G, wrapped_in_options Options = options<>>
class executor {
public:
    using graph = G;

    // All ranks make the same executors in the same order; throws on all of them where they differ.
    template <class Rank, class... Arguments>
        requires requires { typename Rank::stream; }
    explicit executor(Rank& rank, const Arguments&... arguments) : unwinding_{std::uncaught_exceptions()} {
        engine_options o;
        (detail::take(o, arguments), ...);
        const bool times = o.record_times;
        engine_ = rank.make_engine(bound<G, Options, typename Rank::stream>::value(), std::move(o));
        engine_->record_times(times);
        observer_ = observing.load(std::memory_order_acquire);
        if (observer_ != nullptr) observer_->made(*engine_, Options::value);
    }
    executor(executor&& other) noexcept = default;
    executor& operator=(executor&& other) noexcept {
        std::swap(engine_, other.engine_);
        std::swap(observer_, other.observer_);
        return *this;
    }
    // Waits for the runs in flight, up to the time limit; while an exception passes, they are aborted on all ranks.
    ~executor() {
        if (!engine_) return;
        engine_->close(std::uncaught_exceptions() > unwinding_);
        if (observer_ != nullptr) observer_->closed(*engine_);
    }

    // As many elements as the input has. A scalar is copied here. Of a sequence a run copies the elements when it comes to it: they
    // stay as they are until ticket.consumed(); one that is about to die is taken over. A device_pointer is used in place.
    template <class Name, class Value>
    executor& bind(Name, Value&& value) {
        using N = typename Name::type;
        using V = std::remove_cvref_t<Value>;
        constexpr int symbol = input_symbol<N>();
        if constexpr (symbol >= 0) {
            using tensor = plan::tensor_of<G, N>;
            using T = typename tensor::element_type;
            if constexpr (std::is_same_v<V, T>) {
                if constexpr (tensor::size != 1) detail::refuse<error::wrong_binding<N, tensor, V>>();
                const auto kept = std::make_shared<T>(value);
                at().bind(symbol, {kept.get(), 1, false, kept});
            } else if constexpr (std::is_same_v<V, device_pointer<T>>) {
                at().bind(symbol, {value.data, value.count, true, nullptr});
            } else if constexpr (detail::sequence<V>) {
                using given = std::remove_cvref_t<decltype(*std::data(value))>;
                constexpr std::int64_t known = detail::static_count<V>;
                if constexpr (!std::is_same_v<given, T> || (known >= 0 && known != tensor::size))
                    detail::refuse<error::wrong_binding<N, tensor, V>>();
                else if constexpr (!std::is_lvalue_reference_v<Value> && !std::is_trivially_copyable_v<V>) {
                    const auto kept = std::make_shared<V>(std::forward<Value>(value));
                    at().bind(symbol, {std::data(*kept), static_cast<std::int64_t>(std::size(*kept)), false, kept});
                } else if constexpr (!std::is_lvalue_reference_v<Value> && known >= 0 && sizeof(V) == static_cast<std::size_t>(known) * sizeof(T) &&
                                     known > 0) {
                    const auto kept = std::make_shared<V>(value);  // an array that is about to die
                    at().bind(symbol, {std::data(*kept), known, false, kept});
                } else
                    at().bind(symbol, {std::data(value), static_cast<std::int64_t>(std::size(value)), false, nullptr});
            } else
                detail::refuse<error::wrong_binding<N, tensor, V>>();
        }
        return *this;
    }
    // Host memory of `count` elements.
    template <class Name, class T>
    executor& bind(Name, const T* data, std::int64_t count) {
        using N = typename Name::type;
        constexpr int symbol = input_symbol<N>();
        if constexpr (symbol >= 0) {
            if constexpr (!std::is_same_v<T, typename plan::tensor_of<G, N>::element_type>)
                detail::refuse<error::wrong_binding<N, plan::tensor_of<G, N>, T*>>();
            else
                at().bind(symbol, {data, count, false, nullptr});
        }
        return *this;
    }
    // Issues one run with the bindings as they are, and returns at once unless its slot is still in use.
    ticket<G> run() { return {engine_, seen(at().run())}; }
    // The same, ordered behind and before the work on the caller's stream (a cudaStream_t).
    ticket<G> enqueue(void* stream) { return {engine_, seen(at().enqueue(stream))}; }

    // Whether this rank plays a role of the graph.
    template <class Name>
    bool is(Name) const {
        constexpr int role = plan::role_of<G, typename Name::type>;
        static_assert(role >= 0, "dovetail: the graph has no such role");
        return at().graph.folded || at().role == role;
    }
    // A state of this rank as it is after the runs issued so far; and setting it.
    template <class Name>
    auto read_state(Name) const {
        using N = typename Name::type;
        constexpr int symbol = state_symbol<N>();
        if constexpr (symbol >= 0) {
            using tensor = plan::tensor_of<G, N>;
            std::vector<typename tensor::element_type> values(static_cast<std::size_t>(tensor::size));
            at().settle();
            at().memory_of.store()->read(at().state_of(symbol), values.data());
            return values;
        }
    }
    template <class Name, class Values>
    void write_state(Name, const Values& values) {
        using N = typename Name::type;
        constexpr int symbol = state_symbol<N>();
        if constexpr (symbol >= 0) {
            using tensor = plan::tensor_of<G, N>;
            const typename tensor::element_type* from = std::data(values);
            if (static_cast<std::int64_t>(std::size(values)) != tensor::size)
                throw state_error{"state `" + display(tag_of<N>) + "` has " + std::to_string(tensor::size) + " elements, given are " +
                                  std::to_string(std::size(values))};
            at().settle();
            at().memory_of.store()->write(at().state_of(symbol), from);
        }
    }
    // From the next run on, ticket.times() tells when each step ran.
    void record_times(bool on) { at().record_times(on); }
    // Why runs go to streams although dv::replay_or_streams asked for replay: "operation `f` of `y` cannot be captured ..."; known
    // after the first run. Empty where they are replayed, or were not asked to be.
    const std::string& not_replayed() const { return at().not_replayed(); }
    // The name of a step of this rank, as ticket.times() counts them: "operation `f` of `y`".
    std::string step_name(int step) const { return at().names[static_cast<std::size_t>(step)].text(); }
    // For the library and for tools.
    dovetail::engine& at() const {
        if (!engine_) throw usage_error{"an executor that was moved from"};
        return *engine_;
    }

private:
    template <class N>
    static constexpr int input_symbol() {
        constexpr int symbol = plan::symbol_of<G, N>;
        if constexpr (symbol < 0)
            detail::refuse<error::not_an_input<N>>();
        else if constexpr (plan::typed<G>::value.symbols[symbol].kind != ir::symbol_kind::input)
            detail::refuse<error::not_an_input<N>>();
        else
            return symbol;
        return -1;
    }
    template <class N>
    static constexpr int state_symbol() {
        constexpr int symbol = plan::symbol_of<G, N>;
        if constexpr (symbol < 0)
            detail::refuse<error::unknown_state<N>>();
        else if constexpr (plan::typed<G>::value.symbols[symbol].kind != ir::symbol_kind::state)
            detail::refuse<error::unknown_state<N>>();
        else
            return symbol;
        return -1;
    }

    std::shared_ptr<flight> seen(std::shared_ptr<flight> f) const {
        if (observer_ != nullptr) observer_->issued(*engine_, f);
        return f;
    }

    std::shared_ptr<dovetail::engine> engine_;
    run_observer* observer_ = nullptr;
    int unwinding_ = 0;
};

}  // namespace dovetail
