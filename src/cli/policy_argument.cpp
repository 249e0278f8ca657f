// SPDX-License-Identifier: Apache-2.0
#include "cli/policy_argument.hpp"

#include "cli/output.hpp"

namespace cordon::cli {

std::optional<app::PolicyChoice> PolicyArgument::choice() const {
  if (name_.empty() == file_.empty()) {
    usage_error(name_.empty() ? "a policy is needed: NAME or --policy FILE"
                              : "NAME and --policy FILE exclude each other");
    return std::nullopt;
  }
  return app::PolicyChoice{name_, file_, ceilings_};
}

}  // namespace cordon::cli
