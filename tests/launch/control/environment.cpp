// Who a process is, from what its launcher sets: which family counts, what is half set or wrong, and what the messages say.
#include <support/says.hpp>

#include <doctest/doctest.h>

#include <dovetail/launch/control/environment.hpp>

#include <map>
#include <vector>

using namespace dovetail::control;
using support::says;
using variables = std::map<std::string, std::string>;

namespace {

resolved_identity find(const variables& all, const rank_identity& given = {}) {
    return resolve_identity(given, [&](const char* name) -> const char* {
        const auto found = all.find(name);
        return found == all.end() ? nullptr : found->second.c_str();
    });
}
std::string fault(const variables& all, const rank_identity& given = {}) {
    try {
        return "found: " + find(all, given).describe();
    } catch (const dovetail::world_error& e) {
        return e.what();
    }
}

const variables torchrun{{"RANK", "2"},
                         {"WORLD_SIZE", "4"},
                         {"LOCAL_RANK", "0"},
                         {"MASTER_ADDR", "node7"},
                         {"MASTER_PORT", "29500"},
                         {"TORCHELASTIC_RUN_ID", "abc"},
                         {"TORCHELASTIC_RESTART_COUNT", "1"}};
const variables slurm{{"SLURM_PROCID", "5"},    {"SLURM_NTASKS", "8"},  {"SLURM_LOCALID", "1"},
                      {"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NODELIST", "gpu[003-004,9],x1"}};
const variables open_mpi{{"OMPI_COMM_WORLD_RANK", "1"},       {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, {"PMIX_NAMESPACE", "123@1"},   {"PMIX_RANK", "1"}};

variables with(variables all, const variables& more) {
    for (const auto& [name, value] : more) all[name] = value;
    return all;
}

}  // namespace

TEST_CASE("each launcher's variables say who a process is") {
    const resolved_identity t = find(torchrun);
    CHECK(t.rank == 2);
    CHECK(t.size == 4);
    CHECK(t.local_rank == 0);
    CHECK(t.at.host == "node7");
    CHECK(t.at.port != 29500);  // the agent has it
    CHECK(t.job == "abc.1");

    const resolved_identity s = find(slurm);
    CHECK(s.rank == 5);
    CHECK(s.size == 8);
    CHECK(s.local_rank == 1);
    CHECK(s.at.host == "gpu003");
    CHECK(s.at.port >= 15000);
    CHECK(s.at.port < 31000);
    CHECK(s.job == "4711.0");
    CHECK(find(with(slurm, {{"SLURM_STEP_NUM_TASKS", "6"}})).size == 6);

    const resolved_identity o = find(open_mpi);
    CHECK(o.rank == 1);
    CHECK(o.size == 2);
    CHECK(o.at.host == "127.0.0.1");
    CHECK_FALSE(find(with(open_mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}})).has_address());

    const resolved_identity p = find({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}});
    CHECK(p.rank == 3);
    CHECK(p.local_rank == -1);
    CHECK_FALSE(p.has_address());

    const resolved_identity d = find({{"DOVETAIL_RANK", "0"},
                                      {"DOVETAIL_WORLD_SIZE", "1"},
                                      {"DOVETAIL_LOCAL_RANK", "0"},
                                      {"DOVETAIL_RENDEZVOUS", "[::1]:4000"},
                                      {"DOVETAIL_JOB", "j"},
                                      {"DOVETAIL_TIME_LIMIT", "7"}});
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
    const resolved_identity p = find(
        with(torchrun,
             {{"DOVETAIL_RENDEZVOUS", "other:5000"}, {"DOVETAIL_LOCAL_RANK", "1"}, {"DOVETAIL_JOB", "mine"}, {"DOVETAIL_VERBOSE", "1"}}));
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
    for (const char* wanted : {"rank 2 of 4", "torchrun: RANK=2, WORLD_SIZE=4", "local rank 0 (LOCAL_RANK=0)", "MASTER_ADDR=node7",
                                      "node7:29531", "job `abc.1`"})
        CHECK_MESSAGE(says(text, wanted), text);
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
    CHECK(says(fault(torchrun, {.rank = 1}), "must both be given, or neither"));
    CHECK(says(fault(torchrun, {.rank = 4, .size = 4}), "rank 4 is not in a world of 4"));
    CHECK(says(fault(torchrun, {.rank = -1, .size = 4}), "rank -1 is not in a world of 4"));
    CHECK(says(fault(torchrun, {.local_rank = -1}), "local rank -1 is negative"));
}

TEST_CASE("ranks that their launcher has on one host meet at a loopback address, which needs no key") {
    const resolved_identity t = find(with(torchrun, {{"LOCAL_WORLD_SIZE", "4"}}));
    CHECK(t.at.text() == "127.0.0.1:29531");
    CHECK(t.ports == 4);
    CHECK(find(with(torchrun, {{"LOCAL_WORLD_SIZE", "2"}})).at.host == "node7");
    CHECK(find(with(slurm, {{"SLURM_NNODES", "1"}})).at.host == "127.0.0.1");
    CHECK(find(with(slurm, {{"SLURM_NNODES", "2"}, {"SLURM_STEP_NUM_NODES", "1"}})).at.host == "127.0.0.1");
    CHECK(find(with(slurm, {{"SLURM_NNODES", "2"}})).at.host == "gpu003");
    CHECK(find(with(slurm, {{"SLURM_NNODES", "1"}})).at.port == find(slurm).at.port);
}

TEST_CASE("a world of more ranks than can be meant is refused where its size is said") {
    CHECK(find(with(torchrun, {{"WORLD_SIZE", "65536"}})).size == 65536);
    CHECK(says(fault(with(torchrun, {{"WORLD_SIZE", "2000000"}})), "WORLD_SIZE=2000000: a world has at most 65536 ranks, not 2000000"));
    CHECK(says(fault({}, {.rank = 0, .size = 2'000'000'000}), "the program gives: a world has at most 65536 ranks, not 2000000000"));
    CHECK(says(fault({}, {.rank = 0, .size = 0}), "the program gives: a world has at least one rank, not 0"));
}

TEST_CASE("a job key is taken from the program or the environment, and never shown") {
    const std::string digits = "00112233445566778899aabbCCDDEEFF0123456789abcdef";
    const resolved_identity p = find(with(torchrun, {{"DOVETAIL_JOB_KEY", digits}}));
    CHECK(p.key.given());
    CHECK(p.key.secret().size() == 24);
    CHECK(p.key.secret().substr(0, 3) == std::string{"\0\x11\x22", 3});
    CHECK(says(p.describe(), "with a job key"));
    CHECK_FALSE(says(p.describe(), digits.substr(0, 8)));
    CHECK_FALSE(find(torchrun).key.given());
    CHECK(says(find(torchrun).describe(), "no job key: this machine only"));
    CHECK(find(with(torchrun, {{"DOVETAIL_JOB_KEY", digits}}), {.job_key = std::string(31, '0') + "1"}).key.secret() ==
          std::string(15, '\0') + '\1');
    CHECK(job_key::random().secret() != job_key::random().secret());
    CHECK(job_key::random().secret().size() == 32);
}

TEST_CASE("what is no key is refused by name, and not repeated") {
    const std::vector<std::pair<std::string, std::string>> all = {{"", "it has only 0 digits"},
                                                                  {"secret", "it has other characters than hexadecimal digits"},
                                                                  {"deadbeef", "it has only 8 digits"},
                                                                  {"00112233445566778899aabbccddeef", "it has only 31 digits"},
                                                                  {"00112233445566778899aabbccddeeff0", "it has an odd number of digits"},
                                                                  {"00112233445566778899aabbccddeeff\n", "it has other characters"},
                                                                  {"00112233445566778899aabbccddeef\x1b", "it has other characters"},
                                                                  {std::string(64, 'a'), "all its digits are equal"},
                                                                  {"0123456789" + std::string(120, 'a'), "it has 130 digits"}};
    for (const auto& [key, why] : all) {
        const std::string from_environment = fault(with(torchrun, {{"DOVETAIL_JOB_KEY", key}}));
        CHECK(says(from_environment, "DOVETAIL_JOB_KEY is not a job key: " + why));
        CHECK(says(from_environment, "export DOVETAIL_JOB_KEY=$(openssl rand -hex 32)"));
        if (key.size() > 4) CHECK_FALSE(says(from_environment, key.substr(0, 6)));
        if (!key.empty()) CHECK(says(fault(torchrun, {.job_key = key}), "the job key given by the program is not a job key: " + why));
    }
}

TEST_CASE("a job's name has a limit, and rank 0 may listen elsewhere than where it is met") {
    CHECK(find(torchrun, {.job = std::string(256, 'j')}).job.size() == 256);
    CHECK(says(fault(with(torchrun, {{"DOVETAIL_JOB", std::string(257, 'j')}})),
               "the job's name has 257 characters, and at most 256 are allowed"));
    CHECK(find(with(torchrun, {{"DOVETAIL_LISTEN", "0.0.0.0"}})).listen == "0.0.0.0");
    CHECK(find(with(torchrun, {{"DOVETAIL_LISTEN", "0.0.0.0"}}), {.listen = "::"}).listen == "::");
    CHECK(says(find(torchrun, {.listen = "10.0.0.7"}).describe(), "which listens at 10.0.0.7"));
}

TEST_CASE("Slurm's list of hosts is read as far as its first") {
    CHECK(detail::first_host("a1,b2") == "a1");
    CHECK(detail::first_host("a[7]") == "a7");
    CHECK(detail::first_host("a[007-010,12],b") == "a007");
    CHECK(detail::first_host("r[1-2]n[3,5]") == "r1n3");
    CHECK(detail::first_host("a[1-2]-ib,b") == "a1-ib");
    CHECK(detail::first_host("") == "");
}
