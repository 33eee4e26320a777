// Mistakes in graphs beyond those of tests/fail, as types: the error that `diagnose` returns for each, with the names in it, and, if the
// two differ by little, the correct graph next to the wrong one.
#include "fail/ops.hpp"

#include <doctest/doctest.h>

namespace refusals {

using namespace app;
namespace error = dv::error;

// An error without the place of its statement, for which there are tests of their own.
template <class... Names> struct list;
template <template <class...> class Error, class Before, class... Rest>
struct placeless;
template <template <class...> class Error, class... Before>
struct placeless<Error, list<Before...>> { using type = Error<Before...>; };
template <template <class...> class Error, class... Before, class... Path>
struct placeless<Error, list<Before...>, error::at<Path...>> { using type = Error<Before...>; };
template <template <class...> class Error, class... Before, class First, class... Rest>
struct placeless<Error, list<Before...>, First, Rest...> : placeless<Error, list<Before..., First>, Rest...> {};
template <class T>
struct without_place { using type = T; };
template <template <class...> class Error, class... Names>
struct without_place<Error<Names...>> : placeless<Error, list<>, Names...> {};

template <class... S>
using diagnosed = typename without_place<dv::plan::diagnose<dv::graph<S...>>>::type;
template <class Error, class... S>
inline constexpr bool refused = std::is_same_v<diagnosed<S...>, Error>;
// The error's template, whatever it names.
template <template <class...> class Error, class T>
inline constexpr bool is = false;
template <template <class...> class Error, class... Names>
inline constexpr bool is<Error, Error<Names...>> = true;
template <class... S>
inline constexpr bool accepted = std::is_same_v<diagnosed<S...>, error::none>;

struct a; struct b; struct c; struct forwerd; struct something_else;
template <int> struct link;
using count = dv::scalar<std::int32_t>;
using in = dv::input<x, vector>;
template <class... S> using l = dv::on<left, S...>;
template <class... S> using r = dv::on<right, S...>;
using joined = dv::let<w, concat<a, b>>;
template <int I> using never_read = dv::let<link<I>, relu(x)>;

// ---- 1: names
static_assert(refused<error::unknown_output<forwerd, error::did_you_mean<forward>>, in, dv::let<forward, gelu(x)>, dv::output<forwerd>>);
static_assert(refused<error::unknown_output<something_else>, in, dv::let<y, gelu(x)>, dv::output<y, something_else>>);
static_assert(refused<error::unknown_name<y, something_else>, in, dv::let<y, plus(x, something_else)>, dv::output<y>>);
static_assert(refused<error::unknown_name<forwerd, forwerd, error::did_you_mean<forward>>, in, dv::state<forward, vector, ones>,
                      dv::update<forwerd, gelu(x)>>);
static_assert(refused<error::unknown_name<t, forwerd, error::did_you_mean<forward>>, in, dv::mesh<dv::axis<dp>>, dv::let<forward, gelu(x)>,
                      dv::let<t, all_reduce<sum, dp>(forwerd)>, dv::output<t, forward>>);
static_assert(refused<error::unknown_name<t, link<4>, error::did_you_mean<link<0>>>, in, dv::let<link<0>, gelu(x)>,
                      dv::let<t, gelu(link<4>)>, dv::output<t>>);
static_assert(refused<error::defined_twice<x>, in, in, dv::let<y, gelu(x)>, dv::output<y>>);
static_assert(refused<error::defined_twice<s>, in, dv::state<s, vector, ones>, dv::let<s, gelu(x)>, dv::output<s>>);
static_assert(refused<error::defined_twice<y>, in, dv::let<dv::values<y, y>, halves(x)>, dv::output<y>>);
static_assert(refused<error::defined_twice<s>, in, dv::state<s, dv::tensor<float, 4>, ones>, dv::update<dv::values<s, s>, halves(x)>>);
static_assert(refused<error::defined_twice<y>, in, l<dv::let<y, gelu(x)>>, r<dv::let<y, gelu(x)>>, dv::output<y>>);

// ---- 2: circles
static_assert(refused<error::cycle<y, y>, in, dv::let<y, plus(x, gelu(relu(y)))>, dv::output<y>>);
static_assert(refused<error::cycle<a, b, c, a>, in, l<dv::let<a, plus(x, c)>>, r<dv::let<b, gelu(a)>>, dv::on<middle, dv::let<c, gelu(b)>>,
                      dv::output<c>>);
static_assert(refused<error::cycle<a, t, a>, in, l<dv::let<a, plus(x, t)>>, r<dv::let<b, gelu(x)>>, dv::let<t, all_reduce<sum>(a, b)>,
                      dv::output<t>>);
static_assert(
    refused<error::cycle<a, t, a>, in, dv::mesh<dv::axis<dp>>, dv::let<a, plus(x, t)>, dv::let<t, all_reduce<sum, dp>(a)>, dv::output<t>>);
static_assert(refused<error::cycle<a, b, a>, in, dv::let<z, gelu(x)>, dv::let<b, plus(z, a)>, dv::let<a, gelu(b)>, dv::output<a>>
              || refused<error::cycle<b, a, b>, in, dv::let<z, gelu(x)>, dv::let<b, plus(z, a)>, dv::let<a, gelu(b)>, dv::output<a>>);
// Longer than an error can name: it begins with the first.
template <int I> using turn = dv::let<link<I>, plus(x, link<(I + 1) % 20>)>;
static_assert(is<error::cycle, diagnosed<in, dv::repeat<turn, 20>, dv::output<link<0>>>>);

// ---- 3: arguments
static_assert(
    refused<error::wrong_arity<y, gelu, error::number<std::int64_t{0}>>, in, dv::let<y, gelu()>, dv::let<z, gelu(x)>, dv::output<y, z>>);
static_assert(refused<error::wrong_arity<y, gelu, error::number<std::int64_t{2}>>, in, dv::let<y, relu(gelu(x, x))>, dv::output<y>>);
static_assert(is<error::wrong_arity, diagnosed<in, dv::mesh<dv::axis<dp>>, dv::let<y, all_reduce<sum, dp>(x, x)>, dv::output<y>>>);
static_assert(is<error::wrong_arity, diagnosed<in, dv::let<y, to_host(x, x)>, dv::output<y>>>);
static_assert(is<error::shape_mismatch, diagnosed<in, dv::input<w, matrix>, dv::let<y, relu(plus(x, w))>, dv::output<y>>>);
static_assert(
    refused<error::wrong_result_count<y, gelu, error::number<std::int64_t{1}>>, in, dv::let<dv::values<y, z>, gelu(x)>, dv::output<y, z>>);
static_assert(is<error::update_mismatch, diagnosed<in, dv::state<s, count, ones>, dv::update<s, gelu(x)>>>);
static_assert(is<error::not_a_statement, diagnosed<dv::input<x, float>, dv::let<y, gelu(x)>, dv::output<y>>>);
static_assert(is<error::not_a_statement, diagnosed<in, int, dv::let<y, gelu(x)>, dv::output<y>>>);
static_assert(is<error::not_a_statement, diagnosed<dv::input<x, vector, ones>, dv::let<y, gelu(x)>, dv::output<y>>>);

struct sum_of { template <class... T> static constexpr dv::tensor_type result(dv::tensor_type first, T...) { return first; } };
template <int I> using entry = dv::input<link<I>, vector>;
static_assert(accepted<dv::repeat<entry, 200>, dv::let<y, sum_of(dv::all<200, link>)>, dv::output<y>>);
static_assert(accepted<in, dv::repeat<entry, 0>, dv::let<y, sum_of(x, dv::all<0, link>)>, dv::output<y, dv::all<0, link>>>);

struct no_tensor_out { static constexpr int result(dv::tensor_type x) { return x.rank; } };
struct only_an_int { static constexpr dv::tensor_type result(int) { return vector::type; } };
struct no_rule { void result(dv::tensor_type); };
struct by_reference { static constexpr const dv::tensor_type& result(const dv::tensor_type& x) { return x; } };
struct by_template { static constexpr dv::results result(auto... x) { return {x...}; } };
static_assert(refused<error::bad_shape_rule<y, no_tensor_out>, in, dv::let<y, no_tensor_out(x)>, dv::output<y>>);
static_assert(refused<error::bad_shape_rule<y, only_an_int>, in, dv::let<y, only_an_int(x)>, dv::output<y>>);
static_assert(refused<error::bad_shape_rule<y, no_rule>, in, dv::let<y, gelu(no_rule(x))>, dv::output<y>>);
static_assert(accepted<in, dv::let<dv::values<y, z>, by_template(x, by_reference(x))>, dv::output<y, z>>);

// A rule may also end the evaluation to refuse, so that whether it is constexpr shows only where it is called.
struct of_eight_alone { static constexpr dv::tensor_type result(dv::tensor_type x) { return x == vector::type ? x : throw 1; } };
struct dear_to_eight : gelu { static constexpr dv::cost cost(dv::tensor_type x) { return x == vector::type ? dv::cost{} : throw 1; } };
static_assert(dv::dsl::operation_of<of_eight_alone, 1>.doubtful_rule && dv::dsl::operation_of<dear_to_eight, 1>.doubtful_cost);
static_assert(accepted<in, dv::let<y, gelu(of_eight_alone(x))>, dv::output<y>>);
static_assert(
    refused<error::rule_not_constexpr<y, of_eight_alone>, dv::input<x, matrix>, dv::let<y, gelu(of_eight_alone(x))>, dv::output<y>>);
static_assert(dv::predicted_time<dv::graph<in, dv::let<y, dear_to_eight(x)>, dv::output<y>>> > 0);
struct at_run_time { static dv::tensor_type result(dv::tensor_type x) { return x; } };
static_assert(refused<error::rule_not_constexpr<y, at_run_time>, in, dv::let<y, at_run_time(of_eight_alone(x))>, dv::output<y>>);
class hides_its_rule { static constexpr dv::tensor_type result(dv::tensor_type x) { return x; } };
struct final_without_facts final { static constexpr dv::tensor_type result(dv::tensor_type x) { return x; } };
static_assert(refused<error::bad_shape_rule<y, hides_its_rule>, in, dv::let<y, hides_its_rule(x)>, dv::output<y>>);
static_assert(accepted<in, dv::let<y, final_without_facts(x)>, dv::output<y>>);

// An extent of zero is meant, unless a rule refuses it.
using none = dv::tensor<float, 0>;
static_assert(accepted<dv::input<x, none>, dv::let<y, plus(x, x)>, dv::output<y>>);
static_assert(refused<error::zero_extent<y, plus, vector, none>, in, dv::input<z, none>, dv::let<y, plus(x, z)>, dv::output<y>>);
static_assert(refused<error::shape_mismatch<y, plus, vector, matrix>, in, dv::input<z, matrix>, dv::let<y, plus(x, z)>, dv::output<y>>);

// Repeats and lists that cannot be counted out.
template <int I, int J> struct cell;
template <int I> using of_one = dv::let<link<I>, gelu(x)>;
template <int I, int J> using of_two = dv::let<cell<I, J>, gelu(x)>;
template <int... I> struct of_any;
template <int... I> using of_any_number = dv::let<of_any<I...>, gelu(x)>;
static_assert(refused<error::body_arity<dv::repeat<of_one, 2, 2>>, in, dv::repeat<of_one, 2, 2>, dv::output<dv::all<2, link>>>);
static_assert(refused<error::body_arity<dv::repeat<of_two, 3>>, in, dv::repeat<of_two, 3>, dv::output<cell<0, 0>>>);
static_assert(accepted<in, dv::repeat<of_any_number, 2>, dv::output<dv::all<2, of_any>>>);
static_assert(accepted<in, dv::repeat<of_any_number, 1, 2>, dv::output<of_any<0, 0>, of_any<0, 1>>>);
static_assert(refused<error::too_many_indices<dv::repeat<of_any_number, 1, 1, 1, 1>>, in, dv::repeat<of_any_number, 1, 1, 1, 1>,
                      dv::output<of_any<0>>>);
static_assert(refused<error::family_arity<dv::all<2, cell>>, in, dv::repeat<of_two, 2, 1>, dv::output<dv::all<2, cell>>>);
static_assert(
    refused<error::family_arity<dv::all<2, cell>>, in, dv::repeat<of_two, 2, 1>, dv::let<y, plus(dv::all<2, cell>)>, dv::output<y>>);
static_assert(accepted<in, dv::repeat<of_two, 0, 4>, dv::let<y, plus(x, x, dv::all<0, link>)>, dv::output<y>>);
static_assert(refused<error::negative_count<dv::all<-2, link>>, in, dv::repeat<of_one, 2>, dv::output<dv::all<-2, link>>>);
static_assert(accepted<in, dv::repeat<of_two, 2, 2>, dv::let<y, plus(dv::all<dv::counts<2, 1>, cell>)>,
                       dv::output<y, dv::all<dv::counts<2, dv::down<2>>, cell>>>);
static_assert(accepted<in, dv::let<y, plus(x, x, dv::all<dv::counts<4, 0>, cell>)>, dv::output<y>>);
using square_of_one_index = dv::all<dv::counts<2, 2>, link>;
static_assert(refused<error::family_arity<square_of_one_index>, in, dv::repeat<of_one, 2>, dv::output<square_of_one_index>>);
static_assert(refused<error::negative_count<dv::all<dv::counts<2, -1>, cell>>, in, dv::repeat<of_two, 2, 1>,
                      dv::output<dv::all<dv::counts<2, -1>, cell>>>);
using in_four_dimensions = dv::all<dv::counts<1, 1, 1, 1>, of_any>;
static_assert(refused<error::too_many_indices<in_four_dimensions>, in, dv::let<y, plus(in_four_dimensions)>, dv::output<y>>);
using without_counts = dv::all<dv::counts<>, link>;
static_assert(refused<error::too_many_indices<without_counts>, in, dv::repeat<of_one, 2>, dv::output<without_counts>>);
static_assert(refused<error::too_many_indices<dv::all<nullptr, link>>, in, dv::repeat<of_one, 2>, dv::output<dv::all<nullptr, link>>>);
static_assert(refused<error::body_not_a_statement<link<0>>, in, dv::repeat<link, 2>, dv::output<y>>);

// A statement that starts after a value: as an argument would have it, which is not passed.
using lets_y = dv::let<y, gelu(x)>;
static_assert(accepted<in, dv::let<w, relu(x)>, dv::after<w, dv::after<x, lets_y>>, dv::output<y>>);
static_assert(accepted<in, dv::after<w, lets_y>, dv::let<w, relu(x)>, dv::output<y>>);
static_assert(accepted<in, dv::let<w, relu(x)>, dv::after<x, dv::let<dv::values<a, b>, halves(w)>>, dv::output<a, b>>);
static_assert(refused<error::unknown_name<y, forwerd, error::did_you_mean<forward>>, in, dv::let<forward, relu(x)>,
                      dv::after<forwerd, lets_y>, dv::output<y, forward>>);
static_assert(refused<error::unknown_name<s, forwerd, error::did_you_mean<forward>>, in, dv::state<s, vector, ones>,
                      dv::let<forward, relu(x)>, dv::after<x, dv::after<forwerd, dv::update<s, gelu(s)>>>, dv::output<forward>>);
static_assert(refused<error::role_as_value<left, y>, in, l<dv::after<left, lets_y>>, dv::output<y>>);
static_assert(refused<error::not_a_name<gelu(x)>, in, dv::after<gelu(x), lets_y>, dv::output<y>>);
static_assert(refused<error::not_a_name<dv::all<2, link>>, in, dv::repeat<never_read, 2>, dv::after<dv::all<2, link>, lets_y>,
                      dv::output<y>>);
static_assert(refused<error::after_of_another_statement<dv::after<x, dv::output<y>>>, in, lets_y, dv::after<x, dv::output<y>>>);
using after_in_group = dv::after<x, dv::group<lets_y>>;
static_assert(refused<error::after_of_another_statement<after_in_group>, in, after_in_group, dv::output<y>>);
static_assert(refused<error::after_of_another_statement<dv::after<x, y>>, in, lets_y, dv::after<x, y>, dv::output<y>>);
static_assert(refused<error::after_of_another_statement<dv::after<y, joined>>, dv::input<x, dv::tensor<float, 64>>, lets_y,
                      dv::let<a, gelu(x)>, dv::let<b, gelu(x)>, dv::after<y, joined>, dv::output<w>>);
static_assert(refused<error::cycle<y, y>, in, dv::after<y, lets_y>, dv::output<y>>);
static_assert(refused<error::cycle<w, y, w>, in, dv::after<y, dv::let<w, relu(x)>>, dv::let<y, gelu(w)>, dv::output<y>>);
static_assert(is<error::group_dependence, diagnosed<in, dv::mesh<dv::axis<dp, 2>>,
                                                    dv::nccl_group<dv::let<w, all_reduce<sum, dp>(x)>,
                                                                   dv::after<w, dv::let<y, all_reduce<sum, dp>(x)>>>, dv::output<y, w>>>);
static_assert(refused<error::uninitialised<s, y>, in, dv::state<s, vector>, dv::after<s, lets_y>, dv::update<s, gelu(y)>>);
static_assert(refused<error::state_crosses_roles<s>, in, r<dv::state<s, vector, ones>, dv::update<s, gelu(s)>>, l<dv::after<s, lets_y>>,
                      dv::output<y>>);
static_assert(refused<error::host_value<w, y>, in, r<dv::let<w, to_host(x)>>, l<dv::after<w, lets_y>>, dv::output<y>>);
static_assert(accepted<in, dv::let<w, to_host(x)>, dv::after<w, lets_y>, dv::output<y>>);
static_assert(is<error::in_place_shared,
                 diagnosed<in, dv::let<w, relu(x)>, dv::let<z, overwrite(w)>, dv::after<w, lets_y>, dv::output<y, z>>>);
// Of a collective over roles: on those that have the value.
using over_both = dv::let<t, all_reduce<sum>(y, z)>;
template <class After>
using on_three = diagnosed<in, l<lets_y, dv::let<a, relu(x)>>, r<dv::let<z, gelu(x)>>, dv::on<middle, dv::let<w, gelu(x)>>, After,
                           dv::output<t, w, a>>;
static_assert(std::is_same_v<on_three<dv::after<a, over_both>>, error::none>);
static_assert(std::is_same_v<on_three<dv::after<x, over_both>>, error::none>);
static_assert(is<error::after_elsewhere, on_three<dv::after<w, over_both>>>);
static_assert(refused<error::off_root_read<t, w>, in, l<lets_y>, r<dv::let<z, gelu(x)>>, dv::let<t, reduce<sum, root<left>>(y, z)>,
                      r<dv::after<t, dv::let<w, relu(x)>>>, dv::output<w, t>>);
using at_root = dv::let<y, reduce<sum, dp, root_index<0>>(x)>;
static_assert(accepted<in, dv::mesh<dv::axis<dp, 2>>, at_root, dv::after<y, dv::let<w, relu(x)>>, dv::output<w>>);
static_assert(refused<error::off_root_read<y, w>, in, dv::mesh<dv::axis<dp, 2>>, l<at_root>, r<dv::after<y, dv::let<w, relu(x)>>>,
                      dv::output<w>>);
static_assert(is<error::mesh_mismatch, diagnosed<in, dv::on<left, dv::mesh<dv::axis<dp, 2>>, lets_y>,
                                                 r<dv::after<y, dv::let<w, relu(x)>>>, dv::output<w>>>);

// ---- 4: what nothing uses
static_assert(accepted<in, dv::let<w, relu(x)>, dv::after<w, lets_y>, dv::output<y>>);
static_assert(refused<error::unused<z>, in, dv::let<y, gelu(x)>, dv::let<w, relu(x)>, dv::let<z, relu(w)>, dv::output<y>>);
static_assert(refused<error::unused<x>, in, dv::state<s, vector, ones>, dv::update<s, gelu(s)>>);
static_assert(refused<error::output_twice<y>, in, dv::let<y, gelu(x)>, dv::output<y, y>>);
static_assert(refused<error::output_not_a_value<s>, in, dv::state<s, vector, ones>, dv::update<s, plus(s, x)>, dv::output<s>>);
static_assert(is<error::empty_graph, diagnosed<dv::group<>>>);
template <int I> using never = dv::let<link<I>, gelu(x)>;
static_assert(is<error::empty_graph, diagnosed<dv::repeat<never, 0>>>);
static_assert(is<error::empty_graph, diagnosed<dv::output<>>>);

// The roles of the world, of which a graph uses a part.
template <class... S> using world_of_two = diagnosed<in, S..., dv::on<left, dv::let<y, gelu(x)>>, dv::output<y>>;
static_assert(std::is_same_v<world_of_two<dv::roles<left, right>>, error::none>);
static_assert(std::is_same_v<world_of_two<dv::group<dv::roles<right, left>>>, error::none>);
static_assert(std::is_same_v<world_of_two<dv::roles<dv::all<2, link>, left>>, error::none>);
static_assert(std::is_same_v<world_of_two<dv::roles<left, right>, dv::on<right, dv::mesh<dv::axis<dp, 2>>>>, error::none>);
static_assert(std::is_same_v<world_of_two<dv::on<right>, dv::roles<left, right>>, error::none>);
static_assert(std::is_same_v<world_of_two<dv::on<right, dv::mesh<>>>, error::unused_role<right>>);
static_assert(std::is_same_v<world_of_two<dv::roles<right>>, error::role_not_listed<left>>);
static_assert(std::is_same_v<world_of_two<dv::roles<>>, error::role_not_listed<left>>);
static_assert(std::is_same_v<world_of_two<dv::roles<left>, dv::on<right, dv::mesh<>>>, error::role_not_listed<right>>);
static_assert(std::is_same_v<world_of_two<dv::roles<left, right, left>>, error::role_listed_twice<left>>);
static_assert(std::is_same_v<world_of_two<dv::roles<left>, dv::roles<right>>, error::role_listed_twice<right>>);
static_assert(std::is_same_v<world_of_two<dv::roles<left, gelu(x)>>, error::not_a_name<gelu(x)>>);
static_assert(std::is_same_v<world_of_two<dv::roles<left, dv::all<-1, link>>>, error::negative_count<dv::all<-1, link>>>);
static_assert(is<error::not_a_statement, diagnosed<in, dv::on<left, dv::roles<left>, lets_y>, dv::output<y>>>);
static_assert(is<error::outside_role, diagnosed<in, dv::roles<left>, lets_y, dv::output<y>>>);
static_assert(is<error::empty_graph, diagnosed<dv::roles<>>>);
using wider_idle_role = dv::graph<in, dv::roles<left, right>, l<lets_y>, dv::on<right, dv::mesh<dv::axis<dp, 2>>>, dv::output<y>>;
static_assert(is<error::single_rank_mismatch, without_place<dv::plan::diagnose<dv::single_rank<wider_idle_role>>>::type>);

// ---- 5: collectives
using two = dv::mesh<dv::axis<dp, 2>>;
using open_axis = dv::mesh<dv::axis<dp>>;
template <class... S> using l2 = dv::on<left, dv::mesh<dv::axis<dp, 2>>, S...>;
template <class... S> using r4 = dv::on<right, dv::mesh<dv::axis<dp, 4>>, S...>;
static_assert(is<error::mesh_mismatch,
                 diagnosed<in, l2<dv::let<y, gelu(x)>>, r4<dv::let<z, gelu(x)>>, dv::let<t, all_reduce<sum>(y, z)>, dv::output<t>>>);
static_assert(is<error::mesh_mismatch,
                 diagnosed<in, l2<dv::let<y, gelu(x)>>, r4<dv::let<z, gelu(t)>>, dv::let<t, broadcast<to<right>>(y)>, dv::output<z>>>);
static_assert(is<error::bad_root, diagnosed<in, two, dv::let<y, all_reduce<sum, dp, root_index<0>>(x)>, dv::output<y>>>);
static_assert(is<error::bad_root, diagnosed<in, two, dv::let<y, broadcast<dp, root_index<2>>(x)>, dv::output<y>>>);
static_assert(is<error::bad_root, diagnosed<in, two, dv::let<y, broadcast<dp, root_index<-1>>(x)>, dv::output<y>>>);
static_assert(is<error::bad_root, diagnosed<in, two, dv::let<y, broadcast<dp, root_index<0>, root_index<1>>(x)>, dv::output<y>>>);
static_assert(is<error::bad_root, diagnosed<in, two, dv::let<y, broadcast<dp, to<left>>(x)>, dv::output<y>>>);
static_assert(
    is<error::bad_root, diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>>, dv::let<t, reduce<sum>(y, z)>, dv::output<t>>>);
static_assert(
    is<error::bad_root,
       diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>>, dv::let<t, reduce<sum, root_index<0>>(y, z)>, dv::output<t>>>);
static_assert(
    is<error::bad_root, diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(t)>>, dv::let<t, broadcast<>(y)>, dv::output<z>>>);
static_assert(
    is<error::unknown_role,
       diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(t)>>, dv::let<t, broadcast<to<right, middle>>(y)>, dv::output<z>>>);
static_assert(is<error::unknown_role, diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>>, dv::on<middle, dv::let<w, gelu(x)>>,
                                                dv::let<t, gather<root<middle>>(y, z)>, dv::output<t, w>>>);
static_assert(is<error::unknown_axis,
                 diagnosed<in, l2<dv::let<y, gelu(x)>>, dv::on<right, dv::mesh<>, dv::let<z, all_reduce<sum, dp>(x)>>, dv::output<y, z>>>);
static_assert(is<error::axis_twice, diagnosed<in, two, dv::let<y, all_reduce<sum, dp, dp>(x)>, dv::output<y>>>);
static_assert(is<error::mesh_twice, diagnosed<two, in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(y)>>, open_axis, dv::output<z>>>);
static_assert(is<error::mesh_twice,
                 diagnosed<in, l2<dv::let<y, gelu(x)>>, dv::on<left, dv::mesh<dv::axis<dp, 4>>, dv::let<z, gelu(y)>>, dv::output<z>>>);
static_assert(accepted<in, l2<dv::let<y, gelu(x)>>, l2<dv::let<z, gelu(y)>>, dv::output<z>>);
static_assert(is<error::open_width, diagnosed<in, open_axis, dv::let<y, reduce_scatter<sum, dp>(x)>, dv::output<y>>>);
static_assert(is<error::open_width, diagnosed<in, open_axis, dv::let<y, scatter<dp, root_index<0>>(x)>, dv::output<y>>>);
static_assert(is<error::open_width, diagnosed<in, open_axis, dv::let<y, gather<dp, root_index<0>>(x)>, dv::output<y>>>);
static_assert(is<error::open_width, diagnosed<in, open_axis, dv::let<y, all_to_all<dp>(x)>, dv::output<y>>>);
static_assert(accepted<in, open_axis, dv::let<y, all_reduce<sum, dp>(x)>, dv::let<z, shift<dp, 1>(x)>,
                       dv::let<w, broadcast<dp, root_index<0>>(x)>, dv::output<y, z, w>>);
static_assert(is<error::open_width, diagnosed<in, open_axis, dv::let<y, own_rows<dp>(x)>, dv::output<y>>>);
static_assert(is<error::bad_root, diagnosed<in, two, dv::let<y, own_rows<dp, root_index<0>>(x)>, dv::output<y>>>);
static_assert(
    is<error::outside_role, diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>>, dv::let<t, own_rows<>(y, z)>, dv::output<t>>>);
using three = dv::mesh<dv::axis<dp, 3>>;
static_assert(is<error::indivisible, diagnosed<in, three, dv::let<y, own_rows<dp>(x)>, dv::output<y>>>);
static_assert(is<error::indivisible, diagnosed<in, three, dv::let<y, scatter<dp, root_index<0>>(x)>, dv::output<y>>>);
static_assert(is<error::indivisible, diagnosed<in, three, dv::let<y, all_to_all<dp>(x)>, dv::output<y>>>);
static_assert(
    is<error::indivisible, diagnosed<dv::input<x, dv::scalar<float>>, two, dv::let<y, reduce_scatter<sum, dp>(x)>, dv::output<y>>>);
static_assert(
    is<error::indivisible, diagnosed<dv::input<x, dv::tensor<float, 7>>, dv::on<middle, dv::let<w, gelu(x)>>, l<dv::let<y, gelu(t)>>,
                                     r<dv::let<z, gelu(t)>>, dv::let<t, scatter<to<left, right>>(w)>, dv::output<y, z>>>);
static_assert(is<error::bad_reduction, diagnosed<in, two, dv::let<y, reduce<gelu, dp, root_index<0>>(x)>, dv::output<y>>>);
static_assert(is<error::bad_reduction, diagnosed<in, two, dv::let<y, reduce_scatter<dp, dp>(x)>, dv::output<y>>>);
static_assert(
    is<error::role_twice, diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>>, dv::let<t, all_gather<>(y, z, y)>, dv::output<t>>>);
template <class... W> using permuted_on_three = diagnosed<in, three, dv::let<y, permute<W...>(x)>, dv::output<y>>;
static_assert(is<error::bad_pairs, permuted_on_three<dp>>);
static_assert(is<error::bad_pairs, permuted_on_three<dp, dp>>);
static_assert(is<error::bad_pairs, permuted_on_three<dp, pair<0, 1>, root_index<1>>>);
static_assert(is<error::bad_pairs, permuted_on_three<pair<0, 1>, pair<1, 0>>>);
static_assert(is<error::unknown_axis, permuted_on_three<tp, pair<0, 1>>>);
static_assert(is<error::bad_position, permuted_on_three<dp, pair<0, 1>, pair<1, 3>>>);
static_assert(is<error::bad_position, permuted_on_three<dp, pair<3, 1>>>);
static_assert(is<error::bad_position, permuted_on_three<dp, pair<-1, 1>>>);
static_assert(is<error::bad_position, diagnosed<in, open_axis, dv::let<y, permute<dp, pair<0, -1>>(x)>, dv::output<y>>>);
static_assert(is<error::source_twice, permuted_on_three<dp, pair<0, 1>, pair<2, 0>, pair<0, 2>>>);
static_assert(is<error::target_twice, permuted_on_three<dp, pair<0, 1>, pair<2, 0>, pair<1, 1>>>);
static_assert(is<error::outside_role,
                 diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>>, dv::let<t, permute<dp, pair<0, 1>>(y)>, dv::output<z, t>>>);
static_assert(accepted<in, three, dv::let<y, permute<dp, pair<0, 1>, pair<1, 0>, pair<2, 2>>(x)>, dv::output<y>>);
static_assert(accepted<in, open_axis, dv::let<y, permute<dp, pair<0, 9>>(x)>, dv::output<y>>);

// ---- 6: states and replicas
using replicated = dv::state<w, vector, ones, dv::replicated<dp>>;
template <class E> using updated =
    diagnosed<in, two, dv::input<s, vector, dv::replicated<dp>>, replicated, dv::update<w, E>, dv::let<y, plus(x, s)>, dv::output<y>>;
static_assert(is<error::diverging_replicas, updated<plus(w, x)>>);
static_assert(is<error::diverging_replicas, updated<plus(w, shift<dp, 1>(x))>>);
static_assert(is<error::diverging_replicas, updated<shift<dp, 1, zero_edge>(s)>>);
static_assert(is<error::diverging_replicas, updated<all_to_all<dp>(x)>>);
static_assert(accepted<in, two, dv::input<s, vector, dv::replicated<dp>>, replicated,
                       dv::update<w, all_gather<dp>(plus(own_rows<dp>(x), own_rows<dp>(w)))>, dv::let<y, plus(x, s)>, dv::output<y>>);
static_assert(is<error::diverging_replicas, updated<permute<dp, pair<0, 1>>(s)>>);
static_assert(accepted<in, two, dv::input<s, vector, dv::replicated<dp>>, replicated, dv::update<w, permute<dp, pair<0, 1>, pair<1, 0>>(s)>,
                       dv::let<y, plus(x, s)>, dv::output<y>>);
static_assert(
    is<error::diverging_replicas, diagnosed<in, open_axis, dv::input<s, vector, dv::replicated<dp>>, replicated,
                                            dv::update<w, permute<dp, pair<0, 1>, pair<1, 0>>(s)>, dv::let<y, plus(x, s)>, dv::output<y>>>);
static_assert(is<error::diverging_replicas, updated<plus(all_reduce<sum, dp>(x), gelu(x))>>);
static_assert(std::is_same_v<updated<plus(w, all_reduce<sum, dp>(x))>, error::none>);
static_assert(std::is_same_v<updated<plus(w, broadcast<dp, root_index<1>>(x))>, error::none>);
static_assert(std::is_same_v<updated<plus(w, s)>, error::none>);
static_assert(std::is_same_v<updated<all_gather<dp>(reduce_scatter<sum, dp>(x))>, error::none>);
static_assert(std::is_same_v<updated<broadcast<dp, root_index<0>>(reduce<sum, dp, root_index<0>>(x))>, error::none>);
using grid = dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 2>>;
template <class E> using on_grid = diagnosed<in, grid, dv::state<w, vector, ones, dv::replicated<dp, tp>>, dv::update<w, E>>;
static_assert(std::is_same_v<on_grid<all_reduce<sum, dp>(x)>, error::diverging_replicas<w, tp>>);
static_assert(std::is_same_v<on_grid<all_reduce<sum, tp>(x)>, error::diverging_replicas<w, dp>>);
static_assert(std::is_same_v<on_grid<all_reduce<sum, dp, tp>(x)>, error::none>);
static_assert(std::is_same_v<on_grid<all_reduce<sum, tp>(all_reduce<sum, dp>(x))>, error::none>);
// A state that positions hold each for itself spoils one that they share; so does a value defined below its use.
static_assert(is<error::diverging_replicas,
                 diagnosed<in, two, replicated, dv::state<s, vector, ones>, dv::update<s, plus(s, x)>, dv::update<w, plus(w, s)>>>);
static_assert(
    is<error::diverging_replicas, diagnosed<in, two, replicated, dv::update<w, plus(w, y)>, dv::let<y, gelu(z)>, dv::let<z, gelu(x)>>>);
static_assert(
    is<error::unknown_axis, diagnosed<in, two, dv::state<w, vector, ones, dv::replicated<tp>>, dv::update<w, all_reduce<sum, dp>(x)>>>);
// An axis that another role has.
static_assert(
    refused<error::unknown_axis<w, dp>, in, l2<dv::let<y, gelu(x)>>, dv::on<right, replicated, dv::update<w, plus(w, x)>>, dv::output<y>>);
static_assert(refused<error::unknown_axis<s, dp>, in, l2<dv::let<y, gelu(x)>>,
                      dv::on<right, dv::input<s, vector, dv::replicated<dp>>, dv::let<z, gelu(s)>>, dv::output<y, z>>);
static_assert(accepted<dv::input<x, vector, dv::replicated<dp>>, l2<replicated, dv::update<w, plus(w, x)>>,
                       dv::on<right, dv::let<z, gelu(x)>>, dv::output<z>>);
static_assert(is<error::uninitialised, diagnosed<in, dv::state<s, vector>, dv::update<s, plus(s, x)>>>);
static_assert(accepted<in, dv::state<s, vector>, dv::update<s, gelu(x)>, dv::let<y, gelu(s)>, dv::output<y>>);
static_assert(accepted<in, dv::state<s, vector, dv::from_store>, dv::let<y, plus(x, s)>, dv::output<y>>);
static_assert(refused<error::not_a_state<x>, in, dv::update<x, gelu(x)>>);
static_assert(is<error::state_crosses_roles,
                 diagnosed<in, l<dv::state<s, vector, ones>, dv::let<y, plus(x, s)>>, r<dv::update<s, gelu(x)>>, dv::output<y>>>);
static_assert(is<error::in_place_shared, diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, overwrite(y)>>, dv::output<z>>>);
static_assert(is<error::in_place_shared,
                 diagnosed<in, dv::state<s, vector, ones>, dv::update<s, plus(s, x)>, dv::let<z, overwrite(s)>, dv::output<z>>>);
static_assert(accepted<in, dv::let<z, overwrite(gelu(x))>, dv::output<z>>);
struct overwrite_smaller {
    static constexpr bool in_place_only = true;
    static constexpr dv::results result(dv::tensor_type x) { return {x.with_extents(1), x}; }
};
static_assert(is<error::in_place_mismatch, diagnosed<in, dv::let<dv::values<dv::discard, z>, overwrite_smaller(gelu(x))>, dv::output<z>>>);

// Members of a group run at the same time, so none may set a state that another one reads or sets.
template <class... S> using in_one_group = diagnosed<in, two, dv::state<s, vector, ones>, dv::nccl_group<S...>, dv::output<y>>;
using reads_state = dv::let<y, all_reduce<sum, dp>(s)>;
using sets_state = dv::update<s, all_reduce<sum, dp>(x)>;
static_assert(std::is_same_v<in_one_group<reads_state, sets_state>, error::group_dependence<y, s>>);
static_assert(std::is_same_v<in_one_group<sets_state, reads_state>, error::group_dependence<s, y>>);
static_assert(std::is_same_v<in_one_group<dv::let<y, all_reduce<sum, dp>(x)>, sets_state, dv::update<s, all_reduce<sum, dp>(s)>>,
                             error::group_dependence<s, s>>);
static_assert(std::is_same_v<in_one_group<reads_state, dv::update<s, shift<dp, 1>(s)>>, error::group_dependence<y, s>>);
static_assert(std::is_same_v<in_one_group<dv::nccl_group<reads_state>, dv::nccl_group<sets_state>>, error::group_dependence<y, s>>);
static_assert(is<error::group_dependence,
                 diagnosed<in, two, dv::state<s, vector, ones>,
                           dv::nccl_group<reads_state, dv::nccl_group<dv::let<z, all_reduce<maximum, dp>(s)>>, sets_state>,
                           dv::output<y, z>>>);
static_assert(
    accepted<in, two, dv::state<s, vector, ones>, dv::nccl_group<dv::let<y, all_reduce<sum, dp>(x)>, dv::update<s, all_reduce<sum, dp>(s)>>,
             dv::nccl_group<dv::let<z, all_reduce<sum, dp>(s)>, dv::let<w, all_reduce<maximum, dp>(s)>, dv::let<t, all_reduce<sum, dp>(y)>>,
             dv::output<z, w, t>>);

// ---- 7: roles
static_assert(refused<error::on_in_on<right>, in, l<dv::group<dv::on<right, dv::let<y, gelu(x)>>>>, dv::output<y>>);
static_assert(refused<error::unused_role<left>, in, l<>, r<dv::let<y, gelu(x)>>, dv::output<y>>);
static_assert(is<error::unused_role, diagnosed<in, dv::on<left, dv::mesh<dv::axis<dp, 2>>>, r<dv::let<y, gelu(x)>>, dv::output<y>>>);
static_assert(refused<error::outside_role<z>, in, l<dv::let<y, gelu(x)>>, dv::let<z, shift<dp, 1>(y)>, dv::output<z>>);
static_assert(refused<error::outside_role<gelu(y)>, in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>>,
                      dv::let<t, all_reduce<sum>(gelu(y), z)>, dv::output<t>>);
static_assert(refused<error::argument_of_no_role<t, x>, in, l<dv::let<y, gelu(x)>>, dv::let<t, all_reduce<sum>(x, y)>, dv::output<t>>);
static_assert(refused<error::argument_of_no_role<w, t>, in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>>,
                      dv::let<t, all_reduce<sum>(y, z)>, dv::let<w, all_gather<>(t, z)>, dv::output<w>>);
static_assert(refused<error::not_a_role<dv::all<2, link>>, in, dv::on<dv::all<2, link>, dv::let<y, gelu(x)>>, dv::output<y>>);
static_assert(refused<error::not_a_role<dv::let<y, gelu(x)>>, in, dv::on<dv::let<y, gelu(x)>, dv::let<z, gelu(y)>>, dv::output<z>>);
static_assert(refused<error::not_a_role<vector>, in, l<dv::let<y, gelu(x)>>, dv::on<vector, dv::let<z, gelu(y)>>, dv::output<z>>);
static_assert(is<error::off_root_read, diagnosed<in, two, dv::let<y, gelu(reduce<sum, dp, root_index<0>>(x))>, dv::output<y>>>);
static_assert(is<error::off_root_read,
                 diagnosed<in, two, dv::let<y, broadcast<dp, root_index<1>>(reduce<sum, dp, root_index<0>>(x))>, dv::output<y>>>);
static_assert(
    is<error::off_root_read, diagnosed<in, two, l<dv::let<y, gather<dp, root_index<0>>(x)>>, r<dv::let<z, gelu(y)>>, dv::output<z>>>);
static_assert(
    is<error::off_root_read,
       diagnosed<in, two, dv::state<s, dv::tensor<float, 16>, ones>, dv::let<y, gather<dp, root_index<0>>(x)>, dv::update<s, plus(s, y)>>>);
static_assert(accepted<in, two, dv::let<y, gelu(broadcast<dp, root_index<0>>(reduce<sum, dp, root_index<0>>(x)))>, dv::output<y>>);
// A state is on every position, and read by later runs and other graphs: what exists at the root alone cannot set it.
static_assert(refused<error::off_root_update<s, reduce<sum, dp, root_index<0>>>, in, two, dv::state<s, vector>,
                      dv::update<s, reduce<sum, dp, root_index<0>>(x)>, dv::let<y, gelu(s)>, dv::output<y>>);
static_assert(
    is<error::off_root_update, diagnosed<in, two, dv::state<s, dv::tensor<float, 16>, ones>, dv::update<s, gather<dp, root_index<0>>(x)>>>);
static_assert(is<error::off_root_update, diagnosed<two, dv::state<s, vector, ones>, dv::update<s, reduce<sum, dp, root_index<0>>(s)>>>);
static_assert(accepted<in, two, dv::state<s, vector>, dv::update<s, broadcast<dp, root_index<0>>(reduce<sum, dp, root_index<0>>(x))>>);
static_assert(accepted<in, two, dv::state<s, dv::tensor<float, 4>>, dv::update<s, scatter<dp, root_index<0>>(x)>>);

// Roles and axes where values belong, and communication on the wrong side of `on`.
static_assert(refused<error::role_as_value<left, z>, in, l<dv::let<y, gelu(x)>>, r<dv::let<z, plus(y, left)>>, dv::output<z>>);
static_assert(refused<error::role_as_value<left>, in, l<dv::let<y, gelu(x)>>, dv::output<y, left>>);
static_assert(refused<error::axis_as_value<dp, y>, in, two, dv::let<y, plus(x, dp)>, dv::output<y>>);
static_assert(accepted<dv::input<dp, vector>, two, dv::let<y, all_reduce<sum, dp>(dp)>, dv::output<y>>);  // one name may be both
static_assert(refused<error::collective_inside_role<t, all_reduce<sum>>, in, l<dv::let<y, gelu(x)>>,
                      r<dv::let<z, gelu(x)>, dv::let<t, all_reduce<sum>(y, z)>>, dv::output<t>>);
static_assert(is<error::collective_inside_role,
                 diagnosed<in, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>, dv::let<t, reduce<sum, root<left>>(z)>>, dv::output<t, y>>>);
static_assert(is<error::wrong_arity,
                 diagnosed<in, two, l<dv::let<y, gelu(x)>>, r<dv::let<z, gelu(x)>, dv::let<t, all_reduce<sum, dp>(y, z)>>, dv::output<t>>>);
static_assert(refused<error::axis_outside_role<t, dp>, in, two, l<dv::let<y, gelu(x)>>, dv::let<t, all_reduce<sum, dp>(y)>, dv::output<t>>);
static_assert(refused<error::swapped_reduction<y, all_reduce<dp, sum>>, in, two, dv::let<y, all_reduce<dp, sum>(x)>, dv::output<y>>);
static_assert(refused<error::bad_reduction<y, all_reduce<dp>>, in, two, dv::let<y, all_reduce<dp>(x)>, dv::output<y>>);

// ---- 8: sizes
static_assert(is<error::size_overflow, diagnosed<dv::input<x, dv::tensor<std::int8_t, (std::int64_t{1} << 61)>>, dv::mesh<dv::axis<dp, 8>>,
                                                 dv::let<y, all_gather<dp>(x)>, dv::output<y>>>);
// Sums over a plan of the largest tensors there may be fit as well.
using largest = dv::tensor<std::int8_t, dv::most_bytes>;
struct heavy : dv::graph<dv::input<x, largest>, dv::let<y, gelu(x)>, dv::let<z, gelu(y)>, dv::let<w, plus(y, z)>, dv::output<w, y>> {};
static_assert(dv::peak_bytes<heavy, dv::unnamed_role, dv::options<dv::in_flight<64>>> >= 2 * 64 * dv::most_bytes);
// Four of them in each of two arenas, by the addresses of which it is found who waits for whom from run to run.
struct blow_up { static constexpr dv::tensor_type result(dv::tensor_type) { return largest::type; } };
struct measure { template <class... T> static constexpr dv::tensor_type result(dv::tensor_type x, T...) { return x.with_extents(); } };
template <int I> using blown_up = dv::let<link<I>, blow_up(x)>;
struct heavy_roles : dv::graph<dv::input<x, dv::scalar<std::int8_t>>, l<dv::repeat<blown_up, 4>, dv::let<y, measure(dv::all<4, link>)>>,
                               r<dv::let<z, measure(dv::all<4, link>)>, dv::let<w, measure(link<3>)>>, dv::output<y, z, w>> {};
struct fast_enough {
    static constexpr dv::machine_description description{.name = "fast_enough",
                                                         .half_flops = 1,
                                                         .float_flops = 1'000'000'000,
                                                         .double_flops = 1,
                                                         .memory_bandwidth = 1'000'000'000'000'000'000,
                                                         .launch_latency = 1'000'000,
                                                         .edge_latency = 1,
                                                         .link_latency = 1'000'000,
                                                         .link_bandwidth = 1'000'000'000'000'000'000,
                                                         .bus_bandwidth = 10'000'000,
                                                         .host_bandwidth = 10'000'000};
};
static_assert(dv::peak_bytes<heavy_roles, left, dv::options<fast_enough>> >= 4 * dv::most_bytes);
static_assert(
    is<error::size_overflow, diagnosed<dv::input<x, dv::tensor<std::int8_t, dv::most_bytes + 1>>, dv::let<y, gelu(x)>, dv::output<y>>>);

// ---- 11: expressions
static_assert(refused<error::not_a_name<gelu>, in, dv::let<gelu, relu(x)>, dv::output<gelu>>);
static_assert(refused<error::not_a_name<vector>, in, dv::let<vector, relu(x)>, dv::output<y>>);
static_assert(refused<error::not_a_name<gelu>, in, dv::let<y, relu(x)>, dv::output<y, gelu>>);
static_assert(
    refused<error::not_a_name<dv::axis_index<dp>>, in, dv::mesh<dv::axis<dp>>, dv::let<y, relu(x)>, dv::output<y, dv::axis_index<dp>>>);
static_assert(refused<error::not_a_name<ones>, in, dv::state<s, vector, ones>, dv::update<dv::values<ones>, gelu(x)>>);
static_assert(is<error::ellipsis, diagnosed<in, dv::let<y, gelu(plus(x, ...))>, dv::output<y>>>);
static_assert(refused<error::not_a_statement<dv::from_store>, in, dv::state<s, vector, ones, dv::from_store>, dv::update<s, plus(s, x)>>);
static_assert(refused<error::not_a_statement<ones>, in, dv::state<s, vector, dv::from_store, ones>, dv::update<s, plus(s, x)>>);
static_assert(refused<error::not_an_operation<y, z>, in, dv::let<y, gelu(z(x))>, dv::output<y>>);
static_assert(refused<error::all_discarded<gelu>, in, dv::let<dv::values<dv::discard>, gelu(x)>, dv::output<>>);
static_assert(refused<error::not_an_expression<y, x>, in, dv::let<y, x>, dv::output<y>>);
static_assert(refused<error::not_an_expression<s, gelu>, in, dv::state<s, vector, ones>, dv::update<s, gelu>>);
static_assert(refused<error::not_an_argument<y, vector>, in, dv::let<y, plus(x, vector)>, dv::output<y>>);

// ---- host memory
static_assert(is<error::host_value, diagnosed<in, dv::let<y, gelu(to_host(x))>, dv::output<y>>>);
static_assert(is<error::host_value, diagnosed<in, two, dv::let<y, all_reduce<sum, dp>(to_host(x))>, dv::output<y>>>);
template <class... S> using with_state_on_host = diagnosed<in, dv::state<s, vector, ones>, dv::let<y, gelu(x)>, S..., dv::output<y>>;
static_assert(is<error::state_on_host, with_state_on_host<dv::update<s, to_host(x)>>>);
static_assert(is<error::state_on_host, with_state_on_host<dv::update<s, to_host(s)>>>);
static_assert(is<error::device_value, diagnosed<in, dv::let<y, from_host(gelu(x))>, dv::output<y>>>);

// ---- where a statement stands: in the graph or in what groups statements, from 1; of a repeat, in which body
template <class Place, class... S>
inline constexpr bool stands = std::is_same_v<dv::plan::diagnose<dv::graph<S...>>, error::unused<z, Place>>;
using nobody_needs = dv::let<z, relu(x)>;
template <int I> using with_unused = dv::group<dv::let<link<I>, gelu(x)>, std::conditional_t<I == 2, nobody_needs, dv::group<>>>;
template <int I, int J> using grid_with_unused = std::conditional_t<I == 1 && J == 2, nobody_needs, dv::let<cell<I, J>, gelu(x)>>;
template <int I, int J, int K> using cube_with_unused = std::conditional_t<I == 1 && J == 0 && K == 1, nobody_needs, dv::group<>>;
static_assert(stands<error::at<error::statement<3>>, in, dv::let<y, gelu(x)>, nobody_needs, dv::output<y>>);
static_assert(stands<error::at<error::statement<2>, error::statement<2>>, in, dv::group<dv::let<y, gelu(x)>, nobody_needs>, dv::output<y>>);
static_assert(stands<error::at<error::statement<2>, error::in<with_unused, 2>, error::statement<2>>, in, dv::repeat<with_unused, 3>,
                     dv::output<dv::all<3, link>>>);
static_assert(stands<error::at<error::statement<3>, error::in<grid_with_unused, 1, 2>>, in, dv::let<y, gelu(x)>,
                     dv::repeat<grid_with_unused, 2, 3>, dv::output<y, cell<0, 0>, cell<0, 1>, cell<0, 2>, cell<1, 0>, cell<1, 1>>>);
static_assert(stands<error::at<error::statement<3>, error::in<cube_with_unused, 1, 0, 1>>, in, dv::let<y, gelu(x)>,
                     dv::repeat<cube_with_unused, 2, 1, 2>, dv::output<y>>);
static_assert(stands<error::at<error::statement<3>, error::in_role<right>, error::statement<2>>, in, l<dv::let<y, gelu(x)>>,
                     r<dv::let<w, gelu(y)>, nobody_needs>, dv::output<w>>);
static_assert(
    stands<error::at<error::statement<2>, error::in_role<left>, error::statement<2>, error::in<with_unused, 2>, error::statement<2>>, in,
           l<dv::let<y, gelu(x)>, dv::repeat<with_unused, 3>>, dv::output<y, dv::all<3, link>>>);
// Where a state is used wrongly, not where it is declared.
static_assert(std::is_same_v<dv::plan::diagnose<dv::graph<in, two, replicated, dv::let<y, gelu(x)>, dv::update<w, plus(w, y)>>>,
                             error::diverging_replicas<w, dp, error::at<error::statement<5>>>>);
static_assert(std::is_same_v<dv::plan::diagnose<dv::graph<in, dv::state<s, vector>, dv::let<y, plus(x, s)>, dv::output<y>>>,
                             error::uninitialised<s, y, error::at<error::statement<3>>>>);
static_assert(std::is_same_v<dv::plan::diagnose<dv::graph<in, dv::let<y, gelu(x)>, dv::output<y, forwerd>>>,
                             error::unknown_output<forwerd, error::at<error::statement<3>>>>);

// ---- what is found by name
struct small : dv::graph<two, in, dv::let<y, gelu(x)>, dv::output<y>> {};
static_assert(dv::plan::symbol_of<small, y> >= 0 && dv::plan::symbol_of<small, z> == -1 && dv::plan::axis_of<small, dp> == 0 &&
              dv::plan::axis_of<small, tp> == -1);
static_assert(std::is_same_v<dv::plan::tensor_of<small, y>, vector>);
static_assert(dv::peak_bytes_at_most<small, dv::peak_bytes<small>> && dv::predicted_time_at_most<small, dv::predicted_time<small>> &&
              dv::hidden_percent_at_least<small, 0>);
static_assert(std::is_same_v<decltype(dv::peak_bytes<small>), const std::int64_t> &&
              std::is_same_v<decltype(dv::predicted_time<small>), const std::int64_t> &&
              std::is_same_v<decltype(dv::hidden_fraction<small>), const double> &&
              std::is_same_v<decltype(dv::wait_count<small>), const int>);

}  // namespace refusals

TEST_CASE("mistakes are told by name") { CHECK(true); }
