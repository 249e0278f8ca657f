// SPDX-License-Identifier: Apache-2.0
#include "sandbox/seatbelt.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "sandbox/paths.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kBeginning =
    "(version 1)\n"
    "(deny default)\n"
    "(allow process-fork)\n"
    "(allow signal (target same-sandbox))\n"
    "(allow process-info* (target same-sandbox))\n"
    "(allow sysctl-read)\n"
    "(allow file-read-metadata (literal \"/\"))\n"
    "(allow file-read* file-map-executable process-exec* (subpath \"/usr/lib\") (subpath \"/System/Library\"))\n"
    "(allow file-read* (literal \"/dev/random\") (literal \"/dev/urandom\") (literal \"/dev/null\") (literal "
    "\"/dev/zero\"))\n"
    "(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))\n";

// A string of the profile language; a quote in a path must not end it.
std::string quoted(std::string_view path) {
  std::string out = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "\"";
}

// The folders above must be passed through, and can be seen to exist, no more.
std::string ancestors(std::string_view path) {
  std::string out;
  for (std::string folder(parent_path(path)); folder != "/"; folder = std::string(parent_path(folder))) {
    out += text::cat(" (literal ", quoted(folder), ")");
  }
  return out.empty() ? out : text::cat("(allow file-read-metadata", out, ")\n");
}

}  // namespace

Result<std::string> seatbelt_profile(std::span<const ViewEntry> view) {
  std::string out(kBeginning);
  for (const ViewEntry& entry : view) {
    if (entry.kind != EntryKind::bind || entry.optional) {
      continue;  // devices are above, /proc is none there
    }
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (!is_normal_path(entry.target) || std::ranges::any_of(entry.target, is_control)) {
      return fail(Errc::policy_invalid, "a path with a control character cannot be written in a profile",
                  text::printable(entry.target));
    }
    const std::string place = text::cat(" (subpath ", quoted(entry.target), ")");
    out += ancestors(entry.target);
    out += text::cat("(allow file-read*", entry.executable ? " file-map-executable process-exec*" : "", place, ")\n");
    if (entry.writable) {
      out += text::cat("(allow file-write*", place, ")\n");
      // Else a set-id program could be made, or a device.
      out += text::cat("(deny file-write-setugid file-mknod", place, ")\n");
    }
  }
  return out;
}

}  // namespace cordon::sandbox
