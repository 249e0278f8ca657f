// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/cues.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace cordon::catalog {

namespace {

constexpr std::size_t kLongText = 4'000;  // bytes; nine of ten descriptions of real servers are far below

using enum Severity;
constexpr std::array kTable = {
    CueFacts{CueKind::concealment, "concealment", critical, "keeps something from the user"},
    CueFacts{CueKind::override_order, "override_order", critical, "tells the model to drop other orders"},
    CueFacts{CueKind::hidden_characters, "hidden_characters", critical, "characters that cannot be seen"},
    CueFacts{CueKind::terminal_escape, "terminal_escape", critical, "terminal escape sequence"},
    CueFacts{CueKind::control_characters, "control_characters", high, "control characters"},
    CueFacts{CueKind::order, "order", high, "orders the model"},
    CueFacts{CueKind::secret_place, "secret_place", high, "a place where secrets lie"},
    CueFacts{CueKind::foreign_tool, "foreign_tool", high, "names a tool of another server"},
    CueFacts{CueKind::mixed_script, "mixed_script", high, "letters of another script"},
    CueFacts{CueKind::confusable, "confusable", high, "letters that only look like others"},
    CueFacts{CueKind::secret_name, "secret_name", medium, "names a secret"},
    CueFacts{CueKind::url, "url", medium, "URL"},
    CueFacts{CueKind::host, "host", medium, "host or address"},
    CueFacts{CueKind::path, "path", medium, "path of a file"},
    CueFacts{CueKind::other_tool, "other_tool", medium, "names another tool"},
    CueFacts{CueKind::long_text, "long_text", medium, "very long text"},
};
static_assert(std::ranges::is_sorted(kTable, std::greater<>(), &CueFacts::least));

struct Phrase {
  CueKind kind;
  std::string_view words;  // as folded_for_cues leaves them
};
constexpr std::array kPhrases = {
    Phrase{CueKind::concealment, "do not tell the user"},
    Phrase{CueKind::concealment, "don't tell the user"},
    Phrase{CueKind::concealment, "do not mention"},
    Phrase{CueKind::concealment, "don't mention"},
    Phrase{CueKind::concealment, "never mention"},
    Phrase{CueKind::concealment, "do not inform"},
    Phrase{CueKind::concealment, "don't inform"},
    Phrase{CueKind::concealment, "do not notify the user"},
    Phrase{CueKind::concealment, "do not reveal"},
    Phrase{CueKind::concealment, "don't reveal"},
    Phrase{CueKind::concealment, "never reveal"},
    Phrase{CueKind::concealment, "do not show the user"},
    Phrase{CueKind::concealment, "do not show this"},
    Phrase{CueKind::concealment, "hide this from"},
    Phrase{CueKind::concealment, "keep this secret"},
    Phrase{CueKind::concealment, "without telling"},
    Phrase{CueKind::concealment, "without informing"},
    Phrase{CueKind::concealment, "without the user's knowledge"},
    Phrase{CueKind::concealment, "user must not know"},
    Phrase{CueKind::concealment, "user should not know"},
    Phrase{CueKind::concealment, "secretly"},
    Phrase{CueKind::override_order, "ignore previous"},
    Phrase{CueKind::override_order, "ignore all previous"},
    Phrase{CueKind::override_order, "ignore any previous"},
    Phrase{CueKind::override_order, "ignore the above"},
    Phrase{CueKind::override_order, "ignore prior"},
    Phrase{CueKind::override_order, "disregard"},
    Phrase{CueKind::override_order, "forget all previous"},
    Phrase{CueKind::override_order, "forget your instructions"},
    Phrase{CueKind::override_order, "system prompt"},
    Phrase{CueKind::override_order, "override your"},
    Phrase{CueKind::override_order, "<system>"},
    Phrase{CueKind::override_order, "[inst]"},
    Phrase{CueKind::override_order, "<|im_start|>"},
    Phrase{CueKind::override_order, "<important>"},
    Phrase{CueKind::override_order, "without asking the user"},
    Phrase{CueKind::override_order, "without user confirmation"},
    Phrase{CueKind::override_order, "do not ask the user"},
    Phrase{CueKind::order, "you must"},
    Phrase{CueKind::order, "must always"},
    Phrase{CueKind::order, "always call"},
    Phrase{CueKind::order, "always use this tool"},
    Phrase{CueKind::order, "always run"},
    Phrase{CueKind::order, "before any other tool"},
    Phrase{CueKind::order, "before using any other"},
    Phrase{CueKind::order, "before calling any"},
    Phrase{CueKind::order, "call this tool first"},
    Phrase{CueKind::order, "instead of any other"},
    Phrase{CueKind::order, "do not use any other"},
    Phrase{CueKind::order, "important:"},
    Phrase{CueKind::order, "mandatory"},
    Phrase{CueKind::secret_place, ".ssh/"},
    Phrase{CueKind::secret_place, "id_rsa"},
    Phrase{CueKind::secret_place, "id_ed25519"},
    Phrase{CueKind::secret_place, ".aws/"},
    Phrase{CueKind::secret_place, ".netrc"},
    Phrase{CueKind::secret_place, ".npmrc"},
    Phrase{CueKind::secret_place, ".kube/config"},
    Phrase{CueKind::secret_place, ".git-credentials"},
    Phrase{CueKind::secret_place, "/etc/shadow"},
    Phrase{CueKind::secret_place, "/etc/passwd"},
    Phrase{CueKind::secret_place, "keychain"},
    Phrase{CueKind::secret_place, ".cursor/mcp.json"},
    Phrase{CueKind::secret_place, "claude_desktop_config"},
    Phrase{CueKind::secret_name, "api key"},
    Phrase{CueKind::secret_name, "api_key"},
    Phrase{CueKind::secret_name, "apikey"},
    Phrase{CueKind::secret_name, "password"},
    Phrase{CueKind::secret_name, "passphrase"},
    Phrase{CueKind::secret_name, "private key"},
    Phrase{CueKind::secret_name, "private_key"},
    Phrase{CueKind::secret_name, "access token"},
    Phrase{CueKind::secret_name, "access_token"},
    Phrase{CueKind::secret_name, "auth token"},
    Phrase{CueKind::secret_name, "bearer token"},
    Phrase{CueKind::secret_name, "credential"},
    Phrase{CueKind::secret_name, "client secret"},
    Phrase{CueKind::secret_name, "client_secret"},
    Phrase{CueKind::secret_name, "seed phrase"},
    Phrase{CueKind::secret_name, "_token"},
    Phrase{CueKind::secret_name, "_secret"},
    Phrase{CueKind::foreign_tool, "mcp__"},
};

// Ends of names that are hosts in prose. A closed list: anything else with a dot is as likely a file or a member.
constexpr std::array<std::string_view, 22> kTopLevels = {"ai",  "app", "biz",  "cloud", "cn",  "co", "com", "de",
                                                         "dev", "eu",  "gov",  "info",  "io",  "me", "net", "org",
                                                         "ru",  "sh",  "site", "uk",    "xyz", "zip"};

bool word_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}
bool digit(char c) { return c >= '0' && c <= '9'; }
bool ends_token(char c) {
  return static_cast<unsigned char>(c) <= ' ' || std::string_view("\"'`<>()[]{},;|").find(c) != std::string_view::npos;
}

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && std::string_view(".,:;!?*").find(token.back()) != std::string_view::npos) {
    token.remove_suffix(1);
  }
  return token;
}

bool is_address(std::string_view token) {
  const std::vector<std::string_view> parts = text::split(token.substr(0, token.find(':')), '.');
  return parts.size() == 4 && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.size() <= 3 && std::ranges::all_of(part, digit);
         });
}

bool is_host(std::string_view token) {
  if (const std::size_t at = token.rfind('@'); at != std::string_view::npos && at != 0) {
    token.remove_prefix(at + 1);
  }
  const std::string host = text::lower_ascii(token.substr(0, token.find_first_of(":/")));
  const std::size_t dot = host.rfind('.');
  if (dot == std::string::npos || dot == 0 || host.starts_with("e.g") || host.starts_with("i.e")) {
    return false;
  }
  return std::ranges::all_of(host, [](char c) { return word_char(c) || c == '.'; }) &&
         std::ranges::binary_search(kTopLevels, std::string_view(host).substr(dot + 1));
}

bool is_path(std::string_view token) {
  if (token.size() >= 4 && token[1] == ':' && token[2] == '\\') {
    return true;  // C:\…
  }
  if (token.starts_with("~/")) {
    return token.size() > 2;
  }
  // Of a file system, not of a URL or a pattern.
  constexpr std::array<std::string_view, 16> kRoots = {"/bin/", "/boot/", "/dev/",  "/etc/",  "/home/", "/lib/",
                                                       "/mnt/", "/opt/",  "/proc/", "/root/", "/run/",  "/srv/",
                                                       "/sys/", "/tmp/",  "/usr/",  "/var/"};
  return token.starts_with("/Users/") ||
         std::ranges::any_of(kRoots, [&](std::string_view root) { return token.starts_with(root); });
}

// Names that nobody can own, which texts use to show what they mean.
bool reserved_for_examples(std::string_view token) {
  if (const std::size_t scheme = token.find("://"); scheme != std::string_view::npos) {
    token.remove_prefix(scheme + 3);
  }
  std::string_view host = token.substr(0, token.find_first_of("/?#\\"));
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) {
    host.remove_prefix(at + 1);
  }
  const std::string name = "." + text::lower_ascii(host.substr(0, host.find(':')));
  return name.ends_with(".example.com") || name.ends_with(".example.org") || name.ends_with(".example.net");
}

void find_in_token(std::string_view token, Findings& findings) {
  // Another URL may stand in the path or the query of one.
  const bool one = token.find("://") == token.rfind("://");
  if (one && (token.starts_with("http://json-schema.org/") || token.starts_with("https://json-schema.org/"))) {
    return;  // the name of a dialect
  }
  if (one && reserved_for_examples(token)) {
    return;
  }
  if (token.find("://") != std::string_view::npos) {
    add_finding(findings, CueKind::url, token);
  } else if (is_path(token)) {
    add_finding(findings, CueKind::path, token);
  } else if (is_host(token) || is_address(token)) {
    add_finding(findings, CueKind::host, token);
  }
}

void find_tokens(std::string_view text, Findings& findings) {
  for (std::size_t begin = 0; begin < text.size();) {
    if (ends_token(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() && !ends_token(text[end])) {
      ++end;
    }
    find_in_token(trimmed(text.substr(begin, end - begin)), findings);
    begin = end;
  }
}

// A plain English word that is also a tool's name says nothing.
bool tells(std::string_view name) {
  const bool upper_inside = std::ranges::any_of(name.substr(std::min<std::size_t>(1, name.size())),
                                                [](char c) { return c >= 'A' && c <= 'Z'; });
  return name.size() >= 4 && (upper_inside || name.find_first_of("_-") != std::string_view::npos);
}

void find_names(std::string_view text, const CueNames& names, Findings& findings) {
  for (std::size_t begin = 0; begin < text.size();) {
    if (!word_char(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() && word_char(text[end])) {
      ++end;
    }
    const std::string_view word = text.substr(begin, end - begin);
    if (tells(word) && word != names.own && names.tools.contains(word)) {
      add_finding(findings, CueKind::other_tool, word);
    }
    begin = end;
  }
}

}  // namespace

std::span<const CueFacts> cue_table() { return kTable; }

std::string_view cue_phrase(std::string_view name) {
  const auto* found = std::ranges::find(kTable, name, &CueFacts::name);
  return found == kTable.end() ? name : found->phrase;
}

void add_finding(Findings& findings, CueKind kind, std::string_view excerpt) {
  std::size_t end = std::min(excerpt.size(), kMaxExcerptBytes);
  while (end < excerpt.size() && end > 0 && (static_cast<unsigned char>(excerpt[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  std::string kept(excerpt.substr(0, end));
  if (end < excerpt.size()) {
    // Two long texts that begin alike are still two.
    kept += text::cat("… ", hex(sha256(excerpt)).substr(0, 8));
  }
  ++findings[{kind, std::move(kept)}];
}

void find_cues(std::string_view text, const CueNames& names, Findings& findings) {
  if (text.empty()) {
    return;
  }
  find_characters(text, findings);
  const std::string folded = folded_for_cues(text);
  for (const Phrase& phrase : kPhrases) {
    for (std::size_t at = folded.find(phrase.words); at != std::string::npos;
         at = folded.find(phrase.words, at + phrase.words.size())) {
      add_finding(findings, phrase.kind, phrase.words);
    }
  }
  find_tokens(text, findings);
  find_names(text, names, findings);
  if (text.size() > kLongText) {
    add_finding(findings, CueKind::long_text, "");
  }
}

void find_cues(const json::Value& value, const CueNames& names, Findings& findings) {
  if (value.is(json::Kind::string)) {
    find_cues(value.string(), names, findings);
  }
  for (const json::Member member : value.members()) {
    find_cues(member.key.string(), names, findings);
    find_cues(member.value, names, findings);
  }
  for (const json::Value element : value.elements()) {
    find_cues(element, names, findings);
  }
}

std::vector<Cue> new_cues(const Findings& before, const Findings& after) {
  std::vector<Cue> cues;
  std::size_t of_kind = 0;
  CueKind last = CueKind::long_text;
  for (const auto& [key, count] : after) {
    const auto old = before.find(key);
    const std::size_t known = old == before.end() ? 0 : old->second;
    if (count <= known) {
      continue;
    }
    of_kind = !cues.empty() && key.first == last ? of_kind + 1 : 1;
    last = key.first;
    if (of_kind <= kMaxCuesOfKind) {
      const auto* row = std::ranges::find(kTable, key.first, &CueFacts::kind);
      cues.push_back({row->name, row->least, key.second, count - known});
    }
  }
  std::ranges::stable_sort(cues, std::greater<>(), &Cue::least);
  return cues;
}

}  // namespace cordon::catalog
