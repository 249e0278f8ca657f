// SPDX-License-Identifier: Apache-2.0
#include "core/wire/fold.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

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

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

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

// A list of names with a table that settles nearly every key by its length and first letter. Every key of every message
// comes by here.
class Names {
 public:
  explicit constexpr Names(std::span<const string_view> names) : names_(names) {
    for (const string_view name : names) {
      first_letters_[name.size()] |= bit(name.front());
    }
  }

  // Never wrong when it says no: an ASCII text folds to one of its own length.
  constexpr bool may_hold(string_view key) const {
    if (key.size() >= first_letters_.size()) {
      return true;
    }
    const char first = lower(key.front());
    return (first_letters_[key.size()] & bit(first)) != 0 || std::ranges::any_of(key, [](char c) { return c < 0; });
  }
  constexpr std::span<const string_view> all() const { return names_; }

 private:
  static constexpr std::uint32_t bit(char c) { return std::uint32_t{1} << (static_cast<unsigned char>(c) % 32U); }

  std::span<const string_view> names_;
  std::array<std::uint32_t, 64> first_letters_ = {};
};

constexpr Names kEnvelopeNames{kEnvelope};
constexpr Names kParamsNames{kParams};
constexpr Names kResultNames{kResult};
constexpr Names kErrorNames{kError};
constexpr Names kMetaNames{kMeta};

std::optional<std::string> check_key(string_view key, const Names& names) {
  if (key.empty() || !names.may_hold(key)) {
    return std::nullopt;
  }
  const auto folds = [&](string_view name) { return key != name && equals_folded(key, name); };
  return std::ranges::any_of(names.all(), folds) ? std::optional<std::string>(key) : std::nullopt;
}

std::optional<std::string> folded_in(const json::Value& object, const Names& names) {
  for (const json::Member member : object.members()) {
    const string_view raw = member.key.string_raw();
    auto found = raw.find('\\') == string_view::npos ? check_key(raw, names) : check_key(member.key.string(), names);
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> in(string_view place, const json::Value& object, const Names& names) {
  if (auto key = folded_in(object, names)) {
    return text::cat(place, *key);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> folded_protocol_member(const json::Value& message) {
  if (auto place = in("", message, kEnvelopeNames)) {
    return place;
  }
  const json::Value params = message.find("params");
  const json::Value result = message.find("result");
  if (auto place = in("params.", params, kParamsNames)) {
    return place;
  }
  if (auto place = in("result.", result, kResultNames)) {
    return place;
  }
  if (auto place = in("error.", message.find("error"), kErrorNames)) {
    return place;
  }
  if (auto place = in("params._meta.", params.find("_meta"), kMetaNames)) {
    return place;
  }
  return in("result._meta.", result.find("_meta"), kMetaNames);
}

}  // namespace cordon::wire
