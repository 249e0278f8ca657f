// SPDX-License-Identifier: Apache-2.0
#pragma once
// The strict JSON reader, its document model, and writing.

#include "core/json/read.hpp"   // IWYU pragma: export
#include "core/json/value.hpp"  // IWYU pragma: export
#include "core/json/write.hpp"  // IWYU pragma: export
