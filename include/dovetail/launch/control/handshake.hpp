// The handshake by which two processes prove to each other that they hold the same job key, before either sends more than its protocol
// version:
//
//     rank r -> rank 0   hello      protocol, a random number
//     rank 0 -> rank r   challenge  a random number
//     rank r -> rank 0   proof      keyed hash of both numbers, as a rank
//     rank 0 -> rank r   proof      keyed hash of both numbers, as rank 0
//
// A proof is valid for one connection, since each end has drawn a random number for it, and for one end, since the hashes of the ends
// differ. Rank 0 sends its proof last, so a process without the key gets no hash against which it could test keys. The keys of the
// following frames (frames.hpp) are derived from the same numbers. Without a job key the handshake uses an empty one; peer_user.hpp then
// decides which processes are trusted.
#pragma once

#include "frames.hpp"
#include "job_key.hpp"
#include "messages.hpp"

namespace dovetail::control::detail {

inline constexpr std::string_view protocol = "dovetail control 4";
inline constexpr std::string_view any_protocol = "dovetail control ";
inline constexpr std::size_t nonce_size = 16;

struct handshake_keys {
    digest proof_of_rank, proof_of_server, frames_of_rank, frames_of_server;

    handshake_keys(const job_key& key, std::string_view nonce_of_rank, std::string_view nonce_of_server) {
        const hmac keyed{key.secret()};
        const auto derive = [&](std::string_view purpose) {
            return keyed.of({writer{}.text(protocol).text(purpose).text(nonce_of_rank).text(nonce_of_server).take()});
        };
        proof_of_rank = derive("proof of a rank");
        proof_of_server = derive("proof of rank 0");
        frames_of_rank = derive("frames of a rank");
        frames_of_server = derive("frames of rank 0");
    }
};

// The answer of one end of the handshake to a frame; kind 0: none.
struct handshake_answer {
    char kind = 0;
    std::string body;
};
enum class handshake_state { open, proven, refused };

class server_handshake {
public:
    explicit server_handshake(job_key key, std::string nonce = random_bytes(nonce_size)) : key_{std::move(key)}, nonce_{std::move(nonce)} {}

    handshake_answer receive(char kind, std::string_view body) {
        if (state_ == handshake_state::open && kind == frame::hello && !keys_) return hello(reader{body});
        if (state_ == handshake_state::open && kind == frame::proof && keys_) return proof(reader{body});
        state_ = handshake_state::refused;  // the other process is not one of dovetail
        return {};
    }
    // Answers a message that is too long to be read.
    handshake_answer too_long(char kind, const std::string& fault) {
        if (kind == frame::hello) return refuse("rank 0 was sent " + fault);
        state_ = handshake_state::refused;
        return {};
    }
    handshake_state state() const { return state_; }
    // Valid once both ends have proven the key.
    const handshake_keys& keys() const { return *keys_; }

private:
    handshake_answer refuse(const std::string& why) {
        state_ = handshake_state::refused;
        return {frame::refused, refusal_message{refusal::wrong, why}.pack()};
    }
    handshake_answer hello(reader r) {
        const std::string theirs = r.text(64);
        if (theirs != protocol && theirs.starts_with(any_protocol))
            return refuse("rank 0 speaks `" + std::string{protocol} + "`, and this process `" + printable(theirs) +
                          "`: build all ranks with one version of dovetail");
        const std::string nonce = r.text(nonce_size);
        if (theirs != protocol || nonce.size() != nonce_size || !r.complete()) {
            state_ = handshake_state::refused;
            return {};
        }
        keys_.emplace(key_, nonce, nonce_);
        return {frame::challenge, writer{}.text(nonce_).take()};
    }
    handshake_answer proof(reader r) {
        const std::string theirs = r.text(sizeof(digest));
        if (!r.complete() || !equal_in_constant_time(theirs, bytes_of(keys_->proof_of_rank)))
            return refuse(key_.given() ? "this process does not have the job key of rank 0"
                                       : "this process has a job key, and rank 0 has none");
        state_ = handshake_state::proven;
        return {frame::proof, writer{}.text(bytes_of(keys_->proof_of_server)).take()};
    }

    job_key key_;
    std::string nonce_;
    handshake_state state_ = handshake_state::open;
    std::optional<handshake_keys> keys_;
};

class client_handshake {
public:
    explicit client_handshake(job_key key, std::string nonce = random_bytes(nonce_size)) : key_{std::move(key)}, nonce_{std::move(nonce)} {}

    handshake_answer hello() const { return {frame::hello, writer{}.text(protocol).text(nonce_).take()}; }
    handshake_answer receive(char kind, std::string_view body) {
        reader r{body};
        if (state_ == handshake_state::open && kind == frame::challenge && !keys_) {
            const std::string theirs = r.text(nonce_size);
            if (theirs.size() == nonce_size && r.complete()) {
                keys_.emplace(key_, nonce_, theirs);
                return {frame::proof, writer{}.text(bytes_of(keys_->proof_of_rank)).take()};
            }
        } else if (state_ == handshake_state::open && kind == frame::proof && keys_) {
            const std::string theirs = r.text(sizeof(digest));
            if (r.complete() && equal_in_constant_time(theirs, bytes_of(keys_->proof_of_server))) {
                state_ = handshake_state::proven;
                return {};
            }
            said_ = "it does not have this job's key";
        } else if (kind == frame::refused) {
            const auto said = refusal_message::unpack(body);
            said_ = said ? "it says: " + said->text : std::string{};
        }
        state_ = handshake_state::refused;
        return {};
    }
    handshake_state state() const { return state_; }
    const handshake_keys& keys() const { return *keys_; }
    // The reason that the other end gave for refusing. It is not trusted, since that process has not proven the key.
    const std::string& said() const { return said_; }

private:
    job_key key_;
    std::string nonce_;
    handshake_state state_ = handshake_state::open;
    std::optional<handshake_keys> keys_;
    std::string said_;
};

}  // namespace dovetail::control::detail
