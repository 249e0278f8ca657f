// SPDX-License-Identifier: Apache-2.0
#pragma once
// Making a control group below another one, as a sequence of file operations: the stage carries them out on the
// machine, tests on a model of the rules of version 2, which no test machine has to have.

#include <functional>
#include <string>

#include "sandbox/plan.hpp"

namespace cordon::sandbox {

// Each gives 0 or an errno; `read` the content, empty when there is none.
struct GroupCalls {
  std::function<int(const std::string& folder)> make = {};
  std::function<int(const std::string& file, const std::string& value)> write = {};
  std::function<std::string(const std::string& file)> read = {};
};

struct GroupFault {
  std::string what = {};  // empty: none
  int error_number = 0;
};

// Makes `group.folder`/`name` with its limits, which are read back. Version 2 first moves what lives in the folder into
// a leaf beside it, where the plan says so, and passes the controllers on.
GroupFault make_group(const ControlGroup& group, const std::string& name, const GroupCalls& calls);

}  // namespace cordon::sandbox
