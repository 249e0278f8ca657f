// SPDX-License-Identifier: Apache-2.0
#include "formats/pypi_lock.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/policy/pypi_name.hpp"

namespace cordon::formats {
namespace {

constexpr std::string_view kFirst = "# wheels for ";
constexpr std::string_view kHash = " --hash=sha256:";
constexpr std::size_t kMaxPackages = 20'000;
constexpr std::size_t kMaxPlatform = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_small(char c) { return c >= 'a' && c <= 'z'; }

bool is_hex_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_package_line(std::string_view line, PypiPackage& out) {
  const std::size_t equals = line.find("==");
  const std::size_t hash = line.find(kHash);
  if (equals == std::string_view::npos || hash == std::string_view::npos || hash < equals) {
    return false;
  }
  out.name = line.substr(0, equals);
  out.version = line.substr(equals + 2, hash - equals - 2);
  out.sha256 = line.substr(hash + kHash.size());
  const auto name = policy::read_pypi_name(out.name);
  return name && name->version.empty() && policy::distribution_name(out.name) == out.name &&
         policy::is_exact_pypi_version(out.version) && is_hex_digest(out.sha256);
}

}  // namespace

bool is_python_platform(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPlatform && std::ranges::all_of(text, [](char c) {
    return is_small(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
  });
}

std::string python_version_of(std::string_view platform) {
  constexpr std::string_view kStart = "cpython-";
  if (!platform.starts_with(kStart)) {
    return {};
  }
  const std::string_view tag = platform.substr(kStart.size(), platform.find('-', kStart.size()) - kStart.size());
  const bool digits = tag.size() >= 2 && is_digit(tag[0]) && is_digit(tag[1]);
  return digits ? text::cat(tag.substr(0, 1), '.', tag.substr(1)) : std::string();
}

std::string write_pypi_lock(const PypiLock& lock) {
  std::vector<PypiPackage> packages = lock.packages;
  std::ranges::sort(packages, {}, &PypiPackage::name);
  std::string out = text::cat(kFirst, lock.python, '\n');
  for (const PypiPackage& package : packages) {
    out += text::cat(package.name, "==", package.version, kHash, package.sha256, '\n');
  }
  return out;
}

Result<PypiLock> read_pypi_lock(std::string_view text, std::string_view file) {
  PypiLock out;
  int number = 0;
  for (const std::string_view line : text::split(text, '\n')) {
    ++number;
    PypiPackage package;
    if (number == 1) {
      out.python = line.substr(std::min(kFirst.size(), line.size()));
    } else if (!line.empty() && is_package_line(line, package)) {
      out.packages.push_back(std::move(package));
    }
  }
  const bool once = std::ranges::adjacent_find(out.packages, {}, &PypiPackage::name) == out.packages.end();
  if (!is_python_platform(out.python) || !once || out.packages.empty() || out.packages.size() > kMaxPackages ||
      write_pypi_lock(out) != text) {
    return fail(Errc::launch_failed,
                "is no lock file as this version writes them: a line for each wheel, with its digest",
                std::string(file));
  }
  return out;
}

}  // namespace cordon::formats
