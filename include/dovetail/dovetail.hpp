// The language and the planner. Needs neither CUDA nor NCCL.
#pragma once

#include "dsl/communication.hpp"
#include "dsl/words.hpp"
#include "plan/facts.hpp"
