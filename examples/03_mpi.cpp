// A program under MPI: `mpirun -n 4 03_mpi`. MPI starts the processes, and dovetail only needs a broadcast from it. Compile it with MPI,
// CUDA and NCCL: `mpicxx -std=c++20 -I include -I $CUDA_HOME/include examples/03_mpi.cpp -o 03_mpi -L $CUDA_HOME/lib64 -lnccl -lcudart
// -lcublas`.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>

#include <cstdio>
#include <mpi.h>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct dp;
struct mine;
struct total;

struct summed : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<mine, dv::tensor<float, 1024>>,
    dv::let<total, all_reduce<sum, dp>(mine)>,
    dv::output<total>> {};
}  // namespace app

int main(int count, char** words) {
    MPI_Init(&count, &words);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wrong = 0;
    try {
        dv::cuda::world world = dv::cuda::world::from_broadcast(rank, size, [](void* bytes, std::size_t n, int root) {
            MPI_Bcast(bytes, static_cast<int>(n), MPI_BYTE, root, MPI_COMM_WORLD);
        });
        world.run([&](auto& me) {
            dv::executor<app::summed> step{me};
            step.bind(dv::name<app::mine>, std::vector<float>(1024, static_cast<float>(rank)));
            const float sum = step.run().read(dv::name<app::total>)[1023];
            wrong = sum != static_cast<float>(size * (size - 1) / 2);
            std::printf("rank %d of %d on device %d: the sum of all ranks is %g\n", rank, size, me.device(), sum);
        });
    } catch (const std::exception& e) {
        std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
        wrong = 1;
    }
    MPI_Finalize();
    return wrong;
}
