// SPDX-License-Identifier: Apache-2.0
// unwrap: take mcp-cordon out of the configs of clients again.

#include "cli/command.hpp"
#include "cli/wrap_dialog.hpp"

namespace cordon::cli {
namespace {

class UnwrapCommand final : public Command {
 public:
  void declare(Options& options) override { dialog_.declare(options); }
  int execute(const Invocation& invocation) override { return dialog_.execute(invocation); }

 private:
  WrapDialog dialog_ = WrapDialog(app::Direction::unwrap);
};

}  // namespace

extern constinit const CommandEntry kUnwrapCommand{"unwrap", "take mcp-cordon out of the configs of clients again",
                                                   false, make_command<UnwrapCommand>};

}  // namespace cordon::cli
