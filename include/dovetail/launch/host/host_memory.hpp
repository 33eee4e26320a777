// A rank's memory on the host: both device memory and pinned memory are ordinary memory of the process.
#pragma once

#include "../engine/memory.hpp"
#include "../error.hpp"

#include <cstring>
#include <new>

namespace dovetail::host {

class host_memory final : public memory {
public:
    void* allocate(std::int64_t bytes) override {
        const auto size = static_cast<std::size_t>(ir::aligned(bytes < 1 ? 1 : bytes));
        void* p = ::operator new(size, std::align_val_t{ir::alignment}, std::nothrow);
        if (p == nullptr) throw failure{"out of host memory: " + std::to_string(bytes) + " bytes wanted"};
        return std::memset(p, 0, size);
    }
    void release(void* p) noexcept override { ::operator delete(p, std::align_val_t{ir::alignment}); }
    void* allocate_host(std::int64_t bytes) override { return allocate(bytes); }
    void release_host(void* p) noexcept override { release(p); }
    void to_host(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
    void from_host(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }

private:
    static void copy(void* to, const void* from, std::int64_t bytes) {
        if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
};

}  // namespace dovetail::host
