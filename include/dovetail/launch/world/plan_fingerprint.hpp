// The fingerprint of an executor: a hash of its plan and of the options that it was made with, then the same as text. Ranks whose
// fingerprints differ (mismatch.hpp) do not run together.
#pragma once

#include "mismatch.hpp"
#include "peers.hpp"

namespace dovetail::launch {

// The options that differ from their defaults, each after a comma. Time limits and recording of times may differ between ranks and are left
// out.
inline std::string options_text(const plan_options& s, const engine_options& o) {
    const plan_options plain;
    std::string text;
    const auto say = [&](bool given, const std::string& what) {
        if (given) text += ", " + what;
    };
    say(std::string_view{s.machine.name} != plain.machine.name, "machine " + std::string{s.machine.name});
    say(!s.overlap, "no overlap");
    say(s.memory_limit != 0, "at most " + std::to_string(s.memory_limit) + " bytes");
    say(s.in_flight != plain.in_flight, std::to_string(s.in_flight) + " runs in flight");
    say(s.channel_slots != plain.channel_slots, std::to_string(s.channel_slots) + " slots a channel");
    say(s.assumed_width != plain.assumed_width, "assumed width " + std::to_string(s.assumed_width));
    say(s.channels != plain.channels, s.channels == transport::nccl ? "channels by NCCL" : "channels by peer copies");
    for (int i = 0; i < s.axes.count; ++i)
        say(s.axes.by[i] != transport::automatic,
            "collectives along " + display(*s.axes.axis[i]) + (s.axes.by[i] == transport::nccl ? " by NCCL" : " by copy engines"));
    say(s.rewrites.copied_from != plain.rewrites.copied_from, "collectives by copy engines");
    say(s.between_roles != plain.between_roles, "the network between roles");
    say(s.roles_by_links, "roles by links");
    say(!s.relays, "no copies over third roles");
    say(s.objective == objective_kind::interval, "objective interval");
    say(s.objective == objective_kind::finish, "objective finish of `" + display(*s.finished) + "`");
    say(s.profile.rows.count > 0, "a profile of `" + std::string{s.profile.graph} + "`");
    for (int i = 0; i < s.host_inputs.count; ++i) say(true, "`" + display(*s.host_inputs.name[i]) + "` from the host");
    std::map<std::string, int> widths;
    for (const axis_width& w : o.widths) widths[display(*w.axis)] = w.width;
    for (const auto& [axis, positions] : widths) say(true, "width " + std::to_string(positions) + " of " + axis);
    say(o.check_finite, "values checked");
    say(o.tuned, "tuned");
    say(o.replay == replay_mode::always, "replayed");
    say(o.replay == replay_mode::if_possible, "replayed if possible");
    return text;
}
inline void add_profile(detail::hasher& h, const profile_table& t) {
    for (const int scale : t.scale) h.all(scale);
    for (const profile_row& r : t.rows) {
        h.all(r.key, r.alone, r.estimate);
        for (const std::int64_t time : r.beside) h.all(time);
    }
}
inline std::string fingerprint_text(std::uint64_t plan, const plan_options& s, const engine_options& o, const std::string& described) {
    const std::string words = described + options_text(s, o);
    detail::hasher h;
    h(plan);
    for (const char c : words) h(static_cast<unsigned char>(c));
    h(machine_key(s.machine));
    add_profile(h, s.profile);
    return std::to_string(h.h) + " " + words;
}

// Compares the fingerprints of the ranks' executors of this number. Throws on all ranks if they differ, or if a rank has a conflict between
// the roles of this executor and an earlier one's: the first rank's.
inline void compare_plans(peers& among, int rank, int executor, const std::string& described, const std::string& fingerprint,
                          const std::string& role_conflict, std::chrono::nanoseconds limit) {
    // Texts of processes arrive without control characters and, where NCCL moves them, without what is behind the first thousand. So a
    // conflict comes first: "roles: ... | fingerprint".
    const std::string number = std::to_string(executor), roles = "roles: ", end = " | ";
    const auto all = among.exchange(rank, "executor " + number + " (" + described + ")",
                                    (role_conflict.empty() ? "" : roles + role_conflict + end) + fingerprint, limit);
    std::vector<std::string> fingerprints;
    fingerprints.reserve(all.size());
    for (const std::string& text : all) fingerprints.push_back(text.starts_with(roles) ? text.substr(text.find(end) + end.size()) : text);
    if (const std::string different = mismatch(fingerprints); !different.empty())
        throw world_error{"the plans of executor " + number + " differ: " + different +
                          ". Ranks make the same executors, of the same graphs with the same options, in the same order"};
    for (const std::string& text : all)
        if (text.starts_with(roles)) throw usage_error{text.substr(roles.size(), text.find(end) - roles.size())};
}

}  // namespace dovetail::launch
