// SPDX-License-Identifier: Apache-2.0
#include "sandbox/git_config.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace cordon::sandbox {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "key = value" of a line, also behind a section's name; the key in small letters, quotes and comments taken off.
std::optional<std::pair<std::string, std::string>> setting(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('[')) {
    const std::size_t end = line.rfind(']', line.find('='));
    line = end == std::string_view::npos ? std::string_view() : trimmed(line.substr(end + 1));
  }
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    return std::nullopt;
  }
  std::string value;
  bool quoted = false;
  const std::string_view written = trimmed(line.substr(equals + 1));
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char c = written[i];
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '\\' && i + 1 < written.size()) {
      value += written[++i];
    } else if (!quoted && (c == '#' || c == ';')) {
      break;
    } else {
      value += c;
    }
  }
  return std::pair(text::lower_ascii(trimmed(line.substr(0, equals))), std::string(trimmed(value)));
}

}  // namespace

std::vector<std::string> paths_of_git_config(std::string_view config, const std::string& folder,
                                             const std::string& working, const std::string& home) {
  std::vector<std::string> paths;
  for (const std::string_view line : text::split(config, '\n')) {
    const auto found = setting(line);
    if (!found || found->second.empty() || found->second.find('\0') != std::string::npos ||
        (found->first != "hookspath" && found->first != "path")) {
      continue;
    }
    std::string path = found->second;
    if (path.starts_with("~/") && !home.empty()) {
      path = home + path.substr(1);
    } else if (path.starts_with('~')) {
      continue;
    } else if (!path.starts_with('/')) {
      path = text::cat(found->first == "path" ? folder : working, "/", path);
    }
    std::string normal = std::filesystem::path(path).lexically_normal();
    while (normal.size() > 1 && normal.ends_with('/')) {
      normal.pop_back();
    }
    paths.push_back(std::move(normal));
  }
  return paths;
}

bool uses_worktree_config(std::string_view config) {
  for (const std::string_view line : text::split(config, '\n')) {
    if (text::lower_ascii(line).find("worktreeconfig") != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace cordon::sandbox
