// SPDX-License-Identifier: Apache-2.0
#include "run/environment.hpp"

#include "base/text.hpp"

namespace cordon::run {
namespace {

Result<std::string> home_of(const Environment& environment) {
  if (!environment.home.starts_with('/')) {
    return fail(Errc::file_unreadable, "HOME is not set to an absolute path", "environment",
                "start mcp-cordon with HOME in its environment");
  }
  std::string home = environment.home;
  while (home.size() > 1 && home.ends_with('/')) {
    home.pop_back();
  }
  return home;
}

Result<std::string> own_folder(const Environment& environment, const std::string& xdg, std::string_view below_home) {
  if (xdg.starts_with('/')) {
    return text::cat(xdg, "/mcp-cordon");
  }
  auto home = home_of(environment);
  if (home) {
    *home += text::cat("/", below_home, "/mcp-cordon");
  }
  return home;
}

}  // namespace

Environment Environment::from(const char* const* environment) {
  Environment out;
  const auto take = [](std::string_view entry, std::string_view name, std::string& value) {
    // The first entry of a name counts, as for getenv.
    if (value.empty() && entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
      value = entry.substr(name.size() + 1);
    }
  };
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    take(*environment, "HOME", out.home);
    take(*environment, "PATH", out.path);
    take(*environment, "XDG_CONFIG_HOME", out.xdg_config_home);
    take(*environment, "XDG_STATE_HOME", out.xdg_state_home);
  }
  return out;
}

Result<std::string> config_dir(const Environment& environment) {
  return own_folder(environment, environment.xdg_config_home, ".config");
}

Result<std::string> state_dir(const Environment& environment) {
  return own_folder(environment, environment.xdg_state_home, ".local/state");
}

Result<std::string> expand_home(const Environment& environment, std::string_view path) {
  if (path != "~" && !path.starts_with("~/")) {
    return std::string(path);
  }
  auto home = home_of(environment);
  if (home) {
    *home += path.substr(1);
  }
  return home;
}

}  // namespace cordon::run
