// SPDX-License-Identifier: Apache-2.0
#pragma once
// The calls that `run --trace` looks at, as data, and the filter that makes the kernel stop at them. It is put on top
// of the launch's own filter, which is not touched: of two filters the stricter answer counts, and to stop for a tracer
// is the mildest but letting through. So it can turn "allowed" into "look at it first", and nothing into "allowed".

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sandbox/trace.hpp"

namespace cordon::sandbox {

inline constexpr std::int8_t kNoArgument = -1;

// Which arguments hold what. A path is relative to the folder that `folder` is a descriptor of, else to the working
// directory.
struct TracedCall {
  std::string_view name = {};
  TraceAccess access = TraceAccess::look;
  std::int8_t folder = kNoArgument;
  std::int8_t path = kNoArgument;
  std::int8_t second_folder = kNoArgument;  // rename and link
  std::int8_t second_path = kNoArgument;
  std::int8_t open_flags = kNoArgument;  // `access` hangs on them
  std::int8_t address = kNoArgument;     // of a socket; its length comes next
  // Not stopped at when (argument & mask) == value on the low 32 bits: calls that are about no path.
  std::int8_t idle_argument = kNoArgument;
  std::uint32_t idle_mask = 0;
  std::uint32_t idle_value = 0;
};

std::span<const TracedCall> traced_calls();

// What opening with these flags does.
TraceAccess access_of_open(std::uint64_t flags);

std::vector<sock_filter> build_trace_filter();

}  // namespace cordon::sandbox
