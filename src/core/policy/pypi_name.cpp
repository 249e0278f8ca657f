// SPDX-License-Identifier: Apache-2.0
#include "core/policy/pypi_name.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

constexpr std::size_t kMaxName = 214;
constexpr std::size_t kMaxVersion = 128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_mark(char c) { return c == '.' || c == '_' || c == '-'; }

bool is_name(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || is_mark(c); });
}

// "mcp" or "mcp[cli,rich]"
bool is_package(std::string_view text) {
  const std::size_t bracket = text.find('[');
  if (text.size() > kMaxName || !is_name(text.substr(0, bracket))) {
    return false;
  }
  if (bracket == std::string_view::npos) {
    return true;
  }
  const std::string_view extras = text.substr(bracket + 1);
  return extras.ends_with(']') && std::ranges::all_of(text::split(extras.substr(0, extras.size() - 1), ','), is_name);
}

// ">=1,<2", "~=1.4", "==1.*"
bool is_comparisons(std::string_view text) {
  constexpr std::string_view kOperators = "=<>!~";
  return text.size() <= kMaxVersion && std::ranges::all_of(text::split(text, ','), [&](std::string_view one) {
           const std::size_t number = one.find_first_not_of(kOperators);
           return number != 0 && number != std::string_view::npos && number <= 3 && one.substr(0, number) != "=" &&
                  std::ranges::all_of(one.substr(number), [](char c) {
                    return is_alphanumeric(c) || is_mark(c) || c == '*' || c == '+' || c == '!';
                  });
         });
}

std::vector<std::string> extras_of(std::string_view package) {
  std::vector<std::string> out;
  const std::size_t bracket = package.find('[');
  if (bracket == std::string_view::npos) {
    return out;
  }
  for (const std::string_view one : text::split(package.substr(bracket + 1, package.size() - bracket - 2), ',')) {
    out.push_back(distribution_name(one));
  }
  std::ranges::sort(out);
  const auto again = std::ranges::unique(out);
  out.erase(again.begin(), again.end());
  return out;
}

}  // namespace

bool is_exact_pypi_version(std::string_view text) {
  return !text.empty() && text.size() <= kMaxVersion && is_digit(text.front()) && is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || is_mark(c) || c == '+' || c == '!'; });
}

std::optional<PackageName> read_pypi_name(std::string_view text) {
  const std::size_t end = text.find_first_of("=<>!~");
  const std::string_view package = text.substr(0, end);
  const std::string_view version = end == std::string_view::npos ? std::string_view() : text.substr(end);
  if (!is_package(package) || (!version.empty() && !is_comparisons(version))) {
    return std::nullopt;
  }
  const bool exact = version.starts_with("==") && is_exact_pypi_version(version.substr(2));
  return PackageName{std::string(package), std::string(exact ? version.substr(2) : version)};
}

std::string distribution_name(std::string_view package) {
  std::string out;
  for (const char c : text::lower_ascii(package.substr(0, package.find('[')))) {
    if (!is_mark(c)) {
      out += c;
    } else if (!out.ends_with('-')) {
      out += '-';
    }
  }
  return out;
}

bool is_same_pypi_package(std::string_view one, std::string_view other) {
  return is_package(one) && is_package(other) && distribution_name(one) == distribution_name(other) &&
         extras_of(one) == extras_of(other);
}

}  // namespace cordon::policy
