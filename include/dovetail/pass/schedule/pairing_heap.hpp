// Pairing heaps of small numbers (tasks): the smallest key on top, the smaller number among equals. A heap is its top, -1
// when empty. Any number of heaps live in the same arrays, because a number is in one of them at a time.
#pragma once

namespace dovetail::pass {

template <class Keys, class Links>
struct pairing_heap {
    const Keys& key;  // changed only while its number is in no heap
    Links& child;     // of each number: the first of those below it; -1: none
    Links& sibling;   // of each number but a top: the next one below the same; -1: none

    // The heap `top` with `item`, which is in none.
    constexpr int with(int top, int item) const {
        child[item] = -1;
        return top < 0 ? item : both(top, item);
    }
    // The heap `top`, which is not empty, without its top.
    constexpr int without(int top) const {
        int next = child[top];
        if (next < 0 || sibling[next] < 0) return next;
        // Pairs from the front, the last pair first in the list; then one after the other into one.
        int pairs = -1;
        while (next >= 0) {
            int a = next;
            const int b = sibling[a];
            next = -1;
            if (b >= 0) {
                next = sibling[b];
                a = both(a, b);
            }
            sibling[a] = pairs;
            pairs = a;
        }
        top = pairs;
        for (pairs = sibling[top]; pairs >= 0; pairs = next) {
            next = sibling[pairs];
            top = both(top, pairs);
        }
        return top;
    }

    // The heap of two that are not empty.
    constexpr int both(int a, int b) const {
        if (key[b] < key[a] || (key[b] == key[a] && b < a)) {
            const int smaller = b;
            b = a;
            a = smaller;
        }
        sibling[b] = child[a];
        child[a] = b;
        return a;
    }
};

}  // namespace dovetail::pass
