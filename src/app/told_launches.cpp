// SPDX-License-Identifier: Apache-2.0
#include "app/told_launches.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMost = 16;  // of one policy: as many clients, each with a command of its own
constexpr std::uint64_t kMaxBytes = 65'536;

}  // namespace

bool first_told(const Caller& caller, std::string_view policy_file, std::string_view snapshot_digest,
                const catalog::LaunchFingerprint& now) {
  const Result<std::string> folder = run::ensure_private_folder(caller.state_folder() + "/told");
  if (!folder) {
    return true;
  }
  const std::string path = text::cat(*folder, '/', hex(sha256(policy_file)).substr(0, 32));
  const std::string launch = sha256_text(text::cat(snapshot_digest, '\n', catalog::fingerprint_json(now)));
  std::vector<std::string> told;
  if (const auto file = run::read_trusted_if_present(path, {.max_bytes = kMaxBytes}); file && *file) {
    for (const std::string_view line : text::split((*file)->content, '\n')) {
      if (!line.empty()) {
        told.emplace_back(line);
      }
    }
  }
  if (std::ranges::find(told, launch) != told.end()) {
    return false;
  }
  if (told.size() >= kMost) {
    told.erase(told.begin());
  }
  told.push_back(launch);
  [[maybe_unused]] const Status best_effort = run::write_atomic(path, text::join(told, "\n") + '\n');
  return true;
}

}  // namespace cordon::app
