// SPDX-License-Identifier: Apache-2.0
// prune: removes installed packages that no policy uses any more.

#include <optional>
#include <vector>

#include "app/prune.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"

namespace cordon::cli {
namespace {

std::string size_of(std::uint64_t bytes) {
  constexpr std::uint64_t kTenth = 100'000;
  return text::cat(bytes / (10 * kTenth), '.', bytes / kTenth % 10, " MB");
}

class Prune final : public Command {
 public:
  void declare(Options& options) override {
    options.flag("--dry-run", dry_run_, "show what would be removed, and remove nothing");
    options.flag("--yes", yes_, "do not ask");
  }

  int execute(const Invocation& invocation) override {
    if (dry_run_ && yes_) {
      return usage_error("--yes and --dry-run exclude each other");
    }
    const Result<std::vector<app::StoredPackage>> packages = app::stored_packages(invocation.caller);
    if (!packages) {
      return report(packages.error());
    }
    std::size_t removable = 0;
    std::uint64_t bytes = 0;
    for (const app::StoredPackage& one : *packages) {
      print_out(text::cat(one.removable ? "remove " : "keep   ", one.package, "  ", size_of(one.bytes), ", ", one.files,
                          " files  (", one.why, ")\n       ", text::printable(one.folder, 1000), '\n'));
      removable += one.removable ? 1 : 0;
      bytes += one.removable ? one.bytes : 0;
    }
    if (packages->empty()) {
      print_out("nothing is installed\n");
      return kFine;
    }
    print_out(text::cat(removable, " of ", packages->size(), " can be removed: ", size_of(bytes), '\n'));
    return removable == 0 || dry_run_ ? kFine : remove(invocation, *packages);
  }

 private:
  int remove(const Invocation& invocation, const std::vector<app::StoredPackage>& packages) const {
    if (!yes_) {
      Result<Terminal> terminal = Terminal::open("a person answers at a terminal; without one use --yes");
      if (!terminal) {
        return report(terminal.error());
      }
      terminal->drop_typed_ahead();
      terminal->show("Remove them? [y]es, [n]o: ");
      const std::optional<std::string> line = terminal->line();
      if (!line || (*line != "y" && *line != "yes")) {
        print_err("mcp-cordon: nothing was removed\n");
        return kFine;
      }
    }
    const Result<app::Pruned> pruned = app::prune_packages(invocation.caller, packages);
    if (!pruned) {
      return report(pruned.error());
    }
    for (const std::string& kept : pruned->kept) {
      print_err(text::cat("mcp-cordon: kept ", kept, '\n'));
    }
    print_err(text::cat("mcp-cordon: removed ", pruned->packages, ", ", size_of(pruned->bytes), '\n'));
    return kFine;
  }

  bool dry_run_ = false;
  bool yes_ = false;
};

}  // namespace

extern constinit const CommandEntry kPruneCommand{"prune", "remove installed packages that no policy uses", false,
                                                  make_command<Prune>};

}  // namespace cordon::cli
