// The messages of the control channel: the kinds of frames, and their bodies as structs. All that is unpacked comes from another process:
// texts are limited and made printable, numbers are checked against ranges, and unpacking returns nothing if anything is invalid.
#pragma once

#include "../../core/config.hpp"
#include "bytes.hpp"
#include "peer_status.hpp"

#include <optional>

namespace dovetail::control::detail {

// Kinds of frames.
namespace frame {
inline constexpr char hello = 'h', challenge = 'n', proof = 'k';                // before the proof
inline constexpr char join = 'j', present = 'p', welcome = 'w', refused = 'r';  // at the rendezvous
inline constexpr char contribution = 'c', result = 'g', heartbeat = 'b', status_request = 'q', status_table = 't', abort = 'a', leave = 'l',
                      close = 'e';
}  // namespace frame

inline constexpr std::size_t longest_unproven = 4096;                      // body of a frame before the proof, and of a join message
inline constexpr std::size_t longest_contribution = std::size_t{1} << 24;  // text of one rank in an exchange
inline constexpr std::size_t longest_frame = std::size_t{1} << 28;         // body of a frame from rank 0, with the texts of all ranks
inline constexpr std::size_t longest_frame_of_rank = longest_contribution + 2 * longest_words;
inline constexpr std::size_t longest_name = 512;  // of hosts, versions and the like
inline constexpr std::int64_t call_window = 256;  // executors in a call list, at most

inline std::string library_version() { return DOVETAIL_VERSION_STRING; }
inline std::string described(std::int64_t rank, const peer_status& m) {
    return "rank " + std::to_string(rank) + " (process " + std::to_string(m.process) + " on " + m.host + ")";
}

// Why rank 0 refuses a connection: it has a mistake, comes too late, or belongs to another start of the program.
enum class refusal { wrong, late, stale };

struct refusal_message {
    refusal kind = refusal::wrong;
    std::string text;

    std::string pack() const { return writer{}.number(static_cast<int>(kind)).words(text).take(); }
    static std::optional<refusal_message> unpack(std::string_view body) {
        reader r{body};
        refusal_message m;
        m.kind = static_cast<refusal>(r.number(0, 2));
        m.text = r.words();
        return r.complete() ? std::optional{m} : std::nullopt;
    }
};

// The first message of a rank, once rank 0 has proven the key.
struct join_message {
    std::string version;
    std::int64_t rank = 0, size = 0;
    std::string job, instance;  // `instance` is drawn at random by each process at its start
    peer_status who;

    std::string pack() const {
        return writer{}
            .text(version)
            .number(rank)
            .number(size)
            .text(job)
            .text(instance)
            .text(who.host)
            .text(who.machine)
            .number(who.process)
            .take();
    }
    static std::optional<join_message> unpack(std::string_view body) {
        reader r{body};
        join_message m;
        m.version = printable(r.text(longest_name));
        m.rank = r.number();
        m.size = r.number();
        m.job = r.text(longest_name);
        m.instance = r.text(longest_name);
        m.who.host = printable(r.text(longest_name));
        m.who.machine = r.text(longest_name);
        m.who.process = static_cast<long>(r.number());
        return r.complete() ? std::optional{m} : std::nullopt;
    }
};

// The status of all ranks, by rank.
inline std::string packed_welcome(const std::vector<peer_status>& all) {
    writer w;
    for (const peer_status& m : all) w.text(m.host).text(m.machine).number(m.process);
    return w.take();
}
inline bool unpack_welcome(std::string_view body, std::vector<peer_status>& all) {
    reader r{body};
    std::vector<peer_status> said = all;
    for (peer_status& m : said) {
        m.host = printable(r.text(4 * longest_name));  // rank 0 has made it printable before sending
        m.machine = r.text(longest_name);
        m.process = static_cast<long>(r.number());
    }
    if (!r.complete()) return false;
    all = std::move(said);
    return true;
}

inline std::string packed(const abort_reason& c) {
    return writer{}.number(c.rank).words(c.text).words(c.operation).words(c.statement).number(c.by_leaving).number(c.timed_out).take();
}
inline std::optional<abort_reason> unpacked_abort_reason(std::string_view body, int ranks) {
    reader r{body};
    abort_reason c;
    c.rank = static_cast<int>(r.number(-1, ranks - 1));
    c.text = r.words();
    c.operation = r.words();
    c.statement = r.words();
    c.by_leaving = r.number(0, 1) != 0;
    c.timed_out = r.number(0, 1) != 0;
    return r.complete() ? std::optional{c} : std::nullopt;
}

// The present run, step and activity of a rank.
inline void put(writer& to, const run_position& at, const activity& doing, std::size_t most = longest_words) {
    to.number(at.run).number(at.step).words(doing.text, most).words(doing.operation, most).words(doing.statement, most);
}
inline void take_doing(reader& from, peer_status& of) {
    of.at.run = from.number();
    of.at.step = from.number();
    of.doing.text = from.words();
    of.doing.operation = from.words();
    of.doing.statement = from.words();
}

// A heartbeat: the activity of a rank, and the executors that it has called last.
struct heartbeat_message {
    peer_status of;
    call_list calls;

    std::string pack() const {
        writer w;
        put(w, of.at, of.doing);
        w.number(calls.first).number(static_cast<std::int64_t>(calls.executors.size()));
        for (const auto c : calls.executors) w.number(c);
        return w.take();
    }
    static std::optional<heartbeat_message> unpack(std::string_view body) {
        reader r{body};
        heartbeat_message b;
        take_doing(r, b.of);
        b.calls.first = r.number(0, INT64_MAX - call_window);
        const std::int64_t count = r.number(0, call_window);
        for (std::int64_t i = 0; i < count; ++i) b.calls.executors.push_back(r.number());
        return r.complete() ? std::optional{b} : std::nullopt;
    }
};

// The status of all ranks, as rank 0 knows it. With many ranks, texts are cut so that the table stays small.
inline std::string packed_table(const std::vector<peer_status>& all) {
    const std::size_t most = std::clamp<std::size_t>(longest_contribution / all.size(), 64, longest_words);
    writer w;
    for (const peer_status& m : all) {
        put(w, m.at, m.doing, most);
        w.number(m.exchanges);
    }
    return w.take();
}
inline bool unpack_table(std::string_view body, std::vector<peer_status>& all) {
    reader r{body};
    std::vector<peer_status> said = all;
    for (peer_status& m : said) {
        take_doing(r, m);
        m.exchanges = r.number(0, INT64_MAX - 1);
    }
    if (!r.complete()) return false;
    all = std::move(said);
    return true;
}

// Announces that a rank has left, for which time, and in how many exchanges it has taken part.
struct leave_message {
    std::int64_t rank = 0, leaves = 0, exchanges = 0;

    std::string pack() const { return writer{}.number(rank).number(leaves).number(exchanges).take(); }
    static std::optional<leave_message> unpack(std::string_view body, int ranks) {
        reader r{body};
        leave_message m;
        m.rank = r.number(0, ranks - 1);
        m.leaves = r.number(0, left_for_good);
        m.exchanges = r.number(0, INT64_MAX - 1);
        return r.complete() ? std::optional{m} : std::nullopt;
    }
};

// The text of one rank in an exchange. Exchanges have the same numbers on all ranks; `what` names the place in the program.
struct contribution {
    std::int64_t number = 0;
    int rank = 0;
    std::string what, text;

    std::string pack() const { return writer{}.number(number).words(what).text(text).take(); }
    static std::optional<contribution> unpack(std::string_view body, int rank) {
        reader r{body};
        contribution p;
        p.number = r.number(0, INT64_MAX - 1);
        p.rank = rank;
        p.what = r.words();
        p.text = r.text(longest_contribution);
        return r.complete() ? std::optional{std::move(p)} : std::nullopt;
    }
};

// The result of the exchange of that number.
inline std::string packed(std::int64_t number, const exchange_result& o) {
    writer w;
    w.number(number).words(o.fault);
    for (const std::string& t : o.texts) w.text(t);
    return w.take();
}
inline std::optional<std::pair<std::int64_t, exchange_result>> unpacked_exchange_result(std::string_view body, int ranks) {
    reader r{body};
    std::pair<std::int64_t, exchange_result> numbered;
    numbered.first = r.number(0, INT64_MAX - 1);
    exchange_result& o = numbered.second;
    o.fault = r.words();
    for (int i = 0; i < ranks && o.fault.empty() && r.good(); ++i) o.texts.push_back(r.text(longest_contribution));
    return r.complete() ? std::optional{std::move(numbered)} : std::nullopt;
}

}  // namespace dovetail::control::detail
