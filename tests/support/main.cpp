// The main function of every test program.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// Under the address sanitizer, too, an allocation that does not fit returns null: what the library says then is tested.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
