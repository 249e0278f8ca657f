// SPDX-License-Identifier: Apache-2.0
#include "app/server_words.hpp"

#include <algorithm>
#include <array>

#include "app/paths.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kTailLines = 12;
constexpr std::size_t kTailBytes = 400;  // of a line
constexpr std::size_t kMaxFindings = 6;
// A server can complain without end; what is looked up outside on its account cannot go on without end.
constexpr std::size_t kMaxLooks = 200;

}  // namespace

void ServerWords::heard(std::string_view line) {
  if (line.empty()) {
    return;
  }
  if (!setting_.relayed) {
    tail_.push_back(text::printable(line, kTailBytes));
    if (tail_.size() > kTailLines) {
      tail_.pop_front();
    }
  }
  if (const std::optional<Finding> finding = look_at(line)) {
    if (!setting_.relayed) {
      setting_.say(text::cat("the server's own words: ", text::printable(line, kTailBytes)));
    }
    say(*finding);
  }
}

void ServerWords::overheard(std::string_view line) {
  if (const std::optional<Finding> finding = look_at(line)) {
    say(*finding);
  }
}

// Nothing for what was said already.
std::optional<Finding> ServerWords::look_at(std::string_view line) {
  if (said_.size() >= kMaxFindings || looked_at_ >= kMaxLooks) {
    return std::nullopt;
  }
  const std::optional<Complaint> complaint = read_complaint(line);
  if (!complaint) {
    return std::nullopt;
  }
  ++looked_at_;
  std::optional<Finding> finding = diagnose(*complaint, setting_.around);
  return finding && !said_.contains(finding->what) ? std::move(finding) : std::nullopt;
}

void ServerWords::exited(const gate::ExitReport& report) {
  if (const std::optional<Finding> finding = diagnose_exit(report, setting_.around.plan)) {
    say(*finding);
  }
}

void ServerWords::say(const Finding& finding) {
  said_.insert(finding.what);
  setting_.say(text::cat("denied by the sandbox: ", finding.what));
  if (!finding.proposal.empty()) {
    setting_.say(text::cat("if the server, whose words alone ask for it, shall have it: add to ",
                           text::printable(setting_.policy_path, 1024), ": ", finding.proposal));
  }
}

void ServerWords::ended(bool failed) {
  if (!failed || tail_.empty()) {
    return;
  }
  setting_.say("the server's own last words on stderr:");
  for (const std::string& line : tail_) {
    setting_.say(text::cat("  | ", line));
  }
}

std::string next_step(Errc code, std::string_view name, bool reviewed) {
  const std::string_view alone = "see whether its command answers without mcp-cordon";
  // A session, and with it a trace, takes a snapshot.
  const std::string traced =
      reviewed ? text::cat("mcp-cordon run --trace ", name, " shows what the sandbox denies it") : std::string(alone);
  if (code == Errc::server_exited) {
    return text::cat("look at its own words above; ", traced);
  }
  if (code == Errc::timed_out) {
    return reviewed ? text::cat(alone, "; ", traced)
                    : text::cat(alone, "; what it may need is granted in the policy (isolation)");
  }
  return {};
}

Error with_next_step(Error error, std::string_view name, bool reviewed) {
  if (error.remedy.empty()) {
    error.remedy = next_step(error.code, name, reviewed);
  }
  return error;
}

bool never_proposed(std::string_view path) {
  constexpr auto kSystem = std::to_array<std::string_view>(
      {"/etc", "/root", "/run", "/var/run", "/proc", "/sys", "/dev", "/boot", "/var/lib", "/var/spool", "/home"});
  const bool system = std::ranges::any_of(kSystem, [path](std::string_view folder) {
    // Of /home the folder itself, of the others all that lies in them.
    return folder == "/home" ? path == folder : is_within(path, folder);
  });
  return system || path.find("/.") != std::string_view::npos;
}

}  // namespace cordon::app
