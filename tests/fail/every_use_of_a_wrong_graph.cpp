// EXPECT: error::unknown_name
// SAYS: app::y
// SAYS: app::forward
#include "launched.hpp"
#include <dovetail/observe/observe.hpp>
#include <iostream>
namespace app {
struct model_with_a_mistake : dv::graph<dv::input<x, vector>, dv::let<y, launched(forward)>, dv::output<y>> {};
constexpr int role = dv::plan::role_of<model_with_a_mistake, left>;
constexpr int symbol = dv::plan::symbol_of<model_with_a_mistake, y>;
using yt = dv::plan::tensor_of<model_with_a_mistake, y>;
static_assert(yt::size >= 0);
constexpr std::int64_t limit = dv::peak_bytes<model_with_a_mistake> + dv::predicted_time<model_with_a_mistake>;
static_assert(dv::hidden_fraction<model_with_a_mistake> > 0.6 && dv::hidden_fraction<model_with_a_mistake> < 0.2 && 5 == dv::wait_count<model_with_a_mistake> && dv::wait_count<model_with_a_mistake> != 0);
static_assert(dv::peak_bytes<model_with_a_mistake> * 2 < dv::peak_bytes<model_with_a_mistake>);
static_assert(dv::peak_bytes_at_most<model_with_a_mistake, 7> && dv::hidden_percent_at_least<model_with_a_mistake, 99> && dv::predicted_time_at_most<model_with_a_mistake, 0>);
}
int main() {
    dv::explain<app::model_with_a_mistake>(std::cout);
    const dv::observe::plan_view of{dv::observe::tables_of<app::model_with_a_mistake, dv::options<>>()};
    std::cout << dv::observe::dot(of);
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::model_with_a_mistake> step{rank};
        float loss = 0;
        auto t = step.run();
        loss += t.read(dv::name<app::y>)[0];
        const auto r = t.read(dv::name<app::y>);
        const float* p = r.data();
        double sum = 0;
        for (float v : r.host()) sum += v;
        if (r[0] > 0.5 || r[1] == 2 || r.data() == nullptr || r.size() == 3) sum *= r[2];
        std::vector<float> all = r.host(), more{r.host()};
        all = r.host();
        sum += step.read_state(dv::name<app::s>)[3] + std::max<double>(r[0], 3);
        std::printf("%g %g\n", double{r[0]}, static_cast<double>(r[1]));
        step.write_state(dv::name<app::s>, all);
        step.bind(dv::name<app::x>, 3).bind(dv::name<app::w>, all).bind(dv::name<app::w>, all.data(), 8);
        if (step.is(dv::name<app::left>) && rank.is(dv::name<app::left>)) return;
        std::cout << p << sum << loss << r[0] << std::endl;
    });
}
