// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.hpp"

namespace cordon::cli {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return;  // nobody reads any more, and there is nowhere to say so
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool set_and_not_empty(const app::Caller& caller, const char* name) {
  const auto found = caller.environment.find(name);
  return found != caller.environment.end() && !found->second.empty();
}

}  // namespace

void print_out(std::string_view text) { write_all(STDOUT_FILENO, text); }

void print_err(std::string_view text) { write_all(STDERR_FILENO, text); }

app::Style style_for(int fd, const app::Caller& caller) {
  const auto term = caller.environment.find("TERM");
  const bool dumb = term == caller.environment.end() || term->second == "dumb";
  return {::isatty(fd) == 1 && !dumb && !set_and_not_empty(caller, "NO_COLOR")};
}

std::size_t columns_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string error_line(const Error& error) {
  return text::printable(text::cat(name(error.code), ": ", error.to_string()), 8192);
}

int report(const Error& error) {
  print_err(text::cat("mcp-cordon: ", error_line(error), '\n'));
  return exit_status(error.code);
}

int usage_error(std::string_view text) {
  print_err(text::cat("mcp-cordon: ", text::printable(text, 2000), '\n'));
  return kUsage;
}

}  // namespace cordon::cli
