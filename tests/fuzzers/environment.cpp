// Any environment variables: the result is an identity, or an error that names the variable and never shows the key.
#include <fuzzers/input.hpp>

#include <dovetail/launch/control/environment.hpp>

#include <map>

using namespace dovetail::control;

namespace {

const char* const names[] = {"DOVETAIL_RANK",
                             "DOVETAIL_WORLD_SIZE",
                             "DOVETAIL_LOCAL_RANK",
                             "DOVETAIL_RENDEZVOUS",
                             "DOVETAIL_JOB",
                             "DOVETAIL_LISTEN",
                             "DOVETAIL_TIME_LIMIT",
                             "DOVETAIL_VERBOSE",
                             "RANK",
                             "WORLD_SIZE",
                             "LOCAL_RANK",
                             "LOCAL_WORLD_SIZE",
                             "MASTER_ADDR",
                             "MASTER_PORT",
                             "TORCHELASTIC_RUN_ID",
                             "TORCHELASTIC_RESTART_COUNT",
                             "OMPI_COMM_WORLD_RANK",
                             "OMPI_COMM_WORLD_SIZE",
                             "OMPI_COMM_WORLD_LOCAL_RANK",
                             "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "PMIX_NAMESPACE",
                             "OMPI_MCA_ess_base_jobid",
                             "PMI_RANK",
                             "PMI_SIZE",
                             "MPI_LOCALRANKID",
                             "SLURM_PROCID",
                             "SLURM_NTASKS",
                             "SLURM_STEP_NUM_TASKS",
                             "SLURM_LOCALID",
                             "SLURM_JOB_ID",
                             "SLURM_STEP_ID",
                             "SLURM_STEP_NODELIST",
                             "SLURM_JOB_NODELIST",
                             "SLURM_NNODES",
                             "SLURM_STEP_NUM_NODES",
                             "PMIX_RANK"};

std::string value(fuzzers::input& in) {
    switch (in.below(4)) {
        case 0: return std::to_string(in.number());
        case 1: return "node[0" + std::to_string(in.below(20)) + "-1],x:" + std::to_string(in.number());
        default: return in.text();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzzers::input in{data, size};
    std::map<std::string, std::string> all;
    const std::string secret = "5ec2e70123456789" + std::string(in.below(80), 'e');
    all["DOVETAIL_JOB_KEY"] = in.below(2) == 0 ? secret : secret + in.text();
    if (in.below(2) == 0) all["DOVETAIL_RANK"] = "1", all["DOVETAIL_WORLD_SIZE"] = "4";
    rank_identity given;
    if (in.below(4) == 0) given.rank = static_cast<int>(in.number());
    if (in.below(4) == 0) given.size = static_cast<int>(in.number());
    if (in.below(4) == 0) given.local_rank = static_cast<int>(in.number());
    if (in.below(4) == 0) given.rendezvous = in.text();
    while (!in.empty()) {
        const char* const name = names[in.below(std::size(names))];  // in this order: which is chosen decides how many bytes follow
        const std::string v = value(in);
        if (v.find(secret.substr(0, 8)) != std::string::npos) return 0;  // what other variables hold may be shown
        all[name] = v;
    }
    if (given.rendezvous.find(secret.substr(0, 8)) != std::string::npos) return 0;
    std::string said;
    try {
        const resolved_identity p = resolve_identity(given, [&](const char* name) -> const char* {
            const auto found = all.find(name);
            return found == all.end() ? nullptr : found->second.c_str();
        });
        said = p.describe();
        fuzzers::require(p.size >= 1 && p.size <= most_ranks && p.rank >= 0 && p.rank < p.size, "a rank is one of its world");
        fuzzers::require(p.local_rank >= -1 && p.ports >= 1, "a local rank is one");
        fuzzers::require(!p.has_address() || (p.at.port > 0 && p.at.port + p.ports - 1 < 65536), "an address has a port");
        fuzzers::require(p.key.given(), "the key was given");
    } catch (const dovetail::world_error& e) {
        said = e.what();
    }
    fuzzers::require(said.find(secret.substr(0, 8)) == std::string::npos, "the key is not shown");
    return 0;
}
