// SPDX-License-Identifier: Apache-2.0
// audit: reads the log of a server, checks its chain, or sets two launches side by side.

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
    options.positionals("show|verify|compare [NAME] [A B]", words_,
                        "what to do, and the server or policy whose log is meant; compare: two launches, each a "
                        "number, last, previous or a log file (default: previous last)");
    policy_.declare_file(options);
    options.value("--head", "HEAD", head_, "verify: a head noted earlier that must be in the log, 'FILE SEQ HASH'");
    options.value("--format", "FORMAT", format_, "text (default) or json");
  }

  int execute(const Invocation& invocation) override {
    if (words_.empty() || (words_[0] != "show" && words_[0] != "verify" && words_[0] != "compare")) {
      return usage_error("give show, verify or compare");
    }
    const std::size_t first = policy_.has_file() ? 1 : 2;  // of the words behind the server
    const bool launches = words_[0] == "compare" && words_.size() == first + 2;
    if (words_.size() != first && !launches) {
      return usage_error(words_[0] == "compare" ? "give one server, NAME or --policy FILE, and two launches or none"
                                                : "give one server: NAME or --policy FILE");
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
    if (words_[0] == "compare") {
      const app::AuditPair pair = launches ? app::AuditPair{words_[first], words_[first + 1]} : app::AuditPair();
      return compare(invocation.caller, *server, pair, json);
    }
    return words_[0] == "show" ? show(invocation.caller, *server, json)
                               : verify(invocation.caller, *server, json, head_);
  }

 private:
  static int compare(const app::Caller& caller, const std::string& server, const app::AuditPair& pair, bool json) {
    const Result<std::string> compared = app::compare_audit(caller, server, pair, json);
    if (!compared) {
      return report(compared.error());
    }
    print_out(*compared);
    return kFine;
  }

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

extern constinit const CommandEntry kAuditCommand{"audit", "show, verify or compare the log of a server", false,
                                                  make_command<Audit>};

}  // namespace cordon::cli
