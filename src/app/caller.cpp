// SPDX-License-Identifier: Apache-2.0
#include "app/caller.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "app/paths.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

struct Account {
  std::string name = {};
  std::string home = {};
};

Account account_of(uid_t uid) {
  Account out{std::to_string(uid), {}};
  std::array<char, 16'384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    out.name = found->pw_name;
    out.home = found->pw_dir;
  }
  return out;
}

// The base directory specification says that a relative value is to be ignored.
std::string base_folder(const Caller& caller, const char* variable, std::string_view below_home) {
  const auto found = caller.environment.find(variable);
  if (found != caller.environment.end() && found->second.starts_with('/')) {
    return normalised(found->second);
  }
  return text::cat(caller.home, below_home);
}

}  // namespace

std::string prefix_of(std::string_view executable) {
  const std::size_t slash = executable.rfind('/');
  const std::string_view folder = slash == std::string_view::npos ? "" : executable.substr(0, slash);
  constexpr std::string_view kBin = "/bin";
  return std::string(folder.ends_with(kBin) ? folder.substr(0, folder.size() - kBin.size()) : folder);
}

Result<Caller> read_caller(const char* const* environ) {
  Caller out;
  for (; environ != nullptr && *environ != nullptr; ++environ) {
    const std::string_view entry = *environ;
    if (const std::size_t equals = entry.find('='); equals != std::string_view::npos && equals > 0) {
      out.environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
  out.uid = ::geteuid();
  const Account account = account_of(out.uid);
  out.account = account.name;
  const auto home = out.environment.find("HOME");
  out.home = home != out.environment.end() && home->second.starts_with('/') ? home->second : account.home;
  if (!out.home.starts_with('/')) {
    return fail(Errc::internal, "no home folder: HOME is not set and the account has none", "HOME", "set HOME");
  }
  // A home behind a symlink is common; grants may not go through one, so it is resolved once here.
  out.home = resolved(out.home);
  out.config_home = base_folder(out, "XDG_CONFIG_HOME", "/.config");
  out.state_home = base_folder(out, "XDG_STATE_HOME", "/.local/state");
  out.data_home = base_folder(out, "XDG_DATA_HOME", "/.local/share");

  std::array<char, 4096> link{};
  const ssize_t length = ::readlink("/proc/self/exe", link.data(), link.size());
  if (length <= 0 || static_cast<std::size_t>(length) == link.size()) {
    return fail(Errc::internal, errno_text("cannot read the path of this program", errno), "/proc/self/exe");
  }
  out.executable.assign(link.data(), static_cast<std::size_t>(length));
  out.prefix = prefix_of(out.executable);
  return out;
}

}  // namespace cordon::app
