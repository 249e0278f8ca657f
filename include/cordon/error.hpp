// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one vocabulary of failures; errors are values.

#include "base/error.hpp"  // IWYU pragma: export
