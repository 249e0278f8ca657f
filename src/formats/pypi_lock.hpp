// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lock file of a package of PyPI: a file of requirements as pip reads it with --require-hashes, each wheel bound to
// one SHA-256 digest. Its first line says for which Python it holds: what a package needs differs between them.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace cordon::formats {

struct PypiPackage {
  std::string name = {};     // as names are compared (policy::distribution_name)
  std::string version = {};  // as the package has it
  std::string sha256 = {};   // of its wheel, 64 hexadecimal digits
  bool operator==(const PypiPackage&) const = default;
};

struct PypiLock {
  std::string python = {};  // "cpython-311-x86_64-linux-gnu"
  std::vector<PypiPackage> packages = {};
  bool operator==(const PypiLock&) const = default;
};

inline constexpr std::size_t kMaxPypiLock = 4'000'000;

// One spelling for equal contents: packages by their names.
std::string write_pypi_lock(const PypiLock& lock);

// launch_failed for anything but what write_pypi_lock gives. `file` is for messages.
Result<PypiLock> read_pypi_lock(std::string_view text, std::string_view file);

// "cpython-311-x86_64-linux-gnu" and the like: how Python names implementation, version and machine together.
bool is_python_platform(std::string_view text);

// "3.11" of it, "3.13t"; empty when it is not CPython's.
std::string python_version_of(std::string_view platform);

}  // namespace cordon::formats
