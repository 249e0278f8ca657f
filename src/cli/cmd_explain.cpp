// SPDX-License-Identifier: Apache-2.0
// explain: what the gate would decide about a call, and by which line of the policy.

#include <optional>
#include <utility>

#include "app/explain.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"
#include "core/json/read.hpp"

namespace cordon::cli {
namespace {

class Explain final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("NAME TOOL", words_, "a policy's NAME and a tool; TOOL alone with --policy");
    policy_.declare_file(options);
    policy_.declare_ceiling(options);
    options.value("--arguments", "JSON", arguments_, "a call with these arguments, a JSON object");
    options.flag("--read-only", read_only_, "in a session of run --read-only");
  }

  int execute(const Invocation& invocation) override {
    const std::size_t expected = policy_.has_file() ? 1 : 2;
    if (words_.size() != expected) {
      return usage_error(policy_.has_file() ? "give a TOOL" : "give a policy's NAME and a TOOL");
    }
    std::optional<json::Document> arguments;
    if (!arguments_.empty()) {
      Result<json::Document> read = json::read(arguments_, {});
      if (!read || !read->root().is(json::Kind::object)) {
        return usage_error(text::cat("--arguments must be a JSON object",
                                     read ? std::string() : text::cat(": ", text::printable(read.error().detail))));
      }
      arguments = std::move(*read);
    }
    const Result<std::string> text =
        app::explain({invocation.caller,
                      {policy_.has_file() ? "" : words_.front(), policy_.file(), policy_.ceilings()},
                      words_.back(),
                      arguments ? arguments->root() : json::Value(),
                      read_only_});
    if (!text) {
      return report(text.error());
    }
    print_out(*text);
    return kFine;
  }

 private:
  PolicyArgument policy_ = {};
  std::vector<std::string> words_ = {};
  std::string arguments_ = {};
  bool read_only_ = false;
};

}  // namespace

extern constinit const CommandEntry kExplainCommand{"explain", "tell what the gate would decide about a tool", false,
                                                    make_command<Explain>};

}  // namespace cordon::cli
