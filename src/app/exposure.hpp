// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a write grant hands over besides data, although what steers other programs is covered (sandbox/steering.hpp).

#include <string>
#include <vector>

#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"

namespace cordon::app {

// One line for each kind of gap that the covers leave; none where there is no view.
std::vector<std::string> exposure_notices(const sandbox::Plan& plan, const std::vector<sandbox::SteeringGap>& gaps);

}  // namespace cordon::app
