// SPDX-License-Identifier: Apache-2.0
// capture: starts the server as run would, collects its whole catalog, and keeps it as a candidate.

#include <filesystem>

#include "app/capture.hpp"
#include "app/capture_twice.hpp"
#include "app/paths.hpp"
#include "app/policy_lookup.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"
#include "formats/snapshot.hpp"
#include "run/files.hpp"

namespace cordon::cli {
namespace {

class Capture final : public Command {
 public:
  void declare(Options& options) override {
    policy_.declare(options);
    options.value("-o,--output", "FILE", output_, "write the candidate to this FILE; - is standard output");
    options.flag("--twice", twice_, "capture again under other circumstances and say what is unstable");
  }

  int execute(const Invocation& invocation) override {
    const std::optional<app::PolicyChoice> choice = policy_.choice();
    if (!choice) {
      return kUsage;
    }
    const Result<app::LoadedPolicy> loaded = app::load_policy(invocation.caller, *choice);
    if (!loaded) {
      return report(loaded.error());
    }
    std::vector<std::string> own_files;
    if (!output_.empty() && output_ != "-") {
      own_files.push_back(std::filesystem::absolute(output_));
    }
    const app::CaptureRequest request{invocation.caller, *loaded, invocation.after, CORDON_VERSION, nullptr, own_files};
    if (!twice_) {
      const Result<catalog::Snapshot> candidate = app::capture_candidate(request);
      return candidate ? write(invocation, *loaded, *candidate) : report(candidate.error());
    }
    const Result<app::Twice> twice = app::capture_twice(request);
    if (!twice) {
      return report(twice.error());
    }
    if (const int status = write(invocation, *loaded, twice->candidate); status != kFine) {
      return status;
    }
    print_err(app::describe(*twice));
    return twice->stable() ? kFine : kFinding;
  }

 private:
  int write(const Invocation& invocation, const app::LoadedPolicy& loaded, const catalog::Snapshot& candidate) const {
    const std::string text = formats::write_snapshot(candidate);
    if (output_ == "-") {
      print_out(text);
      return kFine;
    }
    std::string path = output_;
    if (path.empty()) {
      path = app::candidate_path(invocation.caller, loaded.location.name);
      if (const Result<std::string> folder = run::ensure_private_folder(app::parent_of(path)); !folder) {
        return report(folder.error());
      }
    }
    if (const Status written = run::write_atomic(path, text); !written) {
      return report(written.error());
    }
    print_err(text::cat(candidate.tools.size(), " tools, ", candidate.prompts.size(), " prompts, ",
                        candidate.resources.size(), " resources and ", candidate.templates.size(),
                        " resource templates written to ", text::printable(path), "\nReview them: mcp-cordon review ",
                        text::printable(policy_.spelled()), " --candidate ", text::printable(path), '\n'));
    return kFine;
  }

  PolicyArgument policy_ = {};
  std::string output_ = {};
  bool twice_ = false;
};

}  // namespace

extern constinit const CommandEntry kCaptureCommand{"capture", "collect a server's catalog as a candidate", true,
                                                    make_command<Capture>};

}  // namespace cordon::cli
