// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings file that srt is given: by the plan, and by the probe that tries it.

#include <string>
#include <vector>

#include "sandbox/host_facts.hpp"

namespace cordon::sandbox {

// Nothing is readable but `readable`, nothing writable but `writable`; no host. Its helpers by absolute path.
std::string srt_settings(const SrtFacts& srt, const std::vector<std::string>& readable,
                         const std::vector<std::string>& writable);

}  // namespace cordon::sandbox
