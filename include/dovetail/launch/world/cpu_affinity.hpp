// The CPUs near a GPU. A thread that issues work to a GPU of another socket reaches its registers and pinned memory over the link between
// the sockets; memory is pinned on the node of the thread that asks for it.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace dovetail::launch {

// A set of CPUs as Linux lists them: "0-31,64-95". Nothing if the text is no such list or names no CPU.
inline std::optional<cpu_set_t> cpus_in(std::string_view list) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    const char* at = list.data();
    const char* const end = at + list.size();
    const auto number = [&](int& to) {
        const auto [after, bad] = std::from_chars(at, end, to);
        at = after;
        return bad == std::errc{} && to >= 0 && to < CPU_SETSIZE;
    };
    for (;; ++at) {
        int first = 0, last = 0;
        if (!number(first)) return {};
        last = first;
        if (at != end && *at == '-' && (++at, !number(last) || last < first)) return {};
        for (int c = first; c <= last; ++c) CPU_SET(static_cast<std::size_t>(c), &cpus);
        if (at == end) return cpus;
        if (*at != ',') return {};
    }
}

// The CPUs near a device of the PCI bus, such as "0000:3B:00.0". Nothing where Linux does not say.
inline std::optional<cpu_set_t> cpus_near(std::string bus_id, const std::string& devices = "/sys/bus/pci/devices") {
    for (char& c : bus_id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::string list;
    std::getline(std::ifstream{devices + "/" + bus_id + "/local_cpulist"}, list);
    return cpus_in(list);
}

// Those of the CPUs near a GPU that a thread may use. Nothing if they are few of these, as under a launcher that binds ranks to others: a
// CPU for many threads is worse than a far one.
inline std::optional<cpu_set_t> cpus_to_keep_to(const cpu_set_t& near, const cpu_set_t& allowed) {
    cpu_set_t both;
    CPU_AND(&both, &near, &allowed);
    constexpr int few = 16;  // a host has up to eight nodes
    if (CPU_COUNT(&both) == 0 || CPU_COUNT(&both) * few < CPU_COUNT(&allowed)) return {};
    return both;
}

// Keeps the calling thread, and those that it starts, on these CPUs until the end of its scope.
class cpu_affinity {
public:
    explicit cpu_affinity(const std::optional<cpu_set_t>& near) {
        if (!near || pthread_getaffinity_np(thread_, sizeof before_, &before_) != 0) return;
        const std::optional<cpu_set_t> cpus = cpus_to_keep_to(*near, before_);
        changed_ = cpus && pthread_setaffinity_np(thread_, sizeof *cpus, &*cpus) == 0;
    }
    cpu_affinity(const cpu_affinity&) = delete;
    cpu_affinity& operator=(const cpu_affinity&) = delete;
    ~cpu_affinity() {
        if (changed_) pthread_setaffinity_np(thread_, sizeof before_, &before_);
    }

private:
    const pthread_t thread_ = pthread_self();
    cpu_set_t before_ = {};
    bool changed_ = false;
};

}  // namespace dovetail::launch
