// Who a process is, from what its launcher sets: which family counts, what is half set or wrong, and what the messages say.
#include <doctest/doctest.h>

#include <dovetail/launch/cuda/environment.hpp>

#include <map>

using namespace dovetail::cuda;
using variables = std::map<std::string, std::string>;

namespace {

place find(const variables& all, const place_arguments& given = {}) {
    return find_place(given, [&](const char* name) -> const char* {
        const auto found = all.find(name);
        return found == all.end() ? nullptr : found->second.c_str();
    });
}
std::string fault(const variables& all, const place_arguments& given = {}) {
    try {
        return "found: " + find(all, given).describe();
    } catch (const dovetail::world_error& e) {
        return e.what();
    }
}
bool says(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

const variables torchrun{{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "0"}, {"MASTER_ADDR", "node7"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", "abc"}, {"TORCHELASTIC_RESTART_COUNT", "1"}};
const variables slurm{{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}, {"SLURM_LOCALID", "1"}, {"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NODELIST", "gpu[003-004,9],x1"}};
const variables open_mpi{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, {"PMIX_NAMESPACE", "123@1"}, {"PMIX_RANK", "1"}};

variables with(variables all, const variables& more) {
    for (const auto& [name, value] : more) all[name] = value;
    return all;
}

}  // namespace

TEST_CASE("each launcher's variables say who a process is") {
    const place t = find(torchrun);
    CHECK(t.rank == 2);
    CHECK(t.size == 4);
    CHECK(t.local_rank == 0);
    CHECK(t.at.host == "node7");
    CHECK(t.at.port != 29500);  // the agent has it
    CHECK(t.job == "abc.1");

    const place s = find(slurm);
    CHECK(s.rank == 5);
    CHECK(s.size == 8);
    CHECK(s.local_rank == 1);
    CHECK(s.at.host == "gpu003");
    CHECK(s.at.port >= 15000);
    CHECK(s.at.port < 31000);
    CHECK(s.job == "4711.0");
    CHECK(find(with(slurm, {{"SLURM_STEP_NUM_TASKS", "6"}})).size == 6);

    const place o = find(open_mpi);
    CHECK(o.rank == 1);
    CHECK(o.size == 2);
    CHECK(o.at.host == "127.0.0.1");
    CHECK_FALSE(find(with(open_mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}})).has_address());

    const place p = find({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}});
    CHECK(p.rank == 3);
    CHECK(p.local_rank == -1);
    CHECK_FALSE(p.has_address());

    const place d = find({{"DOVETAIL_RANK", "0"}, {"DOVETAIL_WORLD_SIZE", "1"}, {"DOVETAIL_LOCAL_RANK", "0"}, {"DOVETAIL_RENDEZVOUS", "[::1]:4000"}, {"DOVETAIL_JOB", "j"}, {"DOVETAIL_TIME_LIMIT", "7"}});
    CHECK(d.at.host == "::1");
    CHECK(d.at.port == 4000);
    CHECK(d.at.text() == "[::1]:4000");
    CHECK(d.job == "j");
    CHECK(d.limit == std::chrono::seconds{7});
    CHECK(d.ports == 1);
}

TEST_CASE("arguments go before our variables, those before torchrun's, Open MPI's, PMI's and Slurm's") {
    variables all = with(with(slurm, torchrun), open_mpi);
    all["PMI_RANK"] = "0";
    all["PMI_SIZE"] = "3";
    all["DOVETAIL_RANK"] = "9";
    all["DOVETAIL_WORLD_SIZE"] = "10";
    CHECK(find(all, {.rank = 1, .size = 100}).size == 100);
    CHECK(find(all).size == 10);
    all.erase("DOVETAIL_RANK");
    all.erase("DOVETAIL_WORLD_SIZE");
    CHECK(find(all).size == 4);
    all.erase("RANK");
    all.erase("WORLD_SIZE");
    CHECK(find(all).size == 2);  // Slurm's would be those of the process that started mpirun
    all.erase("OMPI_COMM_WORLD_RANK");
    all.erase("OMPI_COMM_WORLD_SIZE");
    CHECK(find(all).size == 3);
    all.erase("PMI_RANK");
    all.erase("PMI_SIZE");
    CHECK(find(all).size == 8);
}

TEST_CASE("our address, local rank and job replace a launcher's") {
    const place p = find(with(torchrun, {{"DOVETAIL_RENDEZVOUS", "other:5000"}, {"DOVETAIL_LOCAL_RANK", "1"}, {"DOVETAIL_JOB", "mine"}, {"DOVETAIL_VERBOSE", "1"}}));
    CHECK(p.at.text() == "other:5000");
    CHECK(p.local_rank == 1);
    CHECK(p.job == "mine");
    CHECK(p.verbose);
    CHECK(find(torchrun, {.local_rank = 7, .rendezvous = "r:1"}).at.text() == "r:1");
    CHECK(find(torchrun, {.local_rank = 7}).local_rank == 7);  // the program may choose any device
    CHECK_FALSE(find(with(torchrun, {{"DOVETAIL_VERBOSE", "0"}})).verbose);
}

TEST_CASE("it says how the rank was found") {
    const std::string text = find(torchrun).describe();
    for (const char* part : {"rank 2 of 4", "torchrun: RANK=2, WORLD_SIZE=4", "local rank 0 (LOCAL_RANK=0)", "MASTER_ADDR=node7", "node7:29531", "job `abc.1`"}) CHECK(says(text, part));
    CHECK(says(find({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}).describe(), "no address of rank 0"));
}

TEST_CASE("what is missing, half set or wrong is named with its value") {
    CHECK(says(fault({}), "torchrun, mpirun or srun"));
    CHECK(says(fault({{"RANK", "1"}}), "RANK=1 is set and WORLD_SIZE is not (torchrun)"));
    CHECK(says(fault({{"WORLD_SIZE", "4"}}), "WORLD_SIZE=4 is set and RANK is not"));
    CHECK(says(fault({{"RANK", ""}, {"WORLD_SIZE", "4"}}), "WORLD_SIZE=4 is set and RANK is not"));
    CHECK(says(fault(with(torchrun, {{"DOVETAIL_RANK", "1"}})), "DOVETAIL_RANK=1 is set and DOVETAIL_WORLD_SIZE is not"));
    CHECK(says(fault(with(torchrun, {{"RANK", "two"}})), "RANK=two is not a number"));
    CHECK(says(fault(with(torchrun, {{"RANK", "2x"}})), "RANK=2x is not a number"));
    CHECK(says(fault(with(torchrun, {{"RANK", "-1"}})), "RANK=-1 is negative"));
    CHECK(says(fault(with(torchrun, {{"RANK", "4"}})), "RANK=4 is not below WORLD_SIZE=4"));
    CHECK(says(fault(with(torchrun, {{"WORLD_SIZE", "0"}})), "WORLD_SIZE=0: a world has at least one rank"));
    CHECK(says(fault(with(torchrun, {{"WORLD_SIZE", "99999999999"}})), "WORLD_SIZE=99999999999 is too large"));
    CHECK(says(fault(with(torchrun, {{"WORLD_SIZE", "99999999999999999999999"}})), "is too large"));
    CHECK(says(fault(with(torchrun, {{"LOCAL_RANK", "4"}})), "LOCAL_RANK=4 is not below the size of the world, 4"));
    CHECK(says(fault(with(torchrun, {{"LOCAL_RANK", "-2"}})), "LOCAL_RANK=-2 is negative"));
    CHECK(says(fault(with(torchrun, {{"MASTER_PORT", "0"}})), "MASTER_PORT=0 is outside 1 to 65535"));
    CHECK(says(fault(with(torchrun, {{"MASTER_PORT", "http"}})), "MASTER_PORT=http is not a number"));
    CHECK(says(fault({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}}), "MASTER_ADDR=h is set and MASTER_PORT is not"));
    CHECK(says(fault(with(torchrun, {{"DOVETAIL_RENDEZVOUS", "host"}})), "DOVETAIL_RENDEZVOUS=host is not of the form host:port"));
    CHECK(says(fault(with(torchrun, {{"DOVETAIL_RENDEZVOUS", "::1:5"}})), "is not of the form"));
    CHECK(says(fault(with(torchrun, {{"DOVETAIL_RENDEZVOUS", "h:70000"}})), "DOVETAIL_RENDEZVOUS=h:70000 has a port outside 1 to 65535"));
    CHECK(says(fault(with(torchrun, {{"DOVETAIL_RENDEZVOUS", "h:"}})), "is not a number"));
    CHECK(says(fault(with(torchrun, {{"DOVETAIL_TIME_LIMIT", "soon"}})), "DOVETAIL_TIME_LIMIT=soon is not a number"));
    CHECK(says(fault({{"PMIX_RANK", "1"}}), "PMIX_RANK=1 is set, and no variable has the size"));
    CHECK(says(fault(torchrun, {.rank = 1}), "both are given or neither"));
    CHECK(says(fault(torchrun, {.rank = 4, .size = 4}), "rank 4 is not in a world of 4"));
    CHECK(says(fault(torchrun, {.rank = -1, .size = 4}), "rank -1 is not in a world of 4"));
    CHECK(says(fault(torchrun, {.local_rank = -1}), "local rank -1 is negative"));
}

TEST_CASE("Slurm's list of hosts is read as far as its first") {
    CHECK(detail::first_host("a1,b2") == "a1");
    CHECK(detail::first_host("a[7]") == "a7");
    CHECK(detail::first_host("a[007-010,12],b") == "a007");
    CHECK(detail::first_host("r[1-2]n[3,5]") == "r1n3");
    CHECK(detail::first_host("a[1-2]-ib,b") == "a1-ib");
    CHECK(detail::first_host("") == "");
}
