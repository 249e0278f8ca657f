// SPDX-License-Identifier: Apache-2.0
#pragma once
// The proxy as a pure function: bytes and the time go in, actions come out. Start here.

#include "core/gate/action.hpp"     // IWYU pragma: export
#include "core/gate/collector.hpp"  // IWYU pragma: export
#include "core/gate/session.hpp"    // IWYU pragma: export
