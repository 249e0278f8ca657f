// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that steer us (policies, snapshots, ceilings, keys, state): read once after trust checks, written atomically.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "run/trust.hpp"

namespace cordon::run {

struct TrustRules {
  std::uint64_t max_bytes = 16'000'000;
  std::optional<uid_t> user = {};  // who besides root may own it; default: the effective user
};

// Which file it was: two openings that agree in this are of the same, unchanged file.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  uid_t owner = 0;
  mode_t mode = 0;
  bool operator==(const FileIdentity&) const = default;
};

struct OpenedFile {
  UniqueFd fd = {};       // for reading
  std::string path = {};  // absolute, no symlink in it
  FileIdentity identity = {};
};

struct TrustedFile {
  std::string path = {};
  std::string content = {};
  FileIdentity identity = {};
};

// Opens a regular file after all checks of product §3: root or the user own it and every folder above it, nobody else
// may write to any of them (sticky folders may be parents), and the last component is no symlink.
//   file_untrusted   a check failed; `remedy` holds the command that helps
//   file_unreadable  missing, no permission, no regular file, too large
Result<OpenedFile> open_trusted(const std::string& path, const TrustRules& rules = {});

// The same, and its whole content, read once.
Result<TrustedFile> read_trusted(const std::string& path, const TrustRules& rules = {});

// For places that are looked at in turn: nothing when the file or a folder above it is missing.
Result<std::optional<TrustedFile>> read_trusted_if_present(const std::string& path, const TrustRules& rules = {});

// Creates what is missing (mode 0700) and checks the whole way; the folder itself must belong to the user.
// Gives the resolved path.
Result<std::string> ensure_private_folder(const std::string& path);

enum class Replace : std::uint8_t {
  never,     // an existing file is an error: whoever comes first wins
  existing,  // a regular file of that name is replaced
};
struct WriteOptions {
  Replace replace = Replace::existing;
  mode_t mode = 0600;
};

// Whole or not at all: a temporary file beside it, fsync, rename, fsync of the folder. The folder passes the same
// checks.
Status write_atomic(const std::string& path, std::string_view content, const WriteOptions& options = {});

}  // namespace cordon::run
