// SPDX-License-Identifier: Apache-2.0
#pragma once
// What wrap and unwrap share: options, showing each change, asking, writing, and saying what was done.

#include <string>
#include <vector>

#include "app/wrap.hpp"
#include "cli/command.hpp"

namespace cordon::cli {

class WrapDialog {
 public:
  explicit WrapDialog(app::Direction direction) : direction_(direction) {}
  void declare(Options& options);
  int execute(const Invocation& invocation);

 private:
  app::WrapSelection selection() const { return {clients_, servers_}; }
  int check(const app::WrapPlan& plan) const;
  int change(const Invocation& invocation, const app::WrapPlan& plan);

  app::Direction direction_;
  std::vector<std::string> clients_ = {};
  std::vector<std::string> servers_ = {};
  bool all_ = false;
  bool yes_ = false;
  bool dry_run_ = false;
  bool check_ = false;
};

}  // namespace cordon::cli
