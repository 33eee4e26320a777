// The engine on a GPU: walks the plan onto the three streams of its rank, or replays the walk as a CUDA graph. All that a run
// needs is made with the executor: a run is launches, waits and records, without allocation on the device, synchronisation or
// look-up.
// Long: issue, completion and the ways a run can end badly belong together.
#pragma once

#include "../walk.hpp"
#include "acts.hpp"
#include "local.hpp"
#include "replay.hpp"
#include "staging.hpp"
#include "timing.hpp"

#include <numeric>

namespace dovetail::cuda {

class device_engine final : public engine {
public:
    static std::shared_ptr<device_engine> make(const image<stream>& from, std::shared_ptr<context> on, engine_options o) {
        auto made = std::make_shared<device_engine>(from, std::move(on), std::move(o));
        if (!made->memory_of.states().empty()) made->memory_of.store()->add_user(made);
        return made;
    }
    device_engine(const image<stream>& from, std::shared_ptr<context> on, engine_options o)
        : engine{from.graph, from.program, from.plan, from.name, from.s.in_flight, on->index, on->size, on->memory, std::move(o)},
          image_{from},
          on_{std::move(on)} {
        try {
            agree(from.hash);
            table_ = std::make_unique<act_table>(image_, where, rank, role, *on_);
            prepare();
            warm(from.hash);
            initialise();
        } catch (...) {
            destroy();
            throw;
        }
    }
    ~device_engine() override { destroy(); }

    bool has_streams() const override { return true; }
    // Why runs go to streams although replay was asked for; empty where they do not.
    const std::string& not_replayed() const { return not_replayed_; }

    bool ready(flight& f) override {
        if (f.failed.load() || (on_->world->aborted() && !ended(f.run))) raise();
        if (!ended(f.run)) return false;
        if (!f.times.empty()) clock_.read(f);
        return true;
    }
    bool wait(flight& f, deadline until) override {
        const auto since = std::chrono::steady_clock::now();
        auto left = deadline::max();  // when a partner that has left is missed
        for (int turn = 0;; ++turn) {
            if (ready(f)) return true;
            const auto now = std::chrono::steady_clock::now();
            if (turn % 64 == 63) {
                look_for_errors();
                if (!communicates() || !somebody_left())
                    left = deadline::max();
                else if (left == deadline::max())
                    left = now + std::chrono::seconds{1};
                if (now > left) give_up("a rank has left and takes no part any more: " + stuck());
            }
            if (now >= until) return false;
            if (now - since > std::chrono::milliseconds{2})
                std::this_thread::sleep_for(std::chrono::microseconds{20});
            else
                std::this_thread::yield();
        }
    }
    std::int64_t clock_error_ns() const override { return clock_.error_ns(); }
    bool consumed(flight& f) override {
        const auto& r = runs_[static_cast<std::size_t>(f.run % depth)];
        if (ended_.load(std::memory_order_acquire) >= f.run || r.copied) return true;
        if (r.in_place || brought_ < 0) return ended(f.run);
        return query(r.brought) || ended(f.run);
    }
    std::string stuck() override { return on_->world->describe(); }
    void close(bool abort) noexcept override {
        try {
            if (on_->ended.load()) return;
            static_cast<void>(calls.set_device(on_->device));
            if (!abort && !on_->world->aborted()) {
                const std::int64_t last = progress_ ? progress_->issued.load() : -1;
                flight f;
                f.run = last;
                if (last < 0 || wait(f, std::chrono::steady_clock::now() + options.time_limit)) return;
            }
            if (!on_->world->aborted())
                on_->world->abort(
                    {rank, "rank " + std::to_string(rank) + " destroyed the executor of " + described() + " with work in flight", {}, {}, nullptr, true});
        } catch (...) {  // the run had failed; a destructor calls this
        }
        on_->abort_communication();
        lose_states_safely("the executor of " + described() + " was destroyed with work in flight");
        if (!on_->drain(std::chrono::seconds{5})) on_->memory->abandon();
    }

    // The walker's calls.
    void wait(int lane, int event, int ring, int) { check(calls.stream_wait_event(on_->streams[lane], event_at(event, ring), 0), "cudaStreamWaitEvent"); }
    void record(int lane, int event, int ring) { check(calls.event_record(event_at(event, ring), on_->streams[lane]), "cudaEventRecord"); }
    void issue(int index, const ir::step& s) {
        step_ = index;
        const cudaStream_t stream = on_->streams[s.lane];
        if (clock_.open()) clock_.mark(index, false, stream);
        for (int i = table_->first[index], end = table_->first[index + 1]; i < end; ++i) perform(table_->acts[i], stream);
        if (speaks_[index] && on_->write_value != nullptr)
            check(on_->write_value(stream, words_ + 4 * static_cast<CUdeviceptr>(s.lane), run_word_ + static_cast<cuuint32_t>(index + 1),
                                   CU_STREAM_WRITE_VALUE_DEFAULT),
                  "cuStreamWriteValue32");
        if (clock_.open()) clock_.mark(index, true, stream);
        if (capturing_) still_capturing();
        if (index == brought_ && !capturing_ && !runs_[now_ % depth].copied && !runs_[now_ % depth].in_place)
            check(calls.event_record(runs_[now_ % depth].brought, stream), "cudaEventRecord");
    }

private:
    static constexpr int depth = 64;  // runs issued ahead of the GPU
    static constexpr int careful_runs = 2;
    struct issued_run {
        cudaEvent_t done[lane_count] = {};
        cudaEvent_t brought = nullptr;
        unsigned lanes = 0;
        bool copied = false;  // all host inputs went through our own memory
        bool in_place = false;
    };
    // Accesses whose pointer changes from run to run, by buffer.
    struct moving {
        int buffer = 0;
        int input = -1;
        bool turns = false;  // has several slots
        void* now = nullptr;
        std::vector<int> accesses;
    };
    struct brought_input {
        int number = 0;
        std::int64_t bytes = 0;
        int slots = 1;
        std::vector<std::shared_ptr<const void>> loaded;  // by slot: whose contents it holds
    };

    bool communicates() const { return table_->communicates; }
    cudaEvent_t event_at(int event, int ring) const { return events_[static_cast<std::size_t>(event * plan.rings + ring)]; }
    cudaEvent_t new_event() {
        cudaEvent_t e = nullptr;
        check(calls.event_create(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        all_events_.push_back(e);
        return e;
    }
    bool query(cudaEvent_t e) const {
        const cudaError_t status = calls.event_query(e);
        if (status == cudaErrorNotReady) {
            static_cast<void>(calls.get_last_error());
            return false;
        }
        check(status, "cudaEventQuery");
        return true;
    }

    // ---- made with the executor

    void agree(std::uint64_t hash) {
        number_ = on_->executors++;
        if (number_ == 0) on_->clock = agree_on_clock(*on_->world, rank, options.time_limit);
        const auto all = on_->world->exchange(rank, "executor " + std::to_string(number_) + " (" + described() + ")",
                                              std::to_string(hash) + (options.replay == replay_mode::never ? " s " : " g ") + described(), options.time_limit);
        // The hash that most ranks hold is taken for the right one; of equal numbers, the lowest rank's.
        std::size_t right = 0, most = 0;
        for (std::size_t r = 0; r < all.size(); ++r) {
            const auto equal = static_cast<std::size_t>(std::count(all.begin(), all.end(), all[r]));
            if (equal > most) {
                most = equal;
                right = r;
            }
        }
        std::string differing;
        for (std::size_t r = 0; r < all.size(); ++r)
            if (all[r] != all[right]) differing += (differing.empty() ? "rank " : ", rank ") + std::to_string(r) + " (" + all[r] + ")";
        if (!differing.empty())
            throw world_error{"the plans of executor " + std::to_string(number_) + " differ: " + differing + " against rank " + std::to_string(right) + " (" +
                              all[right] + "). Ranks make the same executors, of the same graphs with the same options, in the same order"};
    }
    void prepare() {
        const int n = steps().size();
        progress_ = std::make_shared<progress>();
        progress_->graph = described();
        progress_->communication.resize(lane_count);
        for (int i = 0; i < n; ++i) {
            const ir::step& s = steps()[i];
            lanes_ |= 1u << s.lane;
            bool speaks = false;
            for (int a = table_->first[i]; a < table_->first[i + 1]; ++a)
                speaks = speaks || (table_->acts[a].kind >= act_kind::send && table_->acts[a].kind <= act_kind::reduce_scatter);
            speaks_.push_back(speaks && i < 0xffff);
            if (speaks_.back()) progress_->communication[s.lane].push_back(i);
            progress_->steps.push_back(names[i].text());
            if (program.vertices[s.vertex].kind == op_kind::input) brought_ = i;
        }
        for (int e = 0; e < plan.roles[role].events * plan.rings; ++e) events_.push_back(new_event());
        for (auto& j : joins_) j = new_event();
        for (auto& r : runs_) {
            for (int l = 0; l < lane_count; ++l)
                if (l == 0 || (lanes_ >> l & 1u)) r.done[l] = new_event();
            r.brought = brought_ >= 0 ? new_event() : nullptr;
        }
        words_memory_ = std::make_shared<block>(on_->memory, std::int64_t{256}, true);
        words_ = reinterpret_cast<CUdeviceptr>(words_memory_->data());
        progress_->words = reinterpret_cast<const std::uint32_t*>(words_memory_->data());
        progress_->keeps = words_memory_;
        prepare_pointers();
    }
    void prepare_pointers() {
        pointers_.assign(static_cast<std::size_t>(program.accesses.size()) + 1, nullptr);
        if (table_->scratch_bytes > 0) scratch_ = block{on_->memory, table_->scratch_bytes};
        pointers_.back() = scratch_.data();
        staging_ = std::make_unique<staging>(on_->memory, static_cast<int>(memory_of.inputs().size()));
        std::vector<int> place(static_cast<std::size_t>(program.buffers.size()), -1);
        const std::vector<binding> none(memory_of.inputs().size());
        for (const ir::step& s : steps())
            for (const ir::part& p : program.parts.part(s.first_part, s.parts))
                for (int a = p.first_access; a < p.first_access + p.accesses; ++a) {
                    const int b = program.accesses[a].buffer;
                    const ir::buffer& x = program.buffers[b];
                    const int input = x.symbol >= 0 && x.where == ir::storage::input ? memory_of.input_of(x.symbol) : -1;
                    if (input < 0 && x.slots <= 1) {
                        pointers_[a] = memory_of.at(b, 0, none);
                        continue;
                    }
                    if (place[b] < 0) {
                        place[b] = static_cast<int>(moving_.size());
                        moving_.push_back({b, input, x.slots > 1, nullptr, {}});
                        period_ = std::lcm(period_, static_cast<std::int64_t>(x.slots < 1 ? 1 : x.slots));
                    }
                    moving_[place[b]].accesses.push_back(a);
                }
        for (act& a : table_->acts) {
            if (a.kind == act_kind::call && a.at.workspace_bytes > 0) a.at.workspace = pointers_[a.to];
            if (a.kind == act_kind::bring) {
                a.input = memory_of.input_of(a.input);
                const int slots = program.buffers[program.accesses[a.to].buffer].slots;
                inputs_.push_back({a.input, a.bytes, slots < 1 ? 1 : slots, {}});
                inputs_.back().loaded.resize(static_cast<std::size_t>(inputs_.back().slots));
                a.peer = static_cast<int>(inputs_.size()) - 1;
            }
            if (a.kind == act_kind::local_reduce) {
                if (local_reduction_kernel == nullptr)
                    throw usage_error{
                        "a folded graph with a reduction needs a kernel of the library: compile one unit of the program that includes <dovetail/launch/cuda/local.hpp> with nvcc"};
                if (a.sources > most_local_sources) throw usage_error{"a folded graph reduces over at most " + std::to_string(most_local_sources) + " roles"};
            }
        }
        if (!inputs_.empty()) period_ = std::lcm(period_, std::int64_t{staging::halves});
        brings_.resize(inputs_.size());
    }
    // NCCL connects ranks and loads kernels at first use, which may wait for the GPU: it is done here, on memory that nobody
    // needs, once for every plan.
    void warm(std::uint64_t hash) {
        if (!communicates() || std::find(on_->warmed.begin(), on_->warmed.end(), hash) != on_->warmed.end()) return;
        const std::int64_t half = ir::aligned(table_->largest);
        const block spare{on_->memory, 2 * half};
        // From here on a kernel may wait for another rank, so nobody may still allocate: that may wait for kernels.
        meet("the connections of " + described());
        for (int i = 0; i < steps().size(); ++i) {
            step_ = i;
            try {
                for (int a = table_->first[i]; a < table_->first[i + 1]; ++a) {
                    act once = table_->acts[a];
                    if (once.kind < act_kind::group_start || once.kind > act_kind::reduce_scatter) continue;
                    if (once.from >= 0) {
                        once.from = 0;
                        once.from_offset = 0;
                    }
                    if (once.to >= 0) {
                        once.to = 1;
                        once.to_offset = 0;
                    }
                    void* const at[] = {spare.data(), spare.data() + half};
                    communicate(once, on_->streams[steps()[i].lane], at);
                }
            } catch (...) {
                fail(std::current_exception(), "while connections were made");
            }
        }
        const auto until = std::chrono::steady_clock::now() + options.time_limit;
        for (const cudaStream_t s : on_->streams)
            for (;;) {
                const cudaError_t status = calls.stream_query(s);
                if (status == cudaSuccess) break;
                if (status == cudaErrorNotReady)
                    static_cast<void>(calls.get_last_error());
                else
                    give_up(std::string{"cudaStreamQuery: "} + cudaGetErrorString(status) + " while connections were made");
                look_for_errors();
                if (on_->world->aborted()) raise();
                if (std::chrono::steady_clock::now() > until)
                    give_up("the connections of " + described() + " were not made within " + seconds(options.time_limit) + " s");
                std::this_thread::sleep_for(std::chrono::microseconds{50});
            }
        on_->warmed.push_back(hash);
    }
    void meet(const std::string& what) { on_->world->exchange(rank, what, {}, options.time_limit); }
    void initialise() {
        const auto& store = memory_of.store();
        for (const auto& s : memory_of.states()) {
            const bool supplied = s.symbol < image_.from_store.size() && image_.from_store[s.symbol];
            if (!store->adopt(*s.stored, supplied)) continue;
            const auto first = s.symbol < image_.initialisers.size() ? image_.initialisers[s.symbol] : nullptr;
            void* const at[] = {s.stored->where.data()};
            try {
                if (first != nullptr) {
                    static_cast<void>(calls.get_last_error());
                    stream on{on_->streams[0], on_->blas(), 0, nullptr, 0};
                    first(on, at);
                    check(calls.get_last_error(), "the launch");
                    check(calls.stream_synchronize(on_->streams[0]), "cudaStreamSynchronize");
                }
            } catch (const std::exception& e) {
                const std::string text = "the initialiser of state `" + symbol_name(s.symbol) + "` failed on " + where.describe(rank) + ": " + e.what();
                on_->world->abort({rank, text, "initialiser", symbol_name(s.symbol), std::current_exception(), false});
                throw operation_error{text, "initialiser", symbol_name(s.symbol), rank, std::current_exception()};
            }
            store->initialised(*s.stored);
        }
    }
    void destroy() noexcept {
        if (on_->last.engine == this) on_->last = {};
        graphs_.clear();
        recorded_graphs_.clear();
        for (const cudaEvent_t e : all_events_) static_cast<void>(calls.event_destroy(e));
        all_events_.clear();
    }

    // ---- a run

    void check_alive() override {
        if (on_->world->aborted()) raise();
        if (on_->ended.load())
            throw usage_error{"rank " + std::to_string(rank) + " has left world.run: the executor of " + described() + " cannot run any more"};
        if (!memory_of.states().empty() && memory_of.store()->any_lost())
            for (const auto& s : memory_of.states())
                if (const auto lost = memory_of.store()->lost(*s.stored); !lost.empty())
                    throw state_error{"state `" + symbol_name(s.symbol) + "` is lost: " + lost};
    }
    // Streams order a run behind the one before; only a reading keeps a slot.
    void give_way(const std::shared_ptr<flight>&) override {}

    void issue(const std::shared_ptr<flight>& f) override {
        if (communicates())
            if (const auto wrong = on_->world->in_order(rank, on_->runs++, number_, described()); !wrong.empty()) throw usage_error{wrong};
        now_ = f->run;
        step_ = -1;
        try {
            check(calls.set_device(on_->device), "cudaSetDevice");
            static_cast<void>(calls.get_last_error());  // an old error of the caller's is not ours
            if (now_ == 0) first(*f);
            make_room();
            const bool replayed = options.replay != replay_mode::never && not_replayed_.empty() && can_replay(*f), recorded = !f->times.empty();
            start(*f, replayed);
            if (replayed && recorded) {
                clock_.replay(static_cast<std::size_t>(now_) % recorded_graphs_.size(), f, [this](std::int64_t run) { wait_for(run); });
                recorded_graphs_.launch(now_);
            } else if (replayed)
                graphs_.launch(now_);
            else {
                run_word_ = static_cast<cuuint32_t>(now_ & 0x7fff) << 16;
                if (recorded) clock_.begin(f);
                launch::walk_watched(program, plan, role, since_switch_, *this, watcher);
                if (unasked_ > 0) ask();
                clock_.close();
            }
            finish_issue(*f, replayed);
        } catch (const timeout&) {
            f->failed.store(true);
            throw;
        } catch (...) {
            clock_.close();
            f->failed.store(true);
            fail(std::current_exception(), "run " + std::to_string(now_));
        }
    }
    // Before the first run, the memory that its bindings need; then all ranks start it together, so that none still allocates
    // or frees while another's kernels wait for it.
    void first(const flight& f) {
        for (const brought_input& in : inputs_)
            if (const binding& b = f.inputs[static_cast<std::size_t>(in.number)]; !b.in_place)
                staging_->reserve(in.number, b, in.bytes, options.replay != replay_mode::never);
        if (communicates()) meet("the first run of " + described());
    }
    // At most `depth` runs are open. Asking an event takes the time of a launch, so one answer is to do for many runs.
    void make_room() {
        if (now_ < depth || ended_.load(std::memory_order_acquire) >= now_ - depth) return;
        if (!ended(now_ - depth / 2) && !ended(now_ - depth * 3 / 4)) wait_for(now_ - depth);
    }
    // The streams go behind what they must go behind: the caller's stream, a run of another kind or of another executor that
    // shares states or communicators. Then the inputs.
    void start(flight& f, bool replayed) {
        const unsigned lanes = replayed ? 1u : lanes_;
        const auto& last = on_->last;
        const void* store = memory_of.states().empty() ? nullptr : memory_of.store().get();
        const bool other = last.engine != nullptr && last.engine != this;
        const bool kind = last.engine != nullptr && last.replayed != replayed;
        if (kind || other) since_switch_ = 0;
        if (kind || (other && (replayed || (store != nullptr && store == last.store))))
            for (int l = 0; l < lane_count; ++l)
                for (int k = 0; k < lane_count; ++k)
                    if ((lanes >> l & 1u) && (last.lanes >> k & 1u) && k != l)
                        check(calls.stream_wait_event(on_->streams[l], last.done[k], 0), "cudaStreamWaitEvent");
        if (f.enqueued) {
            check(calls.event_record(joins_[0], static_cast<cudaStream_t>(f.stream)), "cudaEventRecord");
            for (int l = 0; l < lane_count; ++l)
                if (lanes >> l & 1u) check(calls.stream_wait_event(on_->streams[l], joins_[0], 0), "cudaStreamWaitEvent");
        }
        move_pointers(now_, f.inputs);
        issued_run& r = runs_[now_ % depth];
        r.copied = true;
        r.in_place = false;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            brought_input& in = inputs_[i];
            const binding& b = f.inputs[static_cast<std::size_t>(in.number)];
            brings_[i] = nullptr;
            if (b.in_place) {
                r.in_place = true;
                r.copied = false;
                continue;
            }
            auto& loaded = in.loaded[static_cast<std::size_t>(now_ % in.slots)];
            if (!replayed && b.owner != nullptr && loaded == b.owner) continue;  // it is there
            const auto from = staging_->ready(in.number, b, in.bytes, now_, replayed, [&](std::int64_t run) { wait_for(run); });
            brings_[i] = from.data;
            loaded = b.owner;
            r.copied = r.copied && from.copied;
        }
    }
    void finish_issue(flight& f, bool replayed) {
        issued_run& r = runs_[now_ % depth];
        r.lanes = replayed ? 1u : lanes_ == 0 ? 1u : lanes_;
        for (int l = 0; l < lane_count; ++l)
            if (r.lanes >> l & 1u) {
                check(calls.event_record(r.done[l], on_->streams[l]), "cudaEventRecord");
                if (f.enqueued) check(calls.stream_wait_event(static_cast<cudaStream_t>(f.stream), r.done[l], 0), "cudaStreamWaitEvent");
            }
        ++since_switch_;
        auto& last = on_->last;
        if (last.engine != this) on_->world->watch(rank, progress_);
        last.engine = this;
        last.store = memory_of.states().empty() ? nullptr : memory_of.store().get();
        last.replayed = replayed;
        last.lanes = r.lanes;
        for (int l = 0; l < lane_count; ++l) last.done[l] = r.done[l];
        progress_->replayed.store(replayed, std::memory_order_relaxed);
        progress_->issued.store(now_, std::memory_order_release);
    }
    void move_pointers(std::int64_t run, const std::vector<binding>& bound) {
        for (moving& m : moving_) {
            if (!m.turns && m.now != nullptr && !bound[static_cast<std::size_t>(m.input)].in_place && m.now == memory_of.at(m.buffer, 0, bound)) continue;
            void* const at = memory_of.at(m.buffer, run, bound);
            if (at == m.now) continue;
            m.now = at;
            for (const int a : m.accesses) pointers_[static_cast<std::size_t>(a)] = at;
        }
    }
    void perform(const act& a, cudaStream_t stream) {
        switch (a.kind) {
            case act_kind::call: {
                cuda::stream s = a.at;
                s.handle = stream;
                a.launch(s, &pointers_[static_cast<std::size_t>(a.from)]);
                return looked_at();
            }
            case act_kind::copy:
                return check(calls.memcpy_async(at(a.to, a.to_offset), at(a.from, a.from_offset), static_cast<std::size_t>(a.bytes), cudaMemcpyDefault, stream),
                             "cudaMemcpyAsync");
            case act_kind::zero: return check(calls.memset_async(at(a.to, a.to_offset), 0, static_cast<std::size_t>(a.bytes), stream), "cudaMemsetAsync");
            case act_kind::bring: {
                const void* const from = brings_[static_cast<std::size_t>(a.peer)];
                if (from == nullptr || a.bytes == 0) return;
                return check(calls.memcpy_async(at(a.to, 0), from, static_cast<std::size_t>(a.bytes), cudaMemcpyDefault, stream), "cudaMemcpyAsync");
            }
            case act_kind::local_reduce: {
                local_sources from;
                from.count = a.sources;
                for (int i = 0; i < a.sources; ++i) from.at[i] = at(table_->lists[static_cast<std::size_t>(a.first_source + i)], a.from_offset);
                local_reduction_kernel(stream, a.elements, a.how, from, at(a.to, a.to_offset), static_cast<std::int64_t>(a.count));
                return looked_at();
            }
            default: return communicate(a, stream, pointers_.data());
        }
    }
    // A launch says nothing itself, and asking costs about as much as all else that a step does: the first runs ask behind each
    // launch, since one that is refused is refused at once; later ones now and then, and at the end.
    void looked_at() {
        if (now_ >= careful_runs && !capturing_ && ++unasked_ < 16) return;
        ask();
    }
    void ask() {
        const int first = unasked_ > 1 ? step_ - unasked_ + 1 : step_;
        unasked_ = 0;
        const cudaError_t status = calls.get_last_error();
        if (status == cudaSuccess) return;
        check(status, first < step_ && first >= 0
                          ? ("a launch of this operation or of one before it, back to " + names[static_cast<std::size_t>(first)].text()).c_str()
                          : "the launch");
    }
    void* at(int access, std::int64_t offset) const { return static_cast<char*>(pointers_[static_cast<std::size_t>(access)]) + offset; }
    static void communicate(const act& a, cudaStream_t stream, void* const* pointers) {
        const auto place = [&](int i, std::int64_t offset) -> void* { return i < 0 ? nullptr : static_cast<char*>(pointers[i]) + offset; };
        const void* const from = place(a.from, a.from_offset);
        void* const to = place(a.to, a.to_offset);
        switch (a.kind) {
            case act_kind::group_start: return check(calls.group_start(), "ncclGroupStart");
            case act_kind::group_end: return check(calls.group_end(), "ncclGroupEnd");
            case act_kind::send: return check(calls.send(from, a.count, a.type, a.peer, a.comm, stream), "ncclSend");
            case act_kind::recv: return check(calls.recv(to, a.count, a.type, a.peer, a.comm, stream), "ncclRecv");
            case act_kind::all_reduce: return check(calls.all_reduce(from, to, a.count, a.type, a.op, a.comm, stream), "ncclAllReduce");
            case act_kind::reduce: return check(calls.reduce(from, to, a.count, a.type, a.op, a.peer, a.comm, stream), "ncclReduce");
            case act_kind::broadcast: return check(calls.broadcast(from, to, a.count, a.type, a.peer, a.comm, stream), "ncclBroadcast");
            case act_kind::all_gather: return check(calls.all_gather(from, to, a.count, a.type, a.comm, stream), "ncclAllGather");
            case act_kind::reduce_scatter: return check(calls.reduce_scatter(from, to, a.count, a.type, a.op, a.comm, stream), "ncclReduceScatter");
            default: return;
        }
    }

    // ---- replay

    // Whether this run can be a graph's; captures where there is none yet, or a pointer used in place has changed.
    bool can_replay(const flight& f) {
        if (!can_replay_unrecorded(f)) return false;
        // Recorded runs have graphs of their own, whose nodes record events; two of a phase, since reading the times of one takes
        // until it has ended.
        if (!f.times.empty() && recorded_graphs_.size() == 0)
            for (std::int64_t phase = 0; phase < 2 * period_; ++phase) {
                clock_.begin_capture(f.times.size());
                capture(f, phase, recorded_graphs_);
                clock_.close();
            }
        return true;
    }
    bool can_replay_unrecorded(const flight& f) {
        std::vector<const void*>& seen = captured_;
        bool same = !graphs_.empty();
        for (std::size_t i = 0; same && i < f.inputs.size(); ++i) same = seen[i] == (f.inputs[i].in_place ? f.inputs[i].data : nullptr);
        if (same) return true;
        const bool again = !graphs_.empty();
        if (again) {
            wait_for(now_ - 1);
            graphs_.clear();
            recorded_graphs_.clear();
            clock_.forget_captures();
        }
        seen.clear();
        for (const binding& b : f.inputs) seen.push_back(b.in_place ? b.data : nullptr);
        std::string wrong;
        try {
            for (std::int64_t phase = 0; phase < period_; ++phase) capture(f, phase, graphs_);
        } catch (const std::exception& e) {
            wrong =
                (step_ >= 0 ? names[static_cast<std::size_t>(step_)].text() : described()) + " cannot be captured on " + where.describe(rank) + ": " + e.what();
        }
        capturing_ = false;
        // All ranks replay, or none.
        if (communicates() && !again)
            for (const auto& other : on_->world->exchange(rank, "the capture of " + described(), wrong, options.time_limit))
                if (wrong.empty()) wrong = other;
        if (wrong.empty()) return true;
        graphs_.clear();
        if (options.replay == replay_mode::always || again) throw failure{wrong};
        not_replayed_ = wrong;
        step_ = -1;
        return false;
    }
    void capture(const flight& f, std::int64_t phase, replays& to) {
        move_pointers(phase, f.inputs);
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            brings_[i] = f.inputs[static_cast<std::size_t>(inputs_[i].number)].in_place ? nullptr : staging_->place(inputs_[i].number, inputs_[i].bytes, phase);
        step_ = -1;
        run_word_ = 0;
        to.capture(lanes_ | 1u, joins_, [&] {
            capturing_ = true;
            for (int l = 0; l < lane_count; ++l)
                if (!progress_->communication[static_cast<std::size_t>(l)].empty() && on_->write_value != nullptr)
                    check(on_->write_value(on_->streams[l], words_ + 4 * static_cast<CUdeviceptr>(l), 0, CU_STREAM_WRITE_VALUE_DEFAULT),
                          "cuStreamWriteValue32");
            launch::walk(program, plan, role, 0, *this);
            capturing_ = false;
        });
    }
    // Names the operation that has spoilt the capture, where no call said so.
    void still_capturing() {
        cudaStreamCaptureStatus status{};
        check(calls.stream_is_capturing(on_->streams[steps()[step_].lane], &status), "cudaStreamIsCapturing");
        if (status != cudaStreamCaptureStatusActive) throw failure{"it synchronises, allocates or uses another stream while it is captured"};
    }

    // ---- the end of a run

    bool ended(std::int64_t run) {
        if (run < 0 || ended_.load(std::memory_order_acquire) >= run) return true;
        const issued_run& r = runs_[static_cast<std::size_t>(run % depth)];
        try {
            for (int l = 0; l < lane_count; ++l)
                if ((r.lanes >> l & 1u) && !query(r.done[l])) return false;
        } catch (const call_error&) {
            fail(std::current_exception(), "run " + std::to_string(run));
        }
        std::int64_t before = ended_.load(std::memory_order_relaxed);
        while (before < run && !ended_.compare_exchange_weak(before, run, std::memory_order_acq_rel)) {}
        progress_->ended.store(ended_.load(), std::memory_order_release);
        return true;
    }
    void wait_for(std::int64_t run) {
        flight f;
        f.run = run;
        if (!wait(f, std::chrono::steady_clock::now() + options.time_limit))
            throw timeout{
                "timeout after " + seconds(options.time_limit) + " s: run " + std::to_string(run) + " of " + described() + " has not ended: " + stuck(), rank};
    }
    // Whether a partner of the communication that this rank waits for takes no part any more. Others may leave when their work is
    // done, also while this rank is still computing.
    bool somebody_left() const {
        const int waiting = progress_->waiting_for();
        if (waiting < 0) return false;
        const ir::step& s = steps()[waiting];
        for (const ir::part& mine : program.parts.part(s.first_part, s.parts))
            for (const int r : where.partners(program, program.vertices[s.vertex], mine.member, rank))
                if (r != rank && on_->world->gone(r)) return true;
        return false;
    }
    void look_for_errors() {
        if (on_->world->aborted()) return;
        try {
            on_->check_communicators();
        } catch (const call_error& e) {
            give_up(std::string{e.what()} + "; " + stuck());
        }
    }
    // Ends the runs of all ranks and throws.
    [[noreturn]] void give_up(const std::string& why) {
        on_->world->abort({rank, where.describe(rank) + ": " + why, {}, {}, nullptr, false});
        raise();
    }
    // Returns to the caller, who may free what the GPU uses, when the GPU uses it no more; what it does not let go of is kept.
    [[noreturn]] void raise() {
        on_->abort_communication();
        if (!on_->drain(std::chrono::seconds{5})) on_->memory->abandon();
        lose_states_safely("a run of " + described() + " did not end: " + on_->world->why().text);
        on_->world->raise(rank);
    }
    [[noreturn]] void fail(const std::exception_ptr& why, const std::string& when) {
        std::string what = "an exception that is no std::exception";
        try {
            std::rethrow_exception(why);
        } catch (const operation_error&) {
            throw;  // it has been through here
        } catch (const std::exception& e) {
            what = e.what();
        } catch (...) {}
        static_cast<void>(calls.group_end());  // none stays open
        const step_name step = step_ >= 0 ? names[static_cast<std::size_t>(step_)] : step_name{described(), ""};
        const std::string text = (step_ >= 0 ? step.text() : described()) + " failed on " + where.describe(rank) + ", " + when + ": " + what;
        on_->world->abort({rank, text, step_ >= 0 ? step.operation : "", step.statement, why, false});
        raise();
    }
    void lose_states_safely(const std::string& why) noexcept {
        try {
            lose_states(why);
        } catch (...) {}
    }

    const image<stream> image_;
    const std::shared_ptr<context> on_;
    std::unique_ptr<act_table> table_;
    std::unique_ptr<staging> staging_;
    std::vector<cudaEvent_t> all_events_, events_;
    cudaEvent_t joins_[lane_count] = {};
    std::array<issued_run, depth> runs_;
    std::vector<void*> pointers_;  // by access
    std::vector<moving> moving_;
    std::vector<brought_input> inputs_;  // by `bring`
    std::vector<const void*> brings_;    // ... what this run copies; null: nothing
    std::vector<bool> speaks_;           // by step: communicates, so writes its number
    std::vector<const void*> captured_;  // by input: the pointer in the graphs
    block scratch_;
    std::shared_ptr<block> words_memory_;
    std::shared_ptr<progress> progress_;
    replays graphs_{on_}, recorded_graphs_{on_};
    step_clock clock_{on_};
    std::string not_replayed_;
    CUdeviceptr words_ = 0;
    cuuint32_t run_word_ = 0;
    unsigned lanes_ = 0;
    int brought_ = -1;  // the last step that copies an input
    int number_ = 0;
    int step_ = -1;                  // being issued
    std::int64_t period_ = 1;        // of the slots
    std::int64_t now_ = 0;           // the run being issued
    std::int64_t since_switch_ = 0;  // runs issued like this one in a row
    int unasked_ = 0;                // launches since their status was asked for
    bool capturing_ = false;
    std::atomic<std::int64_t> ended_ = -1;
};

}  // namespace dovetail::cuda
