// The exceptions of a running program. Every message names the rank, and the operation if there is one.
#pragma once

#include "../core/config.hpp"

#include <exception>
#include <stdexcept>
#include <string>

namespace dovetail {

struct failure : std::runtime_error {
    explicit failure(const std::string& text) : std::runtime_error{"dovetail: " + text} {}
    // The message without the prefix "dovetail: ", for use within another text.
    std::string text() const { return what() + sizeof("dovetail: ") - 1; }
};

// The message of an exception, for use within another text.
inline std::string text_of(const std::exception& e) {
    const auto* ours = dynamic_cast<const failure*>(&e);
    return ours != nullptr ? ours->text() : e.what();
}
// The same for an exception pointer.
inline std::string text_of(const std::exception_ptr& what) {
    try {
        std::rethrow_exception(what);
    } catch (const std::exception& e) {
        return text_of(e);
    } catch (...) {
        return "an exception that is no std::exception";
    }
}

// The library is used in a way that it does not allow: a run from two threads, a result read after its slot was used again, ...
struct usage_error : failure {
    using failure::failure;
};

// An input is not bound, or bound to memory that is too small.
struct binding_error : failure {
    using failure::failure;
};

// A state was never initialised, or an aborted run has left it undefined.
struct state_error : failure {
    using failure::failure;
};

// A file of states cannot be read or written, or is not what the store expects. The states are unchanged.
struct file_error : failure {
    file_error(const std::string& text, std::string of) : failure{text}, path{std::move(of)} {}

    std::string path;
};

// The ranks do not fit the graph, or were built from different graphs.
struct world_error : failure {
    using failure::failure;
};

// Thrown on all ranks if a transport that the plan of an executor uses is not available on one of them.
struct transport_unavailable : world_error {
    transport_unavailable(const std::string& why, const std::string& advice) : world_error{why + advice}, reason{why} {}

    std::string reason;
};

// An operation threw, or its launch failed.
struct operation_error : failure {
    operation_error(const std::string& text, std::string op, std::string of, int on, std::exception_ptr why = nullptr)
        : failure{text}, operation{std::move(op)}, statement{std::move(of)}, rank{on}, cause{std::move(why)} {}

    std::string operation;  // empty if no operation is the cause
    std::string statement;
    int rank = -1;             // where it happened
    std::exception_ptr cause;  // what the operation threw
};

// An operation_error of another rank.
struct peer_error : operation_error {
    using operation_error::operation_error;
};

// A wait exceeded its limit. The run goes on: the program may wait again, or leave.
struct timeout : failure {
    timeout(const std::string& text, int on) : failure{text}, rank{on} {}
    int rank = -1;
};

}  // namespace dovetail
