// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "base/text.hpp"
#include "sandbox/firejail.hpp"
#include "sandbox/probe_parts.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kLeast = "0.9.72";  // the first that keeps chosen descriptors

Trial try_firejail(const std::string& path, const HostFacts& facts) {
  std::vector<std::string> argv = {path};
  argv.insert(argv.end(), kFirejailOptions.begin(), kFirejailOptions.end());
  argv.insert(argv.end(), {"--", "/bin/true"});
  const ToolOutput ran = run_tool(argv, facts, {"PATH=/usr/bin:/bin"});
  if (ran.status == 0) {
    return {.works = true, .step = "done"};
  }
  std::string hint = text::cat("firejail says: ", text::printable(ran.text, 300));
  if (facts.root()) {
    hint += "; firejail serves accounts of people only: name one in isolation.user";
  }
  return {.step = "run", .reason = facts.root() ? "running_as_root" : "backend_refused", .hint = std::move(hint)};
}

}  // namespace

FirejailFacts probe_firejail(const HostFacts& facts) {
  FirejailFacts found;
  found.path = find_system_tool("firejail");
  if (found.path.empty()) {
    found.trial = {.step = "find",
                   .error_number = ENOENT,
                   .reason = "backend_missing",
                   .hint = "install firejail (apt-get install firejail)"};
    return found;
  }
  found.version = version_in(run_tool({found.path, "--version"}, facts).text);
  // To accounts that it does not serve it does not even tell its version; what it says then shows below.
  if (!found.version.empty() && !version_reaches(found.version, kLeast)) {
    found.trial = {.step = "version",
                   .reason = "backend_version",
                   .hint = text::cat("firejail ", found.version, " is installed; ", kLeast, " or later is needed")};
    return found;
  }
  found.trial = try_firejail(found.path, facts);
  return found;
}

}  // namespace cordon::sandbox
