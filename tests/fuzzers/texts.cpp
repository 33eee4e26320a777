// Short texts from outside: endpoints, lists of hosts, numbers, keys, the connection table of the system, and text to print.
#include <fuzzers/input.hpp>

#include <dovetail/launch/control/peer_user.hpp>
#include <dovetail/launch/world/mismatch.hpp>

using namespace dovetail::control;
using namespace dovetail::control::detail;

namespace {

template <class Parse>
void parse(Parse&& one) {
    try {
        one();
    } catch (const dovetail::world_error&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text{reinterpret_cast<const char*>(data), size};
    parse([&] {
        const endpoint e = endpoint_in("a test's", text);
        fuzzers::require(e.port >= 1 && e.port <= 65535 && !e.host.empty(), "an endpoint has a host and a port");
        const endpoint again = endpoint_in("a test's", e.text());
        fuzzers::require(again.host == e.host && again.port == e.port, "an endpoint is read as it is written");
    });
    parse([&] { fuzzers::require(number_in("a test's", text) >= 0, "a number is not negative"); });
    parse([&] { fuzzers::require(job_key::of("a test's", text).secret().size() == size / 2, "a key has all its bits"); });
    const int port = port_of(first_host(text));
    fuzzers::require(port >= 15000 && port < 31000, "a port that is made up is no system's");
    const std::string shown = printable(text);
    fuzzers::require(printable(shown) == shown && shown.size() <= 4 * size, "text that can be shown stays as it is");
    for (const char c : shown) fuzzers::require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "no escape codes");
    std::istringstream table{text};
    owner_in(table, "0100007F:1F90", "0100007F:A000");
    // Texts of ranks that must agree, cut at the first byte's value.
    std::vector<std::string> all;
    for (std::size_t i = 0, step = size == 0 ? 1 : 1 + data[0] % 16; i < size; i += step) all.push_back(text.substr(i, step));
    if (!all.empty()) dovetail::launch::mismatch(all);
    return 0;
}
