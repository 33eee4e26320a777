// Waits from run to run: takes the program, its issued steps with the waits within a run, the lifetimes and the places, gives
// the waits on steps of earlier runs, by role. What a step must know of an earlier run is found in required_clocks.hpp.
#pragma once

#include "required_clocks.hpp"

namespace dovetail::pass {

namespace detail {

constexpr void raise(int& to, int value) {
    if (to < value) to = value;
}

// Finds the waits of one role that meet what its steps must know of earlier runs. Follows runs 0 ... d, of which d is the largest distance,
// with clocks that count the steps of a stream through all of them. What run d has to know of run 0 it can only learn from the runs
// between, so that its waits are the same in every later run.
template <class Program>
class run_clocks {
public:
    constexpr run_clocks(const vec<required_clock>& wanted, const basic_issue_order<Program>& issued, const basic_in_run<Program>& waits,
                         int r)
        : wanted_{wanted},
          in_run_{waits},
          first_{issued.roles[r].first_step},
          count_{issued.roles[r].steps},
          steps_{issued.steps.begin() + first_},
          known_{waits.known.begin() + first_},
          index_{issued.index_on_stream.begin() + first_},
          length_{issued.on_stream.begin() + r * stream_count},
          stream_steps_{issued.stream_steps.begin() + stream_count * first_},
          need_(count_),
          first_wait_(count_, -1) {
        for (const required_clock& d : wanted) {
            raise(runs_, d.distance);
            raise(latest_, d.step - first_);
        }
        clocks_ = vec<vector_clock>(runs_ * count_, unset{});
        for (int l = 0; l < stream_count; ++l) {
            if (length_[l] == 0) continue;
            tail_[l] = known_[stream_steps_[l * count_ + length_[l] - 1] - first_];
            tail_[l].known[l] = length_[l];
        }
        while (first_in_run_ < waits.waits.size() && waits.waits[first_in_run_].step < first_) ++first_in_run_;
    }

    constexpr void add_waits(vec<pending_wait>& out) {
        for (int run = 1; run <= runs_; ++run) follow(run);
        for (const pending_wait& w : made_) out.push({first_ + w.step, first_ + w.on, w.distance});
    }

private:
    // One run, step by step. In the last one nothing matters behind the last step that must know something.
    constexpr void follow(int run) {
        for (const required_clock& d : wanted_)
            if (d.distance == run)
                for (int l = 0; l < stream_count; ++l) raise(need_[d.step - first_].known[l], d.need.known[l]);
        const int end = run == runs_ ? latest_ + 1 : count_;
        for (int s = 0, w = first_in_run_; s < end; ++s) {
            const int stream = steps_[s].stream;
            vector_clock& mine = tail_[stream];
            for (; w < in_run_.waits.size() && in_run_.waits[w].step == first_ + s; ++w) join(mine, in_run_.waits[w].on - first_, run);
            for (int a = first_wait_[s]; a >= 0; a = next_wait_[a]) join(mine, made_[a].on, run - made_[a].distance);
            if (!covers(mine, need_[s])) wait_for_first_run(s, mine, run);
            need_[s] = {};
            clocks_[(run - 1) * count_ + s] = mine;
            mine.known[stream] = run * length_[stream] + index_[s] + 1;
        }
    }

    // Step s of a run, whose clock this is, knows from here on what it must know of run 0.
    constexpr void wait_for_first_run(int s, vector_clock& mine, int run) {
        const int* need = need_[s].known;
        int on[stream_count] = {-1, -1, -1};
        for (int l = 0; l < stream_count; ++l)
            if (need[l] > mine.known[l]) on[l] = stream_steps_[l * count_ + need[l] - 1];
        keep_strongest(on, need, in_run_.known.begin());
        for (int l = 0; l < stream_count; ++l) {
            if (on[l] < 0) continue;
            next_wait_.push(first_wait_[s]);
            first_wait_[s] = made_.size();
            made_.push({s, on[l] - first_, run});
            join(mine, on[l] - first_, 0);
        }
    }

    // What step `on` of a run knew, and that it is done.
    constexpr void join(vector_clock& to, int on, int run) const {
        const vector_clock& from = run == 0 ? known_[on] : clocks_[(run - 1) * count_ + on];
        for (int l = 0; l < stream_count; ++l) raise(to.known[l], from.known[l]);
        const int stream = steps_[on].stream;
        raise(to.known[stream], run * length_[stream] + index_[on] + 1);
    }

    const vec<required_clock>& wanted_;
    const basic_in_run<Program>& in_run_;
    const int first_, count_;  // steps of the role; those below are counted within it
    const issued_step* steps_;
    const vector_clock* known_;
    const int *index_, *length_, *stream_steps_;
    int runs_ = 0, latest_ = 0, first_in_run_ = 0;
    vec<vector_clock> need_, clocks_;  // by step; by run and step
    vec<int> first_wait_, next_wait_;  // of the waits made, by step
    vec<pending_wait> made_;
    vector_clock tail_[stream_count] = {};  // by stream: what its next step knows
};

}  // namespace detail

template <class Program>
constexpr vec<pending_wait> waits_across_runs(const Program& program, const basic_issue_order<Program>& issued,
                                              const basic_in_run<Program>& waits, const basic_lifetimes<Program>& lives,
                                              const basic_assignment<Program>& memory) {
    vec<pending_wait> out;
    for (int r = 0; r < program.roles; ++r) {
        const int* on_stream = issued.on_stream.begin() + r * stream_count;
        // On one stream run follows run.
        if ((on_stream[0] > 0) + (on_stream[1] > 0) + (on_stream[2] > 0) < 2) continue;
        const vec<detail::required_clock> wanted = detail::required_clocks_of(program, issued, waits, lives, memory, r);
        if (!wanted.empty()) detail::run_clocks<Program>{wanted, issued, waits, r}.add_waits(out);
    }
    return out;
}

}  // namespace dovetail::pass
