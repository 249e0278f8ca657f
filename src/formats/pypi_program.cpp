// SPDX-License-Identifier: Apache-2.0
#include "formats/pypi_program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "core/policy/pypi_name.hpp"
#include "formats/ini.hpp"

namespace cordon::formats {
namespace {

// "a.b_c", letters of other scripts among them.
bool is_dotted_name(std::string_view text) {
  return std::ranges::all_of(text::split(text, '.'), [](std::string_view part) {
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             static_cast<unsigned char>(c) >= 0x80;
    };
    return !part.empty() && !(part.front() >= '0' && part.front() <= '9') && std::ranges::all_of(part, plain);
  });
}

// "module:attribute", and perhaps "[extra]" behind it, which says what it needs.
std::optional<EntryPoint> read_entry(std::string_view text) {
  text = text.substr(0, text.find('['));
  std::string plain;
  for (const char c : text) {
    plain += c == ' ' || c == '\t' ? "" : std::string(1, c);
  }
  const std::size_t colon = plain.find(':');
  if (colon == std::string::npos || !text::valid_utf8(plain)) {
    return std::nullopt;
  }
  EntryPoint out{plain.substr(0, colon), plain.substr(colon + 1)};
  return is_dotted_name(out.module) && is_dotted_name(out.attribute) ? std::optional(out) : std::nullopt;
}

}  // namespace

Result<EntryPoint> pypi_program(std::string_view text, std::string_view file, std::string_view package,
                                std::string_view bin) {
  std::map<std::string, EntryPoint> programs;
  std::vector<std::string> names;
  Ini sections = read_ini(text, false);
  for (const auto& [name, value] : sections["console_scripts"]) {
    if (const auto entry = read_entry(value)) {
      programs.emplace(name, *entry);
      names.push_back(text::printable(name, 100));
    }
  }
  if (const auto found = programs.find(std::string(bin)); found != programs.end()) {
    return found->second;
  }
  if (const std::string wanted = policy::distribution_name(bin); wanted == policy::distribution_name(package)) {
    for (const auto& [name, entry] : programs) {
      if (policy::distribution_name(name) == wanted || programs.size() == 1) {
        return entry;
      }
    }
  }
  return fail(
      Errc::launch_failed,
      text::cat("the package ", text::printable(package, 300), " has no program '", text::printable(bin, 100), "'"),
      std::string(file),
      names.empty() ? "it has none at all, and so is no server that can be started"
                    : text::cat("it has: ", text::join(names, ", ")));
}

}  // namespace cordon::formats
