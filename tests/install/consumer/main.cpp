// A minimal use of the installed headers.
#include <dovetail/core/display.hpp>
#include <dovetail/core/view.hpp>
#include <dovetail/core/vocabulary.hpp>

static_assert(dovetail::tensor<dovetail::half, 8, 8>::bytes == 128);

int main() { return dovetail::display(dovetail::tag_of<dovetail::cost>) == "cost" ? 0 : 1; }
