// SPDX-License-Identifier: Apache-2.0
// Prompts and resources: one word for all prompts; for a resource the first rule that matches its URI, else a word.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "core/policy/evaluate.hpp"

namespace cordon::policy {
namespace {

Verdict by_word(const Policy& policy, std::string_view key, Action action, Position position) {
  const std::string place = position.line == 0
                                ? std::string("default")
                                : text::cat(text::printable(policy.file), ':', position.line, ':', position.column);
  return {action, text::cat(key, ": ", name(action), " (", place, ')'), position};
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? std::optional(c - 'A' + 10) : std::nullopt;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
    if (low) {
      out += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool has_dot_segment(std::string_view text) {
  for (const std::string_view segment : text::split(text, '/')) {
    const std::string_view path = segment.substr(0, segment.find_first_of("?#"));
    if (path == "." || path == "..") {
      return true;
    }
  }
  return false;
}

// `text` with one slash for each run of them; those behind the scheme stay.
std::string with_single_slashes(std::string_view text) {
  const std::size_t scheme = text.find("://");
  std::size_t at = scheme == std::string_view::npos ? 0 : scheme + 3;
  std::string out(text.substr(0, at));
  for (; at < text.size(); ++at) {
    if (text[at] != '/' || out.empty() || out.back() != '/' || at == scheme + 3) {
      out += text[at];
    }
  }
  return out;
}

// What readers may make of a URI: as it is; with its escapes decoded, once and twice; of each the resource alone,
// without fragment (of a file, query) and slashes that stand for one or none.
std::vector<std::string> spellings(std::string_view uri) {
  std::vector<std::string> out = {std::string(uri), percent_decoded(uri)};
  out.push_back(percent_decoded(out.back()));
  const std::string_view ends = text::lower_ascii(uri.substr(0, 5)) == "file:" ? "?#" : "#";
  for (std::size_t i = 0; i < 3; ++i) {
    std::string alone = with_single_slashes(std::string_view(out[i]).substr(0, out[i].find_first_of(ends)));
    if (alone.ends_with('/') && !alone.ends_with("://")) {
      alone.pop_back();
    }
    out.push_back(std::move(alone));
  }
  return out;
}

// No blanks and nothing that is not seen: whoever writes a URI that nobody reviews could write sentences in it.
bool is_spelled_as_uri(std::string_view uri) {
  constexpr std::size_t kMaxBytes = 2'048;
  for (std::size_t at = 0; at < uri.size();) {
    const text::CodePoint point = text::decode_utf8(uri, at);
    if (point.length == 0 ||
        (point.value < 0x80 ? std::string_view(" \"<>`").contains(uri[at]) : !text::is_visible_letter(point.value))) {
      return false;
    }
    at += point.length;
  }
  return uri.size() <= kMaxBytes;
}

}  // namespace

Verdict evaluate_prompt(const Policy& policy) {
  return by_word(policy, "prompts.default", policy.prompts.standard, policy.prompts.position);
}

Verdict evaluate_templates(const Policy& policy) {
  return by_word(policy, "resources.templates", policy.resources.templates, policy.resources.templates_position);
}

Verdict evaluate_resource(const Policy& policy, std::string_view uri, ResourceOrigin origin) {
  const Resources& resources = policy.resources;
  const std::vector<std::string> readings = resources.rules.empty() ? std::vector<std::string>() : spellings(uri);
  // A glob says nothing about a URI that its reader may take for another one; only a word for all of them does.
  for (std::size_t i = 0; i < resources.rules.size(); ++i) {
    const ResourceRule& rule = resources.rules[i];
    const bool permits = rule.action == Action::allow || rule.action == Action::flag;
    if (permits && is_ambiguous_uri(uri)) {
      continue;
    }
    // What permits has to fit as it is written; what forbids holds for all that a reader may make of it.
    const auto fits = [&](const std::string& glob) {
      return permits ? glob_match(glob, uri)
                     : std::ranges::any_of(readings, [&](const std::string& one) { return glob_match(glob, one); });
    };
    if (std::ranges::any_of(rule.uris, fits)) {
      Verdict verdict = by_word(policy, "", rule.action, rule.position);
      verdict.because = text::cat("resource rule ", i + 1, verdict.because);
      return verdict;
    }
  }
  return origin == ResourceOrigin::by_template
             ? evaluate_templates(policy)
             : by_word(policy, "resources.default", resources.standard, resources.position);
}

bool is_ambiguous_uri(std::string_view uri) {
  // Decoded twice: what one layer decodes, the next may decode again.
  const std::string once = percent_decoded(uri);
  const std::string twice = percent_decoded(once);
  for (const std::string_view text : {uri, std::string_view(once), std::string_view(twice)}) {
    const auto odd = [](char c) { return c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (has_dot_segment(text) || std::ranges::any_of(text, odd)) {
      return true;
    }
  }
  return false;
}

bool is_dynamic(const Catalog& catalog, std::string_view uri) {
  return !catalog.dynamic.empty() && !is_ambiguous_uri(uri) && is_spelled_as_uri(uri) &&
         std::ranges::any_of(catalog.dynamic, [&](const std::string& glob) { return glob_match(glob, uri); });
}

}  // namespace cordon::policy
