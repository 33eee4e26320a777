// The engine on the host: walks the plan onto the lanes of its rank, launches the operations on their threads, and meets
// the other ranks for communication.
#pragma once

#include "../walk.hpp"
#include "core.hpp"

#include <algorithm>
#include <new>

namespace dovetail::host {

class host_memory final : public memory {
public:
    void* allocate(std::int64_t bytes) override {
        const auto size = static_cast<std::size_t>(ir::aligned(bytes < 1 ? 1 : bytes));
        void* p = ::operator new(size, std::align_val_t{ir::alignment}, std::nothrow);
        if (p == nullptr) throw failure{"out of host memory: " + std::to_string(bytes) + " bytes wanted"};
        return std::memset(p, 0, size);
    }
    void release(void* p) noexcept override { ::operator delete(p, std::align_val_t{ir::alignment}); }
    void* allocate_host(std::int64_t bytes) override { return allocate(bytes); }
    void release_host(void* p) noexcept override { release(p); }
    void to_host(void* to, const void* from, std::int64_t bytes) override { detail::move(to, from, bytes); }
    void from_host(void* to, const void* from, std::int64_t bytes) override { detail::move(to, from, bytes); }
};

// What the engines of one rank share.
struct rank_state {
    std::shared_ptr<core> world;
    std::shared_ptr<monitor> signal = std::make_shared<monitor>();
    std::shared_ptr<memory> device = std::make_shared<host_memory>();
    lanes streams;
    int index = 0;
    // The run issued last on these lanes, and the store it used: another executor on the same store goes behind it.
    std::shared_ptr<flight> last;
    const void* last_engine = nullptr;
    const void* last_store = nullptr;
};

class host_engine final : public engine, public performer {
public:
    static std::shared_ptr<host_engine> make(const image<stream>& from, std::shared_ptr<rank_state> on, engine_options o) {
        auto made = std::make_shared<host_engine>(from, std::move(on), std::move(o));
        if (!made->memory_of.states().empty()) made->memory_of.store()->add_user(made);
        return made;
    }
    host_engine(const image<stream>& from, std::shared_ptr<rank_state> on, engine_options o)
        : engine{from.graph, from.program, from.plan, from.name, from.s.in_flight, on->index, on->world->size(), on->device, std::move(o)},
          image_{from}, on_{std::move(on)} {
        const ir::role_plan& r = plan.roles[role];
        const std::size_t copies = static_cast<std::size_t>(r.events) * static_cast<std::size_t>(plan.rings);
        recorded_ = std::vector<std::atomic<std::int64_t>>(copies);
        issued_.assign(copies, 0);
        prepare();
        number_ = on_->world->agree(rank, from.hash, described(), options.time_limit);
        initialise();
        for (int l = 0; l < lane_count; ++l)
            if (uses_[l]) lane::start(on_->streams[l]);
    }

    bool ready(flight& f) override {
        if (f.pending.load(std::memory_order_acquire) > 0) {
            if (on_->world->aborted()) on_->world->raise(rank);
            return false;
        }
        if (f.failed.load()) on_->world->raise(rank);
        return true;
    }
    bool wait(flight& f, deadline until) override {
        const auto ended = [&] { return f.pending.load(std::memory_order_acquire) == 0; };
        {
            std::unique_lock lock{on_->signal->mutex};
            if (!on_->signal->changed.wait_until(lock, until, [&] { return ended() || on_->world->aborted(); })) return false;
            // After an abort the lanes drain; whoever waits may free what they use, so give them a moment.
            if (!ended()) on_->signal->changed.wait_until(lock, std::min(until, std::chrono::steady_clock::now() + grace), ended);
        }
        return ready(f);
    }
    std::string stuck() override { return on_->world->stuck(rank); }
    void close(bool abort) noexcept override {
        try {
            const auto end = [&](std::chrono::nanoseconds bound) {
                std::unique_lock lock{on_->signal->mutex};
                return on_->signal->changed.wait_for(lock, bound, [&] { return open_ == 0; });
            };
            if (!abort && !on_->world->aborted()) {
                const auto until = std::chrono::steady_clock::now() + options.time_limit;
                std::unique_lock lock{on_->signal->mutex};
                on_->signal->changed.wait_until(lock, until, [&] { return open_ == 0 || on_->world->aborted(); });
            }
            if (end(std::chrono::nanoseconds{0})) return;
            on_->world->abort({rank, "rank " + std::to_string(rank) + " destroyed the executor of " + described() + " with work in flight", {}, {}, nullptr, true});
            end(std::chrono::seconds{5});
        } catch (...) {  // a destructor calls this
        }
    }
    // The walker's calls.
    void wait(int on, int event, int ring, int step) {
        const int copy = event * plan.rings + ring;
        push({nullptr, now_, task_kind::wait, on, copy, issued_[copy], step});
    }
    void issue(int index, const ir::step& s) { push({nullptr, now_, task_kind::step, s.lane, index, 0}); }
    void record(int on, int event, int ring) {
        const int copy = event * plan.rings + ring;
        push({nullptr, now_, task_kind::record, on, copy, issued_[copy] = now_->run + 1});
    }

    void perform(const task& t) noexcept override {
        try {
            switch (t.kind) {
                case task_kind::wait: return await(t);
                case task_kind::step: return step(t);
                case task_kind::record:
                    recorded_[t.index].store(t.generation, std::memory_order_release);
                    return on_->signal->notify();
                case task_kind::behind: {
                    std::unique_lock lock{on_->signal->mutex};
                    on_->signal->changed.wait(lock, [&] { return t.of->pending.load(std::memory_order_acquire) == 0 || on_->world->aborted(); });
                    return;
                }
                case task_kind::finish: return finished(*t.of);
            }
        } catch (...) {  // out of memory, at worst
            fail(*t.of, step_name{"the executor", ""}, std::current_exception());
        }
    }

private:
    // One member of a step on this rank.
    struct act {
        int member = 0;
        int first_access = 0;
        int pointers = 0;             // arguments and results
        int workspace = -1;           // buffer
        exchange move = {};
        std::vector<int> partners;    // ranks by member of the meeting; empty: nobody to meet
        int mine = 0;
        std::vector<int> accesses;    // local communication: first access of each seat's part
        std::vector<int> counts;
    };
    static constexpr std::chrono::seconds grace{1};

    void prepare() {
        acts_.resize(static_cast<std::size_t>(steps().size()));
        for (int i = 0; i < steps().size(); ++i) {
            const ir::step& s = steps()[i];
            uses_[s.lane] = true;
            touches_input_.push_back(touches(s));
            brings_input_.push_back(program.vertices[s.vertex].kind == op_kind::input);
            std::vector<bool> met;
            for (int k = 0; k < s.parts; ++k) {
                const ir::part& part = program.parts[s.first_part + k];
                const ir::member& m = program.members[part.member];
                act a;
                a.member = part.member;
                a.first_access = part.first_access;
                a.pointers = part.accesses;
                while (a.pointers > 0 && program.buffers[program.accesses[part.first_access + a.pointers - 1].buffer].where == ir::storage::workspace) {
                    --a.pointers;
                    a.workspace = program.accesses[part.first_access + a.pointers].buffer;
                }
                if (is_communication(m.kind)) {
                    element type = element::none;
                    for (int j = 0; j < part.accesses; ++j) type = program.buffers[program.accesses[part.first_access + j].buffer].type.type;
                    a.move = {m.kind, type, m.reduce, m.root, m.offset, m.open};
                    if (m.local) {
                        auto& list = acts_[i];
                        const auto same = std::find_if(list.begin(), list.end(), [&](const act& b) { return b.member == a.member; });
                        act& whole = same != list.end() ? *same : list.emplace_back(a);
                        if (part.seat >= static_cast<int>(whole.accesses.size())) {
                            whole.accesses.resize(static_cast<std::size_t>(part.seat) + 1, 0);
                            whole.counts.resize(static_cast<std::size_t>(part.seat) + 1, 0);
                        }
                        whole.accesses[part.seat] = part.first_access;
                        whole.counts[part.seat] = a.pointers;
                        continue;
                    }
                    a.partners = where.partners(program, program.vertices[s.vertex], part.member, rank);
                    a.mine = static_cast<int>(std::find(a.partners.begin(), a.partners.end(), rank) - a.partners.begin());
                    communicates_ = true;
                }
                acts_[i].push_back(std::move(a));
            }
        }
        for (const auto& s : steps()) updates_state_.push_back(writes_state(s));
    }
    bool touches(const ir::step& s) const {
        for (int k = 0; k < s.parts; ++k)
            for (const ir::access& a : accesses_of(program.parts[s.first_part + k]))
                if (program.buffers[a.buffer].where == ir::storage::input) return true;
        return program.vertices[s.vertex].kind == op_kind::input;
    }
    bool writes_state(const ir::step& s) const {
        for (int k = 0; k < s.parts; ++k)
            for (const ir::access& a : accesses_of(program.parts[s.first_part + k]))
                if (program.buffers[a.buffer].where == ir::storage::state && writes(a.mode)) return true;
        return false;
    }
    span<const ir::access> accesses_of(const ir::part& p) const { return program.accesses.part(p.first_access, p.accesses); }

    void initialise() {
        const auto& store = memory_of.store();
        for (const auto& s : memory_of.states()) {
            const bool supplied = s.symbol < image_.from_store.size() && image_.from_store[s.symbol];
            if (!store->adopt(*s.stored, supplied)) continue;
            const auto first = s.symbol < image_.initialisers.size() ? image_.initialisers[s.symbol] : nullptr;
            void* const at[] = {s.stored->where.data()};
            try {
                if (first != nullptr) first(stream{rank, 0, nullptr, 0}, at);
            } catch (const std::exception& e) {
                const std::string text = "the initialiser of state `" + symbol_name(s.symbol) + "` failed on " + where.describe(rank) + ": " + e.what();
                on_->world->abort({rank, text, "initialiser", symbol_name(s.symbol), std::current_exception(), false});
                throw operation_error{text, "initialiser", symbol_name(s.symbol), rank, std::current_exception()};
            }
            store->initialised(*s.stored);
        }
    }

    void check_alive() override {
        if (on_->world->aborted()) on_->world->raise(rank);
        if (on_->world->gone(rank)) throw usage_error{"rank " + std::to_string(rank) + " has left world.run: the executor of " + described() + " cannot run any more"};
        for (const auto& s : memory_of.states())
            if (const auto lost = memory_of.store()->lost(*s.stored); !lost.empty()) throw state_error{"state `" + symbol_name(s.symbol) + "` is lost: " + lost};
    }
    void issue(const std::shared_ptr<flight>& f) override {
        if (communicates_) on_->world->in_order(rank, number_, described());
        bool in_place = false;
        for (const binding& b : f->inputs) in_place = in_place || b.in_place;
        int readers = 0, used = 0;
        for (std::size_t i = 0; i < touches_input_.size(); ++i) readers += (in_place ? touches_input_[i] : brings_input_[i]) ? 1 : 0;
        for (const bool u : uses_) used += u ? 1 : 0;
        f->reading_inputs.store(readers);
        f->pending.store(used);
        now_ = f;
        {
            const std::lock_guard lock{on_->signal->mutex};
            open_ += used > 0 ? 1 : 0;
        }
        const void* store = memory_of.states().empty() ? nullptr : memory_of.store().get();
        if (store != nullptr && store == on_->last_store && on_->last_engine != this && on_->last)
            for (int l = 0; l < lane_count; ++l)
                if (uses_[l]) push({nullptr, on_->last, task_kind::behind, l, 0, 0});
        launch::walk(program, plan, role, f->run, *this);
        for (int l = 0; l < lane_count; ++l)
            if (uses_[l]) push({nullptr, f, task_kind::finish, l, 0, 0});
        now_ = nullptr;
        if (store != nullptr) {
            on_->last = f;
            on_->last_engine = this;
            on_->last_store = store;
        }
    }
    void push(task t) {
        t.who = std::static_pointer_cast<host_engine>(shared_from_this());
        on_->streams[t.lane]->push(std::move(t));
    }

    void await(const task& t) {
        auto& copy = recorded_[t.index];
        if (copy.load(std::memory_order_acquire) >= t.generation) return;
        lane& on = *on_->streams[t.lane];
        on.now({activity::event, names[t.awaited].text(), t.of->run, nullptr});
        {
            std::unique_lock lock{on_->signal->mutex};
            on_->signal->changed.wait(lock, [&] { return copy.load(std::memory_order_acquire) >= t.generation || on_->world->aborted(); });
        }
        on.now({});
    }
    void step(const task& t) {
        flight& f = *t.of;
        lane& on = *on_->streams[t.lane];
        if (on_->world->aborted()) f.failed.store(true);
        if (!f.failed.load()) {
            const auto start = std::chrono::steady_clock::now();
            on.now({activity::operation, names[t.index].text(), f.run, nullptr});
            try {
                if (!perform(acts_[t.index], f, on)) f.failed.store(true);
            } catch (...) {
                fail(f, names[t.index], std::current_exception());
            }
            on.now({});
            if (!f.times.empty()) f.times[t.index] = {since(start), since(std::chrono::steady_clock::now())};
        }
        if (f.failed.load() && updates_state_[t.index]) lose_states("run " + std::to_string(f.run) + " of " + described() + " did not end: " + on_->world->why());
        const bool reads = brings_input_[t.index] || touches_input_[t.index];
        bool counted = brings_input_[t.index];
        if (reads && !counted)
            for (const binding& b : f.inputs) counted = counted || b.in_place;
        if (counted && f.reading_inputs.fetch_sub(1, std::memory_order_acq_rel) == 1) on_->signal->notify();
    }
    // False where a meeting did not take place.
    bool perform(const std::vector<act>& acts, flight& f, lane& on) {
        std::vector<std::shared_ptr<meeting>> meetings;
        for (const act& a : acts) {
            const ir::member& m = program.members[a.member];
            if (m.kind == op_kind::input) bring(a, f);
            else if (is_communication(m.kind)) {
                if (m.local) {
                    local(a, f);
                    continue;
                }
                auto met = on_->world->arrive({number_, f.run, a.member, a.partners[0]}, a.partners, a.mine, seat_of(a.first_access, a.pointers, f), a.move);
                if (!met) return false;
                meetings.push_back(std::move(met));
            } else launch_one(a, f, on.number());
        }
        for (const auto& m : meetings) {
            activity now = on.doing();
            now.doing = activity::partners;
            now.at = m;
            on.now(now);
            int missing = -1;
            if (on_->world->depart(*m, missing)) continue;
            if (missing >= 0) {
                const std::string text = "rank " + std::to_string(missing) + " has left and does not take part in " + now.step + " (run " + std::to_string(f.run) + ")";
                on_->world->abort({missing, text, {}, {}, nullptr, true});
            }
            return false;
        }
        return true;
    }
    void launch_one(const act& a, const flight& f, int number) {
        const auto launch = a.member < image_.launches.size() ? image_.launches[a.member] : nullptr;
        void* few[16];
        std::vector<void*> many;
        void** pointers = few;
        if (a.pointers > 16) {
            many.resize(static_cast<std::size_t>(a.pointers));
            pointers = many.data();
        }
        for (int i = 0; i < a.pointers; ++i) pointers[i] = address(a.first_access + i, f);
        if (launch == nullptr) {  // a copy between device and pinned memory
            if (a.pointers == 2) detail::move(pointers[1], pointers[0], memory_of.bytes_of(program.accesses[a.first_access + 1].buffer));
            return;
        }
        stream s{rank, number, nullptr, 0};
        if (a.workspace >= 0) {
            s.workspace = memory_of.at(a.workspace, f.run, f.inputs);
            s.workspace_bytes = program.buffers[a.workspace].bytes;
        }
        launch(s, pointers);
    }
    void bring(const act& a, const flight& f) {
        const int buffer = program.accesses[a.first_access].buffer;
        const binding& b = f.inputs[memory_of.input_of(program.buffers[buffer].symbol)];
        detail::move(memory_of.at(buffer, f.run, f.inputs), b.data, program.buffers[buffer].type.bytes());
    }
    void local(const act& a, const flight& f) {
        std::vector<seat> seats;
        for (std::size_t i = 0; i < a.accesses.size(); ++i) seats.push_back(seat_of(a.accesses[i], a.counts[i], f));
        std::vector<char> scratch;
        move_data(a.move, seats, scratch);
    }
    seat seat_of(int first, int count, const flight& f) const {
        seat s;
        for (int i = 0; i < count; ++i) {
            const ir::access& x = program.accesses[first + i];
            const std::int64_t bytes = program.buffers[x.buffer].type.bytes();
            if (reads(x.mode) && s.send == nullptr) {
                s.send = address(first + i, f);
                s.send_bytes = bytes;
            }
            if (writes(x.mode) && s.recv == nullptr) {
                s.recv = address(first + i, f);
                s.recv_bytes = bytes;
            }
        }
        return s;
    }
    void* address(int access, const flight& f) const { return memory_of.at(program.accesses[access].buffer, f.run, f.inputs); }

    void finished(flight& f) {
        {
            const std::lock_guard lock{on_->signal->mutex};
            if (f.pending.fetch_sub(1, std::memory_order_acq_rel) == 1) --open_;
        }
        on_->signal->changed.notify_all();
    }
    void fail(flight& f, const step_name& step, const std::exception_ptr& why) {
        f.failed.store(true);
        std::string what = "an exception that is no std::exception";
        try {
            std::rethrow_exception(why);
        } catch (const std::exception& e) {
            what = e.what();
        } catch (...) {
        }
        on_->world->abort({rank, step.text() + " failed on " + where.describe(rank) + ", run " + std::to_string(f.run) + ": " + what, step.operation, step.statement, why, false});
    }
    std::int64_t since(std::chrono::steady_clock::time_point t) const { return std::chrono::duration_cast<std::chrono::nanoseconds>(t - on_->world->origin).count(); }

    const image<stream> image_;
    const std::shared_ptr<rank_state> on_;
    std::vector<std::atomic<std::int64_t>> recorded_;  // by event copy: run + 1 of the last record that happened
    std::vector<std::int64_t> issued_;                 // ... that was issued
    std::vector<std::vector<act>> acts_;               // by step
    std::vector<bool> touches_input_, brings_input_, updates_state_;
    bool uses_[lane_count] = {};
    bool communicates_ = false;
    int number_ = 0;
    int open_ = 0;                                     // runs in flight; guarded by the monitor
    std::shared_ptr<flight> now_;                      // being issued
};

}  // namespace dovetail::host
