// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/words.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::formats {

namespace {

using catalog::ChangeKind;
using catalog::ItemChange;
using catalog::Severity;

constexpr std::size_t kMaxWholeBytes = 120;

}  // namespace

std::string_view label(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "INFO";
    case Severity::low:
      return "LOW";
    case Severity::medium:
      return "MEDIUM";
    case Severity::high:
      return "HIGH";
    case Severity::critical:
      return "CRITICAL";
  }
  return "";
}

std::string noun(std::string_view item, std::size_t count) {
  if (item == "effect") {
    return count == 1 ? "effect class" : "effect classes";
  }
  if (item == "server_info") {
    return "server identity";
  }
  if (item == "interface") {
    return count == 1 ? "interface of tool" : "interfaces of tools";
  }
  std::string word;
  for (const char c : item) {
    word += c == '_' ? ' ' : c;
  }
  return count == 1 ? word : word + "s";
}

std::string headline(const catalog::Group& group) {
  const ItemChange& change = *group.items.front();
  const std::size_t count = group.items.size();
  const bool lowered = change.item == "effect" && group.severity == Severity::critical;
  const std::string_view verb = lowered ? "lowered" : catalog::name(change.kind);
  const std::string subject = change.name.empty() && change.item != "tool" ? noun(change.item, 1)
                              : count == 1                                 ? noun(change.item, 1)
                                           : text::cat(count, ' ', noun(change.item, count));
  if (change.kind == ChangeKind::cosmetic) {
    return text::cat(subject, count == 1 ? " differs in form only" : " differ in form only");
  }
  const bool alike = count > 1 && change.kind == ChangeKind::changed;
  return text::cat(subject, ' ', verb, alike ? " in the same way" : "");
}

std::string summary(const catalog::Diff& diff) {
  if (diff.changes.empty()) {
    return "No difference.";
  }
  std::array<std::size_t, 5> tools = {};
  std::size_t others = 0;
  for (const ItemChange& change : diff.changes) {
    ++(change.item == "tool" ? tools[static_cast<std::size_t>(change.kind)] : others);
  }
  std::string line = diff.drifted() ? "Drift" : "No drift";
  const char* separator = ": ";
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count != 0) {
      line += text::cat(std::exchange(separator, ", "), count, ' ', what);
    }
  };
  constexpr std::array kWords = {"added", "removed", "renamed", "changed", "different in form"};
  for (std::size_t i = 0; i < tools.size(); ++i) {
    add(tools[i], text::cat(noun("tool", tools[i]), ' ', kWords[i]));
  }
  add(others, others == 1 ? "other change" : "other changes");
  return line + ".";
}

std::string_view phrase(const catalog::Place& place) {
  return place.pointer.empty() ? std::string_view() : catalog::facts(place.what).phrase;
}

std::optional<std::string> string_in(const std::string& json) {
  if (!json.starts_with('"')) {
    return std::nullopt;
  }
  const Result<json::Document> document = json::read(json, {.max_bytes = json.size()});
  return document ? std::optional(document->root().string()) : std::nullopt;
}

bool is_prose(std::string_view text) {
  return text.size() > kMaxWholeBytes || text.find(' ') != std::string_view::npos;
}

std::optional<Texts> prose_of(const catalog::Place& place) {
  if (place.element) {
    return std::nullopt;
  }
  std::optional<std::string> before = string_in(place.before);
  std::optional<std::string> after = string_in(place.after);
  if (before && after && (is_prose(*before) || is_prose(*after))) {
    return Texts{std::move(*before), std::move(*after)};
  }
  return std::nullopt;
}

std::string readable_token(std::string_view decoded) {
  const bool simple = !decoded.empty() && std::ranges::all_of(decoded, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80 || std::string_view("_-.$@:+*").contains(c);
  });
  if (simple) {
    return std::string(decoded);
  }
  std::string out = "\"";
  for (const char c : decoded) {
    out += c == '"' || c == '\\' ? std::string({'\\', c}) : std::string(1, c);
  }
  return out + '"';
}

std::string readable_pointer(std::string_view pointer) {
  std::string out;
  for (const std::string_view step : text::split(pointer.substr(pointer.starts_with('/') ? 1 : 0), '/')) {
    std::string decoded;
    for (std::size_t i = 0; i < step.size(); ++i) {
      const bool escaped = step[i] == '~' && i + 1 < step.size();
      decoded += escaped ? (step[i + 1] == '1' ? '/' : '~') : step[i];
      i += escaped ? 1 : 0;
    }
    out += text::cat('/', readable_token(decoded));
  }
  return pointer.empty() ? std::string() : out;
}

std::string printable_whole(std::string_view untrusted) {
  return text::printable(untrusted, std::numeric_limits<std::size_t>::max());
}

std::string printable_json(std::string_view json) {
  std::string out;
  for (std::size_t begin = 0;;) {
    const std::size_t end = json.find('\\', begin);
    out += printable_whole(json.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) {
      return out;
    }
    out += '\\';
    begin = end + 1;
  }
}

std::string reviewable_json(std::string text) {
  const std::size_t size = text.size();
  const Result<json::Document> document = json::read(std::move(text), {.max_bytes = size, .max_depth = 1024});
  CORDON_ASSERT(document.has_value());
  return json::pretty(document->root(), json::Escaping::reviewable) + "\n";
}

std::string escaped_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace cordon::formats
