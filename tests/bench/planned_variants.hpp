// What is timed in turn of planned graphs: one executor each, with the time that was predicted of its run.
#pragma once

#include <dovetail/launch/cuda/api/services.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/ops/ops.hpp>

#include "bench/measure.hpp"

#include <functional>
#include <memory>
#include <string>

namespace bench {

namespace dv = dovetail;

struct variant {
    std::string name;
    std::function<void()> issue, wait;
    double predicted = 0;  // milliseconds; 0: nothing is predicted of it
    std::vector<double> milliseconds = {};
    std::string tuning = {};  // what dv::tuned reports
};

// `bind(executor)` binds the inputs; `arguments` are further ones of the executor.
template <class G, class Options, class Rank, class Bind, class... Arguments>
variant planned(Rank& rank, const char* name, const Bind& bind, const Arguments&... arguments) {
    const auto step = std::make_shared<dv::executor<G, Options>>(rank, arguments...);
    bind(*step);
    const auto last = std::make_shared<dv::ticket<G>>();
    return {name, [=] { *last = step->run(); }, [=] { last->wait(); }, static_cast<double>(dv::predicted_time<G, Options>) / 1e9};
}

// The same with dv::tuned, which has decided when this returns. All ranks call it together.
template <class G, class Options, class Rank, class Bind>
variant tuned(Rank& rank, const Bind& bind) {
    const auto step = std::make_shared<dv::executor<G, Options>>(rank, dv::tuned);
    bind(*step);
    const auto last = std::make_shared<dv::ticket<G>>();
    while (!step->tuning().decided()) *last = step->run();
    const dv::tuning_report& report = step->tuning();
    const double predicted = static_cast<double>(report.plans[static_cast<std::size_t>(report.taken)].predicted_ns) / 1e6;
    return {"tuned", [=] { *last = step->run(); }, [=] { last->wait(); }, predicted, {}, report.text()};
}

// Values of a normal distribution on this thread's GPU.
template <class T>
class normal_values {
public:
    normal_values(std::int64_t n, int seed, float deviation) : data_{on_device<T>(n)}, count_{n} {
        dv::kernels::generate(dv::cuda::stream{.services = &dv::cuda::services}, n, data_,
                              dv::ops_detail::normally_distributed{seed, deviation});
    }
    ~normal_values() { static_cast<void>(cudaFree(data_)); }
    normal_values(const normal_values&) = delete;
    normal_values& operator=(const normal_values&) = delete;
    const T* data() const { return data_; }
    dv::device_pointer<T> bound() const { return {data_, count_}; }

private:
    T* const data_;
    const std::int64_t count_;
};
using normal_halves = normal_values<dv::half>;

}  // namespace bench
