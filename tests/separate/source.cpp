// The unit that includes dovetail/src.hpp, and the observers.
#include <dovetail/src.hpp>

#include <dovetail/observe/observe.hpp>
