// The exchanges that rank 0 has open: the texts that ranks bring, kept until all have come or two are at different places.
#pragma once

#include "members.hpp"

#include <map>
#include <optional>

namespace dovetail::cuda::detail {

// What one rank brings to an exchange. They are numbered alike on all ranks; `what` is where the rank says that it is.
struct part {
    std::int64_t number = 0;
    int rank = 0;
    std::string what, text;
};

class gatherings {
public:
    explicit gatherings(int size) : size_{size} {}

    // How the exchange ends, once that is known.
    std::optional<outcome> add(part p) {
        gathering& g = open_.try_emplace(p.number, size_).first->second;
        if (g.arrived++ == 0) {
            g.what = p.what;
            g.first = p.rank;
        }
        g.texts[static_cast<std::size_t>(p.rank)] = std::move(p.text);
        std::optional<outcome> end;
        if (!g.faulty && p.what != g.what) {
            g.faulty = true;
            end = outcome{{}, "rank " + std::to_string(p.rank) + " is at " + p.what + " where rank " + std::to_string(g.first) + " is at " + g.what};
        } else if (!g.faulty && g.arrived == size_) {
            end = outcome{std::move(g.texts), {}};
        }
        if (g.arrived == size_) open_.erase(p.number);
        return end;
    }

private:
    struct gathering {
        explicit gathering(int size) : texts(static_cast<std::size_t>(size)) {}
        std::vector<std::string> texts;  // by rank
        std::string what;                // as the first to come has called it
        int first = 0, arrived = 0;
        bool faulty = false;
    };

    const int size_;
    std::map<std::int64_t, gathering> open_;
};

}  // namespace dovetail::cuda::detail
