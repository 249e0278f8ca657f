// SPDX-License-Identifier: Apache-2.0
#pragma once
// cordon: the pure core of mcp-cordon as a library: no I/O, no clock, no threads, no globals. Reading policy files,
// launching, sandboxing and auditing are not in it. Start at session.hpp; docs/embedding.md shows a whole program.
// Needs C++23. The headers below core/ and base/ are installed because these include them; include these.

#include "cordon/catalog.hpp"
#include "cordon/error.hpp"
#include "cordon/json.hpp"
#include "cordon/policy.hpp"
#include "cordon/session.hpp"
