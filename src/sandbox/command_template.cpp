// SPDX-License-Identifier: Apache-2.0
#include "sandbox/command_template.hpp"

#include <string_view>

namespace cordon::sandbox {

std::vector<std::string> expand_template(const std::vector<std::string>& items, const std::vector<std::string>& command,
                                         const std::string& cwd) {
  constexpr std::string_view kCwd = "{cwd}";
  std::vector<std::string> out;
  for (const std::string& item : items) {
    if (item == "{command}") {
      out.insert(out.end(), command.begin(), command.end());
      continue;
    }
    std::string word = item;
    for (std::size_t at = 0; (at = word.find(kCwd, at)) != std::string::npos; at += cwd.size()) {
      word.replace(at, kCwd.size(), cwd);
    }
    out.push_back(std::move(word));
  }
  return out;
}

}  // namespace cordon::sandbox
