// SPDX-License-Identifier: Apache-2.0
// check: every fault of policies and snapshots, with its place.

#include "app/check_files.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace cordon::cli {
namespace {

class Check final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("FILE", files_, "policies (YAML) and snapshots (JSON)");
    options.values("--ceiling", "FILE", ceilings_,
                   "compare the policies with what this FILE accepts; alone: check the ceiling itself");
    options.flag("--deep", deep_, "also read every installed file of the policies' packages");
  }

  int execute(const Invocation& invocation) override {
    if (files_.empty() && ceilings_.empty()) {
      return usage_error("give at least one FILE");
    }
    if (print(app::check_ceilings(invocation.caller, ceilings_)) != 0) {
      return kFinding;
    }
    const Result<std::vector<app::LoadedCeiling>> ceilings = app::load_ceilings(invocation.caller, ceilings_);
    if (!ceilings) {
      return report(ceilings.error());
    }
    std::size_t faults = 0;
    for (const std::string& file : files_) {
      const std::size_t found = print(app::check_file(invocation.caller, file, *ceilings));
      faults += found;
      if (deep_ && found == 0) {
        const Status whole = app::check_package(invocation.caller, file);
        faults += whole ? 0 : print({whole.error()});
      }
    }
    return faults == 0 ? kFine : kFinding;
  }

 private:
  static std::size_t print(const std::vector<Error>& faults) {
    for (const Error& fault : faults) {
      print_out(text::printable(fault.to_string(), 8192) + '\n');
    }
    return faults.size();
  }

  std::vector<std::string> ceilings_ = {};
  std::vector<std::string> files_ = {};
  bool deep_ = false;
};

}  // namespace

extern constinit const CommandEntry kCheckCommand{"check", "validate policies and snapshots", false,
                                                  make_command<Check>};

}  // namespace cordon::cli
