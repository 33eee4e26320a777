// The states of a store in files: every element type comes back bit by bit; what a file must not be is refused by name and changes nothing;
// shards of four ranks are read by two, three and one; a save that is killed leaves the old file or the new one.
#include "support/state_files.hpp"

#include <dovetail/launch/safetensors/files.hpp>

#include "support/expect.hpp"
#include "support/processes.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

namespace dv = dovetail;
using support::contents;
using support::counted;
using support::has;
using support::memory_rank;
using support::message;

namespace {

namespace app {
template <class> struct of_type;
template <int> struct layer;
struct weights;
struct bias;
struct step_count;
struct extra;
struct tp;
struct dp;
}  // namespace app
namespace other {
struct bias;
}

using matrix = dv::tensor<float, 4, 3>;
using row = dv::tensor<dv::half, 5>;
using number = dv::scalar<std::int64_t>;

template <class T>
void write_type(dv::store& to, int first) {
    to.write<dv::tensor<T, 2, 3>>(dv::name<app::of_type<T>>, counted<T>(6, first));
}
template <class T>
bool same_type(const dv::store& a, const dv::store& b) {
    const auto left = a.read<dv::tensor<T, 2, 3>>(dv::name<app::of_type<T>>),
               right = b.read<dv::tensor<T, 2, 3>>(dv::name<app::of_type<T>>);
    return std::memcmp(left.data(), right.data(), sizeof(T) * 6) == 0;
}
template <class... T>
void write_all(dv::store& to, int first) {
    (write_type<T>(to, first), ...);
}
template <class... T>
bool same_all(const dv::store& a, const dv::store& b) {
    return (same_type<T>(a, b) && ...);
}

// The states of the tests of refusals: weights float[4, 3], layer<2> half[5], step_count int64.
struct model {
    memory_rank rank;
    dv::store store{rank};

    explicit model(int first, int index = 0) : rank{index} {
        store.write<matrix>(dv::name<app::weights>, counted<float>(12, first));
        store.write<row>(dv::name<app::layer<2>>, counted<dv::half>(5, first));
        store.write<number>(dv::name<app::step_count>, std::vector<std::int64_t>{first});
    }
    bool is(int first) const {
        return store.read<matrix>(dv::name<app::weights>) == counted<float>(12, first) &&
               store.read<number>(dv::name<app::step_count>)[0] == first &&
               float{store.read<row>(dv::name<app::layer<2>>)[0]} == float(first);
    }
};
std::string refusal(model& m, const std::string& path) {
    try {
        m.store.load(path);
        return "nothing thrown";
    } catch (const dv::file_error& e) {
        CHECK(e.path == path);
        return e.what();
    }
}

// One of `width` ranks of an axis: rows of weights, a replicated bias, a scalar of each rank.
template <int Rows>
struct position {
    memory_rank rank;
    dv::store store{rank};
    using rows = dv::tensor<float, Rows, 3>;

    position(int index, int width, bool replicated_weights = false) : rank{index} {
        support::place<app::tp>(store, index, width);
        support::replicate<row, app::bias, app::tp>(store);
        if (replicated_weights) support::replicate<rows, app::weights, app::tp>(store);
        fill(0, 0);
    }
    // Rows from `first` on, and a bias.
    void fill(int first, int of_bias) {
        store.write<rows>(dv::name<app::weights>, counted<float>(Rows * 3, 3 * first));
        store.write<row>(dv::name<app::bias>, counted<dv::half>(5, of_bias));
    }
    bool is(int first, int of_bias) const {
        return store.read<rows>(dv::name<app::weights>) == counted<float>(Rows * 3, 3 * first) &&
               float{store.read<row>(dv::name<app::bias>)[4]} == float(of_bias + 4);
    }
};
// Twelve rows on `Width` ranks, saved.
template <int Width>
std::vector<std::string> saved(const support::folder& in, const std::string& name, const dv::file_notes& notes = {}) {
    std::vector<std::string> paths;
    for (int i = 0; i < Width; ++i) {
        position<12 / Width> p{i, Width};
        p.fill(i * 12 / Width, 7);
        paths.push_back(in / (name + std::to_string(i)));
        p.store.save(paths.back(), dv::along<app::tp>, notes);
    }
    return paths;
}
template <int Width>
bool loads(const std::vector<std::string>& paths) {
    bool all = true;
    for (int i = 0; i < Width; ++i) {
        position<12 / Width> p{i, Width};
        p.store.load(paths, dv::along<app::tp>);
        all = all && p.is(i * 12 / Width, 7);
    }
    return all;
}
std::string refusal(const std::vector<std::string>& paths) {
    position<3> p{0, 4};
    p.fill(100, 100);
    const std::string text = message([&] { p.store.load(paths, dv::along<app::tp>); });
    CHECK(p.is(100, 100));
    return text;
}

}  // namespace

TEST_CASE("every element type comes back bit by bit, with the notes") {
    const support::folder in;
    const memory_rank rank;
    dv::store from{rank}, to{rank};
    const auto each = [](auto call) {
        call.template operator()<dv::half, dv::bfloat16, float, double, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                                 std::int64_t, std::uint64_t>();
    };
    each([&]<class... T>() { write_all<T...>(from, 1), write_all<T...>(to, 2); });
    from.save(in / "file", {{"epoch", "4"}, {"with \"quotes\"\n", ""}});
    each([&]<class... T>() { CHECK(!same_all<T...>(from, to)); });
    CHECK(to.load(in / "file") == dv::file_notes{{"epoch", "4"}, {"with \"quotes\"\n", ""}});
    each([&]<class... T>() { CHECK(same_all<T...>(from, to)); });
    CHECK(in.names() == std::vector<std::string>{"file"});
    has(contents(in / "file"), R"("of_type<half>":{"dtype":"F16","shape":[2,3])");
}

TEST_CASE("an empty store, and a state larger than the buffer of a save") {
    const support::folder in;
    const memory_rank rank;
    dv::store none{rank};
    none.save(in / "none");
    CHECK(none.load(in / "none").empty());
    using large = dv::tensor<double, 3, 1 << 20>;  // 24 MiB
    dv::store from{rank}, to{rank};
    std::vector<double> values(large::size);
    std::iota(values.begin(), values.end(), 0.5);
    from.write<large>(dv::name<app::weights>, values);
    from.save(in / "large");
    to.write<large>(dv::name<app::weights>, std::vector<double>(large::size));
    to.load(in / "large");
    CHECK(to.read<large>(dv::name<app::weights>) == values);
}

TEST_CASE("a file that Python has written") {
    const support::folder in;
    // Python's safetensors 0.8: save({"bias": arange(3, dtype=int8), "weights": arange(6, dtype=float32).reshape(2, 3)}, {"epoch": "4"})
    support::write_file(in / "file", std::string{"\x98\0\0\0\0\0\0\0", 8} +
                                         R"({"__metadata__":{"epoch":"4"},"weights":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)" +
                                         R"("bias":{"dtype":"I8","shape":[3],"data_offsets":[24,27]}}   )" +
                                         std::string{"\0\0\0\0\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xa0@\0\x01\x02", 27});
    const memory_rank rank;
    dv::store to{rank};
    to.write<dv::tensor<float, 2, 3>>(dv::name<app::weights>, counted<float>(6, 50));
    to.write<dv::tensor<std::int8_t, 3>>(dv::name<app::bias>, counted<std::int8_t>(3, 50));
    CHECK(to.load(in / "file") == dv::file_notes{{"epoch", "4"}});
    CHECK(to.read<dv::tensor<float, 2, 3>>(dv::name<app::weights>) == counted<float>(6, 0));
    CHECK(to.read<dv::tensor<std::int8_t, 3>>(dv::name<app::bias>) == counted<std::int8_t>(3, 0));
}

TEST_CASE("a file of other states is refused by name, and changes nothing") {
    const support::folder in;
    model m{100};
    const std::string path = in / "file";
    const auto other = [&](auto change) {
        model made{1};
        change(made.store);
        made.store.save(path);
        const std::string text = refusal(m, path);
        CHECK(m.is(100));
        return text;
    };
    has(other([](dv::store& s) { s.write<number>(dv::name<app::extra>, std::vector<std::int64_t>{1}); }),
        "file`: tensor `extra` is no state of the store of rank 0");
    const auto only = [&](auto fill) {
        const memory_rank rank;
        dv::store made{rank};
        fill(made);
        made.save(path);
        const std::string text = refusal(m, path);
        CHECK(m.is(100));
        return text;
    };
    has(only([](dv::store& s) {
            s.write<matrix>(dv::name<app::weights>, counted<float>(12, 1));
            s.write<number>(dv::name<app::step_count>, std::vector<std::int64_t>{1});
        }),
        "state `layer<2>` (half[5]) of the store is missing in it");
    has(only([](dv::store& s) {
            s.write<dv::tensor<double, 4, 3>>(dv::name<app::weights>, counted<double>(12, 1));
            s.write<row>(dv::name<app::layer<2>>, counted<dv::half>(5, 1));
            s.write<number>(dv::name<app::step_count>, std::vector<std::int64_t>{1});
        }),
        "tensor `weights` is double[4, 3] in it, and the store has float[4, 3]");
    has(only([](dv::store& s) {
            s.write<dv::tensor<float, 3, 4>>(dv::name<app::weights>, counted<float>(12, 1));
            s.write<row>(dv::name<app::layer<2>>, counted<dv::half>(5, 1));
            s.write<dv::tensor<std::int64_t, 1>>(dv::name<app::step_count>, std::vector<std::int64_t>{1});
        }),
        "tensor `step_count` is int64[1] in it, and the store has int64[]");
}

TEST_CASE("a file that is cut at any byte, is longer, or is none, is refused and changes nothing") {
    const support::folder in;
    model{1}.store.save(in / "whole");
    const std::string whole = contents(in / "whole"), path = in / "cut";
    model m{100};
    for (std::size_t n = 0; n < whole.size(); ++n) {
        support::write_file(path, whole.substr(0, n));
        const std::string text = refusal(m, path);
        has(text, "cut`: it");
        CHECK(m.is(100));
    }
    support::write_file(path, whole + "x");
    has(refusal(m, path), "1 bytes follow its last tensor");
    support::write_file(path, "PK\x03\x04 a zip file of pytorch.save");
    has(refusal(m, path), "it is no safetensors file");
    has(refusal(m, in / "none"), "none`: it cannot be opened: No such file or directory");
    std::filesystem::create_directory(in / "folder");
    has(refusal(m, in / "folder"), "folder`: it is not a regular file");
    REQUIRE(::mkfifo((in / "pipe").c_str(), 0600) == 0);
    has(refusal(m, in / "pipe"), "pipe`: it is not a regular file");
    CHECK(m.is(100));
    support::write_file(path, whole);
    CHECK(refusal(m, path) == "nothing thrown");
    CHECK(m.is(1));
}

TEST_CASE("shards of four, three, two and one rank are read by four, three, two and one, also as one file") {
    const support::folder in;
    const std::vector<std::string> all[] = {saved<4>(in, "four"), saved<3>(in, "three"), saved<2>(in, "two"), saved<1>(in, "one")};
    for (std::vector<std::string> paths : all) {
        for (int turn = 0; turn < 2; ++turn) {
            CHECK(loads<4>(paths));
            CHECK(loads<3>(paths));
            CHECK(loads<2>(paths));
            CHECK(loads<1>(paths));
            std::reverse(paths.begin(), paths.end());
        }
        dv::gather_shards(paths, in / "whole");
        has(contents(in / "whole"), R"("weights":{"dtype":"F32","shape":[12,3])");
        CHECK(contents(in / "whole").find("dovetail.") == std::string::npos);
        CHECK(loads<3>({in / "whole"}));
        CHECK(loads<1>({in / "whole"}));
        position<12> p{0, 1};
        p.store.load(in / "whole");
        CHECK(p.is(0, 7));
    }
    // 4 -> 2 -> 3
    std::vector<std::string> two;
    for (int i = 0; i < 2; ++i) {
        position<6> p{i, 2};
        p.store.load(all[0], dv::along<app::tp>);
        two.push_back(in / ("resaved" + std::to_string(i)));
        p.store.save(two.back(), dv::along<app::tp>);
    }
    CHECK(loads<3>(two));
    // A rank's own shard by itself.
    position<3> own{2, 4};
    own.store.load(all[0][2]);
    CHECK(own.is(6, 7));
}

TEST_CASE("a state that was replicated is read by rows, and rows are read as a whole") {
    const support::folder in;
    std::vector<std::string> paths;
    for (int i = 0; i < 2; ++i) {
        position<12> p{i, 2, true};
        p.fill(0, 7);
        paths.push_back(in / ("replicated" + std::to_string(i)));
        p.store.save(paths.back(), dv::along<app::tp>);
    }
    CHECK(loads<3>(paths));
    for (int i = 0; i < 3; ++i) {
        position<12> p{i, 3, true};
        p.store.load(saved<4>(in, "rows"), dv::along<app::tp>);
        CHECK(p.is(0, 7));
    }
}

TEST_CASE("a scalar of each rank is an element for each") {
    const support::folder in;
    std::vector<std::string> paths;
    for (int i = 0; i < 3; ++i) {
        const memory_rank rank{i};
        dv::store s{rank};
        support::place<app::tp>(s, i, 3);
        s.write<number>(dv::name<app::step_count>, std::vector<std::int64_t>{10 + i});
        paths.push_back(in / std::to_string(i));
        s.save(paths.back(), dv::along<app::tp>);
    }
    dv::gather_shards(paths, in / "whole");
    for (const auto& from : {paths, std::vector<std::string>{in / "whole"}}) {
        const memory_rank rank{2};
        dv::store s{rank};
        support::place<app::tp>(s, 2, 3);
        s.write<number>(dv::name<app::step_count>, std::vector<std::int64_t>{0});
        s.load(from, dv::along<app::tp>);
        CHECK(s.read<number>(dv::name<app::step_count>)[0] == 12);
        dv::store two{rank};
        support::place<app::tp>(two, 1, 2);
        two.write<number>(dv::name<app::step_count>, std::vector<std::int64_t>{0});
        has(message([&] { two.load(from, dv::along<app::tp>); }), "tensor `step_count` is int64[3] in");
    }
}

TEST_CASE("shards that are not those of one save are refused, and change nothing") {
    const support::folder in;
    const auto four = saved<4>(in, "four", {{"epoch", "1"}}), later = saved<4>(in, "later", {{"epoch", "2"}}), two = saved<2>(in, "two");
    has(refusal({four[0], four[1], four[3]}), "four0`: it is a shard of 4 along `tp`, and shard 2 is not among the files");
    has(refusal({four[1], four[2], four[3]}), "four1`: it is a shard of 4 along `tp`, and shard 0 is not among the files");
    has(refusal({four[0], four[1], four[2]}), "four0`: it is a shard of 4, and shard 3 is not among the files");
    has(refusal({four[0]}), "shard 1 is not among the files");
    has(refusal({four[0], four[1], four[2], four[2], four[3]}), "four2`: it is shard 2, and another file is, too");
    has(refusal({four[0], four[1], later[2], four[3]}), "later2`: the program's notes differ in it and in `");
    has(refusal({four[0], two[1]}), "two1`: it is a shard of 2 along `tp`, and `");
    has(refusal({}), "no files are given");
    dv::gather_shards(four, in / "whole");
    has(refusal({in / "whole", four[1]}), "whole`: it is no shard, and is given together with other files");
    position<4> wide{0, 4};
    has(message([&] { wide.store.load(four, dv::along<app::tp>); }),
        "tensor `weights` is float[12, 3] in all shards together, and the store has float[16, 3] on the 4 positions of the axis");
    // Of another axis; without an axis; with states of other names or types.
    support::place<app::dp>(wide.store, 0, 2);
    has(message([&] { wide.store.load(four, dv::along<app::dp>); }), "it is a shard along `tp`, and not along `dp`");
    model unplaced{1};
    has(message([&] { unplaced.store.save(in / "x", dv::along<app::tp>); }),
        "no executor whose graph has axis `tp` was made with the store of rank 0");
    support::place<app::dp>(wide.store, 1, 2);
    has(message([&] { wide.store.save(in / "x", dv::along<app::dp>); }),
        "executors with the store of rank 0 have different positions along axis `dp`: 0 of 2 and 1 of 2");
    position<3> more{1, 4};
    more.store.write<number>(dv::name<app::extra>, std::vector<std::int64_t>{1});
    more.store.save(in / "more", dv::along<app::tp>, {{"epoch", "1"}});
    has(refusal({four[0], in / "more", four[2], four[3]}), "more`: tensor `extra` differs in it and in `");
    position<3> whole{1, 4, true};
    whole.store.save(in / "declared", dv::along<app::tp>, {{"epoch", "1"}});
    has(refusal({four[0], in / "declared", four[2], four[3]}), "declared`: which tensors are replicated differs in it and in `");
    CHECK(message([&] { dv::gather_shards({four[0], four[1]}, in / "part"); }).find("shard 2") != std::string::npos);
    CHECK(!std::filesystem::exists(in / "part"));
}

TEST_CASE("shards whose notes are in another order are those of one save") {
    const support::folder in;
    const auto forwards = saved<2>(in, "forwards", {{"epoch", "1"}, {"rate", "2"}});
    const auto backwards = saved<2>(in, "backwards", {{"rate", "2"}, {"epoch", "1"}});
    position<6> p{0, 2};
    CHECK(p.store.load({forwards[0], backwards[1]}, dv::along<app::tp>) == dv::file_notes{{"epoch", "1"}, {"rate", "2"}});
    CHECK(p.store.load({backwards[0], forwards[1]}, dv::along<app::tp>) == dv::file_notes{{"epoch", "1"}, {"rate", "2"}});
    const auto other = saved<2>(in, "other", {{"rate", "1"}, {"epoch", "2"}});
    has(message([&] { p.store.load({forwards[0], other[1]}, dv::along<app::tp>); }), "the program's notes differ in it");
}

TEST_CASE("metadata of a shard that says nothing sensible") {
    const support::folder in;
    const auto why = [&](const std::string& metadata) {
        const std::string json = "{\"__metadata__\":{" + metadata + "}}";
        std::string length(8, '\0');
        length[0] = static_cast<char>(json.size());
        support::write_file(in / "file", length + json);
        const memory_rank rank;
        dv::store none{rank};
        return message([&] { none.load(in / "file"); });
    };
    const std::string all = R"("dovetail.axis":"tp","dovetail.replicated":"",)";
    CHECK(why(all + R"("dovetail.index":"1","dovetail.width":"2")") == "nothing thrown");
    CHECK(why(R"("other":"tp")") == "nothing thrown");
    const std::string refused = "its metadata does not say which shard of which axis it is";
    has(why(all + R"("dovetail.index":"2","dovetail.width":"2")"), refused);
    has(why(all + R"("dovetail.index":"0","dovetail.width":"0")"), refused);
    has(why(R"("dovetail.axis":"tp")"), refused);
    has(why(all + R"("dovetail.index":"-1","dovetail.width":"2")"), "a natural number is expected");
    has(why(all + R"("dovetail.index":"1x","dovetail.width":"2")"), "nothing more is expected");
    const std::string shard = R"("dovetail.axis":"tp","dovetail.index":"1","dovetail.width":"2","dovetail.replicated":)";
    has(why(shard + R"("w")"), "its metadata calls `w` replicated, which is no tensor of it");
    has(why(shard + R"("\n\n\n")"), "its metadata calls `` replicated, which is no tensor of it");
    has(why(R"("dovetail.colour":"red")"), "its metadata `dovetail.colour` is unknown");
}

TEST_CASE("what cannot be saved: states without a value, two of one name, notes with our names") {
    const support::folder in;
    const memory_rank rank;
    dv::store s{rank};
    s.write<row>(dv::name<app::bias>, counted<dv::half>(5, 1));
    has(message([&] { static_cast<void>(s.read<matrix>(dv::name<app::bias>)); }),
        "state `bias` of float 4x3 was never initialised: the store holds that of half 5");
    has(message([&] { static_cast<void>(s.read<matrix>(dv::name<app::weights>)); }), "state `weights` was never initialised");
    s.save(in / "file");  // a read makes no state
    const std::string before = contents(in / "file");
    auto& state = s.core()->at(&dv::tag_of<app::weights>, matrix::type);
    has(message([&] { s.save(in / "file"); }), "state `weights` was never initialised");
    s.core()->initialised(state);
    s.core()->lose(state, "run 3 of `model` did not end");
    has(message([&] { s.save(in / "file"); }), "state `weights` is lost: run 3 of `model` did not end");
    s.write<matrix>(dv::name<app::weights>, counted<float>(12, 1));
    has(message([&] { s.save(in / "file", {{"dovetail.axis", "x"}}); }),
        "note `dovetail.axis`: names that begin with `dovetail.` are the library's");
    has(message([&] { s.save(in / "file", {{"a", "\xff"}}); }), "note `a` is not UTF-8");
    has(message([&] { s.save(in / "file", {{"\xc3", "a"}}); }), "note `\\xc3` is not UTF-8");
    has(message([&] { s.save(in / "file", {{"a", "x"}, {"a", "y"}}); }), "note `a` is in it twice");
    s.write<dv::scalar<float>>(dv::name<other::bias>, std::vector<float>{1});
    has(message([&] { s.save(in / "file"); }), "state `bias` (");
    has(message([&] { s.load(in / "file"); }), "of rank 0 would have one name in a file");
    CHECK(contents(in / "file") == before);
    CHECK(in.names().size() == 1);
}

TEST_CASE("a load and a write make lost and new states valid, and a device that fails loses them") {
    struct failing final : dv::memory {
        dv::host::host_memory below;
        int good = INT32_MAX;
        bool left_to_the_device = false;
        bool abandoned() const noexcept override { return left_to_the_device; }
        void* allocate(std::int64_t bytes) override { return below.allocate(bytes); }
        void release(void* p) noexcept override { below.release(p); }
        void* allocate_host(std::int64_t bytes) override { return below.allocate_host(bytes); }
        void release_host(void* p) noexcept override { below.release_host(p); }
        void to_host(void* to, const void* from, std::int64_t bytes) override { below.to_host(to, from, bytes); }
        void from_host(void* to, const void* from, std::int64_t bytes) override {
            if (good-- == 0) throw dv::failure{"the device is gone"};
            below.from_host(to, from, bytes);
        }
    };
    const support::folder in;
    const auto memory = std::make_shared<failing>();
    const memory_rank rank{0, memory};
    dv::store s{rank};
    s.write<row>(dv::name<app::bias>, counted<dv::half>(5, 1));
    s.write<matrix>(dv::name<app::weights>, counted<float>(12, 1));
    s.save(in / "file");
    auto& state = s.core()->at(&dv::tag_of<app::weights>, matrix::type);
    s.core()->lose(state, "a run did not end");
    CHECK(s.core()->any_invalid());
    s.load(in / "file");
    CHECK(!s.core()->any_invalid());
    memory->good = 1;
    has(message([&] { s.load(in / "file"); }), "the device is gone");
    has(message([&] { static_cast<void>(s.read<row>(dv::name<app::bias>)); }),
        "state `bias` is lost: its contents were being replaced: the device is gone");
    has(message([&] { static_cast<void>(s.read<matrix>(dv::name<app::weights>)); }), "state `weights` is lost");
    s.load(in / "file");
    CHECK(s.read<matrix>(dv::name<app::weights>) == counted<float>(12, 1));
    memory->good = 0;
    has(message([&] { s.write<row>(dv::name<app::bias>, counted<dv::half>(5, 2)); }), "the device is gone");
    has(message([&] { static_cast<void>(s.read<row>(dv::name<app::bias>)); }), "state `bias` is lost: its contents were being replaced");
    CHECK(s.core()->any_invalid());
    s.write<row>(dv::name<app::bias>, counted<dv::half>(5, 2));
    CHECK(s.read<row>(dv::name<app::bias>) == counted<dv::half>(5, 2));
    memory->left_to_the_device = true;
    const std::string refused = "the states of rank 0 may still be written by work that an abort has left on the device: make a new store";
    has(message([&] { s.write<row>(dv::name<app::bias>, counted<dv::half>(5, 3)); }), refused);
    has(message([&] { s.load(in / "file"); }), refused);
    CHECK(s.read<row>(dv::name<app::bias>) == counted<dv::half>(5, 2));
}

TEST_CASE("a file that cannot be written: the path and the system's text are in the error, and nothing is left behind") {
    const support::folder in;
    model m{1};
    const auto refused = [&](const std::string& path) {
        try {
            m.store.save(path);
        } catch (const dv::file_error& e) {
            CHECK(e.path == path);
            return std::string{e.what()};
        }
        return std::string{"nothing thrown"};
    };
    has(refused(in / "no/file"), "no/file`: it cannot be written, since its folder cannot be opened: No such file or directory");
    std::filesystem::create_directory(in / "folder");
    has(refused(in / "folder"), "folder`: it is not a regular file");
    has(refused("/dev/full"), "`/dev/full`: it is not a regular file");
    std::filesystem::create_directory(in / "file.saving");
    has(refused(in / "file"), "file`: it cannot be written: Is a directory");
    std::filesystem::remove(in / "file.saving");
    // No more room than for a part of the file: the old one stays.
    m.store.save(in / "file");
    const std::string before = contents(in / "file");
    const rlimit little{before.size() - 1, RLIM_INFINITY};
    rlimit usual = {};
    ::getrlimit(RLIMIT_FSIZE, &usual);
    std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &little);
    has(refused(in / "file"), "file`: it cannot be written: File too large");
    ::setrlimit(RLIMIT_FSIZE, &usual);
    CHECK(contents(in / "file") == before);
    // What a killed save has left is overwritten; a link there is replaced and not followed.
    support::write_file(in / "file.saving", "left over");
    CHECK(refused(in / "file") == "nothing thrown");
    std::filesystem::create_symlink(in / "folder/elsewhere", in / "file.saving");
    CHECK(refused(in / "file") == "nothing thrown");
    CHECK(!std::filesystem::exists(in / "folder/elsewhere"));
    CHECK(contents(in / "file") == before);
    CHECK(in.names().size() == 2);
    // A file in the working folder.
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(in / "folder");
    CHECK(refused("plain") == "nothing thrown");
    std::filesystem::current_path(here);
    CHECK(contents(in / "folder/plain") == before);
}

TEST_CASE("a folder that cannot be read, and so not flushed: the save is refused before the file is replaced") {
    namespace st = dv::safetensors;
    const support::folder in;
    support::write_file(in / "file", "old");
    if (::geteuid() == 0) {  // who may read everything, so that another user saves
        REQUIRE(::chown((in / "").c_str(), 65534, 65534) == 0);
        REQUIRE(::chown((in / "file").c_str(), 65534, 65534) == 0);
    }
    std::filesystem::permissions(in / "", std::filesystem::perms{0300});
    support::processes all;
    all.start([&] {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return std::string{"no other user"};
        return message([&] {
            st::replacing_file file{in / "file"};
            file.write("new", 3);
            file.commit();
        });
    });
    const std::string said = all.ends()[0];
    std::filesystem::permissions(in / "", std::filesystem::perms{0700});
    has(said, "file`: it cannot be written, since its folder cannot be opened: Permission denied");
    CHECK(contents(in / "file") == "old");
    CHECK(in.names() == std::vector<std::string>{"file"});
}

TEST_CASE("a file keeps its permissions when it is replaced, and a link to a file is replaced itself") {
    namespace fs = std::filesystem;
    const support::folder in;
    model m{1};
    m.store.save(in / "file");
    for (const unsigned mode : {0600u, 0666u}) {
        fs::permissions(in / "file", fs::perms{mode});
        m.store.save(in / "file");
        CHECK(static_cast<unsigned>(fs::status(in / "file").permissions()) == mode);
    }
    fs::create_symlink(in / "file", in / "link");
    m.store.save(in / "link", {{"epoch", "4"}});
    CHECK(!fs::is_symlink(in / "link"));
    CHECK(m.store.load(in / "file").empty());
}

TEST_CASE("two saves to one path at once: the second is refused at its beginning, and the first is whole") {
    namespace st = dv::safetensors;
    const support::folder in;
    {
        st::replacing_file one{in / "file"};
        one.write("one", 3);
        has(message([&] { st::replacing_file two{in / "file"}; }), "another save to the same path has begun");
        CHECK(contents(in / "file.saving") == "one");
        one.commit();
    }
    CHECK(contents(in / "file") == "one");
    { const st::replacing_file dropped{in / "file"}; }
    CHECK(in.names() == std::vector<std::string>{"file"});
    // One of which another took the name, as on a file system without locks.
    st::replacing_file late{in / "file"};
    late.write("late", 4);
    std::filesystem::remove(in / "file.saving");
    support::write_file(in / "file.saving", "another's");
    has(message([&] { late.commit(); }), "another save to the same path has begun");
    CHECK(contents(in / "file") == "one");
}

TEST_CASE("saves to one path that begin while others end: the file is always whole") {
    namespace st = dv::safetensors;
    const support::folder in;
    constexpr std::size_t bytes = 5000;
    std::atomic<int> saved{0}, refused{0}, others{0};
    const auto save = [&](char letter) {
        const std::string half(bytes / 2, letter);
        for (int k = 0; k < 300; ++k) {
            try {
                st::replacing_file file{in / "file"};
                file.write(half.data(), bytes / 2);
                std::this_thread::yield();
                file.write(half.data(), bytes / 2);
                file.commit();
                ++saved;
            } catch (const dv::file_error& e) {
                ++(std::string{e.what()}.find("another save to the same path has begun") != std::string::npos ? refused : others);
            }
            const std::string all = contents(in / "file");
            if (!all.empty() && all != std::string(bytes, all[0])) ++others;
        }
    };
    std::thread a{save, 'a'}, b{save, 'b'}, c{save, 'c'};
    a.join();
    b.join();
    c.join();
    CHECK(saved.load() > 0);
    CHECK(saved.load() + refused.load() == 900);
    CHECK(others.load() == 0);
    CHECK(in.names() == std::vector<std::string>{"file"});
}

TEST_CASE("a save of another process holds the path until it ends or is killed") {
    namespace st = dv::safetensors;
    const support::folder in;
    const pid_t child = ::fork();
    if (child == 0) {
        st::replacing_file file{in / "file"};
        file.write("of the child", 12);
        support::write_file(in / "begun", "");
        ::pause();
    }
    for (int i = 0; i < 5000 && !std::filesystem::exists(in / "begun"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    has(message([&] { st::replacing_file second{in / "file"}; }), "another save to the same path has begun");
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    CHECK(contents(in / "file.saving") == "of the child");
    // What is left over may have another name as well: the file of that name stays.
    std::filesystem::create_hard_link(in / "file.saving", in / "other");
    st::replacing_file next{in / "file"};
    next.write("next", 4);
    next.commit();
    CHECK(contents(in / "file") == "next");
    CHECK(contents(in / "other") == "of the child");
    CHECK(!std::filesystem::exists(in / "file.saving"));
}

TEST_CASE("a save that is killed leaves the old file or the new one") {
    const support::folder in;
    const std::string path = in / "file";
    using large = dv::tensor<std::int32_t, 1 << 18>;
    const memory_rank rank;
    dv::store store{rank};
    const auto save = [&](std::int32_t k) {
        store.write<large>(dv::name<app::weights>, std::vector<std::int32_t>(large::size, k));
        store.save(path, {{"k", std::to_string(k)}});
    };
    save(0);
    std::int32_t last = 0;
    int cut = 0;
    for (int turn = 0; turn < 40 || (cut == 0 && turn < 400); ++turn) {
        const pid_t child = ::fork();
        if (child == 0)
            for (std::int32_t k = last + 1;; ++k) save(k);
        std::this_thread::sleep_for(std::chrono::microseconds{1000 + 733 * (turn % 40)});
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(WIFSIGNALED(status));
        cut += std::filesystem::exists(path + ".saving") ? 1 : 0;
        const dv::file_notes notes = store.load(path);
        const auto values = store.read<large>(dv::name<app::weights>);
        REQUIRE(notes.size() == 1);
        const std::int32_t k = std::stoi(notes[0].text);
        CHECK(k >= last);
        CHECK(values == std::vector<std::int32_t>(large::size, k));
        last = k;
    }
    CHECK(last > 0);
    CHECK(cut > 0);  // some were killed in the middle
    save(last + 1);
    CHECK(in.names() == std::vector<std::string>{"file"});
}
