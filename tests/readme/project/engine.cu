#include "model.hpp"

int main() {}
