// Saves states of every element type that a library of Python has, or loads them with twice the values and a note of that library, for the
// script that compares them with Python's reading: `saved_states save|load FILE numpy|torch`.
#include "state_files.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dv = dovetail;

namespace {

namespace app {
template <int> struct of_type;  // the number of the element type
template <int> struct layer;
}  // namespace app
using number = dv::scalar<std::int64_t>;

template <class T>
std::vector<T> values(int times) {
    std::vector<T> all;
    for (int i = 1; i <= 6; ++i) all.push_back(static_cast<T>(static_cast<float>(times * i)));
    return all;
}
template <class... T>
void write(dv::store& to, int times) {
    (to.write<dv::tensor<T, 2, 3>>(dv::name<app::of_type<static_cast<int>(dv::element_of<T>)>>, values<T>(times)), ...);
    to.write<number>(dv::name<app::layer<2>>, std::vector<std::int64_t>{-7 * times});
}
template <class... T>
bool holds(const dv::store& of, int times) {
    const auto same = [](const auto& a, const auto& b) { return std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0; };
    return (same(of.read<dv::tensor<T, 2, 3>>(dv::name<app::of_type<static_cast<int>(dv::element_of<T>)>>), values<T>(times)) && ...) &&
           of.read<number>(dv::name<app::layer<2>>)[0] == -7 * times;
}

template <class... T>
bool run(const char* what, const char* path, const char* library) {
    const support::memory_rank rank;
    dv::store store{rank};
    write<T...>(store, 1);
    if (std::strcmp(what, "save") == 0) {
        store.save(path, {{"epoch", "4"}, {"note", "a \"b\"\n\xc3\xa9"}});
        return true;
    }
    return store.load(path) == dv::file_notes{{"by", library}} && holds<T...>(store, 2);
}
bool run(const char* what, const char* path, const std::string& library) {
    if (library == "numpy")
        return run<dv::half, float, double, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
            what, path, "numpy");
    return run<dv::half, dv::bfloat16, float, double, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
        what, path, "torch");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) return EXIT_FAILURE;
    try {
        if (run(arguments[1], arguments[2], std::string{arguments[3]})) return EXIT_SUCCESS;
        std::puts("the loaded states have other values");
    } catch (const std::exception& e) {
        std::puts(e.what());
    }
    return EXIT_FAILURE;
}
