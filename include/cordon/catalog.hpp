// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a server says about itself, what was reviewed of it, and how the two differ.

#include "core/catalog/catalog.hpp"  // IWYU pragma: export
#include "core/catalog/compare.hpp"  // IWYU pragma: export
#include "core/catalog/diff.hpp"     // IWYU pragma: export
