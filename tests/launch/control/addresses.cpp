// Addresses of the network, as numbers and as names.
#include <doctest/doctest.h>

#include <dovetail/launch/control/addresses.hpp>

#include <string>
#include <vector>

using namespace dovetail::control;
using namespace dovetail::control::detail;
using namespace std::chrono_literals;

namespace {

address at(const std::string& host, int port = 80) {
    std::string why;
    const auto all = look_up(host, port, AI_NUMERICHOST, why);
    REQUIRE(all.size() == 1);
    return all[0];
}

}  // namespace

TEST_CASE("an address is read and written as the same text, and its port can be changed") {
    for (const std::string host : {"10.0.0.7", "127.0.0.1", "::1", "2001:db8::5"}) {
        address a = at(host, 4711);
        CHECK(a.host() == host);
        CHECK(a.port() == 4711);
        CHECK(a.family() == (host.find(':') == std::string::npos ? AF_INET : AF_INET6));
        CHECK(a == at(host, 4711));
        CHECK(!(a == at(host, 4712)));
        a.set_port(65535);
        CHECK(a.port() == 65535);
        CHECK(a == at(host, 65535));
    }
    CHECK(!(at("127.0.0.1") == at("::1")));
}

TEST_CASE("loopback is all of 127 and ::1, and nothing else") {
    for (const std::string host : {"127.0.0.1", "127.255.255.254", "::1"}) CHECK(at(host).loopback());
    for (const std::string host : {"126.0.0.1", "128.0.0.1", "1.0.0.127", "0.0.0.0", "::", "::2"}) CHECK(!at(host).loopback());
    CHECK(all_loopback({at("127.0.0.1"), at("::1")}));
    CHECK(!all_loopback({at("127.0.0.1"), at("10.0.0.7")}));
}

TEST_CASE("the network of one host: its address of IPv4, the first half of IPv6") {
    CHECK(at("10.0.0.7", 1).network() == at("10.0.0.7", 2).network());
    CHECK(at("10.0.0.7").network() != at("10.0.0.8").network());
    CHECK(at("2001:db8::5").network() == at("2001:db8::6").network());
    CHECK(at("2001:db8::5").network() != at("2001:db8:0:1::5").network());
}

TEST_CASE("a name is looked up within the time allowed, and what is unknown says why") {
    std::string why;
    const auto here = look_up_until({"localhost", 80}, now() + 30s, why);
    REQUIRE(!here.empty());
    CHECK(all_loopback(here));
    CHECK(look_up_until({"127.0.0.1", 80}, now(), why).size() == 1);  // no name: it takes no time

    why.clear();
    CHECK(look_up_until({"no-such-host.invalid", 80}, now() + 30s, why).empty());
    CHECK((why.find("its address is unknown: ") == 0 || why == "the name server did not answer"));
    const auto start = now();
    look_up_until({"another-host.invalid", 80}, start, why);
    CHECK(now() - start < 5s);
}
