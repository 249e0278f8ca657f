// SPDX-License-Identifier: Apache-2.0
#pragma once
// `NAME | --policy FILE`, which nearly every subcommand takes.

#include <optional>
#include <string>
#include <vector>

#include "app/policy_lookup.hpp"
#include "cli/command.hpp"

namespace cordon::cli {

class PolicyArgument {
 public:
  void declare(Options& options) {
    options.positional("NAME", name_, "name of a policy in one of the policies folders");
    declare_file(options);
    declare_ceiling(options);
  }
  // For commands whose positionals mean something else.
  void declare_file(Options& options) { options.value("--policy", "FILE", file_, "a policy FILE in place of NAME"); }

  // For commands that use the policy, and not only its name.
  void declare_ceiling(Options& options) {
    options.values("--ceiling", "FILE", ceilings_, "refuse a policy that asks for more than this FILE accepts");
  }
  const std::vector<std::string>& ceilings() const { return ceilings_; }

  // Nothing, after a message on stderr, unless exactly one of both was given.
  std::optional<app::PolicyChoice> choice() const;
  // What a person would type to name the same policy again.
  std::string spelled() const { return file_.empty() ? name_ : "--policy " + file_; }
  const std::string& file() const { return file_; }
  bool has_file() const { return !file_.empty(); }

 private:
  std::string name_ = {};
  std::string file_ = {};
  std::vector<std::string> ceilings_ = {};
};

}  // namespace cordon::cli
