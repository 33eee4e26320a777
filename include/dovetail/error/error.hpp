// All error templates.
#pragma once

#include "launch.hpp"
#include "memory.hpp"
#include "names.hpp"
#include "operations.hpp"
#include "plans.hpp"
#include "proof.hpp"
#include "rewrites.hpp"
#include "roles.hpp"
#include "shapes.hpp"
