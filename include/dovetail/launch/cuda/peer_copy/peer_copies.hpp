// Peer copies between the ranks of one executor, of channels and of collectives. The sender copies a block into the receiver's arena with
// its copy engine; two flags order each copy. Each flag is in the host memory of the rank that waits for it, so that flag_releaser can end
// the wait; the waiter resets it:
//
//     receiver   set the sender's flag ("there is room") ... wait for its own
//     sender     wait for its own, copy, set the receiver's flag
//
// A task among n members has 2 n flags, of which each rank uses those of its partners: flag i is set when member i has room, flag n + i
// when the data of member i has arrived.
//
// The sender copies, not the receiver: CUDA may assign a copy between two devices of one process to the copy engine of the source, where
// the copies of several receivers would queue in the order in which their threads issue them, and a later copy could block an earlier one.
// Threads of one process use the memory directly, processes of one host map it. If a rank cannot reach another's memory, all ranks learn
// that when the executor is made, before it has communicators: they use its second plan, or get an error.
#pragma once

#include "../../executable/geometry.hpp"
#include "../api/stream_words.hpp"
#include "../engine/context.hpp"
#include "ipc_flags.hpp"

#include <algorithm>
#include <sstream>

namespace dovetail::cuda {

// Whether a task is a copy by a copy engine between ranks.
inline bool is_peer_copy(const ir::program& p, const ir::task& v) {
    return v.moved_by == transport::peer_copy && !p.members[v.first_member].local &&
           ir::bytes_of(p, p.accesses[p.participations[v.first_participation].first_access]) > 0;
}

namespace detail {

// The memory that a rank exports to the others of its process; kept while one of them uses it, also after its rank has ended.
struct exported_memory {
    std::shared_ptr<device_memory> memory;
    char* arena = nullptr;
    block flags;
    int device = 0;
};
class memory_exports {
public:
    static std::int64_t add(const std::shared_ptr<const exported_memory>& what) {
        const std::lock_guard lock{mutex()};
        std::erase_if(all(), [](const auto& known) { return known.second.expired(); });
        static std::int64_t next = 0;
        all().emplace_back(next, what);
        return next++;
    }
    static std::shared_ptr<const exported_memory> find(std::int64_t number) {
        const std::lock_guard lock{mutex()};
        for (const auto& known : all())
            if (known.first == number) return known.second.lock();
        return nullptr;
    }

private:
    static std::mutex& mutex() {
        static std::mutex m;
        return m;
    }
    static std::vector<std::pair<std::int64_t, std::weak_ptr<const exported_memory>>>& all() {
        static std::vector<std::pair<std::int64_t, std::weak_ptr<const exported_memory>>> a;
        return a;
    }
};

inline std::string host_name() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return name[0] == 0 ? "?" : name;
}

}  // namespace detail

// The sender's flag that it waits for, and the receiver's that it sets.
struct put_flags {
    int room = -1;
    int receiver = -1;
    int data = -1;
};

class peer_copies {
public:
    // Every rank makes one, with the arena of its executor; `graph` is its name in messages, `missing` what this rank lacks for it.
    peer_copies(std::shared_ptr<context> on, const ir::program& program, const geometry& where, char* arena, std::int64_t arena_bytes,
                const std::string& graph, const std::string& missing, std::chrono::nanoseconds limit)
        : on_{std::move(on)},
          first_flag_(static_cast<std::size_t>(program.tasks.size()), -1),
          remotes_(static_cast<std::size_t>(on_->size)) {
        for (int v = 0; v < program.tasks.size(); ++v)
            if (is_peer_copy(program, program.tasks[v])) {
                first_flag_[static_cast<std::size_t>(v)] = flags_;
                flags_ += 2 * members_of(program, where, v);
            }
        if (flags_ == 0) return;
        for (int v = 0; v < program.tasks.size(); ++v) find_partners(program, where, v);
        std::string fault;
        const auto trying = [&, this](auto&& call) {
            try {
                if (fault.empty()) call();
            } catch (const std::exception& e) {
                fault = "rank " + std::to_string(on_->index) + ": " + text_of(e);
            }
        };
        std::string mine;
        trying([&, this] {
            if (!missing.empty()) throw failure{missing};
            mine = export_memory(arena, arena_bytes);
        });
        const auto exports = on_->world->exchange(on_->index, "the peer copies of " + graph, detail::host_name() + " " + mine, limit);
        for (int r = 0; r < on_->size; ++r)
            if (r != on_->index) trying([&, this] { import_memory(r, exports[static_cast<std::size_t>(r)]); });
        const auto faults = on_->world->exchange(on_->index, "the reach of the peer copies of " + graph, fault, limit);
        if (shared_) shared_->forget_name();
        std::string all;
        for (const std::string& f : faults)
            if (!f.empty()) all += (all.empty() ? "" : "; ") + f;
        if (!all.empty())
            throw transport_unavailable{
                "the peer copies of " + graph + " cannot be made: " + all,
                ". NCCL moves these values with transport::nccl in the options channel_transport, collective_transport and axis_transport, "
                "and in the statements moved_by"};
        on_->flags.watch({own_, static_cast<std::size_t>(flags_), informed_words()});
        watched_ = true;
    }
    peer_copies(const peer_copies&) = delete;
    peer_copies& operator=(const peer_copies&) = delete;
    ~peer_copies() {
        if (watched_) on_->flags.forget(own_);
        if (on_->memory->abandoned()) {  // the GPU may still use this memory
            new std::shared_ptr<ipc_flags>{std::move(shared_)};
            for (remote_rank& f : remotes_) {
                static_cast<void>(f.shared.release());
                static_cast<void>(f.opened.release());
                if (f.exported) new std::shared_ptr<const detail::exported_memory>{std::move(f.exported)};
            }
            return;
        }
        static_cast<void>(calls.set_device(on_->device));
    }

    // The first flag of a task; -1 if it is not a peer copy.
    int first_flag(int task) const { return first_flag_[static_cast<std::size_t>(task)]; }
    char* arena(int rank) const { return remotes_[static_cast<std::size_t>(rank)].arena; }

    // The receiver's announcement to a sender, on a stream ...
    void make_room(stream_words& words, cudaStream_t stream, int sender, int flag) const { set_flag(words, stream, sender, flag); }
    // ... the sender's part of a copy ...
    void put(stream_words& words, cudaStream_t stream, const put_flags& flags, void* to, const void* from, std::size_t bytes) const {
        wait(words, stream, flags.room);
        words.issue(stream);
        check(calls.memcpy_async(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
        set_flag(words, stream, flags.receiver, flags.data);
    }
    // ... and the wait for an own flag, which it resets.
    void wait(stream_words& words, cudaStream_t stream, int own_flag) const {
        words.wait(stream, flag(own_on_device_, own_flag), flag_set);
        words.write(stream, flag(own_on_device_, own_flag), 0);
    }

private:
    struct close_handle {
        void operator()(void* at) const noexcept { static_cast<void>(calls.ipc_close_handle(at)); }
    };
    struct remote_rank {
        bool partner = false, receives = false;
        char* arena = nullptr;
        CUdeviceptr flags = 0;
        const std::uint32_t* on_host = nullptr;  // its flags; null if it is on another host
        std::shared_ptr<const detail::exported_memory> exported;
        std::unique_ptr<ipc_flags> shared;
        std::unique_ptr<void, close_handle> opened;  // destroyed before its owner is notified
    };
    // One more says that the rank is informed of an abort, one that counts the processes that have mapped them.
    std::size_t bytes_of_flags() const { return static_cast<std::size_t>(flags_ + 2) * flag_stride * sizeof(std::uint32_t); }
    std::vector<const std::uint32_t*> informed_words() const {
        std::vector<const std::uint32_t*> words;
        for (const remote_rank& r : remotes_)
            if (r.on_host != nullptr) words.push_back(r.on_host + static_cast<std::size_t>(flags_) * flag_stride);
        return words;
    }
    static CUdeviceptr flag(CUdeviceptr first, int i) { return first + static_cast<CUdeviceptr>(i) * flag_stride * sizeof(std::uint32_t); }
    void set_flag(stream_words& words, cudaStream_t stream, int rank, int number) const {
        words.write(stream, flag(remotes_[static_cast<std::size_t>(rank)].flags, number), flag_set);
    }

    // How many members a task has on any of its ranks.
    static int members_of(const ir::program& program, const geometry& where, int v) {
        const ir::task& task = program.tasks[v];
        const int role = program.participations[task.first_participation].role;
        return static_cast<int>(where.partners(program, task, task.first_member, where.rank_at(role, 0)).size());
    }
    void find_partners(const ir::program& program, const geometry& where, int v) {
        if (first_flag(v) < 0) return;
        const ir::task& task = program.tasks[v];
        for (const ir::participation& p : program.participations.subspan(task.first_participation, task.participations)) {
            if (p.role != where.role_of(on_->index)) continue;
            const auto with = where.partners(program, task, p.member, on_->index);
            const int n = static_cast<int>(with.size());
            const int mine = index_among(with, on_->index);
            for (int i = 0; i < n; ++i) {
                const bool receives = collective::reaches(program.members[p.member], mine, i, n);
                if (i == mine || !(receives || collective::reaches(program.members[p.member], i, mine, n))) continue;
                remote_rank& other = remotes_[static_cast<std::size_t>(with[static_cast<std::size_t>(i)])];
                other.partner = true;
                other.receives = other.receives || receives;
            }
        }
    }
    // A text with what the other ranks need to reach this rank's memory.
    std::string export_memory(char* arena, std::int64_t arena_bytes) {
        if (on_->batch_mem_op == nullptr) throw failure{"the driver has no stream memory operations"};
        const std::size_t bytes = bytes_of_flags();
        if (on_->world->one_process()) {
            exported_ = std::make_shared<detail::exported_memory>(
                detail::exported_memory{on_->memory, arena, block{on_->memory, static_cast<std::int64_t>(bytes), true}, on_->device});
            own_ = reinterpret_cast<std::uint32_t*>(exported_->flags.data());
            own_on_device_ = reinterpret_cast<CUdeviceptr>(own_);
            on_->memory->mark_exported(arena, [used = std::weak_ptr{exported_}] { return !used.expired(); });
            return std::to_string(detail::memory_exports::add(exported_));
        }
        shared_ = std::make_shared<ipc_flags>(bytes);
        own_ = static_cast<std::uint32_t*>(shared_->data());
        own_on_device_ = shared_->on_device();
        cudaIpcMemHandle_t handle{};
        if (arena_bytes > 0) {  // otherwise it takes part in no copy
            check(calls.ipc_get_handle(&handle, arena), "cudaIpcGetMemHandle");
            on_->memory->mark_exported(arena, [flags = shared_] { return flags->in_use(); });
        }
        std::string text = shared_->name() + " ";
        for (const char c : handle.reserved)
            for (const int shift : {4, 0}) text += "0123456789abcdef"[(static_cast<unsigned char>(c) >> shift) & 15];
        return text;
    }
    void import_memory(int rank, const std::string& exported_text) {
        remote_rank& to = remotes_[static_cast<std::size_t>(rank)];
        std::istringstream in{exported_text};
        std::string host, first, handle_text;
        in >> host >> first >> handle_text;
        if (first.empty()) return;  // that rank reports its own error
        const std::string who = "the memory of rank " + std::to_string(rank);
        check(calls.set_device(on_->device), "cudaSetDevice");
        if (on_->world->one_process()) {
            to.exported = detail::memory_exports::find(std::stoll(first));
            if (!to.exported) throw failure{who + " is gone"};
            to.arena = to.exported->arena;
            to.on_host = reinterpret_cast<const std::uint32_t*>(to.exported->flags.data());
            to.flags = reinterpret_cast<CUdeviceptr>(to.on_host);
            if (to.receives) enable_access(rank, to.exported->device);
            return;
        }
        if (host != detail::host_name()) {
            if (!to.partner) return;
            throw failure{who + " is on host " + host + ", not on " + detail::host_name()};
        }
        to.shared = std::make_unique<ipc_flags>(first, bytes_of_flags());
        to.on_host = static_cast<const std::uint32_t*>(to.shared->data());
        to.flags = to.shared->on_device();
        if (!to.receives) return;
        cudaIpcMemHandle_t handle{};
        const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
        for (std::size_t i = 0; i < sizeof handle.reserved && 2 * i + 1 < handle_text.size(); ++i)
            handle.reserved[i] = static_cast<char>(digit(handle_text[2 * i]) << 4 | digit(handle_text[2 * i + 1]));
        void* at = nullptr;
        check(calls.ipc_open_handle(&at, handle, cudaIpcMemLazyEnablePeerAccess),
              (who + " cannot be reached: cudaIpcOpenMemHandle").c_str());
        to.opened.reset(at);
        to.arena = static_cast<char*>(at);
    }
    void enable_access(int rank, int device) const {
        int can = 0;
        check(calls.can_access_peer(&can, on_->device, device), "cudaDeviceCanAccessPeer");
        if (can == 0)
            throw failure{"the memory of rank " + std::to_string(rank) + " cannot be reached: device " + std::to_string(on_->device) +
                          " has no peer access to device " + std::to_string(device)};
        const cudaError_t status = calls.enable_peer_access(device, 0);
        if (status == cudaErrorPeerAccessAlreadyEnabled)
            static_cast<void>(calls.get_last_error());
        else
            check(status, "cudaDeviceEnablePeerAccess");
    }

    const std::shared_ptr<context> on_;
    std::vector<int> first_flag_;       // by task; -1: no peer copy
    std::vector<remote_rank> remotes_;  // by rank
    int flags_ = 0;
    std::shared_ptr<const detail::exported_memory> exported_;
    std::shared_ptr<ipc_flags> shared_;
    std::uint32_t* own_ = nullptr;
    CUdeviceptr own_on_device_ = 0;
    bool watched_ = false;
};

}  // namespace dovetail::cuda
