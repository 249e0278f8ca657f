// SPDX-License-Identifier: Apache-2.0
// check: every fault of policies and snapshots, with its place, and what would stop a launch.

#include <algorithm>

#include "app/check_files.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace cordon::cli {
namespace {

class Check final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("NAME|FILE", words_, "names of policies, or files: policies (YAML) and snapshots (JSON)");
    options.values("--policy", "FILE", files_, "a policy FILE, as the other commands take it");
    options.values("--ceiling", "FILE", ceilings_,
                   "compare the policies with what this FILE accepts; alone: check the ceiling itself");
    options.flag("--syntax-only", syntax_only_,
                 "look at the files alone: nothing that a policy names has to be on this machine");
    options.flag("--deep", deep_, "also read every installed file of the policies' packages");
  }

  int execute(const Invocation& invocation) override {
    for (const std::string& file : files_) {
      words_.push_back(file.contains('/') ? file : "./" + file);
    }
    if (words_.empty() && ceilings_.empty()) {
      return usage_error("give at least one NAME or FILE");
    }
    if (deep_ && syntax_only_) {
      return usage_error("--deep and --syntax-only exclude each other");
    }
    if (print(app::check_ceilings(invocation.caller, ceilings_)) != 0) {
      return kFinding;
    }
    const Result<std::vector<app::LoadedCeiling>> ceilings = app::load_ceilings(invocation.caller, ceilings_);
    if (!ceilings) {
      return report(ceilings.error());
    }
    std::size_t faults = 0;
    for (const std::string& word : words_) {
      const Result<std::string> named = app::file_to_check(invocation.caller, word);
      if (!named) {
        faults += print(std::vector<Error>{named.error()});
        continue;
      }
      const std::string& file = *named;
      const std::vector<app::CheckFinding> found = app::check_file(
          invocation.caller, file, *ceilings, syntax_only_ ? app::CheckDepth::text : app::CheckDepth::launch);
      faults += print(found);
      if (deep_) {
        // Also where something else stops the launch; what was told already is not told again.
        const Status whole = app::check_package(invocation.caller, file);
        const bool told = !whole && std::ranges::any_of(found, [&](const app::CheckFinding& finding) {
          return finding.error.code == whole.error().code && finding.error.detail == whole.error().detail;
        });
        faults += whole || told ? 0 : print(std::vector<Error>{whole.error()});
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

  // How many of them stop a launch.
  static std::size_t print(const std::vector<app::CheckFinding>& findings) {
    std::size_t stopping = 0;
    for (const app::CheckFinding& finding : findings) {
      print(std::vector<Error>{finding.error});
      stopping += finding.stops ? 1 : 0;
    }
    return stopping;
  }

  std::vector<std::string> files_ = {};
  std::vector<std::string> ceilings_ = {};
  std::vector<std::string> words_ = {};
  bool deep_ = false;
  bool syntax_only_ = false;
};

}  // namespace

extern constinit const CommandEntry kCheckCommand{
    "check", "say what is wrong with policies and snapshots, and what would stop a launch", false, make_command<Check>};

}  // namespace cordon::cli
