// SPDX-License-Identifier: Apache-2.0
#include "app/python_program.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "app/paths.hpp"
#include "app/registry_url.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

// "3.11" of …/bin/python3.11: installations name the file so. Empty when the name does not tell.
std::string version_in_name(const std::string& real) {
  constexpr std::string_view kStart = "python";
  const std::string name = file_name_of(real);
  const bool told = name.starts_with(kStart) && name.find('.') != std::string::npos;
  return told ? name.substr(kStart.size()) : std::string();
}

// DATA/uv/python/cpython-3.12.4-linux-x86_64-gnu/bin/python3.12
std::vector<std::string> of_uv(const Caller& caller, const std::string& version) {
  const std::string set = variable(caller, "UV_PYTHON_INSTALL_DIR");
  const std::string folder = set.starts_with('/') ? set : caller.data_home + "/uv/python";
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(text::cat("cpython-3", version.empty() ? "" : version.substr(1), '.'))) {
      out.push_back(text::cat(folder, '/', name, "/bin/python3"));
    }
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

Result<Program> find_python(const Caller& caller, const std::string& version) {
  std::vector<std::string> candidates = {"python3"};
  if (!version.empty()) {
    candidates.push_back(text::cat("python", version));
  }
  std::ranges::copy(of_uv(caller, version), std::back_inserter(candidates));
  for (const std::string& candidate : candidates) {
    Result<Program> found = find_program(candidate, caller);
    if (!found) {
      continue;
    }
    const std::string told = version_in_name(found->real);
    if (version.empty() || told.empty() || told == version) {
      found->path = found->real;
      return found;
    }
  }
  if (version.empty()) {
    return fail(Errc::launch_failed, "there is no program 'python3' in PATH", {}, "install Python 3.8 or newer");
  }
  return fail(Errc::launch_failed, text::cat("the package was installed for Python ", version, ", which is not there"),
              {}, text::cat("install it, or install the package anew for another: mcp-cordon update NAME"));
}

}  // namespace cordon::app
