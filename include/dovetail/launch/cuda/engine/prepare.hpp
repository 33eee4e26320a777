// Preparation of an executor before its first run: the check that all ranks have the same plan, commands and their pointers, events,
// connections, and the initialisation of states.
#pragma once

#include "../../engine/initialise.hpp"
#include "../../world/plan_fingerprint.hpp"
#include "../api/devices.hpp"
#include "../commands/command_runner.hpp"
#include "enqueue.hpp"
#include "inspection.hpp"
#include "warm_up.hpp"

namespace dovetail::cuda {

class prepared_runs : public enqueued_runs {
protected:
    prepared_runs(const executable_plan<stream>& from, std::shared_ptr<context> on, engine_options o)
        : enqueued_runs{from, std::move(on), std::move(o)}, executable_{from} {
        if (on_->world->aborted()) raise();
        try {
            prepare_all(from.hash);
        } catch (const communication_aborted&) {
            if (on_->world->aborted()) raise();
            throw;
        } catch (const call_error& e) {
            throw call_error{"the executor of " + described() + " cannot be made on " + where.describe(rank), e};
        }
    }
    // Locks NCCL if the executor communicates; otherwise an empty lock.
    nccl_lock lock_nccl() { return communicates_ ? on_->nccl.lock_calls() : nccl_lock{}; }
    launch::peers* partners() override { return communicates_ ? on_->world.get() : nullptr; }
    std::string hardware() const override { return detail::hardware_of(on_->device); }
    // Waits until all ranks have reached the same place of the program.
    void barrier(const std::string& what) { on_->world->exchange(rank, what, {}, options.time_limit); }

    // Called before the first run if values are inspected.
    void prepare_inspection() {
        if (options.check_finite || values != nullptr)
            inspection_ = std::make_unique<value_inspection>(inspected_steps(), graph, program, *pointers_, on_->memory, values);
    }
    void inspect(run_state& f) override {
        wait_for_end(f, options.time_limit);
        inspection_->deliver(f.run);
        if (!options.check_finite) return;
        const auto found = inspection_->first_non_finite();
        launch::abort_reason mine;
        std::int64_t order = -1;
        if (found) {
            const step_name& step = names[static_cast<std::size_t>(found->step)];
            mine.rank = rank;
            mine.text = step.text() + " failed on " + where.describe(rank) + ", run " + std::to_string(f.run) + ": " + found->text;
            mine.operation = step.operation;
            mine.statement = step.statement;
            order = std::find(plan.order.begin(), plan.order.end(), steps()[found->step].task) - plan.order.begin();
        }
        if (communicates_)
            mine = first_of_all(*on_->world, rank, order, mine, "the values of run " + std::to_string(f.run) + " of " + described(),
                                options.time_limit);
        if (mine.rank < 0) return;
        on_->world->abort(mine);
        raise();
    }

    // The streams on which a run has work, as bits.
    unsigned streams_of(const run_state& f, bool replayed) const {
        if (replayed) return 1u;
        return streams_ == 0 || fills_outputs(f) ? streams_ | 1u : streams_;
    }
    static bool fills_outputs(const run_state& f) {
        return std::any_of(f.writes.begin(), f.writes.end(), [](const bound_output& o) { return !o.read_there; });
    }
    // Copies outputs to where they are bound, on the first stream and behind all that the run does.
    void fill_outputs(const run_state& f, unsigned streams) {
        const cudaStream_t first = on_->streams[0];
        for (int l = 1; l < stream_count; ++l)
            if (streams >> l & 1u) {
                check(calls.event_record(joins_[l], on_->streams[l]), "cudaEventRecord");
                check(calls.stream_wait_event(first, joins_[l], 0), "cudaStreamWaitEvent");
            }
        for (int i = 0; i < static_cast<int>(addresses.outputs().size()); ++i) {
            const auto& [symbol, buffer] = addresses.outputs()[static_cast<std::size_t>(i)];
            const binding& b = f.bound[addresses.binding_of_output(i)];
            const auto bytes = static_cast<std::size_t>(graph.symbols[symbol].type.bytes());
            if (b.from == binding_source::filled)
                check(calls.memcpy_async(const_cast<void*>(b.data), addresses.at(buffer, f.run, f.bound), bytes, cudaMemcpyDefault, first),
                      "cudaMemcpyAsync");
        }
    }

    const executable_plan<stream> executable_;
    std::unique_ptr<peer_copies> peer_copies_;
    std::unique_ptr<command_list> list_;
    block scratch_;
    std::unique_ptr<pointer_table> pointers_;
    std::unique_ptr<input_copies> inputs_;
    stream_words words_{on_->batch_mem_op};
    std::unique_ptr<command_runner> runner_;
    std::shared_ptr<void> registered_;  // registration of the arena with NCCL
    std::vector<cudaEvent_t> events_;
    cudaEvent_t joins_[stream_count] = {};
    std::unique_ptr<value_inspection> inspection_;  // null: values are not inspected
    unsigned streams_ = 0;                          // streams in use, as bits
    int last_input_step_ = -1;                      // the last step that copies an input
    int nccl_stream_ = -1;                          // the stream of NCCL calls; a plan uses one
    int number_ = 0;                                // number of this executor on its rank

private:
    static constexpr const char* no_reduction_kernel =
        "a reduction within a GPU (of a single-rank graph, or by copy engines) needs a kernel of the library: compile one unit of the "
        "program that includes <dovetail/launch/cuda/commands/local_reduction.hpp> with nvcc";

    // A partner that is ahead by a run waits for room in the output; an abort ends that wait, and its copy begins.
    void check_not_overwritten(int output) override {
        if (on_->world->aborted() && is_written_by_copies(output)) raise();
    }
    // Other ranks copy to the address that they were given when the executor was made, and NCCL may have registered memory, which all ranks
    // pass or none. Captured NCCL calls must not depend on where this rank alone has bound an output: a rank that captured them again by
    // itself could wait within NCCL for the others.
    bool writes_in_place(int output) const override {
        if (communicates_ && options.replay != replay_mode::never) return false;
        return !is_written_by_copies(output) && !is_touched(output, [this](int step, const ir::access&) { return calls_nccl(step); });
    }
    bool is_written_by_copies(int output) const {
        return is_touched(output, [this](int step, const ir::access& a) {
            return writes(a.mode) && is_peer_copy(program, program.tasks[steps()[step].task]);
        });
    }
    // Whether the memory of an output has an access of which `is(step, access)` holds.
    template <class Is>
    bool is_touched(int output, Is is) const {
        const int owner = ir::owner_of(program, output);
        for (int i = 0; i < steps().size(); ++i)
            for (const ir::participation& p : program.participations.subspan(steps()[i].first_participation, steps()[i].participations))
                for (const ir::access& a : program.accesses.subspan(p.first_access, p.accesses))
                    if (ir::owner_of(program, a.buffer) == owner && is(i, a)) return true;
        return false;
    }
    bool calls_nccl(int step) const {
        const auto first = list_->commands.begin();
        return std::any_of(first + list_->first[step], first + list_->first[step + 1], [](const command& a) { return is_nccl(a.kind); });
    }

    void prepare_all(std::uint64_t hash) {
        check_plans(hash);
        communicates_ = where.communicates(program);
        peer_copies_ = std::make_unique<peer_copies>(on_, program, where, addresses.arena(), plan.roles[role].arena_bytes, described(),
                                                     missing_kernel(), options.time_limit);
        // NCCL splits no communicator on which it has work.
        if (communicates_ && !is_warm(hash)) wait_for_streams("runs issued before the executor of " + described() + " did not end");
        list_ = std::make_unique<command_list>(executable_, where, rank, role, *on_, *peer_copies_, options.replay != replay_mode::never);
        prepare();
        prepare_memory();
        if (!list_->communicators.empty())
            registered_ =
                on_->nccl.register_memory(list_->communicators, addresses.arena(), static_cast<std::size_t>(plan.roles[role].arena_bytes));
        initialise();
        warm(hash);
    }
    // Why the program cannot reduce within a GPU; empty if it can, or does not.
    std::string missing_kernel() const {
        const auto reduces = [](const ir::task& v) { return v.kind == op_kind::local_reduce; };
        const bool none = std::none_of(program.tasks.begin(), program.tasks.end(), reduces);
        return none || local_reduction_kernel != nullptr ? std::string{} : no_reduction_kernel;
    }
    void check_plans(std::uint64_t hash) {
        number_ = on_->executors++;
        if (number_ == 0) on_->clock = launch::synchronise_clocks(*on_->world, rank, options.time_limit);
        launch::compare_plans(*on_->world, rank, number_, described(), launch::fingerprint_text(hash, executable_.s, options, described()),
                              options.role_conflict, options.time_limit);
    }
    void prepare() {
        for (int i = 0; i < steps().size(); ++i) {
            const ir::step s = steps()[i];
            streams_ |= 1u << s.stream;
            bool communicates = false;
            for (int a = list_->first[i]; a < list_->first[i + 1]; ++a)
                communicates = communicates || is_communication(list_->commands[a].kind);
            if (calls_nccl(i)) nccl_stream_ = s.stream;
            counters_.add(names[i], s.stream, communicates, calls_nccl(i));
            if (program.tasks[s.task].kind == op_kind::input) last_input_step_ = i;
        }
        for (int e = 0; e < plan.roles[role].events * plan.event_slots; ++e) events_.push_back(new_event());
        for (auto& j : joins_) j = new_event();
        for (auto& r : runs_) {
            for (int l = 0; l < stream_count; ++l)
                if (l == 0 || (streams_ >> l & 1u)) r.done[l] = new_event();
            r.inputs_copied = last_input_step_ >= 0 ? new_event() : nullptr;
        }
    }
    void prepare_memory() {
        if (list_->scratch_bytes > 0) scratch_ = block{on_->memory, list_->scratch_bytes};
        pointers_ = std::make_unique<pointer_table>(program, steps(), addresses, scratch_.data());
        inputs_ = std::make_unique<input_copies>(on_->memory, static_cast<int>(addresses.inputs().size()));
        side_streams sides;
        for (int l = 0; l < stream_count; ++l) sides[static_cast<std::size_t>(l)] = {on_->side_stream_of(l), new_event(), new_event()};
        runner_ = std::make_unique<command_runner>(*list_, *pointers_, *inputs_, *peer_copies_, sides, words_);
        for (command& a : list_->commands) {
            if (a.kind == command_kind::call && a.at.workspace_bytes > 0) a.at.workspace = pointers_->at(a.to);
            if (a.kind == command_kind::copy_input) inputs_->add(a, addresses, program);
            if (a.kind == command_kind::put) a.to = remote_address(a);
            if (a.kind == command_kind::local_reduce) {
                if (local_reduction_kernel == nullptr) throw usage_error{no_reduction_kernel};
                if (a.sources > most_reduced_blocks)
                    throw usage_error{"a reduction within a GPU is over at most " + std::to_string(most_reduced_blocks) + " values"};
            }
        }
        if (!inputs_->empty()) pointers_->slots_of(staging::halves);
    }
    // Index of the receiver's access in the table of pointers, at its address in this process.
    int remote_address(const command& a) {
        const ir::access& target = program.accesses[a.target];
        const int at = ir::owner_of(program, target.buffer);
        return pointers_->add(peer_copies_->arena(a.peer) + plan.placements[at].offset + ir::offset_of(program, target),
                              plan.placements[at].stride, program.buffers[at].slots);
    }
    // Plans that are replayed may use communicators of their own.
    std::uint64_t warm_key(std::uint64_t hash) const {
        return detail::replayed_apart && options.replay != replay_mode::never ? ~hash : hash;
    }
    // Whether an executor of this plan was made before.
    bool is_warm(std::uint64_t hash) const {
        return std::find(on_->warmed.begin(), on_->warmed.end(), warm_key(hash)) != on_->warmed.end();
    }
    // Done once for each plan whose ranks may wait for each other.
    void warm(std::uint64_t hash) {
        if (!communicates_) return;
        if (options.check_finite) load_checks();
        if (is_warm(hash)) return;
        {
            kernel_warmer kernels{*list_, *pointers_, program, *on_, addresses.arena(), plan.roles[role].arena_bytes};
            try {
                counters_.load_kernel(on_->streams[0]);
                for (step_ = 0; step_ < steps().size(); ++step_) kernels.load(step_, on_->streams[0]);
                step_ = -1;
            } catch (...) {
                fail(std::current_exception(), "before the first run");
            }
            wait_for_streams("the kernels of " + described() + " were not loaded");
        }
        const connection_warmer connections{*list_, *on_};
        // From here on kernels may wait for other ranks. An allocation may wait for kernels, so all ranks must have finished theirs.
        barrier("the connections of " + described());
        try {
            const auto nccl_held = lock_nccl();
            for (step_ = 0; step_ < steps().size(); ++step_) connections.make(step_, on_->streams[steps()[step_].stream]);
            step_ = -1;
        } catch (...) {
            fail(std::current_exception(), "while connections were made");
        }
        wait_for_streams("the connections of " + described() + " were not made");
        on_->warmed.push_back(warm_key(hash));
    }
    void load_checks() {
        const block spare{on_->memory, 16};
        load_finite_checks(spare, on_->streams[0]);
        wait_for_streams("the kernels of dv::check_finite were not loaded");
    }
    void initialise() {
        launch::initialise_states(
            *this, executable_,
            [&, this](auto initialiser, void* const* at) {
                static_cast<void>(calls.get_last_error());
                initialiser(stream{on_->streams[0], on_->blas(), 0, nullptr, 0, &services}, at);
                check(calls.get_last_error(), "the launch");
                wait_for_stream(on_->streams[0], "an initialiser of " + described() + ", or what was issued before it, did not end");
            },
            [&, this](const launch::abort_reason& why) { on_->world->abort(why); });
    }
};

}  // namespace dovetail::cuda
