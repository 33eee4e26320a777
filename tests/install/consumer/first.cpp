#include "model.hpp"

float run_in_the_second(float value);

int main() { return app::run(2) == 2 && run_in_the_second(-2) == 0 ? 0 : 1; }
