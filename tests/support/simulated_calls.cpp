// The calls of CUDA, NCCL and cuBLAS on the simulated GPU.
#include "simulated_gpu.hpp"

#include <dovetail/launch/cuda/commands/nccl_calls.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace simulated {
namespace {

thread_local int current_device = 0;
thread_local int group_depth = 0;
thread_local std::vector<operation> nccl_group;
thread_local stream* capture_origin = nullptr;
thread_local std::vector<stream*> captured_streams;

void unlike(const std::string& what) {
    const std::lock_guard lock{here().mutex};
    here().unlike.push_back(what);
}
// Registered memory is passed by all ranks or by none, and by one call at equal offsets.
void compare_places(const dv::host::communication& how, const room::meeting& m) {
    const auto differ = [](const std::vector<std::int64_t>& at) {
        for (const std::int64_t x : at)
            if (x != at[0]) return true;
        return false;
    };
    const bool broadcast = how.kind == dv::op_kind::broadcast, reduce = how.kind == dv::op_kind::reduce;
    const auto root = static_cast<std::size_t>(how.root < 0 ? 0 : how.root);
    const bool wrong = (!broadcast && differ(m.from_at)) || (!reduce && differ(m.to_at)) ||
                       ((broadcast || reduce) && (m.from_at[root] < 0) != (m.to_at[root] < 0));
    if (wrong) unlike(dv::name_of(how.kind));
}

// Whether all that was captured on other streams is before what comes next on this one.
bool joins_all(graph& g, stream* on) {
    std::set<int> before(g.last[on].begin(), g.last[on].end());
    for (bool more = true; more;) {
        more = false;
        for (const auto& [from, to] : g.edges) more = (before.count(to) > 0 && before.insert(from).second) || more;
    }
    for (stream* other : captured_streams)
        for (const int node : g.last[other])
            if (before.count(node) == 0) return false;
    return true;
}

void arrive(const operation& o, std::int64_t turn) {
    room& r = *o.c->in;
    const std::lock_guard lock{r.mutex};
    if (o.kind == operation::send) {
        const auto* p = static_cast<const char*>(o.from);
        r.mail[{o.c->rank, o.peer}].push_back({{p, p + o.bytes}, o.from_at >= 0});
    } else if (o.kind == operation::collective) {
        auto& m = r.meetings[turn];
        if (!m) {
            m = std::make_shared<room::meeting>();
            m->group_indices.resize(static_cast<std::size_t>(r.size));
            m->sent.resize(static_cast<std::size_t>(r.size));
            m->from_at.resize(static_cast<std::size_t>(r.size));
            m->to_at.resize(static_cast<std::size_t>(r.size));
        }
        const auto* p = static_cast<const char*>(o.from);
        auto& sent = m->sent[static_cast<std::size_t>(o.c->rank)];
        sent.assign(p, p + o.bytes);
        m->group_indices[static_cast<std::size_t>(o.c->rank)] = {sent.data(), o.to, o.bytes, o.to_bytes};
        m->from_at[static_cast<std::size_t>(o.c->rank)] = o.from_at;
        m->to_at[static_cast<std::size_t>(o.c->rank)] = o.to_at;
        if (++m->arrived == r.size && !m->broken) {  // else some have gone
            compare_places(o.how, *m);
            std::vector<char> scratch;
            dv::host::move_data(o.how, m->group_indices, scratch);
            m->complete = true;
        }
    }
    r.changed.notify_all();
}
void depart(const operation& o, std::int64_t turn) {
    room& r = *o.c->in;
    std::unique_lock lock{r.mutex};
    if (o.kind == operation::recv) {
        auto& box = r.mail[{o.peer, o.c->rank}];
        r.changed.wait(lock, [&] { return o.c->aborted || !box.empty(); });
        if (o.c->aborted) return;  // what is in the box may be meant for one that has been given up before
        if (static_cast<std::int64_t>(box.front().bytes.size()) != o.bytes) std::abort();  // NCCL's own behaviour is undefined here
        if (box.front().registered != (o.to_at >= 0)) unlike("send and receive");
        std::memcpy(o.to, box.front().bytes.data(), box.front().bytes.size());
        box.pop_front();
    } else if (o.kind == operation::collective) {
        const auto m = r.meetings[turn];
        r.changed.wait(lock, [&] { return o.c->aborted || m->complete; });
        m->broken = m->broken || !m->complete;
        if (++m->left == r.size) r.meetings.erase(turn);
    }
}
// A group is one piece of work on each of its streams; ours has one.
void start(std::vector<operation> list) {
    if (list.empty()) return;
    stream* on = list[0].on;
    on->push([list = std::move(list)] {
        std::vector<std::int64_t> turns;
        for (const operation& o : list) turns.push_back(o.kind == operation::collective ? o.c->turn++ : 0);
        for (std::size_t i = 0; i < list.size(); ++i) arrive(list[i], turns[i]);
        for (std::size_t i = 0; i < list.size(); ++i) depart(list[i], turns[i]);
    });
}
ncclResult_t enqueue(operation o) {
    if (o.c == nullptr) return ncclInvalidArgument;
    if (o.from != nullptr) o.from_at = o.c->offset_of(o.from);
    if (o.to != nullptr) o.to_at = o.c->offset_of(o.to);
    if (group_depth > 0) nccl_group.push_back(o);
    else start({o});
    return ncclSuccess;
}
operation collective(dv::op_kind kind, const void* from, void* to, std::int64_t bytes, std::int64_t to_bytes, ncclDataType_t t,
                            ncclRedOp_t op, int root, ncclComm_t c, cudaStream_t s) {
    operation o{operation::collective, of(c), of(s), from, to, bytes, to_bytes, 0, {}};
    o.how.kind = kind;
    o.how.root = root;
    for (int e = 1; e <= static_cast<int>(dv::element::uint64); ++e)
        if (dv::cuda::nccl_type(static_cast<dv::element>(e)) == t) o.how.type = static_cast<dv::element>(e);
    for (int r = 1; r <= static_cast<int>(dv::reduction::average); ++r)
        if (dv::cuda::nccl_reduction(static_cast<dv::reduction>(r)) == op) o.how.reduce = static_cast<dv::reduction>(r);
    return o;
}
std::int64_t size_of(ncclDataType_t t) {
    for (int e = 1; e <= static_cast<int>(dv::element::uint64); ++e)
        if (dv::cuda::nccl_type(static_cast<dv::element>(e)) == t) return dv::bytes_of(static_cast<dv::element>(e));
    return 1;
}

void add_devices(dv::cuda::api& t) {
    t.device_bus_id = [](char* to, int, int device) { std::snprintf(to, 16, "bus %d", device); return cudaSuccess; };
    t.get_device_properties = [](cudaDeviceProp* p, int) { std::snprintf(p->name, sizeof p->name, "simulated GPU"); return cudaSuccess; };
    t.get_device_count = [](int* n) { *n = here().devices; return cudaSuccess; };
    t.set_device = [](int device) { current_device = device; return cudaSuccess; };
    t.get_last_error = [] { return std::exchange(last_error, cudaSuccess); };
}

void add_memory(dv::cuda::api& t) {
    t.malloc = [](void** p, std::size_t n) {
        *p = std::aligned_alloc(256, (n + 255) / 256 * 256);
        const std::lock_guard lock{here().mutex};
        here().memory.emplace(*p, current_device);
        return cudaSuccess;
    };
    t.free = [](void* p) {
        const std::lock_guard lock{here().mutex};
        if (here().memory.erase(p) > 0) std::free(p);
        return cudaSuccess;
    };
    t.malloc_host = [](void** p, std::size_t n) {
        *p = std::aligned_alloc(256, (n + 255) / 256 * 256);
        const std::lock_guard lock{here().mutex};
        here().pinned.insert(*p);
        return cudaSuccess;
    };
    t.free_host = [](void* p) {
        const std::lock_guard lock{here().mutex};
        if (here().pinned.erase(p) > 0) std::free(p);
        return cudaSuccess;
    };
    t.mem_get_info = [](std::size_t* f, std::size_t* n) { *f = 12345; *n = 54321; return cudaSuccess; };
    t.memcpy = [](void* to, const void* from, std::size_t n, cudaMemcpyKind) { std::memmove(to, from, n); return cudaSuccess; };
    t.memset = [](void* p, int v, std::size_t n) { std::memset(p, v, n); return cudaSuccess; };
    t.memcpy_async = [](void* to, const void* from, std::size_t n, cudaMemcpyKind, cudaStream_t s) {
        of(s)->push([=] { std::memmove(to, from, n); });
        return cudaSuccess;
    };
    t.memset_async = [](void* p, int v, std::size_t n, cudaStream_t s) { of(s)->push([=] { std::memset(p, v, n); }); return cudaSuccess; };
    t.pointer_get_attributes = [](cudaPointerAttributes* a, const void* p) {
        const std::lock_guard lock{here().mutex};
        *a = {};
        void* const at = const_cast<void*>(p);
        if (const auto found = here().memory.find(at); found != here().memory.end()) a->device = found->second;
        a->type = here().pinned.count(at)   ? cudaMemoryTypeHost
                  : here().memory.count(at) ? cudaMemoryTypeDevice
                                            : cudaMemoryTypeUnregistered;
        return cudaSuccess;
    };
}

void add_streams(dv::cuda::api& t) {
    t.stream_priority_range = [](int* low, int* high) { *low = 0; *high = -5; return cudaSuccess; };
    t.stream_create = [](cudaStream_t* s, unsigned, int) {
        *s = reinterpret_cast<cudaStream_t>(keep(new stream));
        of(*s)->device = current_device;
        return cudaSuccess;
    };
    t.stream_destroy = [](cudaStream_t s) { drop(of(s)); return cudaSuccess; };
    t.stream_query = [](cudaStream_t s) { return of(s)->empty() ? cudaSuccess : cudaErrorNotReady; };
    t.stream_synchronize = [](cudaStream_t s) {
        if (s == nullptr) return cudaSuccess;
        if (of(s)->capturing != nullptr) return cudaErrorStreamCaptureUnsupported;
        while (!of(s)->empty()) std::this_thread::yield();
        return cudaSuccess;
    };
}

void add_events(dv::cuda::api& t) {
    t.event_create = [](cudaEvent_t* e, unsigned) {
        *e = reinterpret_cast<cudaEvent_t>(keep(new std::shared_ptr<event>{std::make_shared<event>()}));
        return cudaSuccess;
    };
    t.event_destroy = [](cudaEvent_t e) { drop(reinterpret_cast<std::shared_ptr<event>*>(e)); return cudaSuccess; };
    t.event_record = [](cudaEvent_t e, cudaStream_t s) {
        const std::shared_ptr<event> x = of(e);
        stream* const on = of(s);
        x->captured_on = on->capturing != nullptr ? on : nullptr;
        if (on->capturing != nullptr) {
            x->captured_behind = on->capturing->last[on];
            return cudaSuccess;
        }
        std::int64_t mine = 0;
        {
            const std::lock_guard lock{x->mutex};
            mine = ++x->recorded;
        }
        on->push([x, mine] {
            {
                const std::lock_guard lock{x->mutex};
                x->reached = std::max(x->reached, mine);  // another stream may have recorded it later
                x->when = std::chrono::steady_clock::now();
            }
            x->changed.notify_all();
        });
        return cudaSuccess;
    };
    t.event_record_with_flags = [](cudaEvent_t e, cudaStream_t s, unsigned flags) {
        if (flags != cudaEventRecordExternal || of(s)->capturing == nullptr) return dv::cuda::calls.event_record(e, s);
        of(s)->push([x = of(e)] {  // each launch of the graph records it
            const std::lock_guard lock{x->mutex};
            x->reached = ++x->recorded;
            x->when = std::chrono::steady_clock::now();
        });
        return cudaSuccess;
    };
}

void add_waits(dv::cuda::api& t) {
    t.stream_wait_event = [](cudaStream_t s, cudaEvent_t e, unsigned) {
        const std::shared_ptr<event> x = of(e);
        stream* const on = of(s);
        if (x->captured_on != nullptr) {
            if (x->captured_on->capturing == nullptr) return cudaErrorStreamCaptureIsolation;
            if (on->capturing == nullptr) {
                on->capturing = x->captured_on->capturing;
                captured_streams.push_back(on);
            }
            auto& last = on->capturing->last[on];
            last.insert(last.end(), x->captured_behind.begin(), x->captured_behind.end());
            return cudaSuccess;
        }
        if (on->capturing != nullptr) return cudaErrorStreamCaptureIsolation;
        std::int64_t wanted = 0;
        {
            const std::lock_guard lock{x->mutex};
            wanted = x->recorded;
        }
        on->push([x, wanted] {
            std::unique_lock lock{x->mutex};
            x->changed.wait(lock, [&] { return x->reached >= wanted; });
        });
        return cudaSuccess;
    };
    t.event_query = [](cudaEvent_t e) {
        const std::lock_guard lock{of(e)->mutex};
        return of(e)->reached >= of(e)->recorded ? cudaSuccess : cudaErrorNotReady;
    };
    t.event_elapsed_time = [](float* ms, cudaEvent_t from, cudaEvent_t to) {
        const auto when = [](cudaEvent_t e) {
            const std::lock_guard lock{of(e)->mutex};
            return of(e)->when;
        };
        if (when(from) == std::chrono::steady_clock::time_point{} || when(to) == std::chrono::steady_clock::time_point{})
            return cudaErrorNotReady;
        *ms = std::chrono::duration<float, std::milli>(when(to) - when(from)).count();
        return cudaSuccess;
    };
}

void add_stream_words(dv::cuda::api& t) {
    t.find_batch_mem_op = [](dv::cuda::detail::batch_mem_op_function* f) {
        *f = [](CUstream s, unsigned count, CUstreamBatchMemOpParams* all, unsigned) {
            if (count >= 256) return CUDA_ERROR_INVALID_VALUE;
            for (unsigned i = 0; i < count; ++i)
                of(s)->push([one = all[i]] {
                    const auto word = [](CUdeviceptr at) { return reinterpret_cast<std::uint32_t*>(at); };
                    if (one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32)
                        __atomic_store_n(word(one.writeValue.address), one.writeValue.value, __ATOMIC_RELEASE);
                    else
                        while (__atomic_load_n(word(one.waitValue.address), __ATOMIC_ACQUIRE) != one.waitValue.value)
                            std::this_thread::sleep_for(std::chrono::microseconds{5});
                });
            return CUDA_SUCCESS;
        };
        return cudaSuccess;
    };
}

void add_peers(dv::cuda::api& t) {
    t.can_access_peer = [](int* can, int, int) { *can = 1; return cudaSuccess; };
    t.enable_peer_access = [](int, unsigned) { return cudaSuccess; };
    t.ipc_get_handle = [](cudaIpcMemHandle_t* h, void* p) { std::memcpy(h->reserved, &p, sizeof p); return cudaSuccess; };
    t.ipc_open_handle = [](void** p, cudaIpcMemHandle_t h, unsigned) {
        std::memcpy(p, h.reserved, sizeof *p);
        const std::lock_guard lock{here().mutex};
        return here().memory.count(*p) > 0 ? cudaSuccess : cudaErrorInvalidValue;
    };
    t.ipc_close_handle = [](void*) { return cudaSuccess; };
    t.host_register = [](void* p, std::size_t, unsigned) {
        const std::lock_guard lock{here().mutex};
        here().pinned.insert(p);
        return cudaSuccess;
    };
    t.host_unregister = [](void* p) {
        const std::lock_guard lock{here().mutex};
        here().pinned.erase(p);
        return cudaSuccess;
    };
    t.host_device_pointer = [](void** to, void* p, unsigned) { *to = p; return cudaSuccess; };
}

void add_graphs(dv::cuda::api& t) {
    t.stream_begin_capture = [](cudaStream_t s, cudaStreamCaptureMode) {
        of(s)->capturing = keep(new graph);
        capture_origin = of(s);
        captured_streams = {of(s)};
        return cudaSuccess;
    };
    t.stream_end_capture = [](cudaStream_t s, cudaGraph_t* g) {
        graph* const captured = of(s)->capturing;
        const bool all = joins_all(*captured, of(s));
        for (stream* c : captured_streams) c->capturing = nullptr;
        captured_streams.clear();
        *g = reinterpret_cast<cudaGraph_t>(captured);
        if (all) return cudaSuccess;
        drop(captured);
        *g = nullptr;
        return cudaErrorStreamCaptureUnjoined;
    };
    t.stream_get_device = [](cudaStream_t s, int* device) { *device = of(s)->device; return cudaSuccess; };
    t.stream_is_capturing = [](cudaStream_t s, cudaStreamCaptureStatus* status) {
        *status = of(s)->capturing != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
        return cudaSuccess;
    };
    // Nodes are passed as their numbers from 1, since 0 is none.
    t.graph_get_edges = [](cudaGraph_t g, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData*, std::size_t* count) {
        const auto& edges = reinterpret_cast<graph*>(g)->edges;
        *count = edges.size();
        if (from == nullptr) return cudaSuccess;
        for (const auto& [first, second] : edges) {
            *from++ = reinterpret_cast<cudaGraphNode_t>(static_cast<std::uintptr_t>(first + 1));
            *to++ = reinterpret_cast<cudaGraphNode_t>(static_cast<std::uintptr_t>(second + 1));
        }
        return cudaSuccess;
    };
    t.graph_remove_dependencies = [](cudaGraph_t g, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count) {
        const auto number = [](cudaGraphNode_t n) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(n)) - 1; };
        for (std::size_t i = 0; i < count; ++i)
            if (reinterpret_cast<graph*>(g)->edges.erase({number(from[i]), number(to[i])}) == 0) return cudaErrorInvalidValue;
        return cudaSuccess;
    };
    t.graph_instantiate = [](cudaGraphExec_t* e, cudaGraph_t g, unsigned long long) {
        *e = reinterpret_cast<cudaGraphExec_t>(keep(new graph{*reinterpret_cast<graph*>(g)}));
        return cudaSuccess;
    };
    t.graph_upload = [](cudaGraphExec_t, cudaStream_t) { return cudaSuccess; };
    t.graph_launch = [](cudaGraphExec_t e, cudaStream_t s) {
        // On one stream: the order of the capture is an order that its events allow, and live as a single queue.
        of(s)->push([nodes = reinterpret_cast<graph*>(e)->nodes] {
            for (const auto& [on, w] : nodes) w();
        });
        return cudaSuccess;
    };
    t.graph_destroy = [](cudaGraph_t g) { drop(reinterpret_cast<graph*>(g)); return cudaSuccess; };
    t.graph_exec_destroy = [](cudaGraphExec_t g) { drop(reinterpret_cast<graph*>(g)); return cudaSuccess; };
}

void add_communicators(dv::cuda::api& t) {
    t.get_version = [](int* v) { *v = NCCL_VERSION_CODE; return ncclSuccess; };
    t.get_unique_id = [](ncclUniqueId* id) {
        const std::lock_guard lock{here().mutex};
        const int n = here().next_id++;
        std::memcpy(id->internal, &n, sizeof n);
        return ncclSuccess;
    };
    t.comm_init_rank = [](ncclComm_t* c, int n, ncclUniqueId id, int r, ncclConfig_t*) {
        int number = 0;
        std::memcpy(&number, id.internal, sizeof number);
        std::shared_ptr<room> in;
        {
            const std::lock_guard lock{here().mutex};
            auto& found = here().rooms[number];
            if (!found) found = std::make_shared<room>(n);
            in = found;
        }
        *c = reinterpret_cast<ncclComm_t>(keep(new communicator{in, r, r}));
        return ncclSuccess;
    };
    t.comm_split = [](ncclComm_t c, int color, int key, ncclComm_t* made, ncclConfig_t*) {
        communicator& from = *of(c);
        room& r = *from.in;
        const std::int64_t turn = from.splits++;
        std::unique_lock lock{r.mutex};
        const auto over = [&] { return from.aborted || r.split_turn > turn; };
        auto& mine = r.splits[{turn, color}];
        mine.second.emplace_back(key, from.rank);
        if (++r.split_arrived == r.size) {
            r.split_arrived = 0;
            ++r.split_turn;
            r.changed.notify_all();
        }
        r.changed.wait(lock, over);
        *made = nullptr;
        if (r.split_turn <= turn) return ncclRemoteError;
        if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
        std::sort(mine.second.begin(), mine.second.end());
        if (!mine.first) mine.first = std::make_shared<room>(static_cast<int>(mine.second.size()));
        int place = 0;
        while (mine.second[static_cast<std::size_t>(place)].second != from.rank) ++place;
        *made = reinterpret_cast<ncclComm_t>(keep(new communicator{mine.first, place, from.device}));
        return ncclSuccess;
    };
    t.comm_destroy = [](ncclComm_t c) { drop(of(c)); return ncclSuccess; };
    t.comm_abort = [](ncclComm_t c) {
        {
            const std::lock_guard lock{of(c)->in->mutex};
            of(c)->aborted = true;
        }
        of(c)->in->changed.notify_all();
        return ncclSuccess;  // kept: its work may still be in a queue
    };
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 9)
    t.comm_revoke = [](ncclComm_t c, int) { return dv::cuda::calls.comm_abort(c); };
#endif
}

void add_registration(dv::cuda::api& t) {
    t.comm_register = [](const ncclComm_t c, void* p, std::size_t bytes, void** handle) {
        {
            const std::lock_guard lock{of(c)->in->mutex};
            of(c)->registered[static_cast<const char*>(p)] = bytes;
        }
        const std::lock_guard lock{here().mutex};
        here().registered.insert(p);
        *handle = p;
        return ncclSuccess;
    };
    t.comm_deregister = [](const ncclComm_t c, void* handle) {
        {
            const std::lock_guard lock{of(c)->in->mutex};
            of(c)->registered.erase(static_cast<const char*>(handle));
        }
        const std::lock_guard lock{here().mutex};
        const auto found = here().registered.find(handle);
        if (found == here().registered.end()) return ncclInvalidArgument;
        here().registered.erase(found);
        return ncclSuccess;
    };
}

void add_communicator_queries(dv::cuda::api& t) {
    t.comm_get_async_error = [](ncclComm_t, ncclResult_t* e) { *e = ncclSuccess; return ncclSuccess; };
    t.comm_count = [](const ncclComm_t c, int* n) { *n = of(c)->in->size; return ncclSuccess; };
    t.comm_user_rank = [](const ncclComm_t c, int* n) { *n = of(c)->rank; return ncclSuccess; };
    t.comm_device = [](const ncclComm_t c, int* n) { *n = of(c)->device; return ncclSuccess; };
}

void add_communication(dv::cuda::api& t) {
    t.group_start = [] { ++group_depth; return ncclSuccess; };
    t.group_end = [] {
        if (group_depth == 0) return ncclInvalidUsage;
        if (--group_depth == 0) start(std::exchange(nccl_group, {}));
        return ncclSuccess;
    };
    t.send = [](const void* p, std::size_t n, ncclDataType_t d, int peer, ncclComm_t c, cudaStream_t s) {
        return enqueue({operation::send, of(c), of(s), p, nullptr, static_cast<std::int64_t>(n) * size_of(d), 0, peer, {}});
    };
    t.recv = [](void* p, std::size_t n, ncclDataType_t d, int peer, ncclComm_t c, cudaStream_t s) {
        return enqueue({operation::recv, of(c), of(s), nullptr, p, static_cast<std::int64_t>(n) * size_of(d), 0, peer, {}});
    };
    t.all_reduce = [](const void* from, void* to, std::size_t n, ncclDataType_t d, ncclRedOp_t op, ncclComm_t c, cudaStream_t s) {
        const auto b = static_cast<std::int64_t>(n) * size_of(d);
        return enqueue(collective(dv::op_kind::all_reduce, from, to, b, b, d, op, -1, c, s));
    };
    t.reduce = [](const void* from, void* to, std::size_t n, ncclDataType_t d, ncclRedOp_t op, int root, ncclComm_t c, cudaStream_t s) {
        const auto b = static_cast<std::int64_t>(n) * size_of(d);
        return enqueue(collective(dv::op_kind::reduce, from, to, b, b, d, op, root, c, s));
    };
    t.broadcast = [](const void* from, void* to, std::size_t n, ncclDataType_t d, int root, ncclComm_t c, cudaStream_t s) {
        const auto b = static_cast<std::int64_t>(n) * size_of(d);
        return enqueue(collective(dv::op_kind::broadcast, from, to, b, b, d, ncclSum, root, c, s));
    };
    t.all_gather = [](const void* from, void* to, std::size_t n, ncclDataType_t d, ncclComm_t c, cudaStream_t s) {
        const auto b = static_cast<std::int64_t>(n) * size_of(d);
        return enqueue(collective(dv::op_kind::all_gather, from, to, b, b * of(c)->in->size, d, ncclSum, -1, c, s));
    };
    t.reduce_scatter = [](const void* from, void* to, std::size_t n, ncclDataType_t d, ncclRedOp_t op, ncclComm_t c, cudaStream_t s) {
        const auto b = static_cast<std::int64_t>(n) * size_of(d);
        return enqueue(collective(dv::op_kind::reduce_scatter, from, to, b * of(c)->in->size, b, d, op, -1, c, s));
    };
}

void add_products(dv::cuda::api& t) {
    t.blas_create = [](cublasHandle_t* h) { *h = reinterpret_cast<cublasHandle_t>(keep(new blas)); return CUBLAS_STATUS_SUCCESS; };
    t.blas_destroy = [](cublasHandle_t h) { drop(of(h)); return CUBLAS_STATUS_SUCCESS; };
    t.blas_set_stream = [](cublasHandle_t h, cudaStream_t s) { of(h)->on = of(s); return CUBLAS_STATUS_SUCCESS; };
    t.blas_set_sm_count = [](cublasHandle_t h, int sms) { of(h)->sms = sms; return CUBLAS_STATUS_SUCCESS; };
    t.blas_gemm = [](cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, std::int64_t m, std::int64_t n, std::int64_t k,
                     const void* factor, const void* a, cudaDataType type, std::int64_t lda, const void* b, cudaDataType, std::int64_t ldb,
                     const void* of_c, void* c, cudaDataType sums, std::int64_t ldc, cublasComputeType_t, cublasGemmAlgo_t) {
        if (type != CUDA_R_32F || sums != CUDA_R_32F || *static_cast<const float*>(factor) != 1) return CUBLAS_STATUS_NOT_SUPPORTED;
        const float kept = *static_cast<const float*>(of_c);
        {
            const std::lock_guard lock{here().mutex};
            here().sms_of_products.push_back(of(h)->sms);
        }
        of(h)->on->push([=] {
            const auto at = [](const void* x, bool transposed, std::int64_t ld, std::int64_t row, std::int64_t column) {
                return static_cast<const float*>(x)[transposed ? column + row * ld : row + column * ld];
            };
            for (std::int64_t i = 0; i < m; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    float sum = 0;
                    for (std::int64_t l = 0; l < k; ++l) sum += at(a, ta != CUBLAS_OP_N, lda, i, l) * at(b, tb != CUBLAS_OP_N, ldb, l, j);
                    float& to = static_cast<float*>(c)[i + j * ldc];
                    to = kept == 0 ? sum : kept * to + sum;
                }
        });
        return CUBLAS_STATUS_SUCCESS;
    };
    t.blas_set_workspace = [](cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; };
}

}  // namespace

dv::cuda::api table() {
    dv::cuda::api t;
    add_devices(t);
    add_memory(t);
    add_streams(t);
    add_events(t);
    add_waits(t);
    add_stream_words(t);
    add_peers(t);
    add_graphs(t);
    add_communicators(t);
    add_registration(t);
    add_communicator_queries(t);
    add_communication(t);
    add_products(t);
    return t;
}

}  // namespace simulated
