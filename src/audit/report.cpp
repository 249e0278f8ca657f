// SPDX-License-Identifier: Apache-2.0
// How the outcome of a verification reads, as text and as JSON.
#include <charconv>
#include <utility>

#include "audit/verify.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::audit {
namespace {

constexpr std::string_view kProves =
    "The chain proves the order and integrity of what is there, up to the head. It does not prove that nothing was cut "
    "off behind it: note the head elsewhere and compare it later.";

std::string number_of(std::uint64_t count, std::string_view one, std::string_view many) {
  return text::cat(count, " ", count == 1 ? one : many);
}

void write_head(json::Writer& out, const Head& head) {
  out.begin_object().member("file", head.file).member_int("seq", static_cast<std::int64_t>(head.seq));
  out.member("hash", head.hash).end_object();
}

void write_file(json::Writer& out, const FileReport& file) {
  out.begin_object().member("name", file.name).member_int("records", static_cast<std::int64_t>(file.records));
  out.member("first_time", file.first_time).member("last_time", file.last_time);
  out.member_bool("live", file.state == FileState::live);
  out.key("recovered_lines").begin_array();
  for (const std::uint64_t line : file.recovered_lines) {
    out.integer(static_cast<std::int64_t>(line));
  }
  out.end_array().end_object();
}

}  // namespace

std::string_view name(FaultKind kind) {
  switch (kind) {
    case FaultKind::torn:
      return "torn";
    case FaultKind::altered:
      return "altered";
    case FaultKind::removed:
      return "removed";
    case FaultKind::reordered:
      return "reordered";
    case FaultKind::added:
      return "added";
    case FaultKind::missing_launch:
      return "missing_launch";
    case FaultKind::head_missing:
      return "head_missing";
    case FaultKind::unreadable:
      return "unreadable";
  }
  CORDON_ASSERT(false);
}

Result<Head> parse_head(std::string_view text) {
  const auto bad = [&] {
    return fail(Errc::audit_unavailable, "not a head", text::printable(text, 256),
                "give FILE SEQ HASH, as `audit verify` prints it");
  };
  std::vector<std::string_view> parts = text::split(text, text.contains(' ') ? ' ' : ',');
  if (parts.size() != 3 || !parts[2].starts_with("sha256:") || parts[0].empty()) {
    return bad();
  }
  Head head{std::string(parts[0]), 0, std::string(parts[2])};
  const char* end = parts[1].data() + parts[1].size();
  const auto read = std::from_chars(parts[1].data(), end, head.seq);
  return read.ec == std::errc() && read.ptr == end ? Result<Head>(std::move(head)) : bad();
}

std::string VerifyReport::to_text() const {
  std::string out;
  for (const Fault& fault : faults) {
    out += text::printable(fault.file);
    if (fault.line != 0) {
      out += text::cat(":", fault.line);
    }
    out += text::cat(": ", name(fault.kind), ": ", text::printable(fault.detail), "\n");
  }
  if (faults_not_shown != 0) {
    out += text::cat("and ", number_of(faults_not_shown, "more fault", "more faults"), "\n");
  }
  std::uint64_t closed = 0;
  for (const FileReport& file : files) {
    for (const std::uint64_t line : file.recovered_lines) {
      out += text::cat(text::printable(file.name), ":", line, ": note: closes the torn end of an earlier write\n");
      ++closed;
    }
  }
  out += text::cat(number_of(files.size(), "launch", "launches"), ", ", number_of(records, "record", "records"), ", ",
                   number_of(closed, "torn end closed", "torn ends closed"), ", ",
                   number_of(faults.size() + faults_not_shown, "fault", "faults"), "\n");
  if (head) {
    out += text::cat("head: ", text::printable(head->file), " ", head->seq, " ", head->hash, "\n");
  }
  out += kProves;
  out += '\n';
  return out;
}

std::string VerifyReport::to_json() const {
  json::Writer out;
  out.begin_object().member("format", "mcp-cordon.audit-verify").member_int("version", 1);
  out.member_bool("intact", intact()).member_int("records", static_cast<std::int64_t>(records));
  out.key("head");
  if (head) {
    write_head(out, *head);
  } else {
    out.null();
  }
  out.member_bool("head_was_given", head_was_given);
  out.key("files").begin_array();
  for (const FileReport& file : files) {
    write_file(out, file);
  }
  out.end_array().key("faults").begin_array();
  for (const Fault& fault : faults) {
    out.begin_object().member("kind", name(fault.kind)).member("file", fault.file);
    out.member_int("line", static_cast<std::int64_t>(fault.line)).member("detail", fault.detail).end_object();
  }
  out.end_array().member_int("faults_not_shown", static_cast<std::int64_t>(faults_not_shown));
  out.member("proves", kProves).end_object();
  return out.take();
}

}  // namespace cordon::audit
