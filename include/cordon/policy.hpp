// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one policy says, as plain values, and how one call is judged by it.

#include "core/policy/evaluate.hpp"  // IWYU pragma: export
#include "core/policy/policy.hpp"    // IWYU pragma: export
