// SPDX-License-Identifier: Apache-2.0
// wrap: put mcp-cordon before servers in the configs of clients.

#include "cli/command.hpp"
#include "cli/wrap_dialog.hpp"

namespace cordon::cli {
namespace {

class WrapCommand final : public Command {
 public:
  void declare(Options& options) override { dialog_.declare(options); }
  int execute(const Invocation& invocation) override { return dialog_.execute(invocation); }

 private:
  WrapDialog dialog_ = WrapDialog(app::Direction::wrap);
};

}  // namespace

extern constinit const CommandEntry kWrapCommand{"wrap", "put mcp-cordon before servers in the configs of clients",
                                                 false, make_command<WrapCommand>};

}  // namespace cordon::cli
