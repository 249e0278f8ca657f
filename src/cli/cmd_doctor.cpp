// SPDX-License-Identifier: Apache-2.0
// doctor: what this machine can enforce, by trying it.

#include <unistd.h>

#include "app/doctor.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace cordon::cli {
namespace {

class Doctor final : public Command {
 public:
  void declare(Options& options) override { options.value("--format", "FORMAT", format_, "text (default) or json"); }

  int execute(const Invocation& invocation) override {
    if (format_ != "text" && format_ != "json") {
      return usage_error(text::cat("there is no format '", format_, "': text or json"));
    }
    const Result<app::Examination> found = app::examine(invocation.caller);
    if (!found) {
      return report(found.error());
    }
    print_out(format_ == "json" ? found->json() + '\n' : found->text(style_for(STDOUT_FILENO, invocation.caller)));
    return found->breached() ? kFinding : kFine;
  }

 private:
  std::string format_ = "text";
};

}  // namespace

extern constinit const CommandEntry kDoctorCommand{"doctor", "show what this machine can enforce, by trying it", false,
                                                   make_command<Doctor>};

}  // namespace cordon::cli
