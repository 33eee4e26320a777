// Three models look at the same image and a judge adds up what they say; each model's rank has four copies of its own.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdio>

namespace dv = dovetail;

namespace vote {
using namespace dv::ops;

struct copies;
template <int> struct model;
struct judge;
struct image;
template <int> struct first_weight;
template <int> struct second_weight;
template <int> struct hidden;
template <int> struct opinion;
struct sum_of_two;
struct verdict;
struct everybody;
struct decision;
struct confidence;
struct mean_opinion;

using picture = dv::tensor<float, 8, 256>;
using votes = dv::tensor<float, 8, 16>;

template <int I> using look = dv::on<model<I>,
    dv::state<first_weight<I>, dv::tensor<float, 256, 64>, normal_init<I + 1, 1, 16>>,
    dv::state<second_weight<I>, dv::tensor<float, 64, 16>, normal_init<I + 11, 1, 8>>,
    dv::let<hidden<I>, relu(matmul(image, first_weight<I>))>,
    dv::let<opinion<I>, matmul(hidden<I>, second_weight<I>)>>;

struct committee : dv::graph<
    dv::mesh<dv::axis<copies, 2>>,
    dv::input<image, picture>,
    dv::repeat<look, 3>,
    dv::let<everybody, all_reduce<maximum>(opinion<0>, opinion<1>, opinion<2>)>,
    dv::on<judge,
        dv::let<sum_of_two, add(opinion<0>, opinion<1>)>,
        dv::let<verdict, add(sum_of_two, opinion<2>)>,
        dv::let<mean_opinion, all_reduce<average, copies>(verdict)>,
        dv::let<decision, argmax(mean_opinion)>>,
    dv::on<model<0>, dv::let<confidence, argmax(everybody)>>,
    dv::output<decision, confidence>> {};

static_assert(dv::valid<committee>);
static_assert(dv::peak_bytes<committee, judge> < 10'000);
}  // namespace vote

int main() {
    using namespace vote;
    dv::host::world world{8};
    world.run([](auto& rank) {
        dv::executor<committee> step{rank};
        step.bind(dv::name<image>, std::vector<float>(picture::size, 0.25f));
        auto ticket = step.run();
        ticket.wait();
        if (rank.is(dv::name<judge>)) std::printf("%d\n", ticket.read(dv::name<decision>)[0]);
        if (step.is(dv::name<model<0>>)) std::printf("%d\n", ticket.read(dv::name<confidence>)[0]);
    });
    dv::host::world single{2};
    single.run([](auto& rank) {
        dv::executor<dv::single_rank<committee>> step{rank};
        step.bind(dv::name<image>, std::vector<float>(picture::size, 0.25f));
        std::printf("%d\n", step.run().read(dv::name<decision>)[0]);
    });
}
