// The unit that holds what is compiled once, and the observers.
#include <dovetail/src.hpp>

#include <dovetail/observe/observe.hpp>
