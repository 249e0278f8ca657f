// SPDX-License-Identifier: Apache-2.0
// The program: reads its surroundings once, finds the subcommand, runs it.

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "app/caller.hpp"
#include "cli/output.hpp"
#include "cli/parse.hpp"
#include "run/privileges.hpp"

int main(int argc, char** argv) {
  // With one of the three closed, the next file that we open would take its place.
  if (const cordon::Status open = cordon::run::ensure_standard_descriptors(); !open) {
    return cordon::cli::report(open.error());
  }
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  cordon::cli::Parsed parsed = cordon::cli::parse(arguments, CORDON_VERSION);
  if (!parsed.command) {
    cordon::cli::print_out(parsed.out);
    cordon::cli::print_err(parsed.err);
    return parsed.exit_status;
  }
  cordon::Result<cordon::app::Caller> caller = cordon::app::read_caller(::environ);
  if (!caller) {
    return cordon::cli::report(caller.error());
  }
  return parsed.command->execute({std::move(*caller), parsed.has_separator, std::move(parsed.after)});
}
