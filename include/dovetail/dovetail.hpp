// The language and the planner, and what an operation's launch is written with. Needs neither CUDA nor NCCL.
#pragma once

#include "dsl/communication.hpp"
#include "dsl/statements.hpp"
#include "launch/stream.hpp"
#include "plan/facts.hpp"
