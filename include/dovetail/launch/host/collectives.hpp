// Communication on the host, as movement of memory: one thread has the pointers of all members and moves the data in member order, as the
// kind's row in the table of communication specifies. Argument and result may be the same memory.
#pragma once

#include "../../collective/movement.hpp"
#include "../../collective/traffic.hpp"
#include "reduce.hpp"

#include <algorithm>
#include <cstring>

namespace dovetail::host {

// One member's memory in one communication. A null pointer: it sends or receives nothing.
struct participant {
    const void* send = nullptr;
    void* recv = nullptr;
    std::int64_t send_bytes = 0;
    std::int64_t recv_bytes = 0;
    // The blocks of an argument, or of a result, by member, where they do not lie one behind the other; else empty.
    std::vector<const void*> sent = {};
    std::vector<void*> received = {};
};

struct communication {
    op_kind kind = op_kind::transfer;
    element type = element::float32;
    reduction reduce = reduction::none;
    int root = -1;
    int offset = 0;
    bool zero_edge = false;
    const operation* op = nullptr;
};

namespace detail {

inline void move(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0 && to != nullptr && from != nullptr && to != from) std::memmove(to, from, static_cast<std::size_t>(bytes));
}

// One communication: each receiver receives a block from every sender that reaches it, or the reduction of the senders' blocks.
class movement {
public:
    movement(const communication& x, const std::vector<participant>& participants, std::vector<char>& scratch)
        : x_{x}, row_{collective::of(x.kind)}, members_{static_cast<int>(participants.size())}, scratch_{scratch} {
        for (int i = 0; i < members_; ++i) {
            const participant& s = participants[static_cast<std::size_t>(i)];
            if (s.send != nullptr) senders_.push_back({i, s.send, &s.sent});
            if (s.recv != nullptr && collective::receives_result(x, i)) receivers_.push_back({i, s.recv, &s.received});
            if (s.send != nullptr) argument_bytes_ = s.send_bytes;
        }
        const auto receivers = static_cast<std::int64_t>(receivers_.size());
        const bool whole = row_.sends == collective::pieces::one && !takes_own_block();
        block_ = whole || receivers == 0 ? argument_bytes_ : argument_bytes_ / receivers;
    }
    void run() {
        if (row_.reduces)
            reduce();
        else
            copy();
    }

private:
    struct sender {
        int member;
        const void* data;
        const std::vector<const void*>* blocks;
    };
    struct receiver {
        int member;
        void* data;
        const std::vector<void*>* blocks;
    };

    bool takes_own_block() const { return x_.op != nullptr && x_.op->own_block_in_place; }

    // Results go to scratch memory first, since a result may be in the same memory as an argument.
    void reduce() {
        const bool in_blocks = row_.sends == collective::pieces::one_per_member;
        const std::size_t sums = in_blocks ? receivers_.size() : 1;
        char* const made = room(static_cast<std::int64_t>(sums) * block_);
        std::vector<const void*> from(senders_.size());
        for (std::size_t k = 0; k < sums; ++k) {
            const std::int64_t at = static_cast<std::int64_t>(k) * block_;
            std::transform(senders_.begin(), senders_.end(), from.begin(),
                           [&](const sender& s) { return static_cast<const char*>(s.data) + at; });
            detail::reduce(x_.type, x_.reduce, from, made + at, block_);
        }
        for (std::size_t k = 0; k < receivers_.size(); ++k)
            move(receivers_[k].data, made + (in_blocks ? static_cast<std::int64_t>(k) * block_ : 0), block_);
    }

    void copy() {
        if (overwrites_arguments()) stage_arguments();
        for (std::size_t to = 0; to < receivers_.size(); ++to) {
            bool reached = false;
            for (std::size_t from = 0; from < senders_.size(); ++from) {
                if (!collective::reaches(x_, senders_[from].member, receivers_[to].member, members_)) continue;
                move(received_from(receivers_[to], from), sent_to(senders_[from], to), block_);
                reached = true;
            }
            if (!reached && block_ > 0) std::memset(receivers_[to].data, 0, static_cast<std::size_t>(block_));
        }
    }
    const void* sent_to(const sender& s, std::size_t receiver) const {
        if (!s.blocks->empty()) return (*s.blocks)[receiver];
        const std::int64_t block = takes_own_block() ? s.member : row_.sends == collective::pieces::one ? 0 : static_cast<int>(receiver);
        return static_cast<const char*>(s.data) + block * block_;
    }
    void* received_from(const receiver& r, std::size_t sender) const {
        if (!r.blocks->empty()) return (*r.blocks)[sender];
        const std::int64_t block = row_.receives == collective::pieces::one ? 0 : static_cast<std::int64_t>(sender);
        return static_cast<char*>(r.data) + block * block_;
    }
    bool overwrites_arguments() const {
        if (takes_own_block()) return false;  // each argument is at its place in the result
        return std::any_of(receivers_.begin(), receivers_.end(), [&, this](const receiver& r) {
            return std::any_of(senders_.begin(), senders_.end(), [&](const sender& s) { return s.data == r.data; });
        });
    }
    void stage_arguments() {
        char* at = room(static_cast<std::int64_t>(senders_.size()) * argument_bytes_);
        for (sender& s : senders_) {
            move(at, s.data, argument_bytes_);
            s.data = at;
            at += argument_bytes_;
        }
    }
    char* room(std::int64_t bytes) {
        if (static_cast<std::int64_t>(scratch_.size()) < bytes) scratch_.resize(static_cast<std::size_t>(bytes));
        return scratch_.data();
    }

    const communication& x_;
    const collective::row& row_;
    int members_;
    std::vector<char>& scratch_;
    std::vector<sender> senders_;
    std::vector<receiver> receivers_;
    std::int64_t argument_bytes_ = 0;
    std::int64_t block_ = 0;  // bytes from one member to another
};

}  // namespace detail

// Moves the data of one communication. The caller keeps `scratch` between calls, so that it is allocated once.
inline void move_data(const communication& x, const std::vector<participant>& participants, std::vector<char>& scratch) {
    detail::movement{x, participants, scratch}.run();
}

// Bytes that the busiest member sends or receives in the ring algorithm.
inline std::int64_t wire_bytes(const communication& x, const std::vector<participant>& participants) {
    const auto members = static_cast<std::int64_t>(participants.size());
    std::int64_t most = 0;
    for (const participant& s : participants) most = std::max({most, s.send_bytes, s.recv_bytes});
    if (is_collective(x.kind) && members == 1) return 0;
    return collective::passing(collective::of(x.kind).passes, most, members);
}

}  // namespace dovetail::host
