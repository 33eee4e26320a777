#include "model.hpp"

float run_in_the_second(float value) { return app::run(value); }
