// HPC: 2-D Jacobi on a 2 x 2 mesh with halos (interior and boundary apart, or not), a distributed FFT by all_to_all transposes (whole, and
// in slabs), CG and pipelined CG.
#include "workload.hpp"

namespace grids {
using namespace workloads::op;
using namespace dv::ops;
struct px;
struct py;
// Jacobi: local N x N doubles, 4 sweeps
template <int> struct u;
template <int> struct inner;
template <int> struct west;
template <int> struct east;
template <int> struct north;
template <int> struct south;
template <int> struct w_;
template <int> struct e_;
template <int> struct n_;
template <int> struct s_;
template <int> struct r;
struct diff;
struct column {
    static constexpr tt result(tt x) { return x.with_extents(x.extent[0]); }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(9 * 8 * x.extent[0]); }
};
struct interior {
    static constexpr tt result(tt x) { return x; }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(2 * x.bytes()); }
};
struct edges_of {
    static constexpr tt result(tt i, tt, tt, tt, tt, tt) { return i; }
    static constexpr int in_place = 0;
    static constexpr dv::cost cost(tt i, tt, tt, tt, tt, tt) { return dv::bytes_moved(4 * 3 * 8 * i.extent[0]); }
};
struct whole {
    static constexpr tt result(tt i, tt, tt, tt, tt) { return i; }
    static constexpr dv::cost cost(tt i, tt, tt, tt, tt) { return dv::bytes_moved(2 * i.bytes()); }
};
struct norm_of {
    static constexpr tt result(tt, tt) { return dv::tensor<double>::type; }
    static constexpr dv::cost cost(tt a, tt) { return dv::bytes_moved(2 * a.bytes()); }
};
template <int I> using halos =
    dv::group<dv::let<w_<I>, column(u<I>)>, dv::let<e_<I>, column(u<I>)>, dv::let<n_<I>, column(u<I>)>, dv::let<s_<I>, column(u<I>)>>;
template <int I> using moves =
    dv::group<dv::let<west<I>, shift<px, +1, zero_edge>(e_<I>)>, dv::let<east<I>, shift<px, -1, zero_edge>(w_<I>)>,
              dv::let<north<I>, shift<py, +1, zero_edge>(s_<I>)>, dv::let<south<I>, shift<py, -1, zero_edge>(n_<I>)>>;
template <int I> using split_sweep = dv::group<halos<I>, moves<I>, dv::let<inner<I>, interior(u<I>)>,
                                               dv::let<u<I + 1>, edges_of(inner<I>, u<I>, west<I>, east<I>, north<I>, south<I>)>>;
template <int I> using grouped_sweep = dv::group<halos<I>, dv::nccl_group<moves<I>>, dv::let<inner<I>, interior(u<I>)>,
                                                 dv::let<u<I + 1>, edges_of(inner<I>, u<I>, west<I>, east<I>, north<I>, south<I>)>>;
template <int I> using plain_sweep = dv::group<halos<I>, moves<I>, dv::let<u<I + 1>, whole(u<I>, west<I>, east<I>, north<I>, south<I>)>>;
template <int N, template <int...> class Sweep, int Sweeps = 4>
struct jacobi : dv::graph<dv::mesh<dv::axis<px, 2>, dv::axis<py, 2>>, dv::input<u<0>, dv::tensor<double, N, N>>, dv::repeat<Sweep, Sweeps>,
                          dv::let<diff, all_reduce<sum>(norm_of(u<Sweeps>, u<Sweeps - 1>))>, dv::output<u<Sweeps>, diff>> {};
// FFT: 1024^3 complex (as 2 x float) on 4: lines along z and y locally, transpose, lines along x. In slabs of the local planes.
struct ranks;
template <int> struct a;
template <int> struct b;
template <int> struct c;
template <int> struct d;
struct fft_two {
    static constexpr tt result(tt x) { return x; }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(4 * x.bytes()); }
    static constexpr int in_place = 0;
};
struct fft_one {
    static constexpr tt result(tt x) { return x; }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(2 * x.bytes()); }
    static constexpr int in_place = 0;
};
struct pack {
    static constexpr tt result(tt x) { return x; }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(2 * x.bytes()); }
};
template <int Slabs> struct fft_body {
    template <int I> using in = dv::input<a<I>, dv::tensor<float, 256 / Slabs, 1024, 1024, 2>>;
    template <int I> using slab =
        dv::group<dv::let<b<I>, pack(fft_two(a<I>))>, dv::let<c<I>, all_to_all<ranks>(b<I>)>, dv::let<d<I>, fft_one(pack(c<I>))>>;
};
template <int Slabs> struct fft : dv::graph<dv::mesh<dv::axis<ranks, 4>>, dv::repeat<fft_body<Slabs>::template in, Slabs>,
                                            dv::repeat<fft_body<Slabs>::template slab, Slabs>, dv::output<dv::all<Slabs, d>>> {};
// CG, 256^3 rows a rank, 27-point matrix in 27 coefficients a row: 8 iterations of each form.
constexpr int iterations = 8;
using vec = dv::tensor<double, 16'777'216>;
using num = dv::tensor<double>;
using two = dv::tensor<double, 2>;
struct matrix;
template <int> struct x;
template <int> struct res;
template <int> struct p;
template <int> struct q;
template <int> struct halo;
template <int> struct pq;
template <int> struct rr;
template <int> struct z;
template <int> struct s;
template <int> struct w;
template <int> struct gd;
template <int> struct m;
struct face {
    static constexpr tt result(tt) { return dv::tensor<double, 2, 65536>::type; }
    static constexpr dv::cost cost(tt) { return dv::bytes_moved(2 * 2 * 65536 * 8); }
};
struct spmv {
    static constexpr tt result(tt, tt v, tt) { return v; }
    static constexpr dv::cost cost(tt a, tt v, tt) { return dv::bytes_moved(a.bytes() + 2 * v.bytes()); }
};
struct dot {
    static constexpr tt result(tt, tt) { return num::type; }
    static constexpr dv::cost cost(tt a, tt) { return dv::bytes_moved(2 * a.bytes()); }
};
struct dots {
    static constexpr tt result(tt, tt, tt) { return two::type; }
    static constexpr dv::cost cost(tt a, tt, tt) { return dv::bytes_moved(3 * a.bytes()); }
};
struct axpy {
    template <class... T> static constexpr tt result(tt x, tt, T...) { return x; }
    template <class... T> static constexpr dv::cost cost(tt x, tt, T...) { return dv::bytes_moved(3 * x.bytes()); }
    static constexpr int in_place = 0;
};
struct three {
    static constexpr dv::results result(tt x, tt r, tt p, tt, tt, tt) { return {x, r, p}; }
    static constexpr dv::cost cost(tt x, tt, tt, tt, tt, tt) { return dv::bytes_moved(8 * x.bytes()); }
};
template <int I> using iteration =
    dv::group<dv::let<halo<I>, shift<ranks, +1, zero_edge>(face(p<I>))>, dv::let<q<I>, spmv(matrix, p<I>, halo<I>)>,
              dv::let<pq<I>, all_reduce<sum, ranks>(dot(p<I>, q<I>))>, dv::let<x<I + 1>, axpy(x<I>, p<I>, pq<I>, rr<I>)>,
              dv::let<res<I + 1>, axpy(res<I>, q<I>, pq<I>, rr<I>)>,
              dv::let<rr<I + 1>, all_reduce<sum, ranks>(dot(res<I + 1>, res<I + 1>))>,
              dv::let<p<I + 1>, axpy(res<I + 1>, p<I>, rr<I + 1>, rr<I>)>>;
struct axpy_keep : axpy {
    static constexpr int in_place = -1;
};
template <int I> using iteration_ =
    dv::group<dv::let<halo<I>, shift<ranks, +1, zero_edge>(face(p<I>))>, dv::let<q<I>, spmv(matrix, p<I>, halo<I>)>,
              dv::let<pq<I>, all_reduce<sum, ranks>(dot(p<I>, q<I>))>, dv::let<x<I + 1>, axpy(x<I>, p<I>, pq<I>, rr<I>)>,
              dv::let<res<I + 1>, axpy(res<I>, q<I>, pq<I>, rr<I>)>,
              dv::let<rr<I + 1>, all_reduce<sum, ranks>(dot(res<I + 1>, res<I + 1>))>,
              dv::let<p<I + 1>, axpy_keep(res<I + 1>, p<I>, rr<I + 1>, rr<I>)>>;
struct cg
    : dv::graph<dv::mesh<dv::axis<ranks, 4>>, dv::state<matrix, dv::tensor<double, 27, 16'777'216>, dv::from_store>, dv::input<x<0>, vec>,
                dv::input<res<0>, vec>, dv::let<p<0>, pack(res<0>)>, dv::let<rr<0>, all_reduce<sum, ranks>(dot(res<0>, res<0>))>,
                dv::repeat<iteration_, iterations>, dv::output<x<iterations>, rr<iterations>, p<iterations>>> {};
// Ghysels and Vanroose: gamma and delta are reduced while q = A w is computed.
struct recur {
    static constexpr dv::results result(tt z, tt s, tt p, tt, tt, tt) { return {z, s, p}; }
    static constexpr dv::cost cost(tt z, tt, tt, tt, tt, tt) { return dv::bytes_moved(9 * z.bytes()); }
};
template <int I> using pipelined_iteration =
    dv::group<dv::let<gd<I>, all_reduce<sum, ranks>(dots(res<I>, w<I>, res<I>))>, dv::let<halo<I>, shift<ranks, +1, zero_edge>(face(w<I>))>,
              dv::let<q<I>, spmv(matrix, w<I>, halo<I>)>,
              dv::let<dv::values<z<I + 1>, s<I + 1>, p<I + 1>>, recur(z<I>, s<I>, p<I>, q<I>, w<I>, gd<I>)>,
              dv::let<dv::values<x<I + 1>, res<I + 1>, w<I + 1>>, three(x<I>, res<I>, w<I>, p<I + 1>, s<I + 1>, gd<I>)>>;
struct pipelined
    : dv::graph<dv::mesh<dv::axis<ranks, 4>>, dv::state<matrix, dv::tensor<double, 27, 16'777'216>, dv::from_store>, dv::input<x<0>, vec>,
                dv::input<res<0>, vec>, dv::input<w<0>, vec>, dv::input<z<0>, vec>, dv::input<s<0>, vec>, dv::input<p<0>, vec>,
                dv::repeat<pipelined_iteration, iterations>, dv::output<x<iterations>, res<iterations>, w<iterations>, z<iterations>>> {};
}  // namespace grids
std::vector<workloads::workload> workloads::hpc() {
    using namespace grids;
    return {workloads::of<jacobi<4096, plain_sweep>>("Jacobi 4096, whole"),
            workloads::of<jacobi<4096, split_sweep>>("Jacobi 4096, interior apart"),
            workloads::of<jacobi<4096, grouped_sweep>>("Jacobi 4096, interior apart, in a group"),
            workloads::of<jacobi<16384, split_sweep>>("Jacobi 16384, interior apart"),
            workloads::of<jacobi<4096, split_sweep, 28>>("Jacobi 4096, interior apart, 28 sweeps"),
            workloads::of<fft<1>>("FFT 1024, whole"),
            workloads::of<fft<4>>("FFT 1024, 4 slabs"),
            workloads::of<fft<16>>("FFT 1024, 16 slabs"),
            workloads::of<cg>("CG"),
            workloads::of<pipelined>("pipelined CG")};
}
