// SPDX-License-Identifier: Apache-2.0
#include "audit/chain.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::audit {
namespace {

constexpr std::string_view kHashBegin = ",\"hash\":\"";
constexpr std::string_view kHashEnd = "\"}";
constexpr std::string_view kDigestPrefix = "sha256:";
constexpr std::size_t kDigestBytes = kDigestPrefix.size() + 64;
constexpr std::size_t kTailBytes = kHashBegin.size() + kDigestBytes + kHashEnd.size();
// Arguments may be as long as a message and every character escaped.
constexpr json::Limits kLineLimits = {.max_bytes = 80'000'000, .max_depth = 260};

std::unexpected<Error> not_a_record(std::string detail) { return fail(Errc::message_malformed, std::move(detail)); }

bool is_digest(std::string_view text) {
  return text.size() == kDigestBytes && text.starts_with(kDigestPrefix) &&
         std::ranges::all_of(text.substr(kDigestPrefix.size()),
                             [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<std::uint64_t> counter(const json::Value& object, std::string_view key) {
  const json::Value value = object.find(key);
  const auto number = value.is(json::Kind::number) ? value.safe_integer() : std::nullopt;
  if (!number || *number < 0) {
    return not_a_record(text::cat("'", key, "' is not a count"));
  }
  return static_cast<std::uint64_t>(*number);
}

Result<std::string> string_member(const json::Value& object, std::string_view key) {
  const json::Value value = object.find(key);
  if (!value.is(json::Kind::string)) {
    return not_a_record(text::cat("'", key, "' is not a string"));
  }
  return value.string();
}

Result<std::string> digest_member(const json::Value& object, std::string_view key) {
  auto text = string_member(object, key);
  if (text && !is_digest(*text)) {
    return not_a_record(text::cat("'", key, "' is not a digest"));
  }
  return text;
}

bool is_true(const json::Value& object, std::string_view key) {
  const json::Value value = object.find(key);
  return value.is(json::Kind::boolean) && value.boolean();
}

}  // namespace

std::string_view no_previous() { return "sha256:0000000000000000000000000000000000000000000000000000000000000000"; }

SealedLine seal(std::uint64_t seq, std::string_view time, std::string_view prev, std::string_view members) {
  std::string line;
  line.reserve(members.size() + 256);
  line += "{\"seq\":";
  line += std::to_string(seq);
  line += ",\"time\":\"";
  line += time;
  line += "\",\"prev\":\"";
  line += prev;
  line += "\",";
  line += members;
  line += '}';
  std::string hash = sha256_text(line);
  line.back() = kHashBegin.front();
  line += kHashBegin.substr(1);
  line += hash;
  line += kHashEnd;
  line += '\n';
  return {std::move(line), std::move(hash)};
}

Result<ReadLine> read_line(std::string_view line) {
  if (line.size() <= kTailBytes || !line.starts_with("{\"seq\":")) {
    return not_a_record("this line is not a record");
  }
  const std::string_view tail = line.substr(line.size() - kTailBytes);
  const std::string_view hash = tail.substr(kHashBegin.size(), kDigestBytes);
  if (!tail.starts_with(kHashBegin) || !tail.ends_with(kHashEnd) || !is_digest(hash)) {
    return not_a_record("the record has no hash at its end");
  }
  std::string unsealed(line.substr(0, line.size() - kTailBytes));
  unsealed += '}';
  if (sha256_text(unsealed) != hash) {
    return not_a_record("the hash does not fit the record");
  }
  auto document = json::read(std::move(unsealed), kLineLimits);
  if (!document) {
    return not_a_record(text::cat("the record is not JSON: ", document.error().to_string()));
  }
  const json::Value root = document->root();
  auto seq = counter(root, "seq");
  auto time = string_member(root, "time");
  auto prev = digest_member(root, "prev");
  auto event = string_member(root, "event");
  for (const Error* error : {seq ? nullptr : &seq.error(), time ? nullptr : &time.error(),
                             prev ? nullptr : &prev.error(), event ? nullptr : &event.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  return ReadLine{*seq, std::move(*time), std::move(*prev), std::string(hash), std::move(*event), std::move(*document)};
}

std::string begin_members(std::string_view file, std::string_view server, std::string_view session,
                          std::string_view version, const std::vector<Link>& previous) {
  json::Writer out;
  out.begin_object();
  out.member("event", kBeginEvent).member("format", "mcp-cordon.audit").member_int("version", kFormatVersion);
  out.member("program", version).member("server", server).member("session", session).member("file", file);
  out.key("previous").begin_array();
  for (const Link& link : previous) {
    out.begin_object().member("file", link.head.file);
    if (link.damaged) {
      out.member_bool("damaged", true);
    } else {
      out.member_int("seq", static_cast<std::int64_t>(link.head.seq)).member("hash", link.head.hash);
      out.member_bool("open", link.open);
    }
    out.end_object();
  }
  out.end_array().end_object();
  const std::string text = out.take();
  return text.substr(1, text.size() - 2);
}

Result<std::vector<Link>> read_links(const json::Value& record) {
  const json::Value previous = record.find("previous");
  if (!previous.is(json::Kind::array)) {
    return not_a_record("'previous' is not a list");
  }
  std::vector<Link> links;
  for (const json::Value one : previous.elements()) {
    Link link;
    auto file = string_member(one, "file");
    if (!file) {
      return std::unexpected(file.error());
    }
    link.head.file = std::move(*file);
    link.damaged = is_true(one, "damaged");
    if (!link.damaged) {
      auto seq = counter(one, "seq");
      auto hash = digest_member(one, "hash");
      if (!seq || !hash) {
        return not_a_record("an entry of 'previous' has no seq or hash");
      }
      link.head.seq = *seq;
      link.head.hash = std::move(*hash);
      link.open = is_true(one, "open");
    }
    links.push_back(std::move(link));
  }
  return links;
}

std::string recovered_members(std::uint64_t torn_bytes, std::string_view torn_digest) {
  return text::cat("\"event\":\"", kRecoveredEvent, "\",\"torn_bytes\":", torn_bytes, ",\"torn_digest\":\"",
                   torn_digest, "\"");
}

Result<Torn> read_recovered(const json::Value& record) {
  auto bytes = counter(record, "torn_bytes");
  auto digest = digest_member(record, "torn_digest");
  if (!bytes || !digest) {
    return not_a_record("a 'recovered' record does not say what was torn");
  }
  return Torn{*bytes, std::move(*digest)};
}

}  // namespace cordon::audit
