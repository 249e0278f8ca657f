// SPDX-License-Identifier: Apache-2.0
// The program: reads its surroundings once, finds the subcommand, runs it.

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "app/caller.hpp"
#include "cli/output.hpp"
#include "cli/parse.hpp"

namespace {

// With one of the three closed, the next file that we open would take its place and get what is meant for a terminal.
void open_standard_streams() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) {
    ::close(fd);
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
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
