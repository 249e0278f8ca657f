// SPDX-License-Identifier: Apache-2.0
// doctor: what this machine can enforce, by trying it.

#include <unistd.h>

#include "app/doctor.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace cordon::cli {
namespace {

class Doctor final : public Command {
 public:
  void declare(Options&) override {}

  int execute(const Invocation& invocation) override {
    print_out(app::examine(invocation.caller, style_for(STDOUT_FILENO, invocation.caller)));
    return kFine;
  }
};

}  // namespace

extern constinit const CommandEntry kDoctorCommand{"doctor", "show what this machine can enforce, by trying it", false,
                                                   make_command<Doctor>};

}  // namespace cordon::cli
