// What the operations of a transformer declare as row-wise: a graph in blocks of rows has the results of the graph as a whole, bit by bit.
#include <doctest/doctest.h>

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/fused_attention.hpp>
#include <dovetail/ops/ops.hpp>

#include "support/numbers.hpp"

namespace dv = dovetail;
using support::eighth_of;

namespace {
namespace app {
using namespace dv::ops;
struct tokens;
struct table;
struct gain;
struct bias;
struct x;
struct normal;
struct y;
struct p;
struct active;
struct dy;
struct dq;
struct dk;
struct dv_;
struct dx;

// 32 sequences of four tokens, two heads: half of the tokens are 256 bytes.
using rows = dv::tensor<float, 128, 16>;
using parameters = dv::tensor<float, 16>;
using inputs = dv::group<
    dv::input<tokens, dv::tensor<std::int32_t, 128>>, dv::input<table, dv::tensor<float, 5, 16>>,
    dv::input<gain, parameters>, dv::input<bias, parameters>, dv::input<dy, rows>>;
template <class Attention, class Gradient>
using statements = dv::group<
    dv::let<x, embedding(tokens, table)>,
    dv::let<normal, layer_norm(x, gain, bias)>,
    dv::let<dv::values<y, p>, Attention>,
    dv::let<active, softmax(gelu(y))>,
    dv::let<dv::values<dq, dk, dv_>, Gradient>,
    dv::let<dx, layer_norm_gradient(add(add(dq, dk), dv_), x, gain)>>;
using attention = statements<
    causal_attention<4, 8>(normal, normal, normal),
    causal_attention_gradient<4, 8>(gelu_gradient(softmax_gradient(dy, active), y), normal, normal, normal, p)>;
using fused_attention = statements<
    fused_causal_attention<4, 8>(normal, normal, normal),
    fused_causal_attention_gradient<4, 8>(gelu_gradient(softmax_gradient(dy, active), y), normal, normal, normal, y, p)>;

template <class Statements> struct whole : dv::graph<inputs, Statements, dv::output<active, dx>> {};
template <class Statements> struct in_blocks : dv::graph<inputs, dv::split<2, Statements>, dv::output<active, dx>> {};
}  // namespace app

template <class Graph>
void run(std::vector<float>& active, std::vector<float>& dx) {
    dv::host::world world{1};
    world.run([&](auto& rank) {
        dv::executor<Graph> step{rank};
        std::vector<std::int32_t> tokens;
        for (int i = 0; i < 128; ++i) tokens.push_back(i * i % 5);
        step.bind(dv::name<app::tokens>, tokens).bind(dv::name<app::table>, eighth_of<dv::tensor<float, 5, 16>>(1).elements);
        step.bind(dv::name<app::gain>, eighth_of<app::parameters>(2).elements);
        step.bind(dv::name<app::bias>, eighth_of<app::parameters>(3).elements);
        step.bind(dv::name<app::dy>, eighth_of<app::rows>(4).elements);
        const auto ticket = step.run();
        active = ticket.read(dv::name<app::active>).host();
        dx = ticket.read(dv::name<app::dx>).host();
    });
}

}  // namespace

TEST_CASE_TEMPLATE("a graph in blocks of sequences has the results of the whole", Statements, app::attention, app::fused_attention) {
    std::vector<float> active, dx, active_of_blocks, dx_of_blocks;
    run<app::whole<Statements>>(active, dx);
    run<app::in_blocks<Statements>>(active_of_blocks, dx_of_blocks);
    CHECK(active == active_of_blocks);
    CHECK(dx == dx_of_blocks);
    CHECK(active != std::vector<float>(active.size()));
    CHECK(dx != std::vector<float>(dx.size()));
}
