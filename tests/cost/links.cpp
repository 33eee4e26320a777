// Links between ranks where pairs of GPUs differ: the slowest of the pairs that communicate, by a loop over coordinates, and the shortest
// ways from role to role, by relaxing all of them until nothing changes (Bellman and Ford).
#include <doctest/doctest.h>

#include <dovetail/cost/links.hpp>
#include <dovetail/ir/table.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace dv = dovetail;
using namespace dv::cost_model;

namespace {

constexpr int gpus = 6;
using link_rows = std::array<dv::gpu_pair, gpus * gpus>;

link_rows random_links(unsigned seed) {
    std::mt19937 random{seed};
    link_rows rows;
    const auto below = [&random](int limit) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(limit)); };
    for (dv::gpu_pair& link : rows) link = {1'000'000'000 * (1 + below(400)), 1'000'000 * below(30)};
    return rows;
}
link_options on(const link_rows& rows) {
    link_options s;
    s.pairs.first = rows.data();
    s.pairs.gpus = gpus;
    s.otherwise = {5'000'000'000, 77'000'000};
    s.assumed_width = 3;
    return s;
}

// Roles with these widths of two axes; 0: open.
struct graph_of {
    dv::ir::graph_data g;
    explicit graph_of(std::initializer_list<std::array<int, 2>> roles) {
        for (const auto& widths : roles) {
            dv::ir::role r;
            r.first_axis = g.mesh.size();
            for (int axis = 0; axis < 2; ++axis)
                if (widths[static_cast<std::size_t>(axis)] != 1) {
                    g.mesh.push({axis, widths[static_cast<std::size_t>(axis)]});
                    ++r.axes;
                }
            g.roles.push(r);
        }
    }
};

bool operator==(const dv::gpu_pair& a, const dv::gpu_pair& b) { return a.bandwidth == b.bandwidth && a.latency == b.latency; }

}  // namespace

TEST_CASE("between two roles the slowest pair of equal coordinates counts, in the order of the ranks") {
    const graph_of roles{{1, 1}, {1, 2}, {1, 2}};
    const dv::ir::graph g = dv::ir::view(roles.g);
    const link_rows rows = random_links(1);
    const dv::vec<int> order = [] {
        dv::vec<int> ids(3);
        ids[0] = 2, ids[1] = 0, ids[2] = 1;
        return ids;
    }();
    const auto pair = [&](int from, int to) { return rows[static_cast<std::size_t>(from * gpus + to)]; };
    const rank_links as_numbered{g, on(rows), {}}, ordered{g, on(rows), order.view()};
    CHECK(as_numbered.between(0, 1) == pair(0, 1));
    CHECK(as_numbered.between(1, 2) == slower_of(pair(1, 3), pair(2, 4)));
    CHECK(as_numbered.between(2, 1) == slower_of(pair(3, 1), pair(4, 2)));
    CHECK(ordered.between(1, 2) == slower_of(pair(3, 0), pair(4, 1)));
    CHECK(ordered.between(0, 1) == pair(2, 3));
    CHECK(slower_of({3, 4}, {2, 5}) == dv::gpu_pair{2, 5});
    CHECK(slower_of({2, 5}, {3, 4}) == dv::gpu_pair{2, 5});
}

TEST_CASE("along axes the slowest pair that differs in these coordinates alone counts, open axes as wide as assumed") {
    const graph_of roles{{2, 3}, {2, 0}};
    const dv::ir::graph g = dv::ir::view(roles.g);
    for (unsigned seed = 0; seed < 20; ++seed) {
        const link_rows rows = random_links(seed);
        const rank_links links{g, on(rows), {}};
        for (const unsigned axes : {1u, 2u, 3u}) {
            dv::gpu_pair slowest{INT64_MAX, 0};
            for (int a = 0; a < 6; ++a)
                for (int b = 0; b < 6; ++b) {
                    const bool first = a / 3 != b / 3, second = a % 3 != b % 3;
                    if ((!first && !second) || (first && (axes & 1u) == 0) || (second && (axes & 2u) == 0)) continue;
                    slowest = slower_of(slowest, rows[static_cast<std::size_t>(a * gpus + b)]);
                }
            CHECK(links.along(0, axes) == slowest);
            // The second role has the ranks 6 to 11, on the GPUs of another host.
            CHECK(links.along(1, axes) == slowest);
        }
    }
}

TEST_CASE("on several hosts the slowest pair of ranks counts, wherever a role begins") {
    const graph_of roles{{2, 2}, {5, 4}, {4, 5}, {1, 7}, {3, 2}};
    const std::array<int, 5> widths{2, 4, 5, 7, 2}, ranks{4, 20, 20, 7, 6};
    const dv::ir::graph g = dv::ir::view(roles.g);
    for (unsigned seed = 0; seed < 20; ++seed) {
        const link_rows rows = random_links(seed);
        const rank_links links{g, on(rows), {}};
        const auto alone = [&](int from, int to) {
            if (from / gpus != to / gpus) return on(rows).otherwise;
            return rows[static_cast<std::size_t>(from % gpus * gpus + to % gpus)];
        };
        int first = 0;
        for (int role = 0; role < 5; first += ranks[static_cast<std::size_t>(role++)])
            for (const unsigned axes : {1u, 2u, 3u}) {
                if (role == 3 && axes == 1) continue;  // it does not have the axis
                dv::gpu_pair slowest{INT64_MAX, 0};
                const int inner = widths[static_cast<std::size_t>(role)], count = ranks[static_cast<std::size_t>(role)];
                for (int a = 0; a < count; ++a)
                    for (int b = 0; b < count; ++b) {
                        const bool outer_differs = a / inner != b / inner, inner_differs = a % inner != b % inner;
                        if (a == b || (outer_differs && (axes & 1u) == 0) || (inner_differs && (axes & 2u) == 0)) continue;
                        slowest = slower_of(slowest, alone(first + a, first + b));
                    }
                CHECK(links.along(role, axes) == slowest);
            }
        dv::gpu_pair slowest{INT64_MAX, 0};
        for (int i = 0; i < 20; ++i) slowest = slower_of(slowest, alone(4 + i, 24 + i));
        CHECK(links.between(1, 2) == slowest);
    }
}

TEST_CASE("ranks of two hosts have the link of the machine") {
    const graph_of roles{{1, 4}, {1, 4}};
    const dv::ir::graph g = dv::ir::view(roles.g);
    link_rows fast{};
    for (dv::gpu_pair& link : fast) link = {400'000'000'000, 1};
    const rank_links links{g, on(fast), {}};
    // Ranks 0 to 3, and 4 to 7, of which 6 and 7 are on the second host.
    CHECK(links.between(0, 1) == dv::gpu_pair{5'000'000'000, 77'000'000});
    CHECK(links.along(0, 2) == dv::gpu_pair{400'000'000'000, 1});
    CHECK(links.along(1, 2) == dv::gpu_pair{5'000'000'000, 77'000'000});
}

TEST_CASE("a value goes the shortest way over roles, and straight where nothing is shorter") {
    const graph_of roles{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    const dv::ir::graph g = dv::ir::view(roles.g);
    int relayed = 0;
    for (unsigned seed = 0; seed < 50; ++seed) {
        const link_rows rows = random_links(seed);
        const rank_links links{g, on(rows), {}};
        for (const std::int64_t bytes : {std::int64_t{4}, std::int64_t{1} << 20, std::int64_t{400'000'000}}) {
            std::int64_t shortest[gpus][gpus];
            const auto alone = [&](int from, int to) { return copy_time(rows[static_cast<std::size_t>(from * gpus + to)], bytes); };
            for (int a = 0; a < gpus; ++a)
                for (int b = 0; b < gpus; ++b) shortest[a][b] = a == b ? 0 : alone(a, b);
            for (int round = 0; round < gpus; ++round)
                for (int a = 0; a < gpus; ++a)
                    for (int b = 0; b < gpus; ++b)
                        for (int via = 0; via < gpus; ++via)
                            shortest[a][b] = std::min(shortest[a][b], shortest[a][via] + shortest[via][b]);
            for (int from = 0; from < gpus; ++from)
                for (int to = 0; to < gpus; ++to) {
                    if (from == to) continue;
                    std::int64_t along = 0;
                    int at = to, copies = 0;
                    for (; at != from && copies < gpus; ++copies) {
                        const int before = links.relay(from, at, bytes);
                        along += alone(before, at);
                        at = before;
                    }
                    CHECK(along == shortest[from][to]);
                    if (alone(from, to) == shortest[from][to]) CHECK(copies == 1);
                    relayed += copies > 1 ? 1 : 0;
                }
        }
    }
    CHECK(relayed > 100);
}

TEST_CASE("a role of another mesh is no relay, also where it is assumed to have equally many ranks") {
    const auto relay = [](const graph_of& roles, std::size_t last) {
        const dv::ir::graph g = dv::ir::view(roles.g);
        link_rows rows{};
        for (dv::gpu_pair& link : rows) link = {400'000'000'000, 1};
        rows[0 * gpus + last] = {1'000'000, 1};  // from the first role to the last
        link_options s = on(rows);
        s.assumed_width = 2;
        return rank_links{g, s, {}}.relay(0, 2, 1000);
    };
    CHECK(relay(graph_of{{1, 1}, {1, 1}, {1, 1}}, 2) == 1);
    CHECK(relay(graph_of{{1, 1}, {1, 2}, {1, 1}}, 3) == 0);
    CHECK(relay(graph_of{{0, 1}, {0, 1}, {0, 1}}, 4) == 1);
    CHECK(relay(graph_of{{0, 1}, {2, 1}, {0, 1}}, 4) == 0);
    CHECK(relay(graph_of{{0, 1}, {1, 0}, {0, 1}}, 4) == 0);
}

TEST_CASE("a list of links is a square") {
    static constexpr dv::gpu_pair four[4] = {{}, {1, 0}, {1, 0}, {}}, three[3] = {{}, {1, 0}, {1, 0}}, short_of_one[4] = {{}, {1, 0}};
    CHECK(dv::gpu_pairs{four}.gpus == 2);
    CHECK(dv::is_possible(dv::gpu_pairs{four}));
    CHECK_FALSE(dv::is_possible(dv::gpu_pairs{three}));
    CHECK_FALSE(dv::is_possible(dv::gpu_pairs{short_of_one}));
    CHECK(dv::is_possible(dv::gpu_pairs{}));
}

TEST_CASE("a machine with links has peer copies") {
    static constexpr dv::gpu_pair four[4] = {{}, {1, 0}, {1, 0}, {}};
    dv::machine_description m = dv::machine::h200_nvlink::description;
    m.links = four;
    CHECK(dv::is_possible(m));
    m.peer_bandwidth = 0;
    CHECK_FALSE(dv::is_possible(m));
    m.links = {};
    CHECK(dv::is_possible(m));
}
