// Pairing heaps of small numbers (tasks): the smallest key on top, ties by the smaller number. A heap is represented by its top, -1 if it
// is empty. Several heaps share the same arrays, because a number is in at most one heap at a time.
#pragma once

namespace dovetail::pass {

template <class Keys, class Links>
struct pairing_heap {
    const Keys& key;  // by number; may change only while the number is in no heap
    Links& child;     // by number: its first child; -1: none
    Links& sibling;   // by number, except for a top: the next child of the same parent; -1: none

    // The heap `top` with `item` inserted, which must be in no heap.
    constexpr int with(int top, int item) const {
        child[item] = -1;
        return top < 0 ? item : both(top, item);
    }
    // The heap `top`, which must not be empty, without its top.
    constexpr int without(int top) const {
        int next = child[top];
        if (next < 0 || sibling[next] < 0) return next;
        // Two-pass merge: meld the children in pairs from the front, in a list with the last pair first; then meld the list into one heap.
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

    // Melds two heaps that are not empty.
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
