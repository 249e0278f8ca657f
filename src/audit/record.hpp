// SPDX-License-Identifier: Apache-2.0
#pragma once
// audit: the log of what was launched, allowed and tried. docs/formats/audit.md describes the files.
// record, chain and verify are pure; folder and writer do the I/O. Must not: know MCP or policies.
// Start reading here, then chain.hpp, writer.hpp, verify.hpp.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/mask.hpp"

namespace cordon::audit {

// Text that a server wrote is cut to this many bytes in a record.
inline constexpr std::size_t kMaxServerTextBytes = 256;
// The member of a body that holds such text; the writer cuts it, whoever filled it.
inline constexpr std::string_view kServerTextMember = "text";

// Untrusted bytes as the value of `text`: escaped, at most kMaxServerTextBytes.
std::string server_text(std::string_view bytes);

// A body that was found fit for the log.
struct AdmittedBody {
  std::string members = {};  // "event":"call","tool":"x" - the object without its braces
  std::string event = {};
  bool from_server = false;  // it has a member "from":"server": the server alone can cause as many as it likes
};

// Takes a JSON object with at least a string "event" and none of the members that the log itself adds. Values of
// secrets are masked wherever they stand, also behind escapes; `text` is cut. Errc::internal when the body is
// not of that kind, since bodies are made by this program.
Result<AdmittedBody> admit_body(std::string_view body, const Masker& masker);

// "2026-11-29T15:10:07.123Z" from microseconds since 1970.
std::string time_text(std::int64_t unix_us);
// "20261129T151007.123456Z", as file names begin.
std::string file_time_text(std::int64_t unix_us);
// The inverse of file_time_text for the first 23 characters of a file name.
Result<std::int64_t> parse_file_time(std::string_view name);

}  // namespace cordon::audit
