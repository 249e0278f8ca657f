// SPDX-License-Identifier: Apache-2.0
#include "app/expand.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "app/paths.hpp"
#include "base/text.hpp"
#include "sandbox/probe_host.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kSystemPath = "/usr/local/bin:/usr/bin:/bin";

bool is_executable_file(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

Result<Program> at(const std::string& path) {
  if (!is_executable_file(path)) {
    return fail(Errc::launch_failed, "is no executable file", path, "install the server, or correct launch.command");
  }
  // A version manager's shim would choose at every start, inside, where the manager is not.
  const Result<std::string> program = sandbox::behind_shim(path);
  if (!program) {
    return std::unexpected(program.error());
  }
  return Program{*program, resolved(*program)};
}

}  // namespace

Result<std::string> expand_home(std::string_view path, const std::string& home) {
  if (path == "~" || path.starts_with("~/")) {
    return normalised(text::cat(home, path.substr(1)));
  }
  if (!path.starts_with('/')) {
    return fail(Errc::policy_invalid, text::cat("the path '", text::printable(path), "' is not absolute"), {},
                "begin it with / or ~/");
  }
  return normalised(path);
}

Result<Program> find_program(const std::string& argv0, const Caller& caller) {
  if (argv0.starts_with('/')) {
    return at(argv0);
  }
  if (argv0.empty() || argv0.find('/') != std::string::npos) {
    return fail(Errc::policy_invalid,
                text::cat("launch.command begins with the relative path '", text::printable(argv0), "'"), {},
                "write a bare name or an absolute path");
  }
  const auto found = caller.environment.find("PATH");
  const std::string_view path = found == caller.environment.end() ? kSystemPath : std::string_view(found->second);
  for (const std::string_view folder : text::split(path, ':')) {
    // An empty or relative entry means the current directory, which is not used.
    if (!folder.starts_with('/')) {
      continue;
    }
    const std::string candidate = text::cat(normalised(folder), "/", argv0);
    if (is_executable_file(candidate)) {
      return at(candidate);
    }
  }
  return fail(Errc::launch_failed, text::cat("there is no program '", text::printable(argv0), "' in PATH"), {},
              "install it, or write its absolute path in launch.command");
}

}  // namespace cordon::app
