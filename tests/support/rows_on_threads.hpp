// Runs a graph of random_rows.hpp on the host backend's threads, as planned with its rewrites and with several runs in flight, and compares
// the outputs of each run with those of the graph as written (row_values.hpp). In memory every element of a row is the row's word:
// reductions of elements are then reductions of rows, and a row whose elements differ has been torn.
#pragma once

#include "launch_table.hpp"
#include "planner.hpp"
#include "row_values.hpp"

#include <dovetail/launch/engine/engine.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/plan/make.hpp>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace support {

class rows_on_threads {
public:
    rows_on_threads(const dv::ir::graph& written, const dv::plan_options& options, word seed, int runs)
        : written_{written}, seed_{seed}, made_{make_plan(written, options)} {
        for (int run = 0; run < runs; ++run) wanted_.emplace_back(written, run);
        rewritten_ = dv::pass::detail::rewritten(written, dv::pass::rewrites_of(written, made_.options.rewrites, made_.options.axes));
        prepare();
        if (made_.wrong || !made_.fits) wrong("no plan");
    }
    const dv::plan::made& planned() const { return made_; }
    dv::ir::graph rewritten() const { return plan_.graph; }

    // The first difference or error; empty: none.
    std::string fault() {
        if (!fault_.empty()) return fault_;
        const launch_table::in_use launches{launches_};
        try {
            dv::host::world{wanted_[0].ranks()}.run([this](dv::host::rank& rank) { play(rank); });
        } catch (const std::exception& e) {
            wrong(e.what());
        }
        return fault_;
    }

private:
    struct open_run {
        std::shared_ptr<dv::run_state> state;
        std::vector<std::vector<word>> bound;  // what its inputs are bound to
    };

    void wrong(const std::string& text) {
        const std::lock_guard lock{guard_};
        if (fault_.empty()) fault_ = text;
    }

    void prepare() {
        plan_.graph = dv::ir::view(rewritten_);
        plan_.program = dv::ir::view(made_.program);
        plan_.plan = dv::ir::view(made_.plan);
        plan_.s = made_.options;
        members_.resize(plan_.program.members.size());
        for (int m = 0; m < members_.size(); ++m)
            if (const int node = plan_.program.members[m].node; node >= 0 && plan_.program.members[m].kind == dv::op_kind::compute) {
                members_[m] = launches_.add([this, node](dv::host::stream s, void* const* pointers) { launch(node, s, pointers); });
                if (members_[m] == nullptr) wrong("too many operations for the table of launches");
            }
        initialisers_.resize(plan_.graph.symbols.size());
        plan_.launches = members_.view();
        plan_.initialisers = initialisers_.view();
        plan_.hash = dv::hash_of(plan_.graph, plan_.program, plan_.plan);
    }

    // Pointers to arguments, then to results.
    void launch(int node, dv::host::stream s, void* const* pointers) {
        const dv::ir::node& n = plan_.graph.nodes[node];
        std::vector<rows_of_words> arguments;
        for (const int a : plan_.graph.operands.subspan(n.first_argument, n.arguments))
            arguments.push_back(rows_at(*pointers++, plan_.graph.symbols[a].type, "an argument of node " + std::to_string(node)));
        // Now and then late, so that what is ordered by luck alone comes in another order.
        if (const word delay = mix(seed_ + static_cast<word>(node * 64 + s.rank)); delay % 4 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(delay / 4 % 100));
        for (int k = 0; k < n.results; ++k) {
            const dv::tensor_type& type = plan_.graph.symbols[plan_.graph.operands[n.first_result + k]].type;
            rows_of_words rows;
            for (int i = 0; i < row_count(type); ++i) rows.push_back(row_of_result(*n.op, k, i, arguments));
            const std::vector<word> elements = elements_of(rows, type);
            std::memcpy(*pointers++, elements.data(), elements.size() * sizeof(word));
        }
    }
    static std::vector<word> elements_of(const rows_of_words& rows, const dv::tensor_type& type) {
        std::vector<word> elements;
        for (const word w : rows) elements.insert(elements.end(), static_cast<std::size_t>(type.size()) / rows.size(), w);
        return elements;
    }
    rows_of_words rows_at(const void* memory, const dv::tensor_type& type, const std::string& what) {
        std::vector<word> elements(static_cast<std::size_t>(type.size()));
        std::memcpy(elements.data(), memory, elements.size() * sizeof(word));
        const std::size_t each = elements.size() / static_cast<std::size_t>(row_count(type));
        rows_of_words rows;
        for (std::size_t i = 0; i < elements.size(); i += each) rows.push_back(elements[i]);
        if (elements_of(rows, type) != elements) wrong("a row is torn in " + what);
        return rows;
    }

    void play(dv::host::rank& rank) {
        chooser r{mix(seed_ + static_cast<word>(rank.index()))};
        dv::engine_options o;
        o.time_limit = std::chrono::seconds{60};
        const std::shared_ptr<dv::engine> e = rank.make_engine(plan_, std::move(o));
        const struct closing {
            dv::engine& of;
            int unwinding = std::uncaught_exceptions();
            ~closing() { of.close(std::uncaught_exceptions() > unwinding); }
        } close{*e};
        std::deque<open_run> open;
        for (std::size_t run = 0; run < wanted_.size(); ++run) {
            while (static_cast<int>(open.size()) >= made_.options.in_flight || (!open.empty() && r.chance(15))) collect(*e, open);
            open.push_back(issue(*e, wanted_[run], rank.index(), r));
        }
        while (!open.empty()) collect(*e, open);
    }
    open_run issue(dv::engine& e, const row_values& values, int rank, chooser& r) {
        open_run next;
        for (int s = 0; s < written_.symbols.size(); ++s) {
            const dv::ir::symbol& x = written_.symbols[s];
            if (x.kind != dv::ir::symbol_kind::input) continue;
            std::vector<word>& bytes = next.bound.emplace_back(elements_of(values.of(s, rank), x.type));
            const auto from = r.one_of(std::vector{dv::binding_source::copied, dv::binding_source::borrowed, dv::binding_source::in_place});
            e.bind(s, {bytes.data(), x.type.size(), from});
            if (from == dv::binding_source::copied) spoil(bytes);
        }
        next.state = e.run();
        return next;
    }
    static void spoil(std::vector<word>& bytes) { std::fill(bytes.begin(), bytes.end(), 0xaaaaaaaaaaaaaaaaull); }
    void collect(dv::engine& e, std::deque<open_run>& open) {
        open_run& oldest = open.front();
        e.finish(oldest.state, std::nullopt);
        for (std::vector<word>& bytes : oldest.bound) spoil(bytes);
        const dv::thread_number reader = dv::launch::this_thread_number();
        e.hold(*oldest.state);
        for (int s = 0; s < written_.symbols.size(); ++s)
            if (written_.symbols[s].output) compare(e, *oldest.state, s);
        e.release(*oldest.state, reader);
        open.pop_front();
    }
    void compare(dv::engine& e, const dv::run_state& run, int symbol) {
        const std::string what = "output " + std::to_string(symbol) + " of run " + std::to_string(run.run) + " on rank " +
                                 std::to_string(e.rank);
        const dv::tensor_type& type = written_.symbols[symbol].type;
        std::vector<word> bytes(static_cast<std::size_t>(type.size()));
        const void* from = e.addresses.at(e.output_buffer(symbol), static_cast<int>(run.run), run.bound);
        e.addresses.source()->to_host(bytes.data(), from, type.bytes());
        if (rows_at(bytes.data(), type, what) != wanted_[static_cast<std::size_t>(run.run)].of(symbol, e.rank)) wrong(what + " differs");
    }

    const dv::ir::graph written_;
    const word seed_;
    dv::plan::made made_;
    dv::ir::graph_data rewritten_;
    std::vector<row_values> wanted_;  // by run
    dv::executable_plan<dv::host::stream> plan_;
    launch_table launches_;
    dv::vec<launch_table::pointer> members_, initialisers_;
    std::mutex guard_;
    std::string fault_;
};

}  // namespace support
