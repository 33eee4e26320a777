// What stands around the reference's files of states: a graph `model` that adds to a state, in a program that is started twice.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct x;
struct sum;
struct dp;
using vector = dv::tensor<float, 64>;
struct model : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::state<sum, vector, zeros>,
    dv::update<sum, add(sum, x)>> {};

void session(const std::string& folder) {
    const auto train = [](auto& step) {
        step.bind(dv::name<x>, std::vector<float>(vector::size, 1.0f));
        step.run();
    };
    dv::host::world world{2};
#include "readme_block"
}
}  // namespace app

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "dovetail-readme-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return EXIT_FAILURE;
    app::session(folder);
    app::session(folder);
    bool right = true;
    dv::host::world{2}.run([&](auto& rank) {
        dv::store store{rank};
        store.write<app::vector>(dv::name<app::sum>, std::vector<float>(app::vector::size));
        const dv::file_notes notes = store.load(folder + "/" + std::to_string(rank.index()) + ".safetensors");
        if (notes != dv::file_notes{{"epoch", "4"}} || store.read<app::vector>(dv::name<app::sum>)[63] != 2.0f) right = false;
    });
    std::filesystem::remove_all(folder);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
