// The interface to the memory of one rank: what the common part of the launch layer needs of a backend to allocate arenas and states and to
// copy between them and the host.
#pragma once

#include "../../ir/schedule.hpp"

#include <memory>

namespace dovetail {

class memory {
public:
    virtual ~memory() = default;
    // Zeroed, aligned to ir::alignment, never null; throws a dovetail::failure with the bytes wanted and free.
    virtual void* allocate(std::int64_t bytes) = 0;
    virtual void release(void* pointer) noexcept = 0;
    // The same in pinned host memory.
    virtual void* allocate_host(std::int64_t bytes) = 0;
    virtual void release_host(void* pointer) noexcept = 0;
    // The bytes that can be allocated, as far as that is known.
    virtual std::int64_t available() const { return INT64_MAX; }
    // Number of the device; -1: the host.
    virtual int device() const { return -1; }
    // The number of the GPU in whose memory a pointer points; -1: none. Managed memory is that of this one.
    virtual int device_of(const void*) const { return -1; }
    bool on_device(const void* p) const { return device_of(p) >= 0; }
    // Whether work that an abort has left behind may still write it, at any time.
    virtual bool abandoned() const noexcept { return false; }
    // Synchronous copies. Either pointer may also point to host memory.
    virtual void to_host(void* to, const void* from, std::int64_t bytes) = 0;
    virtual void from_host(void* to, const void* from, std::int64_t bytes) = 0;
};

// Owns an allocation and releases it.
class block {
public:
    block() = default;
    block(std::shared_ptr<memory> source, std::int64_t bytes, bool host = false)
        : source_{std::move(source)}, host_{host}, bytes_{bytes}, data_{host ? source_->allocate_host(bytes) : source_->allocate(bytes)} {}
    block(block&& other) noexcept
        : source_{std::move(other.source_)}, host_{other.host_}, bytes_{other.bytes_}, data_{std::exchange(other.data_, nullptr)} {}
    block& operator=(block&& other) noexcept {
        std::swap(source_, other.source_);
        std::swap(host_, other.host_);
        std::swap(bytes_, other.bytes_);
        std::swap(data_, other.data_);
        return *this;
    }
    ~block() {
        if (data_ == nullptr) return;
        if (host_)
            source_->release_host(data_);
        else
            source_->release(data_);
    }

    char* data() const { return static_cast<char*>(data_); }
    std::int64_t bytes() const { return bytes_; }
    explicit operator bool() const { return data_ != nullptr; }

private:
    std::shared_ptr<memory> source_;
    bool host_ = false;
    std::int64_t bytes_ = 0;
    void* data_ = nullptr;
};

}  // namespace dovetail
