// Plans with a memory limit: if some order fits, there is a plan; no overlapped plan is predicted slower than one stream; the plan of the
// compiler is the plan at run time.
#include "support/as_at_run_time.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct x;
struct kept;
struct made;
struct copied;
struct small;
struct joined;
struct near;
struct far;
template <int> struct large;
template <int> struct first_of;

using number = dv::scalar<float>;
using matrix = dv::tensor<float, 1024, 1024>;
struct first {
    static constexpr dv::tensor_type result(dv::tensor_type) { return number::type; }
};
struct join {
    static constexpr dv::tensor_type result(dv::tensor_type, dv::tensor_type) { return number::type; }
};
template <int I> using make = dv::let<large<I>, fill<matrix>(x)>;
template <int I> using use = dv::let<first_of<I>, first(large<I>)>;
template <std::int64_t Bytes> using limit = dv::options<dv::memory_limit<Bytes>>;
template <std::int64_t Bytes> using limit_in_turn = dv::options<dv::memory_limit<Bytes>, dv::overlap<false>>;

// As written all matrices are held at once; each made and used in turn, one of them.
struct all_made_first : dv::graph<dv::input<x, number>, dv::repeat<make, 8>, dv::repeat<use, 8>, dv::output<dv::all<8, first_of>>> {};
static_assert(dv::peak_bytes<all_made_first> >= 8 * matrix::bytes);
static_assert(dv::peak_bytes<all_made_first, dv::unnamed_role, limit<2 * matrix::bytes>> < 2 * matrix::bytes);

// As written `kept` is held over all the rest; made last, two matrices are enough.
struct kept_too_long : dv::graph<
    dv::input<x, number>,
    dv::let<kept, fill<matrix>(x)>,
    dv::let<made, fill<matrix>(x)>,
    dv::let<copied, copy(made)>,
    dv::let<small, first(copied)>,
    dv::let<joined, join(kept, small)>,
    dv::output<joined>> {};
static_assert(dv::peak_bytes<kept_too_long> >= 3 * matrix::bytes);

// All made first, and beside it something to send.
template <int I> using make_near = dv::on<near, make<I>>;
struct sent_beside : dv::graph<
    dv::input<x, number>,
    dv::on<near, dv::let<kept, fill<matrix>(x)>>,
    dv::on<far, dv::let<small, first(kept)>>,
    dv::repeat<make_near, 8>,
    dv::on<near, dv::repeat<use, 8>>,
    dv::output<small, dv::all<8, first_of>>> {};
static_assert(dv::peak_bytes<sent_beside, near> >= 8 * matrix::bytes);
}  // namespace app

namespace {

template <class G, class O>
void keeps_the_limit(bool overlapped) {
    using planned = dv::plan::planned<G, O>;
    support::as_at_run_time<G, O>();
    CHECK(dv::plan::within(O::value.memory_limit, planned::plan.roles));
    CHECK(planned::plan.overlapped == overlapped);
    CHECK(planned::plan.predicted <= planned::plan.predicted_sequential);
    CHECK(support::broken_order(planned::program, planned::plan) == "");
    CHECK(support::broken_sizes(planned::program, planned::plan) == "");
}

}  // namespace

TEST_CASE("an order for little memory is found where the written one exceeds the limit") {
    keeps_the_limit<app::all_made_first, app::limit<2 * app::matrix::bytes>>(false);
    keeps_the_limit<app::all_made_first, app::limit_in_turn<2 * app::matrix::bytes>>(false);
    keeps_the_limit<app::kept_too_long, app::limit_in_turn<2 * app::matrix::bytes>>(false);
}

TEST_CASE("overlap that does not gain is not taken, though it keeps the limit") {
    keeps_the_limit<app::kept_too_long, app::limit<2 * app::matrix::bytes + 65536>>(false);
}

TEST_CASE("the order for little memory is overlapped where that gains and fits") {
    keeps_the_limit<app::sent_beside, app::limit<3 * app::matrix::bytes>>(true);
    keeps_the_limit<app::sent_beside, app::limit<app::matrix::bytes + 65536>>(false);
}
