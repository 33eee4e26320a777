// The live bytes of each role over the positions of a reference order, while tasks are pulled forward of their position: what memory
// booking (memory_booking.hpp) asks before it places a task.
#pragma once

#include "../../ir/table.hpp"
#include "min_memory_order.hpp"
#include "occupancy.hpp"

namespace dovetail::pass::detail {

// The live bytes of each role while the tasks that are left are executed in the reference order. A position is a task on one role; the
// positions of a role are adjacent.
template <class Program, class Occupancy>
class booked_memory {
public:
    constexpr booked_memory(const Program& p, const Occupancy& r, const held_bytes& h, span<const int> reference)
        : p_{p},
          r_{r},
          h_{h},
          position_(r.occupants_of.first[p.tasks.count], unset{}),
          first_of_role_(p.roles + 1),
          live_(p.roles),
          room_(p.roles),
          bytes_(position_.size() + 1),
          gone_(position_.size()),
          first_user_(p.buffers.count + 1),
          left_(p.buffers.count),
          user_(h.first.first[p.tasks.count], unset{}) {
        number_positions(reference);
        front_ = first_of_role_;
        list_users(reference);
        for (int b = 0; b < p.buffers.count; ++b)
            if (h.touches.first[b] > 0) add(user_.first[first_user_.first[b]], end_of(b), h.bytes.first[b]);
    }

    // The largest number of live bytes of a role, with those that are always alive.
    constexpr std::int64_t peak() const {
        std::int64_t most = 0;
        for (int role = 0; role < p_.roles; ++role) {
            std::int64_t here = 0;
            for (int k = first_of_role_.first[role]; k < first_of_role_.first[role + 1]; ++k)
                if (bytes_.first[k] > here) here = bytes_.first[k];
            if (here + h_.always.first[role] > most) most = here + h_.always.first[role];
        }
        return most;
    }
    constexpr void allow(std::int64_t budget) {
        for (int role = 0; role < p_.roles; ++role) room_.first[role] = budget - h_.always.first[role];
    }

    // Bytes that the task allocates on a role.
    constexpr std::int64_t allocates(int v, int role) const {
        std::int64_t bytes = 0;
        for (int i = h_.first.first[v]; i < h_.first.first[v + 1]; ++i)
            if (const int b = h_.buffer.first[i]; p_.buffers.first[b].role == role && untouched(b)) bytes += h_.bytes.first[b];
        return bytes;
    }
    // Bytes that are free on a role after `bytes` more are allocated.
    constexpr std::int64_t slack(int role, std::int64_t bytes) const { return room_.first[role] - live_.first[role] - bytes; }

    // Moves the task to the front, if the budget allows it.
    constexpr bool book(int v) {
        shift(v, 1);
        if (fits(v)) return true;
        shift(v, -1);
        return false;
    }
    // Positions examined so far.
    constexpr int examined() const { return examined_; }

    // Executes a task that is booked. `released(b)` is called for each buffer that is dead then.
    template <class Released>
    constexpr void execute(int v, Released released) {
        for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i) {
            const int role = r_.slot.first[i] / stream_count;
            live_.first[role] += allocates(v, role);
            gone_.first[position_.first[i]] = true;
        }
        for (int i = h_.first.first[v]; i < h_.first.first[v + 1]; ++i) {
            const int b = h_.buffer.first[i];
            if (--left_.first[b] > 0 || h_.output.first[b]) continue;
            live_.first[p_.buffers.first[b].role] -= h_.bytes.first[b];
            released(b);
        }
        for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i) {
            int& front = front_.first[r_.slot.first[i] / stream_count];
            while (front < position_.size() && gone_.first[front]) ++front;
        }
    }

private:
    constexpr int position_of(int v, int role) const { return position_.first[occupant_of(r_, v, role)]; }
    constexpr bool untouched(int b) const { return left_.first[b] == h_.touches.first[b]; }

    constexpr void number_positions(span<const int> reference) {
        for (int i = 0; i < position_.size(); ++i) ++first_of_role_.first[r_.slot.first[i] / stream_count + 1];
        for (int role = 0; role < p_.roles; ++role) first_of_role_.first[role + 1] += first_of_role_.first[role];
        vec<int> next(first_of_role_.view());
        for (const int v : reference)
            for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i)
                position_.first[i] = next.first[r_.slot.first[i] / stream_count]++;
    }
    constexpr void list_users(span<const int> reference) {
        for (int b = 0; b < p_.buffers.count; ++b) first_user_.first[b + 1] = first_user_.first[b] + h_.touches.first[b];
        for (const int v : reference)
            for (int i = h_.first.first[v]; i < h_.first.first[v + 1]; ++i) {
                const int b = h_.buffer.first[i];
                user_.first[first_user_.first[b] + left_.first[b]++] = position_of(v, p_.buffers.first[b].role);
            }
    }
    // The position up to which a buffer is alive, as far as its users that are left; `without`: the position of one that does not count.
    constexpr int end_of(int b, int without = -1) const {
        const int role = p_.buffers.first[b].role;
        if (h_.output.first[b]) return first_of_role_.first[role + 1];
        for (int k = first_user_.first[b + 1] - 1; k >= first_user_.first[b]; --k)
            if (const int user = user_.first[k]; user != without && !gone_.first[user]) return user + 1;
        return front_.first[role];
    }
    constexpr void add(int from, int to, std::int64_t bytes) {
        for (int k = from; k < to; ++k) bytes_.first[k] += bytes;
        examined_ += to > from ? to - from : 0;
    }

    // The change of the live bytes if the task is executed now instead of at its position: what it allocates is alive earlier, what it is
    // the last to use is released earlier. sign -1: takes the change back.
    constexpr void shift(int v, int sign) {
        for (int i = h_.first.first[v]; i < h_.first.first[v + 1]; ++i) {
            const int b = h_.buffer.first[i], role = p_.buffers.first[b].role;
            const int at = position_of(v, role), front = front_.first[role];
            const std::int64_t bytes = sign * h_.bytes.first[b];
            if (untouched(b)) add(front, at, bytes);
            if (const int end = end_of(b, at); end <= at) add(end > front ? end : front, at, -bytes);
        }
    }
    constexpr bool fits(int v) {
        for (int i = r_.occupants_of.first[v]; i < r_.occupants_of.first[v + 1]; ++i) {
            const int role = r_.slot.first[i] / stream_count;
            if (slack(role, allocates(v, role)) < 0) return false;
            for (int k = front_.first[role]; k < position_.first[i]; ++k, ++examined_)
                if (!gone_.first[k] && bytes_.first[k] > room_.first[role]) return false;
        }
        return true;
    }

    const Program& p_;
    const Occupancy& r_;
    const held_bytes& h_;
    vec<int> position_;              // by occupant
    vec<int> first_of_role_;         // by role: its first position; one more at the end
    vec<int> front_;                 // by role: the first position that is left
    vec<std::int64_t> live_, room_;  // by role: live bytes, and how many there may be; without those that are always alive
    vec<std::int64_t> bytes_;        // by position: live bytes
    vec<bool> gone_;                 // by position: the task is executed
    vec<int> first_user_, left_;     // by buffer: where its users begin in `user_`; tasks left that access it
    vec<int> user_;                  // the positions of the users of each buffer, ascending
    int examined_ = 0;
};

// The peak of the live bytes of an order, of the role that needs most.
template <class Program, class Occupancy>
constexpr std::int64_t peak_of(const Program& p, const Occupancy& r, span<const int> order) {
    const held_bytes held = held_by_tasks(ir::view(p));
    return booked_memory<Program, Occupancy>{p, r, held, order}.peak();
}

}  // namespace dovetail::pass::detail
