// The identity of a process in a world of several: its rank, the world's size, its index on its host, and the address of rank 0. Takes the
// caller's values and a `getenv`; reads, in this order, explicit arguments, DOVETAIL_*, torchrun, Open MPI and PMI, Slurm, PMIx. Only this
// header names environment variables of launchers; it needs neither CUDA nor sockets.
#pragma once

#include "../world/world_options.hpp"
#include "job_key.hpp"

#include <charconv>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace dovetail::control {

struct endpoint {
    std::string host;
    int port = 0;

    std::string text() const { return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port); }
};

// A larger number is taken for a mistake: every rank keeps a table of all ranks.
inline constexpr int most_ranks = 65536;
inline constexpr std::size_t longest_job = 256;

struct resolved_identity {
    int rank = -1;
    int size = -1;
    int local_rank = -1;  // -1: not given; the rendezvous counts the ranks of each host
    endpoint at = {};     // where rank 0 listens; no port: unknown
    int ports = 1;        // number of ports from at.port on that rank 0 may use: more than one if the port was derived
    // Where rank 0 listens if the others reach it at another address (NAT, container); 0.0.0.0 and :: are all addresses
    std::string listen;
    std::string job;       // distinguishes this start of the program from others; equal on all ranks
    control::job_key key;  // equal on all ranks; without one, all ranks are on one machine and belong to one user
    bool verbose = false;
    std::chrono::nanoseconds limit = std::chrono::minutes{2};  // until all ranks have joined

    // Where each value was found.
    std::string rank_from, local_rank_from, at_from;

    bool has_address() const { return at.port != 0; }
    std::string describe() const {
        std::string text = "rank " + std::to_string(rank) + " of " + std::to_string(size) + " (" + rank_from + "), local rank ";
        text += local_rank < 0 ? "to be counted by host" : std::to_string(local_rank) + " (" + local_rank_from + ")";
        text += has_address() ? ", rank 0 at " + at.text() + (ports > 1 ? " or the next " + std::to_string(ports - 1) + " ports" : "") +
                                    " (" + at_from + ")"
                              : ", no address of rank 0";
        if (!listen.empty()) text += ", which listens at " + listen;
        text += key.given() ? ", with a job key" : ", no job key: this machine only";
        return text + (job.empty() ? "" : ", job `" + job + "`");
    }
};

namespace detail {

// A number that is not negative; `name` appears in error messages.
inline int number_in(std::string_view name, std::string_view value) {
    const auto said = [&] { return std::string{name} + "=" + std::string{value}; };
    long long n = 0;
    const auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (bad == std::errc::invalid_argument || end != value.data() + value.size()) throw world_error{said() + " is not a number"};
    if (n < 0 && bad == std::errc{}) throw world_error{said() + " is negative"};
    if (bad != std::errc{} || n > INT_MAX) throw world_error{said() + " is too large"};
    return static_cast<int>(n);
}

inline endpoint endpoint_in(std::string_view name, std::string_view value) {
    const auto colon = value.rfind(':');
    std::string_view host = value.substr(0, colon == std::string_view::npos ? value.size() : colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (colon == std::string_view::npos || host.empty() || (!bracketed && host.find(':') != std::string_view::npos))
        throw world_error{std::string{name} + "=" + std::string{value} + " is not of the form host:port or [address]:port"};
    const int port = number_in("the port of " + std::string{name}, value.substr(colon + 1));
    if (port < 1 || port > 65535) throw world_error{std::string{name} + "=" + std::string{value} + " has a port outside 1 to 65535"};
    return {std::string{host}, port};
}

// node[003-010,12],other -> node003
inline std::string first_host(std::string_view list) {
    std::string host;
    for (std::size_t i = 0; i < list.size() && list[i] != ','; ++i) {
        if (list[i] != '[') {
            host += list[i];
            continue;
        }
        for (++i; i < list.size() && list[i] != '-' && list[i] != ',' && list[i] != ']'; ++i) host += list[i];
        while (i < list.size() && list[i] != ']') ++i;
    }
    return host;
}

// A port for a job that gives none: below the range that systems assign to clients, equal on all ranks.
inline int port_of(std::string_view job) {
    std::uint32_t hash = 2166136261u;
    for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return 15000 + static_cast<int>(hash % 16000u);
}

template <class Getenv>
class identity_resolver {
public:
    identity_resolver(const rank_identity& given, Getenv& env) : given_{given}, env_{env} {}

    resolved_identity find() {
        if (given_.rank || given_.size) {
            if (!given_.rank || !given_.size) throw world_error{"rank and size must both be given, or neither"};
            check_size(*given_.size, "the program gives");
            if (*given_.rank < 0 || *given_.rank >= *given_.size)
                throw world_error{"rank " + std::to_string(*given_.rank) + " is not in a world of " + std::to_string(*given_.size)};
            found_.rank = *given_.rank;
            found_.size = *given_.size;
            found_.rank_from = "given by the program";
        } else if (family("DOVETAIL_RANK", "DOVETAIL_WORLD_SIZE", "dovetail")) {
        } else if (family("RANK", "WORLD_SIZE", "torchrun")) {
            torchrun();
        } else if (family("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI")) {
            // Before Slurm's: under mpirun within an allocation, each rank inherits the SLURM_PROCID of the process that started mpirun.
            open_mpi();
        } else if (family("PMI_RANK", "PMI_SIZE", "PMI")) {
            local("MPI_LOCALRANKID");
        } else if (family("SLURM_PROCID", has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", "Slurm")) {
            slurm();
        } else if (has("PMIX_RANK")) {
            throw world_error{"PMIX_RANK=" + get("PMIX_RANK") +
                              " is set, and no variable has the size of the world: set DOVETAIL_RANK and DOVETAIL_WORLD_SIZE"};
        } else {
            throw world_error{
                "no variable has the rank of this process: start it with torchrun, mpirun or srun, or set DOVETAIL_RANK and "
                "DOVETAIL_WORLD_SIZE (and DOVETAIL_RENDEZVOUS=host:port, the address of rank 0)"};
        }
        ours();
        return found_;
    }

private:
    std::string get(const char* name) {
        const char* value = env_(name);
        return value == nullptr ? std::string{} : std::string{value};
    }
    bool has(const char* name) { return !get(name).empty(); }
    int number(const char* name) { return number_in(name, get(name)); }
    std::string said(const char* name) { return std::string{name} + "=" + get(name); }

    static void check_size(int size, const std::string& who) {
        if (size < 1) throw world_error{who + ": a world has at least one rank, not " + std::to_string(size)};
        if (size > most_ranks)
            throw world_error{who + ": a world has at most " + std::to_string(most_ranks) + " ranks, not " + std::to_string(size)};
    }
    // Rank and size from one launcher: both, or neither.
    bool family(const char* rank, const char* size, const char* of) {
        if (!has(rank) && !has(size)) return false;
        if (!has(rank) || !has(size))
            throw world_error{said(has(rank) ? rank : size) + " is set and " + (has(rank) ? size : rank) + " is not (" + of + ")"};
        found_.rank = number(rank);
        found_.size = number(size);
        check_size(found_.size, said(size));
        if (found_.rank >= found_.size) throw world_error{said(rank) + " is not below " + said(size)};
        found_.rank_from = std::string{of} + ": " + said(rank) + ", " + said(size);
        return true;
    }
    void local(const char* name) {
        if (!has(name)) return;
        found_.local_rank = number(name);
        found_.local_rank_from = said(name);
        if (found_.local_rank >= found_.size)
            throw world_error{said(name) + " is not below the size of the world, " + std::to_string(found_.size) + " (" + found_.rank_from +
                              ")"};
    }
    void address(std::string host, int port, int ports, std::string from) {
        found_.at = {std::move(host), port};
        found_.ports = ports;
        found_.at_from = std::move(from);
    }

    void torchrun() {
        local("LOCAL_RANK");
        if (has("TORCHELASTIC_RUN_ID")) found_.job = get("TORCHELASTIC_RUN_ID") + "." + get("TORCHELASTIC_RESTART_COUNT");
        if (!has("MASTER_ADDR") && !has("MASTER_PORT")) return;
        if (!has("MASTER_ADDR") || !has("MASTER_PORT"))
            throw world_error{said(has("MASTER_ADDR") ? "MASTER_ADDR" : "MASTER_PORT") + " is set and " +
                              (has("MASTER_ADDR") ? "MASTER_PORT" : "MASTER_ADDR") + " is not (torchrun)"};
        const int port = number("MASTER_PORT");
        if (port < 1 || port > 65535) throw world_error{said("MASTER_PORT") + " is outside 1 to 65535"};
        // torchrun's agent itself listens at MASTER_PORT.
        const int beside = port + 31 <= 65500 ? port + 31 : port - 31;
        // MASTER_ADDR is then the machine's name, which may not be a loopback address.
        const bool one_host = has("LOCAL_WORLD_SIZE") && get("LOCAL_WORLD_SIZE") == get("WORLD_SIZE");
        if (one_host)
            address("127.0.0.1", beside, 4, "one host; beside " + said("MASTER_PORT"));
        else
            address(get("MASTER_ADDR"), beside, 4, "beside " + said("MASTER_ADDR") + ", " + said("MASTER_PORT"));
    }
    void open_mpi() {
        local("OMPI_COMM_WORLD_LOCAL_RANK");
        const char* job = has("PMIX_NAMESPACE") ? "PMIX_NAMESPACE" : "OMPI_MCA_ess_base_jobid";
        found_.job = get(job);
        // No variable has the host of rank 0, so this only works if all ranks are on one host.
        if (has(job) && get("OMPI_COMM_WORLD_LOCAL_SIZE") == get("OMPI_COMM_WORLD_SIZE"))
            address("127.0.0.1", port_of(found_.job), 4, "one host; port from " + said(job));
    }
    void slurm() {
        local("SLURM_LOCALID");
        found_.job = get("SLURM_JOB_ID") + "." + get("SLURM_STEP_ID");
        const char* nodes = has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
        const char* count = has("SLURM_STEP_NUM_NODES") ? "SLURM_STEP_NUM_NODES" : "SLURM_NNODES";
        if (get(count) == "1" && has("SLURM_JOB_ID"))
            address("127.0.0.1", port_of(found_.job), 4, "one host: " + said(count) + "; port from the job's number");
        else if (has(nodes) && has("SLURM_JOB_ID"))
            address(first_host(get(nodes)), port_of(found_.job), 4, "first of " + said(nodes) + "; port from the job's number");
    }
    // Everything except the rank: the library's own variables and the caller's values override those of a launcher.
    void ours() {
        local("DOVETAIL_LOCAL_RANK");
        if (given_.local_rank) {
            if (*given_.local_rank < 0) throw world_error{"local rank " + std::to_string(*given_.local_rank) + " is negative"};
            found_.local_rank = *given_.local_rank;
            found_.local_rank_from = "given by the program";
        }
        const auto take = [&, this](const char* name, const std::string& value) {
            const endpoint e = endpoint_in(name, value);
            address(e.host, e.port, 1, name);
        };
        if (!given_.rendezvous.empty())
            take("rendezvous", given_.rendezvous);
        else if (has("DOVETAIL_RENDEZVOUS"))
            take("DOVETAIL_RENDEZVOUS", get("DOVETAIL_RENDEZVOUS"));
        if (!given_.job.empty())
            found_.job = given_.job;
        else if (has("DOVETAIL_JOB"))
            found_.job = get("DOVETAIL_JOB");
        if (found_.job.size() > longest_job)
            throw world_error{"the job's name has " + std::to_string(found_.job.size()) + " characters, and at most " +
                              std::to_string(longest_job) + " are allowed"};
        found_.listen = given_.listen.empty() ? get("DOVETAIL_LISTEN") : given_.listen;
        key();
        if (has("DOVETAIL_TIME_LIMIT")) found_.limit = std::chrono::seconds{number("DOVETAIL_TIME_LIMIT")};
        found_.verbose = has("DOVETAIL_VERBOSE") && get("DOVETAIL_VERBOSE") != "0";
    }

    // An empty variable is an error: the command that should have made the key has failed.
    void key() {
        if (!given_.job_key.empty())
            found_.key = job_key::of("the job key given by the program", given_.job_key);
        else if (env_("DOVETAIL_JOB_KEY") != nullptr)
            found_.key = job_key::of("DOVETAIL_JOB_KEY", get("DOVETAIL_JOB_KEY"));
    }

    const rank_identity& given_;
    Getenv& env_;
    resolved_identity found_;
};

}  // namespace detail

// `env(name)` returns the value or a null pointer. Throws world_error, which names the variable and its value.
template <class Getenv>
resolved_identity resolve_identity(const rank_identity& given, Getenv&& env) {
    return detail::identity_resolver<Getenv>{given, env}.find();
}

inline resolved_identity resolve_identity(const rank_identity& given = {}) {
    return resolve_identity(given, [](const char* name) { return static_cast<const char*>(std::getenv(name)); });
}

}  // namespace dovetail::control
