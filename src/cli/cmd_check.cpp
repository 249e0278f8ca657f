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
  }

  int execute(const Invocation&) override {
    if (files_.empty()) {
      return usage_error("give at least one FILE");
    }
    std::size_t faults = 0;
    for (const std::string& file : files_) {
      for (const Error& fault : app::check_file(file)) {
        ++faults;
        print_out(text::printable(fault.to_string(), 8192) + '\n');
      }
    }
    return faults == 0 ? kFine : kFinding;
  }

 private:
  std::vector<std::string> files_ = {};
};

}  // namespace

extern constinit const CommandEntry kCheckCommand{"check", "validate policies and snapshots", false,
                                                  make_command<Check>};

}  // namespace cordon::cli
