// Flags in pinned host memory that other processes of this host can map: a file in memory, whose name is removed when all have opened it.
// The last flag counts the processes that have mapped it.
#pragma once

#include "../../control/shared_file.hpp"
#include "../api/api.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace dovetail::cuda {

class ipc_flags {
public:
    // Makes new flags, all zero.
    explicit ipc_flags(std::size_t bytes) : file_{control::detail::shared_file::make(bytes)}, bytes_{bytes} { map(false); }
    // Opens the flags of another rank.
    ipc_flags(const std::string& name, std::size_t bytes) : file_{control::detail::shared_file::open(name, bytes)}, bytes_{bytes} {
        map(true);
        file_.forget();
    }
    ipc_flags(const ipc_flags&) = delete;
    ipc_flags& operator=(const ipc_flags&) = delete;
    ~ipc_flags() { close(); }

    const std::string& name() const { return file_.name(); }
    void* data() const { return at_; }
    bool in_use() const { return __atomic_load_n(users(), __ATOMIC_ACQUIRE) != 0; }
    // The address of the flags on the GPUs of this process.
    CUdeviceptr on_device() const { return device_; }
    // Called when all processes have opened the file: removes its name.
    void forget_name() noexcept { file_.forget(); }

private:
    std::uint32_t* users() const { return reinterpret_cast<std::uint32_t*>(static_cast<char*>(at_) + bytes_) - 1; }
    void map(bool as_user) {
        void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.descriptor_number(), 0);
        if (at == MAP_FAILED) throw failure{"shared memory " + name() + ": " + std::strerror(errno)};
        at_ = at;
        try {
            check(calls.host_register(at_, bytes_, cudaHostRegisterPortable | cudaHostRegisterMapped), "cudaHostRegister");
            registered_ = true;
            void* found = nullptr;
            check(calls.host_device_pointer(&found, at_, 0), "cudaHostGetDevicePointer");
            device_ = reinterpret_cast<CUdeviceptr>(found);
            if (as_user) __atomic_add_fetch(users(), 1u, __ATOMIC_ACQ_REL);
            user_ = as_user;
        } catch (...) {
            close();
            throw;
        }
    }
    void close() noexcept {
        forget_name();
        if (user_) __atomic_sub_fetch(users(), 1u, __ATOMIC_ACQ_REL);
        if (registered_) static_cast<void>(calls.host_unregister(at_));
        if (at_ != nullptr) ::munmap(at_, bytes_);
    }

    control::detail::shared_file file_;
    std::size_t bytes_ = 0;
    void* at_ = nullptr;
    CUdeviceptr device_ = 0;
    bool registered_ = false, user_ = false;
};

}  // namespace dovetail::cuda
