// SPDX-License-Identifier: Apache-2.0
// inventory: the servers in the configs of all clients, and what is to be said about them.

#include <algorithm>

#include "app/inventory.hpp"
#include "app/wrap.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace cordon::cli {
namespace {

class InventoryCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.value("--format", "FORMAT", format_, "text (default), json or sarif");
    options.values("--client", "ID", clients_, "only configs of this client");
  }

  int execute(const Invocation& invocation) override {
    if (format_ != "text" && format_ != "json" && format_ != "sarif") {
      return usage_error(text::cat("no format '", format_, "'; there are text, json and sarif"));
    }
    const app::WrapSelection selection{clients_, {}};
    std::vector<app::ConfigFile> files = app::find_configs(app::folders_of(invocation.caller));
    for (const std::string& problem : app::unknown_selections(files, selection)) {
      return usage_error(problem);
    }
    std::erase_if(files, [&](const app::ConfigFile& file) {
      return !clients_.empty() && std::ranges::find(clients_, file.client) == clients_.end();
    });
    const formats::Inventory inventory = app::take_inventory(invocation.caller, files);
    print_out(format_ == "json"    ? formats::inventory_json(inventory)
              : format_ == "sarif" ? formats::inventory_sarif(inventory)
                                   : formats::inventory_text(inventory));
    return formats::has_finding(inventory) ? kFinding : kFine;
  }

 private:
  std::string format_ = "text";
  std::vector<std::string> clients_ = {};
};

}  // namespace

extern constinit const CommandEntry kInventoryCommand{"inventory", "list the servers in the configs of MCP clients",
                                                      false, make_command<InventoryCommand>};

}  // namespace cordon::cli
