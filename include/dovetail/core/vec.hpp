// The two sequences that every pass works on: `span`, a view, and `vec`, an owning array that grows. Both are ordinary
// constexpr code, several times cheaper in constant evaluation than std::vector and `<algorithm>`, and the same at run time.
#pragma once

#include "config.hpp"

#include <type_traits>

namespace dovetail {

// A view of `count` elements that it does not own.
template <class T>
struct span {
    T* first = nullptr;
    int count = 0;

    constexpr T& operator[](int i) const { return first[i]; }
    constexpr T* begin() const { return first; }
    constexpr T* end() const { return first + count; }
    constexpr int size() const { return count; }
    constexpr bool empty() const { return count == 0; }
    constexpr span<const T> view() const { return {first, count}; }
    // The elements [from, from + length).
    constexpr span subspan(int from, int length) const { return {first + from, length}; }
};

// An array of at most N elements; N may be zero. A finished vec is stored in one. Always make it as `fixed<T, N> x{}`: with an initialiser
// here, nvcc's front end would keep one more copy of all elements.
template <class T, int N>
struct fixed {
    static constexpr int capacity = N > 0 ? N : 1;
    // All zero.
    static constexpr fixed sized(int size) {
        fixed made{};
        made.count = size;
        return made;
    }

    // The count is the first member: whenever g++ reads a variable in a constant expression, it checks by the first member whether the type
    // is empty, and for an array it would compute the array's size each time.
    int count = N;
    T first[capacity];

    constexpr T& operator[](int i) { return first[i]; }
    constexpr const T& operator[](int i) const { return first[i]; }
    constexpr T* begin() { return first; }
    constexpr const T* begin() const { return first; }
    constexpr const T* end() const { return first + count; }
    constexpr int size() const { return count; }
    constexpr void cut(int size) { count = size; }
    constexpr void resize(int size) { count = size; }
    constexpr span<const T> view() const { return {first, count}; }
};

// Passed to the constructor of a vec whose elements are all written before they are read.
struct unset {};

// An owning array. New elements are value-initialised unless they are `unset`.
template <class T>
class vec {
public:
    T* first = nullptr;  // same meaning as in span

    static constexpr vec sized(int size) { return vec(size); }

    constexpr vec() = default;
    constexpr explicit vec(int size) : first{size > 0 ? new T[size]{} : nullptr}, size_{size}, capacity_{size} {}
    constexpr vec(int size, unset) : first{size > 0 ? allocate(size) : nullptr}, size_{size}, capacity_{size} {}
    constexpr vec(int size, const T& value) : vec(size, unset{}) {
        for (T *at = first, *behind = at + size; at < behind;) *at++ = value;
    }
    constexpr explicit vec(span<const T> other) : vec(other.count, unset{}) {
        for (int i = 0; i < size_; ++i) first[i] = other.first[i];
    }
    constexpr vec(vec&& other) noexcept : first{other.first}, size_{other.size_}, capacity_{other.capacity_} {
        other.first = nullptr;
        other.size_ = other.capacity_ = 0;
    }
    constexpr vec(const vec& other) : vec(other.size_, unset{}) {
        for (int i = 0; i < size_; ++i) first[i] = other.first[i];
    }
    constexpr vec& operator=(vec other) noexcept {
        T* data = first;
        first = other.first;
        other.first = data;
        size_ = other.size_;
        capacity_ = other.capacity_;
        return *this;
    }
    constexpr ~vec() { delete[] first; }

    constexpr T& operator[](int i) { return first[i]; }
    constexpr const T& operator[](int i) const { return first[i]; }
    constexpr T& back() { return first[size_ - 1]; }
    constexpr const T& back() const { return first[size_ - 1]; }
    constexpr T* begin() { return first; }
    constexpr T* end() { return first + size_; }
    constexpr const T* begin() const { return first; }
    constexpr const T* end() const { return first + size_; }
    constexpr int size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr span<const T> view() const { return {first, size_}; }

    constexpr void push(const T& value) {
        if (size_ < capacity_) {
            first[size_++] = value;
            return;
        }
        const T kept = value;  // which may be an element of this vec
        reserve(capacity_ > 0 ? 2 * capacity_ : 8);
        first[size_++] = kept;
    }
    constexpr void clear() { size_ = 0; }
    // Keeps the first `size` elements.
    constexpr void cut(int size) { size_ = size; }
    constexpr void reserve(int capacity) {
        if (capacity <= capacity_) return;
        T* data = allocate(capacity);
        for (int i = 0; i < size_; ++i) data[i] = first[i];
        delete[] first;
        first = data;
        capacity_ = capacity;
    }
    // Keeps the first `size` elements, or adds value-initialised ones.
    constexpr void resize(int size) {
        reserve(size);
        for (int i = size_; i < size; ++i) first[i] = T{};
        size_ = size;
    }

private:
    // No initialiser where the type allows it, because g++ evaluates the initialisation of every element. Where the type needs one, `{}` is
    // three times cheaper than calling the same constructor without it.
    static constexpr T* allocate(int capacity) {
        if constexpr (__is_trivially_constructible(T))
            return new T[capacity];
        else
            return new T[capacity]{};
    }

    int size_ = 0;
    int capacity_ = 0;
};

namespace detail {
template <class T, class Array, int More>
struct room_beside {
    using type = vec<T>;
};
template <class T, class U, int N, int More>
struct room_beside<T, fixed<U, N>, More> {
    using type = fixed<T, N + More>;
};
template <class T, class Rows, class Columns>
struct grid_beside {
    using type = vec<T>;
};
template <class T, class U, int N, class V, int M>
struct grid_beside<T, fixed<U, N>, fixed<V, M>> {
    using type = fixed<T, N * M>;
};
}  // namespace detail

// Working memory of a pass: as many elements as `Array` has, plus More; of constant size if that of `Array` is constant. Made by `sized`,
// all zero. Passes that are templates over their tables take `first` of tables and working memory as `auto&`: g++ reaches an element of an
// array in half the time of an access through a pointer. (Each struct around the array makes a store slower by as much again.)
template <class T, class Array, int More = 0>
using room = typename detail::room_beside<T, std::remove_cv_t<std::remove_reference_t<Array>>, More>::type;
// The same with one element for each pair of elements of two arrays.
template <class T, class Rows, class Columns>
using grid = typename detail::grid_beside<T, std::remove_cv_t<Rows>, std::remove_cv_t<Columns>>::type;

// Storage of the arrays of a table: `owning` while a pass fills them, `fixed_store` once their sizes are constants, `viewing` for readers.
// A table is a template over one of these, so it is declared once.
struct owning {
    template <class T, int>
    using of = vec<T>;
};
struct viewing {
    template <class T, int>
    using of = span<const T>;
};
template <int... Sizes>
struct fixed_store {
    static constexpr int sizes[sizeof...(Sizes) + 1] = {Sizes..., 0};
    template <class T, int I>
    using of = fixed<T, sizes[I]>;
};

// Copies `from` to `to`, which is large enough.
template <class From, class To>
constexpr void copy_elements(const From& from, To& to) {
    const auto* source = from.begin();
    for (int i = 0, n = from.size(); i < n; ++i) to[i] = source[i];
}
template <class From, class T, int N>
constexpr void copy_elements(const From& from, fixed<T, N>& to) {
    const auto* source = from.begin();
    to.count = from.size();
    for (int i = 0, n = to.count; i < n; ++i) to.first[i] = source[i];
}

}  // namespace dovetail
