// SPDX-License-Identifier: Apache-2.0
#include "core/wire/fold.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "core/wire/names.hpp"

namespace cordon::wire {
namespace {

using std::string_view;

constexpr std::array kEnvelope = std::to_array<string_view>({"jsonrpc", "id", "method", "params", "result", "error"});

constexpr std::array kParams = std::to_array<string_view>({
    "_meta",        "argument",      "arguments", "capabilities",  "clientInfo",
    "context",      "cursor",        "data",      "elicitationId", "inputResponses",
    "level",        "logger",        "message",   "messages",      "mode",
    "name",         "notifications", "progress",  "progressToken", "protocolVersion",
    "reason",       "ref",           "requestId", "requestState",  "requestedSchema",
    "systemPrompt", "task",          "taskId",    "toolChoice",    "tools",
    "total",        "uri",           "url",
});

constexpr std::array kResult = std::to_array<string_view>({
    "_meta",
    "action",
    "cacheScope",
    "capabilities",
    "completion",
    "content",
    "contents",
    "error",
    "inputRequests",
    "instructions",
    "isError",
    "messages",
    "model",
    "nextCursor",
    "prompts",
    "protocolVersion",
    "requestState",
    "resourceTemplates",
    "resources",
    "result",
    "resultType",
    "role",
    "roots",
    "serverInfo",
    "status",
    "stopReason",
    "structuredContent",
    "supportedVersions",
    "task",
    "taskId",
    "tasks",
    "tools",
    "ttlMs",
});

constexpr std::array kError = std::to_array<string_view>({"code", "message", "data"});

constexpr std::array kMeta = std::to_array<string_view>({
    "progressToken",
    kMetaVersion,
    kMetaClientInfo,
    kMetaClientCapabilities,
    kMetaServerInfo,
    kMetaSubscription,
    "io.modelcontextprotocol/logLevel",
    "io.modelcontextprotocol/related-task",
    "ui",
});

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// `name` is ASCII. U+017F and U+212A are the only code points outside ASCII that fold to ASCII.
bool equals_folded(string_view key, string_view name) {
  std::size_t at = 0;
  for (const char expected : name) {
    const char wanted = lower(expected);
    if (at < key.size() && lower(key[at]) == wanted) {
      at += 1;
    } else if (wanted == 's' && key.substr(at, 2) == "\xC5\xBF") {
      at += 2;
    } else if (wanted == 'k' && key.substr(at, 3) == "\xE2\x84\xAA") {
      at += 3;
    } else {
      return false;
    }
  }
  return at == key.size();
}

// Cheap and never wrong when it says no: folding shortens or keeps a text, and all names begin with a small letter or
// an underscore. Every key of every message comes by here.
bool may_equal(string_view key, string_view name) {
  const char first = lower(key.front());
  return name.size() <= key.size() && (first == name.front() || static_cast<unsigned char>(first) >= 0x80);
}

std::optional<std::string> check_key(string_view key, std::span<const string_view> names) {
  if (key.empty()) {
    return std::nullopt;
  }
  const auto folds = [&](string_view name) { return may_equal(key, name) && key != name && equals_folded(key, name); };
  return std::ranges::any_of(names, folds) ? std::optional<std::string>(key) : std::nullopt;
}

std::optional<std::string> in(string_view place, const json::Value& object, std::span<const string_view> names) {
  if (auto key = folded_member(object, names)) {
    return text::cat(place, *key);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> folded_member(const json::Value& object, std::span<const string_view> names) {
  for (const json::Member member : object.members()) {
    const string_view raw = member.key.string_raw();
    auto found = raw.find('\\') == string_view::npos ? check_key(raw, names) : check_key(member.key.string(), names);
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> folded_protocol_member(const json::Value& message) {
  if (auto place = in("", message, kEnvelope)) {
    return place;
  }
  const json::Value params = message.find("params");
  const json::Value result = message.find("result");
  if (auto place = in("params.", params, kParams)) {
    return place;
  }
  if (auto place = in("result.", result, kResult)) {
    return place;
  }
  if (auto place = in("error.", message.find("error"), kError)) {
    return place;
  }
  if (auto place = in("params._meta.", params.find("_meta"), kMeta)) {
    return place;
  }
  return in("result._meta.", result.find("_meta"), kMeta);
}

}  // namespace cordon::wire
