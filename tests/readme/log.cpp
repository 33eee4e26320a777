// The reference's block about the log: a warning gets to the program's own log, and nothing below it.
#include <dovetail/launch/log.hpp>

#include <string>

namespace dv = dovetail;

namespace {
std::string logged;
void application_log(const std::string& text) { logged += text + "\n"; }
}  // namespace

int main() {
#include "readme_block"
    dv::launch::log(dv::log_level::info, "wrote a.html");
    dv::launch::log(dv::log_level::warning, "cannot write a.html");
    return logged == "dovetail: cannot write a.html\n" ? 0 : 1;
}
