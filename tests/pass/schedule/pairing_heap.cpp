// Pairing heaps against ordered sets: several heaps in the same arrays, joined and emptied in random order, with many equal keys.
#include <doctest/doctest.h>

#include <dovetail/pass/schedule/pairing_heap.hpp>

#include <random>
#include <set>
#include <utility>
#include <vector>

TEST_CASE("the top is the smallest key, of equal ones the smallest number") {
    std::mt19937 random{1};
    for (int round = 0; round < 200; ++round) {
        const int count = 1 + static_cast<int>(random() % 120), heaps = 1 + static_cast<int>(random() % 4);
        std::vector<int> key(static_cast<std::size_t>(count)), child(key.size(), -1), sibling(key.size(), -1);
        for (int& k : key) k = static_cast<int>(random() % 9);
        const dovetail::pass::pairing_heap<std::vector<int>, std::vector<int>> heap{key, child, sibling};
        std::vector<int> top(static_cast<std::size_t>(heaps), -1);
        std::vector<std::set<std::pair<int, int>>> expected(top.size());
        std::vector<int> outside;
        for (int i = 0; i < count; ++i) outside.push_back(i);

        for (int step = 0; step < 600; ++step) {
            const std::size_t h = random() % top.size();
            const unsigned choice = random() % 10;
            if (choice < 5 && !outside.empty()) {
                std::swap(outside[random() % outside.size()], outside.back());
                const int item = outside.back();
                outside.pop_back();
                key[static_cast<std::size_t>(item)] = static_cast<int>(random() % 9);  // keys change while their numbers are in no heap
                top[h] = heap.with(top[h], item);
                expected[h].emplace(key[static_cast<std::size_t>(item)], item);
            } else if (choice < 9 && top[h] >= 0) {
                outside.push_back(top[h]);
                expected[h].erase(expected[h].begin());
                top[h] = heap.without(top[h]);
            } else if (const std::size_t other = random() % top.size(); other != h && top[h] >= 0 && top[other] >= 0) {
                top[h] = heap.both(top[h], top[other]);
                top[other] = -1;
                expected[h].merge(expected[other]);
            }
            for (std::size_t i = 0; i < top.size(); ++i) REQUIRE(top[i] == (expected[i].empty() ? -1 : expected[i].begin()->second));
        }
    }
}
