// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signatures over snapshot files, made and checked by `ssh-keygen -Y` (docs/adr/0006-ssh-signatures.md). A signature
// lies beside its snapshot, in FILE.sig, and covers every byte of the file.

#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"

namespace cordon::app {

inline constexpr std::string_view kSignatureNamespace = "mcp-cordon-snapshot";

std::string signature_path(std::string_view snapshot_path);

// The signature of `content`, armoured. `key_file`: a private key, or a public key whose private half an agent holds;
// empty: the first of ~/.ssh/id_ed25519, id_ecdsa and id_rsa. No passphrase is asked for, an agent has to hold such
// keys. launch_failed, file_unreadable.
Result<std::string> sign_content(const Caller& caller, std::string_view content, const std::string& key_file);

// Is `signature` one over `content` by one of `trusted_keys` (lines as in an OpenSSH .pub file)? snapshot_invalid when
// it is not, launch_failed when that cannot be found out; nothing but success may count as signed.
Status verify_signature(const Caller& caller, std::string_view content, std::string_view signature,
                        const std::vector<std::string>& trusted_keys);

}  // namespace cordon::app
