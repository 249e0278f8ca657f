// SPDX-License-Identifier: Apache-2.0
#include "formats/npmrc.hpp"

#include <optional>

#include "base/text.hpp"

namespace cordon::formats {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// A comment begins at a blank and a mark; "#" within a word belongs to it (tokens have them).
std::string_view without_comment(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if ((text[i] == ';' || text[i] == '#') && (text[i - 1] == ' ' || text[i - 1] == '\t')) {
      return trimmed(text.substr(0, i));
    }
  }
  return text;
}

std::optional<std::string> expanded(std::string_view text, const std::map<std::string, std::string>& variables) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.substr(at).starts_with("${") ? text.find('}', at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += text[at++];
      continue;
    }
    std::string name(text.substr(at + 2, end - at - 2));
    const bool may_lack = name.ends_with('?');
    if (may_lack) {
      name.pop_back();
    }
    const auto found = variables.find(name);
    if (found == variables.end() && !may_lack) {
      return std::nullopt;
    }
    out += found == variables.end() ? std::string() : found->second;
    at = end + 1;
  }
  return out;
}

}  // namespace

NpmSettings read_npmrc(std::string_view text, const std::map<std::string, std::string>& variables) {
  NpmSettings out;
  for (const std::string_view raw : text::split(text, '\n')) {
    const std::string_view line = trimmed(raw);
    const std::size_t equals = line.find('=');
    if (line.empty() || line.front() == ';' || line.front() == '#' || line.front() == '[' ||
        equals == std::string_view::npos) {
      continue;
    }
    const std::string_view key = unquoted(trimmed(line.substr(0, equals)));
    if (key.empty() || key.ends_with("[]")) {
      continue;
    }
    const std::string_view value = unquoted(without_comment(trimmed(line.substr(equals + 1))));
    if (auto complete = expanded(value, variables)) {
      out[std::string(key)] = std::move(*complete);
    } else if (!key.starts_with("//")) {
      // As npm does: it is better refused than another registry asked. Credentials are better left out.
      out[std::string(key)] = value;
    }
  }
  return out;
}

}  // namespace cordon::formats
