// Whether the headers are those of the version that the program is given.
#include <dovetail/core/config.hpp>

#include <cstring>

int main(int count, char** arguments) { return count == 2 && std::strcmp(arguments[1], DOVETAIL_VERSION_STRING) == 0 ? 0 : 1; }
