// SPDX-License-Identifier: Apache-2.0
#pragma once
// One line of the log: how it is sealed with a hash and how a sealed line is read back. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/json/read.hpp"

namespace cordon::audit {

// `prev` of the first record of all.
std::string_view no_previous();

// A place in the log: a record of a file and its hash.
struct Head {
  std::string file = {};  // name within the folder
  std::uint64_t seq = 0;
  std::string hash = {};  // "sha256:…"
  bool operator==(const Head&) const = default;
};

// Another launch, as the first record of a later one names it.
struct Link {
  Head head = {};
  bool open = false;     // its process lived: records may follow, and the next launch names it again
  bool damaged = false;  // no record of it could be read; head.seq and head.hash mean nothing
  bool operator==(const Link&) const = default;
};

// The whole line with its LF: {"seq":…,"time":"…","prev":"…",<members>,"hash":"…"}. `hash` is the digest of the same
// line without its member `hash` and without LF.
struct SealedLine {
  std::string line = {};
  std::string hash = {};
};
SealedLine seal(std::uint64_t seq, std::string_view time, std::string_view prev, std::string_view members);

// A line that was read back; its hash was recomputed and fits.
struct ReadLine {
  std::uint64_t seq = 0;
  std::string time = {};
  std::string prev = {};
  std::string hash = {};
  std::string event = {};
  json::Document document = {};
};

// `line` without its LF. Errc::message_malformed says why it is no record; `where` stays empty.
Result<ReadLine> read_line(std::string_view line);

// The members of a first record: what it is, which file it stands in, which launches it follows.
std::string begin_members(std::string_view file, std::string_view server, std::string_view session,
                          std::string_view version, const std::vector<Link>& previous);
// The links of a first record; an error when they are not of the form above.
Result<std::vector<Link>> read_links(const json::Value& record);

// Closes the torn end of a file: how many bytes after the last record could not be read, and their digest.
std::string recovered_members(std::uint64_t torn_bytes, std::string_view torn_digest);
struct Torn {
  std::uint64_t bytes = 0;
  std::string digest = {};
};
Result<Torn> read_recovered(const json::Value& record);

inline constexpr std::string_view kBeginEvent = "begin";
inline constexpr std::string_view kRecoveredEvent = "recovered";
inline constexpr std::string_view kSuppressedEvent = "suppressed";
inline constexpr int kFormatVersion = 1;

}  // namespace cordon::audit
