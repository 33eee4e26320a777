// Real processes for tests: `start` forks a child that runs a function and returns its text through a pipe, `ends` waits for all within a
// time limit. An exception of a child is returned as "threw: ..." with the kind of exception before it.
#pragma once

#include <dovetail/launch/error.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace support {

class processes {
public:
    ~processes() {
        for (auto& c : all_) stop(c);
    }
    int start(const std::function<std::string()>& body) {
        int fds[2];
        if (::pipe(fds) != 0) return -1;
        std::fflush(nullptr);  // or each child would print what is still to be printed
        const pid_t child = ::fork();
        if (child == 0) {
            ::close(fds[0]);
            const std::string text = guarded(body);
            static_cast<void>(!::write(fds[1], text.data(), text.size()));
            ::_exit(0);
        }
        ::close(fds[1]);
        all_.push_back({child, fds[0], {}});
        return static_cast<int>(all_.size()) - 1;
    }
    void signal(int i, int number) { ::kill(all_[static_cast<std::size_t>(i)].id, number); }
    // At its end when this returns, as for a launcher that starts it again.
    void kill(int i) {
        child& c = all_[static_cast<std::size_t>(i)];
        ::kill(c.id, SIGKILL);
        ::waitpid(c.id, nullptr, 0);
        c.id = 0;
    }
    // The text of each child; "hangs" for one that did not end in time.
    std::vector<std::string> ends(std::chrono::milliseconds limit = std::chrono::milliseconds{8000}) {
        const auto until = std::chrono::steady_clock::now() + limit;
        std::vector<std::string> said;
        for (auto& c : all_) {
            for (bool more = true; more;) {
                pollfd p{c.pipe, POLLIN, 0};
                const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
                if (::poll(&p, 1, left < 0 ? 0 : static_cast<int>(left)) <= 0) {
                    c.text = "hangs";
                    break;
                }
                char some[4096];
                const auto n = ::read(c.pipe, some, sizeof some);
                more = n > 0;
                if (more) c.text.append(some, static_cast<std::size_t>(n));
            }
            // A sanitizer that has found something says so by the status. Tests kill children by SIGKILL on purpose.
            if (c.text != "hangs" && c.id != 0) {
                int status = 0;
                for (int i = 0; i < 2000 && ::waitpid(c.id, &status, WNOHANG) == 0; ++i) ::usleep(1000);
                c.id = 0;
                if (WIFEXITED(status) && WEXITSTATUS(status) != 0) c.text += " (status " + std::to_string(WEXITSTATUS(status)) + ")";
                if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) c.text += " (signal " + std::to_string(WTERMSIG(status)) + ")";
            }
            stop(c);
            said.push_back(c.text);
        }
        return said;
    }
    static std::string guarded(const std::function<std::string()>& body) {
        try {
            return body();
        } catch (const dovetail::timeout& e) {
            return "timeout: " + std::string{e.what()};
        } catch (const dovetail::world_error& e) {
            return "world_error: " + std::string{e.what()};
        } catch (const dovetail::peer_error& e) {
            return "peer_error of " + std::to_string(e.rank) + ": " + e.what();
        } catch (const std::exception& e) {
            return "threw: " + std::string{e.what()};
        }
    }

private:
    struct child {
        pid_t id;
        int pipe;
        std::string text;
    };
    static void stop(child& c) {
        if (c.pipe < 0) return;
        if (c.id != 0) {
            ::kill(c.id, SIGKILL);
            ::waitpid(c.id, nullptr, 0);
        }
        ::close(c.pipe);
        c.pipe = -1;
    }
    std::vector<child> all_;
};

// A port that is free at the moment.
inline int free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in a = {};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    static_cast<void>(::bind(fd, reinterpret_cast<sockaddr*>(&a), size));
    static_cast<void>(::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size));
    ::close(fd);
    return ntohs(a.sin_port);
}

}  // namespace support
