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
    "_meta",
    "argument",
    "arguments",
    "capabilities",
    "clientInfo",
    "context",
    "cursor",
    "data",
    "elicitationId",
    "includeContext",
    "inputResponses",
    "level",
    "logger",
    "message",
    "messages",
    "mode",
    "name",
    "notifications",
    "progress",
    "progressToken",
    "protocolVersion",
    "reason",
    "ref",
    "requestId",
    "requestState",
    "requestedSchema",
    "systemPrompt",
    "task",
    "taskId",
    "toolChoice",
    "tools",
    "total",
    "uri",
    "url",
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

// Are two texts of ASCII the same but for case?
constexpr bool same_letters(string_view one, string_view other) {
  return std::ranges::equal(one, other, {}, lower, lower);
}

bool is_ascii(string_view key) {
  unsigned char bits = 0;
  for (const char c : key) {
    bits |= static_cast<unsigned char>(c);
  }
  return bits < 0x80;
}

// A list of names by their length, with a table that settles nearly every key by that and its first letter. Every key
// of every message comes by here.
template <std::size_t N>
class Names {
 public:
  explicit consteval Names(std::array<string_view, N> names) : names_(names) {
    std::ranges::sort(names_, {}, &string_view::size);
    for (std::size_t i = 0; i < N; ++i) {
      first_letters_.at(names_[i].size()) |= bit(names_[i].front());
      for (std::size_t length = names_[i].size() + 1; length < begins_.size(); ++length) {
        begins_.at(length) = static_cast<std::uint8_t>(i + 1);
      }
      // So that a key which is a name cannot be another one after folding.
      for (std::size_t j = 0; j < i; ++j) {
        if (same_letters(names_[i], names_[j])) {
          throw "two names that differ by case only";
        }
      }
    }
  }

  // Is `key` one of them after folding only?
  bool folds_to_one(string_view key) const {
    if (key.empty()) {
      return false;
    }
    if (!is_ascii(key)) {
      return std::ranges::any_of(names_, [&](string_view name) { return key != name && equals_folded(key, name); });
    }
    // Folding keeps the length of ASCII.
    if (key.size() >= first_letters_.size() || (first_letters_[key.size()] & bit(lower(key.front()))) == 0) {
      return false;
    }
    for (std::size_t i = begins_[key.size()]; i < N && names_[i].size() == key.size(); ++i) {
      if (key == names_[i]) {
        return false;
      }
      if (equals_folded(key, names_[i])) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint32_t bit(char c) { return std::uint32_t{1} << (static_cast<unsigned char>(c) % 32U); }

  static constexpr std::size_t kLengths = 64;
  std::array<string_view, N> names_;
  std::array<std::uint32_t, kLengths> first_letters_ = {};  // by length
  std::array<std::uint8_t, kLengths> begins_ = {};          // where names of that length, or longer ones, begin
};

constexpr Names kEnvelopeNames{kEnvelope};
constexpr Names kParamsNames{kParams};
constexpr Names kResultNames{kResult};
constexpr Names kErrorNames{kError};
constexpr Names kMetaNames{kMeta};

bool is_escaped(const json::Value& key) { return (key.tape()->nodes[key.index()].flags & json::detail::kEscaped) != 0; }

// Nothing for a key that an envelope does not have.
json::Value* place_of(Envelope& envelope, string_view key) {
  switch (key.size()) {
    case 2:
      return key == "id" ? &envelope.id : nullptr;
    case 5:
      return key == "error" ? &envelope.error : nullptr;
    case 6:
      return key == "method"   ? &envelope.method
             : key == "params" ? &envelope.params
             : key == "result" ? &envelope.result
                               : nullptr;
    case 7:
      return key == "jsonrpc" ? &envelope.version : nullptr;
    default:
      return nullptr;
  }
}

template <std::size_t N>
std::optional<std::string> in(string_view place, const json::Value& object, const Names<N>& names) {
  for (const json::Member member : object.members()) {
    const string_view raw = member.key.string_raw();
    if (is_escaped(member.key)) {
      if (const std::string key = member.key.string(); names.folds_to_one(key)) {
        return text::cat(place, key);
      }
    } else if (names.folds_to_one(raw)) {
      return text::cat(place, raw);
    }
  }
  return std::nullopt;
}

}  // namespace

Envelope envelope_of(const json::Value& message) {
  Envelope envelope;
  for (const json::Member member : message.members()) {
    json::Value* const place =
        is_escaped(member.key) ? place_of(envelope, member.key.string()) : place_of(envelope, member.key.string_raw());
    if (place != nullptr) {
      *place = member.value;
    }
  }
  return envelope;
}

std::optional<std::string> folded_protocol_member(const json::Value& message) {
  return folded_protocol_member(message, envelope_of(message));
}

std::optional<std::string> folded_params_member(const json::Value& params) { return in("", params, kParamsNames); }

std::optional<std::string> folded_protocol_member(const json::Value& message, const Envelope& envelope) {
  if (auto place = in("", message, kEnvelopeNames)) {
    return place;
  }
  if (auto place = in("params.", envelope.params, kParamsNames)) {
    return place;
  }
  if (auto place = in("result.", envelope.result, kResultNames)) {
    return place;
  }
  if (auto place = in("error.", envelope.error, kErrorNames)) {
    return place;
  }
  if (auto place = in("params._meta.", envelope.params.find("_meta"), kMetaNames)) {
    return place;
  }
  return in("result._meta.", envelope.result.find("_meta"), kMetaNames);
}

}  // namespace cordon::wire
