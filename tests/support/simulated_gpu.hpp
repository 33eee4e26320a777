// A GPU and NCCL made of threads: a stream is a thread with a queue, an event a counter, a graph a list of what was captured. The calls of
// CUDA, NCCL and cuBLAS on it are in simulated_calls.cpp, its kernels in simulated_kernels.cpp.
#pragma once

#include <dovetail/launch/cuda/api/api.hpp>
#include <dovetail/launch/cuda/commands/local_reduction.hpp>
#include <dovetail/launch/host/collectives.hpp>
#include <dovetail/launch/executable/executable_plan.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace simulated {

namespace dv = dovetail;
using work = std::function<void()>;

// Launched in the order of its capture, whatever its edges are.
struct graph {
    std::vector<std::pair<struct stream*, work>> nodes;
    std::set<std::pair<int, int>> edges;                    // numbers of nodes
    std::map<struct stream*, std::vector<int>> last = {};  // what the next node of a stream comes behind
};
struct stream {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<work> queue;
    bool busy = false, ending = false;
    int device = 0;
    graph* capturing = nullptr;
    std::thread thread;

    stream() : thread{[this] { run(); }} {}
    ~stream() {
        {
            const std::lock_guard lock{mutex};
            ending = true;
        }
        changed.notify_all();
        thread.join();
    }
    void push(work w) {
        if (capturing != nullptr) {
            const int node = static_cast<int>(capturing->nodes.size());
            for (const int before : capturing->last[this]) capturing->edges.emplace(before, node);
            capturing->last[this] = {node};
            capturing->nodes.emplace_back(this, std::move(w));
            return;
        }
        {
            const std::lock_guard lock{mutex};
            queue.push_back(std::move(w));
        }
        changed.notify_all();
    }
    bool empty() {
        const std::lock_guard lock{mutex};
        return queue.empty() && !busy;
    }
    void run() {
        std::unique_lock lock{mutex};
        for (;;) {
            changed.wait(lock, [&] { return ending || !queue.empty(); });
            if (queue.empty()) return;
            work w = std::move(queue.front());
            queue.pop_front();
            busy = true;
            lock.unlock();
            w();
            lock.lock();
            busy = false;
            changed.notify_all();
        }
    }
};
struct event {
    std::mutex mutex;
    std::condition_variable changed;
    std::int64_t recorded = 0, reached = 0;   // times
    std::chrono::steady_clock::time_point when;  // reached last
    stream* captured_on = nullptr;
    std::vector<int> captured_behind;  // nodes of the graph
};

// One communicator and one rank's end of it.
struct room {
    explicit room(int n) : size{n} {}
    const int size;
    std::mutex mutex;
    std::condition_variable changed;
    struct message {
        std::vector<char> bytes;
        bool registered = false;
    };
    std::map<std::pair<int, int>, std::deque<message>> mail;
    struct meeting {
        std::vector<dv::host::participant> group_indices;
        std::vector<std::vector<char>> sent;
        std::vector<std::int64_t> from_at, to_at;  // by rank: the offset in registered memory, -1: it is not
        int arrived = 0, left = 0;
        bool complete = false, broken = false;
    };
    std::map<std::int64_t, std::shared_ptr<meeting>> meetings;
    std::map<std::pair<std::int64_t, int>, std::pair<std::shared_ptr<room>, std::vector<std::pair<int, int>>>>
        splits;  // by turn and color: key, rank
    int split_arrived = 0;
    std::int64_t split_turn = 0;
};
struct communicator {
    std::shared_ptr<room> in;
    int rank = 0, device = 0;
    std::int64_t turn = 0, splits = 0;
    bool aborted = false;  // on this rank alone, as in NCCL; guarded by the room
    std::map<const char*, std::size_t> registered = {};  // memory, guarded by the room

    // Offset in registered memory; -1: it is not.
    std::int64_t offset_of(const void* p) {
        const std::lock_guard lock{in->mutex};
        for (const auto& [at, bytes] : registered)
            if (at <= p && p < at + bytes) return static_cast<const char*>(p) - at;
        return -1;
    }
};

struct blas {
    stream* on = nullptr;
    int sms = 0;
};

struct operation {
    enum { send, recv, collective } kind = send;
    communicator* c = nullptr;
    stream* on = nullptr;
    const void* from = nullptr;
    void* to = nullptr;
    std::int64_t bytes = 0, to_bytes = 0;
    int peer = 0;
    dv::host::communication how = {};
    std::int64_t from_at = -1, to_at = -1;  // offsets in registered memory
};

struct machine {
    std::mutex mutex;
    int devices = 4;
    std::map<void*, int> memory;  // with its device
    std::set<void*> pinned;
    std::multiset<void*> registered;           // with a communicator
    std::set<void*> objects;                   // streams, events, graphs, communicators alive
    std::map<int, std::shared_ptr<room>> rooms;  // by id
    int next_id = 1;
    std::vector<int> sms_of_products;          // what cuBLAS was told at each
    std::vector<std::string> unlike;           // communication of which some ranks passed registered memory and others did not
};
inline machine& here() {
    static machine m;
    return m;
}
template <class T>
T* keep(T* p) {
    const std::lock_guard lock{here().mutex};
    here().objects.insert(p);
    return p;
}
template <class T>
void drop(T* p) {
    {
        const std::lock_guard lock{here().mutex};
        here().objects.erase(p);
    }
    delete p;
}

inline thread_local cudaError_t last_error = cudaSuccess;

inline stream* of(cudaStream_t s) { return reinterpret_cast<stream*>(s); }
// Shared, since an event may be destroyed while a stream still works on it.
inline const std::shared_ptr<event>& of(cudaEvent_t e) { return *reinterpret_cast<std::shared_ptr<event>*>(e); }
inline blas* of(cublasHandle_t h) { return reinterpret_cast<blas*>(h); }
inline communicator* of(ncclComm_t c) { return reinterpret_cast<communicator*>(c); }

// Launch functions of the host that stand for kernels.
struct registered {
    dv::launch_function<dv::host::stream> function = nullptr;
    int pointers = 0;
};
std::vector<registered>& registry();
std::mutex& registry_mutex();
// The launch function of the GPU that enqueues a function of the host which takes so many pointers. Null for null.
dv::launch_function<dv::cuda::stream> as_kernel(dv::launch_function<dv::host::stream> f, int pointers);

// The launch layer's own kernels.
void reduce_here(cudaStream_t s, dv::element e, dv::reduction how, const dv::cuda::local_sources& from, void* to, std::int64_t count);
void write_here(cudaStream_t s, std::uint32_t* to, std::uint32_t word);
void check_here(cudaStream_t s, dv::element e, const void* data, std::int64_t count, unsigned long long* first);

// All calls.
dv::cuda::api table();

}  // namespace simulated
