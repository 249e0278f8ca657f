// SPDX-License-Identifier: Apache-2.0
#include "app/signatures.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

#include "app/command_output.hpp"
#include "base/text.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kPrincipal = "mcp-cordon";
constexpr std::uint64_t kMaxSignature = 65'536;

// A private folder that is gone afterwards: the bytes that were read are what ssh-keygen sees, not what the file has
// become meanwhile.
class Workplace {
 public:
  static Result<Workplace> make(const Caller& caller) {
    const Result<std::string> state = run::ensure_private_folder(caller.state_folder());
    if (!state) {
      return std::unexpected(state.error());
    }
    std::string path = *state + "/signature-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return fail(Errc::launch_failed, errno_text("cannot make a folder", errno), *state);
    }
    return Workplace(std::move(path));
  }
  explicit Workplace(std::string path) : path_(std::move(path)) {}
  Workplace(Workplace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Workplace& operator=(Workplace&&) = delete;
  ~Workplace() {
    if (!path_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }
  }
  std::string file(std::string_view name) const { return text::cat(path_, '/', name); }
  Status put(std::string_view name, std::string_view content) const { return run::write_atomic(file(name), content); }

 private:
  std::string path_;
};

Result<std::string> run_ssh_keygen(const Caller& caller, std::vector<std::string> arguments, std::string input) {
  CommandRequest request;
  request.program = system_program("ssh-keygen");
  if (request.program.empty()) {
    return fail(Errc::launch_failed, "ssh-keygen is not installed", "ssh-keygen", "install the OpenSSH client");
  }
  request.argv = {"ssh-keygen", "-Y"};
  request.argv.insert(request.argv.end(), std::make_move_iterator(arguments.begin()),
                      std::make_move_iterator(arguments.end()));
  request.environment = {text::cat("PATH=", kSecretPath), "HOME=" + caller.home, "LC_ALL=C"};
  if (const auto agent = caller.environment.find("SSH_AUTH_SOCK"); agent != caller.environment.end()) {
    request.environment.push_back("SSH_AUTH_SOCK=" + agent->second);
  }
  request.input = std::move(input);
  return command_output(request);
}

Result<std::string> usable_key(const Caller& caller, const std::string& key_file) {
  if (!key_file.empty()) {
    return std::filesystem::absolute(key_file).string();
  }
  for (const std::string_view name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
    std::string path = text::cat(caller.home, "/.ssh/", name);
    if (::access(path.c_str(), R_OK) == 0) {
      return path;
    }
  }
  return fail(Errc::file_unreadable, "there is no key to sign with", caller.home + "/.ssh", "name one with --key FILE");
}

}  // namespace

std::string signature_path(std::string_view snapshot_path) { return text::cat(snapshot_path, ".sig"); }

Result<std::string> sign_content(const Caller& caller, std::string_view content, const std::string& key_file) {
  const Result<std::string> key = usable_key(caller, key_file);
  if (!key) {
    return key;
  }
  const Result<Workplace> place = Workplace::make(caller);
  if (!place) {
    return std::unexpected(place.error());
  }
  if (const Status put = place->put("snapshot", content); !put) {
    return std::unexpected(put.error());
  }
  const Result<std::string> made = run_ssh_keygen(
      caller, {"sign", "-q", "-f", *key, "-n", std::string(kSignatureNamespace), place->file("snapshot")}, {});
  if (!made) {
    return fail(Errc::launch_failed, text::cat("ssh-keygen did not sign: ", made.error().detail), *key,
                "a key with a passphrase has to be in an agent: ssh-add FILE");
  }
  Result<run::TrustedFile> signature = run::read_trusted(place->file("snapshot.sig"), {.max_bytes = kMaxSignature});
  if (!signature) {
    return std::unexpected(signature.error());
  }
  return std::move(signature->content);
}

Status verify_signature(const Caller& caller, std::string_view content, std::string_view signature,
                        const std::vector<std::string>& trusted_keys) {
  const Result<Workplace> place = Workplace::make(caller);
  if (!place) {
    return std::unexpected(place.error());
  }
  std::string signers;
  for (const std::string& key : trusted_keys) {
    signers += text::cat(kPrincipal, " namespaces=\"", kSignatureNamespace, "\" ", key, '\n');
  }
  for (const auto& [name, text] : std::array<std::pair<std::string_view, std::string_view>, 3>{
           {{"signers", signers}, {"snapshot", content}, {"signature", signature}}}) {
    if (const Status put = place->put(name, text); !put) {
      return put;
    }
  }
  const Result<std::string> checked =
      run_ssh_keygen(caller,
                     {"verify", "-q", "-f", place->file("signers"), "-I", std::string(kPrincipal), "-n",
                      std::string(kSignatureNamespace), "-s", place->file("signature")},
                     place->file("snapshot"));
  if (checked) {
    return {};
  }
  // What ssh-keygen ends with says no; everything else is no answer.
  const bool answered = checked.error().detail.starts_with("ended with status ");
  return fail(answered ? Errc::snapshot_invalid : Errc::launch_failed,
              answered ? std::string("its signature is not one of a key in catalog.trusted_keys over this very file")
                       : text::cat("its signature could not be checked: ", checked.error().detail),
              {}, checked.error().remedy);
}

}  // namespace cordon::app
