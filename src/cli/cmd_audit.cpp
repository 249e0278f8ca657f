// SPDX-License-Identifier: Apache-2.0
// audit: reads the log of a server, or checks its chain.

#include "app/audit_log.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"

namespace cordon::cli {
namespace {

class Audit final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("show|verify [NAME]", words_, "what to do, and the server or policy whose log is meant");
    policy_.declare_file(options);
    options.value("--head", "HEAD", head_, "verify: a head noted earlier that must be in the log, 'FILE SEQ HASH'");
    options.value("--format", "FORMAT", format_, "text (default) or json");
  }

  int execute(const Invocation& invocation) override {
    if (words_.empty() || (words_[0] != "show" && words_[0] != "verify")) {
      return usage_error(!words_.empty() && words_[0] == "compare" ? "audit compare is not supported by this version"
                                                                   : "give show or verify");
    }
    if (words_.size() != (policy_.has_file() ? 1U : 2U)) {
      return usage_error("give one server: NAME or --policy FILE");
    }
    if (format_ != "text" && format_ != "json") {
      return usage_error(text::cat("--format is text or json, not '", format_, "'"));
    }
    if (!head_.empty() && words_[0] != "verify") {
      return usage_error("--head goes with verify");
    }
    const Result<std::string> server =
        app::audited_server(invocation.caller, {policy_.has_file() ? "" : words_[1], policy_.file()});
    if (!server) {
      return report(server.error());
    }
    const bool json = format_ == "json";
    return words_[0] == "show" ? show(invocation.caller, *server, json)
                               : verify(invocation.caller, *server, json, head_);
  }

 private:
  static int show(const app::Caller& caller, const std::string& server, bool json) {
    const Status shown = app::show_audit(caller, server, json, print_out);
    return shown ? kFine : report(shown.error());
  }

  static int verify(const app::Caller& caller, const std::string& server, bool json, const std::string& head) {
    const Result<app::AuditVerdict> verdict = app::verify_audit(caller, server, head);
    if (!verdict) {
      return report(verdict.error());
    }
    print_out(json ? verdict->json : verdict->text);
    return verdict->intact ? kFine : kFinding;
  }

  PolicyArgument policy_ = {};
  std::vector<std::string> words_ = {};
  std::string head_ = {};
  std::string format_ = "text";
};

}  // namespace

extern constinit const CommandEntry kAuditCommand{"audit", "show or verify the log of a server", false,
                                                  make_command<Audit>};

}  // namespace cordon::cli
