// The second translation unit of the program.
#include "model.hpp"

odr::facts seen_by_the_second() { return odr::here(); }
float run_by_the_second() { return odr::run(); }
