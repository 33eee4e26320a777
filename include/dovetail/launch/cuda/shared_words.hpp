// Words of pinned host memory that other processes of this host can map: a file in memory, whose name goes when all have opened
// it. The last word counts them.
#pragma once

#include "api.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace dovetail::cuda {

class shared_words {
public:
    // New ones, all zero.
    explicit shared_words(std::size_t bytes) : name_{"/dev/shm/dovetail-XXXXXX"}, bytes_{bytes}, unlink_{true} {
        errno = 0;
        const int file = ::mkstemp(name_.data());
        if (file < 0) throw failure{"shared memory " + name_ + ": " + std::strerror(errno)};
        const std::vector<char> zeros(bytes_);
        const bool filled = ::write(file, zeros.data(), bytes_) == static_cast<ssize_t>(bytes_);
        map(file, filled ? 0 : errno != 0 ? errno : ENOSPC, false);
    }
    // Those of another rank.
    shared_words(std::string name, std::size_t bytes) : name_{std::move(name)}, bytes_{bytes} {
        std::FILE* const file = std::fopen(name_.c_str(), "r+b");
        if (file == nullptr) throw failure{"shared memory " + name_ + ": " + std::strerror(errno)};
        const int mine = ::dup(::fileno(file));
        std::fclose(file);
        map(mine, mine < 0 ? errno : 0, true);
    }
    shared_words(const shared_words&) = delete;
    shared_words& operator=(const shared_words&) = delete;
    ~shared_words() { close(); }

    const std::string& name() const { return name_; }
    void* data() const { return at_; }
    bool in_use() const { return __atomic_load_n(users(), __ATOMIC_ACQUIRE) != 0; }
    // Where the GPUs of this process find it.
    CUdeviceptr on_device() const { return device_; }
    // All who want to have opened it.
    void forget_name() noexcept {
        if (std::exchange(unlink_, false)) ::unlink(name_.c_str());
    }

private:
    std::uint32_t* users() const { return reinterpret_cast<std::uint32_t*>(static_cast<char*>(at_) + bytes_) - 1; }
    void map(int file, int refused, bool as_user) {
        if (refused == 0) {
            void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (at != MAP_FAILED)
                at_ = at;
            else
                refused = errno;
        }
        if (file >= 0) ::close(file);
        try {
            if (refused != 0) throw failure{"shared memory " + name_ + ": " + std::strerror(refused)};
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

    std::string name_;
    std::size_t bytes_ = 0;
    void* at_ = nullptr;
    CUdeviceptr device_ = 0;
    bool unlink_ = false, registered_ = false, user_ = false;
};

}  // namespace dovetail::cuda
