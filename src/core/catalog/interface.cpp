// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/interface.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/catalog/cues.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

using json::Kind;
using json::Value;

namespace {

constexpr std::size_t kMaxHosts = 64;
constexpr std::size_t kMaxHostBytes = 255;
constexpr std::size_t kMaxMetaBytes = 4'096;

// Scripts may write `https:\/\/`.
std::string without_backslashes(std::string_view text) {
  std::string out(text);
  std::erase(out, '\\');
  return out;
}

std::size_t host_length(std::string_view text) {
  return std::min(text.find_first_of(" \t\r\n/?#\"'`<>(){}[],;&|$"), text.size());
}

// "https://cdn.example": where a page may load from or send to. `//host` counts behind a quotation mark or `(`.
void add_hosts(std::string_view raw, std::set<std::string>& hosts) {
  constexpr std::array<std::string_view, 4> kSchemes = {"https:", "http:", "wss:", "ws:"};
  const std::string text = text::lower_ascii(without_backslashes(raw));
  for (std::size_t at = text.find("//"); at != std::string::npos; at = text.find("//", at + 2)) {
    const std::string_view before = std::string_view(text).substr(0, at);
    const auto* scheme =
        std::ranges::find_if(kSchemes, [before](std::string_view one) { return before.ends_with(one); });
    const bool relative = !before.empty() && std::string_view("\"'`(=").contains(before.back());
    const std::string_view rest = std::string_view(text).substr(at + 2);
    const std::string_view host = rest.substr(0, host_length(rest));
    if ((scheme == kSchemes.end() && (!relative || !host.contains('.'))) || host.empty() ||
        host.size() > kMaxHostBytes) {
      continue;
    }
    hosts.insert(text::cat(scheme == kSchemes.end() ? std::string_view() : *scheme, "//", host));
  }
}

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) {
    ++count;
  }
  return count;
}

struct Facts {
  std::size_t bytes = 0;
  std::size_t scripts = 0;
  std::set<std::string> hosts = {};
  std::set<std::string> mime_types = {};
  Findings findings = {};
  std::string meta = {};  // elements of an array

  void add(const Value& content) {
    if (const Value text = content.find("text"); text.is(Kind::string)) {
      const std::string decoded = text.string();
      bytes += decoded.size();
      scripts += count_of(text::lower_ascii(decoded), "<script");
      add_hosts(decoded, hosts);
      find_cues(decoded, {}, findings);
    } else if (const Value blob = content.find("blob"); blob.is(Kind::string)) {
      bytes += blob.string_raw().size() / 4 * 3;
    }
    if (const Value type = content.find("mimeType"); type.is(Kind::string)) {
      mime_types.insert(type.string().substr(0, kMaxHostBytes));
    }
    if (const Value about = content.find("_meta")) {
      meta += text::cat(meta.empty() ? "" : ",", json::canonical(about));
    }
  }
};

void write_set(json::Writer& w, std::string_view key, const std::set<std::string>& values) {
  w.key(key).begin_array();
  std::size_t written = 0;
  for (const std::string& value : values) {
    if (written++ < kMaxHosts) {
      w.string(value);
    }
  }
  w.end_array();
}

}  // namespace

std::optional<std::string> interface_of(const Value& definition) {
  constexpr std::size_t kMaxAddress = 4'096;
  const Value meta = definition.find("_meta");
  const Value nested = meta.find("ui").find("resourceUri");
  const Value flat = meta.find("ui/resourceUri");
  const Value named = nested ? nested : flat;
  if (!named.is(Kind::string) || named.has_lone_surrogate() || named.has_nul() ||
      (nested && flat && json::canonical(nested) != json::canonical(flat))) {
    return std::nullopt;
  }
  std::string address = named.string();
  if (!address.starts_with("ui://") || address.size() > kMaxAddress) {
    return std::nullopt;
  }
  return address;
}

std::optional<std::string> contents_digest(const Value& result) {
  const Value contents = result.find("contents");
  return contents.is(Kind::array) ? std::optional(sha256_text(json::canonical(contents))) : std::nullopt;
}

std::string interface_facts(const Value& result) {
  Facts found;
  for (const Value content : result.find("contents").elements()) {
    found.add(content);
  }
  // Addresses, paths and the like are ordinary in a page; what is aimed at a person or a model is not.
  std::set<std::string> cues;
  for (const Cue& cue : new_cues({}, found.findings)) {
    if (cue.least >= Severity::high) {
      cues.emplace(cue.name);
    }
  }
  json::Writer w;
  w.begin_object().member_int("bytes", static_cast<std::int64_t>(found.bytes));
  write_set(w, "cues", cues);
  write_set(w, "hosts", found.hosts);
  const std::string meta = text::cat('[', found.meta, ']');
  if (meta.size() <= kMaxMetaBytes) {
    w.member_raw("meta", meta);
  } else {
    w.member("meta", sha256_text(meta));
  }
  write_set(w, "mime_types", found.mime_types);
  if (found.hosts.size() > kMaxHosts) {
    w.member_int("more_hosts", static_cast<std::int64_t>(found.hosts.size() - kMaxHosts));
  }
  w.member_int("scripts", static_cast<std::int64_t>(found.scripts)).end_object();
  return w.take();
}

std::string interface_summary(std::string_view digest, std::string_view facts) {
  if (digest.empty()) {
    return {};
  }
  const auto document = json::read(std::string(facts.empty() ? "{}" : facts), {.max_bytes = facts.size() + 2});
  json::Writer w;
  w.begin_object();
  bool done = false;
  const auto add_digest = [&] {
    if (!std::exchange(done, true)) {
      w.member("digest", digest);
    }
  };
  if (document) {
    for (const json::Member member : document->root().members()) {
      const std::string key = member.key.string();
      if (key >= "digest") {
        add_digest();
      }
      if (key != "digest") {
        w.key(key).value(member.value);
      }
    }
  }
  add_digest();
  w.end_object();
  return w.take();
}

}  // namespace cordon::catalog
