// The exchanges that are incomplete on rank 0: the texts of ranks are kept until all have arrived, or until two ranks are at different
// places of the program.
#pragma once

#include "messages.hpp"

#include <map>

namespace dovetail::control::detail {

class pending_exchanges {
public:
    // A rank completes one exchange before it begins the next, so few are incomplete at any time.
    static constexpr std::size_t most_open = 64;

    explicit pending_exchanges(int size) : size_{size} {}

    // The result of the exchange, once it is known: when every rank has contributed its text, or at the first fault.
    std::optional<exchange_result> add(contribution p) {
        if (open_.size() >= most_open && !open_.contains(p.number))
            return exchange_result{{}, "the ranks have more than " + std::to_string(most_open) + " exchanges open"};
        pending_exchange& g = open_.try_emplace(p.number, size_).first->second;
        const auto rank = static_cast<std::size_t>(p.rank);
        if (g.arrived == 0) {
            g.what = p.what;
            g.first = p.rank;
        }
        std::string fault;
        if (g.here[rank])
            fault = "rank " + std::to_string(p.rank) + " sends two texts for " + g.what;
        else if (p.what != g.what)
            fault = "rank " + std::to_string(p.rank) + " is at " + p.what + " where rank " + std::to_string(g.first) + " is at " + g.what;
        else if (p.text.size() > longest_frame / 2 - g.bytes)
            fault = "the ranks send more than " + std::to_string(longest_frame / 2) + " bytes for " + g.what;
        g.arrived += g.here[rank] ? 0 : 1;
        g.here[rank] = true;
        g.bytes += p.text.size();
        g.texts[rank] = std::move(p.text);
        const bool all = g.arrived == size_;
        std::optional<exchange_result> end;
        if (!g.faulty && !fault.empty())
            end = exchange_result{{}, std::move(fault)};
        else if (!g.faulty && all)
            end = exchange_result{std::move(g.texts), {}};
        g.faulty = g.faulty || end;
        if (g.faulty) g.texts.assign(g.texts.size(), {});
        if (all) open_.erase(p.number);
        return end;
    }

private:
    struct pending_exchange {
        explicit pending_exchange(int size) : texts(static_cast<std::size_t>(size)), here(static_cast<std::size_t>(size)) {}
        std::vector<std::string> texts;  // by rank
        std::vector<bool> here;          // by rank
        std::string what;                // as named by the first rank
        std::size_t bytes = 0;
        int first = 0, arrived = 0;
        bool faulty = false;
    };

    const int size_;
    std::map<std::int64_t, pending_exchange> open_;
};

}  // namespace dovetail::control::detail
