// SPDX-License-Identifier: Apache-2.0
#include "app/grants.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "app/expand.hpp"
#include "app/paths.hpp"
#include "base/text.hpp"
#include "core/policy/sensitive.hpp"
#include "sandbox/steering.hpp"

namespace cordon::app {
namespace {

std::unexpected<Error> refuse(const policy::Policy& policy, const policy::Grant& grant, std::string detail,
                              std::string remedy) {
  return fail(Errc::policy_invalid, std::move(detail), place_in(policy, grant.position), std::move(remedy));
}

// The path of a grant as it is to be opened.
enum class Wanted : std::uint8_t { data, socket };
Result<std::string> existing_path(const policy::Policy& policy, const policy::Grant& grant, const Caller& caller,
                                  Wanted kind = Wanted::data) {
  const Result<std::string> path = expand_home(grant.path, caller.home);
  if (!path) {
    return refuse(policy, grant, path.error().detail, path.error().remedy);
  }
  const std::string shown = text::printable(*path);
  struct stat info{};
  if (::stat(path->c_str(), &info) != 0) {
    return refuse(policy, grant, text::cat("'", shown, "' cannot be granted or denied: ", errno_text("stat", errno)),
                  "create it, or take the entry out");
  }
  const std::string real = resolved(*path);
  if (real != *path) {
    return refuse(policy, grant, text::cat("'", shown, "' leads through a symlink to '", text::printable(real), "'"),
                  text::cat("write '", text::printable(real), "'"));
  }
  if (kind == Wanted::socket && !S_ISSOCK(info.st_mode)) {
    return refuse(policy, grant, text::cat("'", shown, "' is no socket"), "isolation.unix_sockets lists sockets alone");
  }
  if (kind == Wanted::data && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return refuse(
        policy, grant, text::cat("'", shown, "' is neither a file nor a folder"),
        S_ISSOCK(info.st_mode) ? "list a socket in isolation.unix_sockets" : "pipes and devices cannot be granted");
  }
  return path;
}

// Sensitive places, and what steers other programs: writing that is the one thing that covers cannot allow in part.
Status check_reason(const policy::Policy& policy, const policy::Grant& grant, const std::string& path,
                    const Caller& caller, bool writable) {
  if (!grant.reason.empty()) {
    return {};
  }
  const std::string shown = text::printable(path);
  if (const auto why = policy::why_sensitive(path, caller.home)) {
    return refuse(policy, grant, text::cat("a grant of '", shown, "' needs a reason: it gives away ", *why),
                  "grant less, or write {path: ..., reason: \"...\"}");
  }
  if (writable && sandbox::is_steering(path)) {
    return refuse(policy, grant,
                  text::cat("a write grant of '", shown, "' needs a reason: it decides what other programs do"),
                  "grant less, or write {path: ..., reason: \"...\"}");
  }
  return {};
}

Status add_mount(const policy::Policy& policy, const policy::Grant& grant, const Caller& caller, bool writable,
                 Grants& out) {
  const Result<std::string> source = existing_path(policy, grant, caller);
  if (!source) {
    return std::unexpected(source.error());
  }
  if (const Status reason = check_reason(policy, grant, *source, caller, writable); !reason) {
    return reason;
  }
  std::string target = *source;
  if (!grant.at.empty()) {
    if (!grant.at.starts_with('/')) {
      return refuse(policy, grant, text::cat("at: '", text::printable(grant.at), "' is not absolute"),
                    "begin it with /");
    }
    target = normalised(grant.at);
  }
  if (target == "/") {
    return refuse(policy, grant, "a grant cannot replace / inside the sandbox", "grant the folders that are needed");
  }
  for (sandbox::Mount& other : out.mounts) {
    if (other.target != target) {
      continue;
    }
    if (other.source != *source) {
      return refuse(policy, grant, text::cat("two grants appear at '", text::printable(target), "'"),
                    "change one `at`");
    }
    other.writable = other.writable || writable;  // write implies read
    other.reasoned = other.reasoned || (writable && !grant.reason.empty());
    return {};
  }
  out.mounts.push_back({*source, target, writable, writable && !grant.reason.empty()});
  return {};
}

// `deny` names paths outside, like the grants. It is masked wherever a grant shows it.
Status add_deny(const policy::Policy& policy, const policy::Grant& grant, const Caller& caller, Grants& out) {
  const Result<std::string> path = existing_path(policy, grant, caller);
  if (!path) {
    return std::unexpected(path.error());
  }
  bool shown = false;
  for (const sandbox::Mount& mount : out.mounts) {
    if (is_within(mount.source, *path)) {
      return refuse(policy, grant,
                    text::cat("'", text::printable(*path), "' is denied, but '", text::printable(mount.source),
                              "' in it is granted"),
                    "take one of both entries out");
    }
    if (is_within(*path, mount.source)) {
      out.deny.push_back(rebased(*path, mount.source, mount.target));
      shown = true;
    }
  }
  if (shown) {
    return {};
  }
  const bool means_inside =
      std::ranges::any_of(out.mounts, [&](const sandbox::Mount& mount) { return is_within(*path, mount.target); });
  if (means_inside) {
    return refuse(policy, grant, text::cat("'", text::printable(*path), "' names a place inside the sandbox"),
                  "name the path outside, as it is granted");
  }
  out.deny.push_back(*path);  // perhaps shown by a runtime preset
  return {};
}

Status add_socket(const policy::Policy& policy, const policy::Grant& grant, const Caller& caller, Grants& out) {
  Result<std::string> path = existing_path(policy, grant, caller, Wanted::socket);
  if (!path) {
    return std::unexpected(path.error());
  }
  if (const Status reason = check_reason(policy, grant, *path, caller, false); !reason) {
    return reason;
  }
  out.unix_sockets.push_back(std::move(*path));
  return {};
}

}  // namespace

std::string place_in(const policy::Policy& policy, const policy::Position& position) {
  if (position.line == 0) {
    return policy.file;
  }
  return text::cat(policy.file, ':', position.line, ':', position.column);
}

Grants resolve_grants(const policy::Policy& policy, const Caller& caller, std::vector<Error>& faults) {
  Grants out;
  const policy::Isolation& isolation = policy.isolation;
  const auto take = [&faults](Status status) {
    if (!status) {
      faults.push_back(std::move(status.error()));
    }
  };
  for (const policy::Grant& grant : isolation.read) {
    take(add_mount(policy, grant, caller, false, out));
  }
  for (const policy::Grant& grant : isolation.write) {
    take(add_mount(policy, grant, caller, true, out));
  }
  for (const policy::Grant& grant : isolation.deny) {
    take(add_deny(policy, grant, caller, out));
  }
  for (const policy::Grant& grant : isolation.unix_sockets) {
    take(add_socket(policy, grant, caller, out));
  }
  std::ranges::sort(out.unix_sockets);
  // Sorting by target puts a folder before what is mounted in it, and makes plans reproducible.
  std::ranges::sort(out.mounts, {}, &sandbox::Mount::target);
  std::ranges::sort(out.deny);
  const auto repeated = std::ranges::unique(out.deny);
  out.deny.erase(repeated.begin(), repeated.end());
  return out;
}

Result<Grants> resolve_grants(const policy::Policy& policy, const Caller& caller) {
  std::vector<Error> faults;
  Grants out = resolve_grants(policy, caller, faults);
  return faults.empty() ? Result<Grants>(std::move(out)) : std::unexpected(std::move(faults.front()));
}

std::string outside_path(const std::vector<sandbox::Mount>& mounts, const std::string& inside) {
  const sandbox::Mount* innermost = nullptr;
  for (const sandbox::Mount& mount : mounts) {
    if (is_within(inside, mount.target) && (innermost == nullptr || mount.target.size() > innermost->target.size())) {
      innermost = &mount;
    }
  }
  return innermost == nullptr ? inside : rebased(inside, innermost->target, innermost->source);
}

}  // namespace cordon::app
