// SPDX-License-Identifier: Apache-2.0
#include "app/confirmations.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::uint64_t kMaxBytes = 65'536;

// A plan names its program by path; what decides about the boundary is the content.
std::string program_digest(const catalog::LaunchFingerprint& program) {
  std::string lines = text::cat(program.executable, "\n");
  for (const auto& [path, digest] : program.files) {
    lines += text::cat(digest, " ", path, "\n");
  }
  return sha256_text(lines);
}

std::string folder_of(const Caller& caller) { return caller.state_folder() + "/confirmations"; }

}  // namespace

Status record_confirmation(const Caller& caller, const std::string& server, const sandbox::Plan& plan,
                           const catalog::LaunchFingerprint& program, std::vector<sandbox::ConfirmedDetail> found) {
  const Result<std::string> boot = sandbox::current_boot_id();
  if (!boot) {
    return std::unexpected(boot.error());
  }
  const Result<std::string> folder = run::ensure_private_folder(folder_of(caller));
  if (!folder) {
    return std::unexpected(folder.error());
  }
  const sandbox::Confirmation confirmation{sandbox::confirmation_key(plan), program_digest(program), *boot,
                                           std::move(found)};
  return run::write_atomic(text::cat(*folder, '/', server, ".json"), sandbox::write_confirmation(confirmation),
                           {.replace = run::Replace::existing, .mode = 0600});
}

Status add_confirmation(const Caller& caller, const std::string& server, const sandbox::LaunchSpec& spec,
                        const catalog::LaunchFingerprint& program, sandbox::HostFacts& facts) {
  if (spec.backend != sandbox::BackendChoice::command) {
    return {};
  }
  const std::string path = text::cat(folder_of(caller), '/', server, ".json");
  const auto file = run::read_trusted_if_present(path, {.max_bytes = kMaxBytes});
  if (!file) {
    return std::unexpected(file.error());
  }
  if (!*file) {
    return {};
  }
  Result<sandbox::Confirmation> read = sandbox::read_confirmation((*file)->content);
  if (!read) {
    Error error = read.error();
    error.where = text::printable(path);
    return std::unexpected(std::move(error));
  }
  if (read->program != program_digest(program)) {
    return {};
  }
  Result<std::string> boot = sandbox::current_boot_id();
  if (!boot) {
    return std::unexpected(boot.error());
  }
  facts.confirmation = std::move(*read);
  facts.boot_id = std::move(*boot);
  return {};
}

}  // namespace cordon::app
