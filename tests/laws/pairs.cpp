// Samples of two roles.
#include "support/planned_samples.hpp"

using namespace samples;

support::planned_samples support::plans_of_pairs() {
    return plans_of<true>(list<crossing_pair, ping_pong, channel_first, collective_first, shaped<0>, shaped<1>, shaped<7>>{});
}
