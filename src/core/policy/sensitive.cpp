// SPDX-License-Identifier: Apache-2.0
#include "core/policy/sensitive.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

constexpr std::array kKeys = std::to_array<std::string_view>({".ssh",
                                                              ".aws",
                                                              ".azure",
                                                              ".gnupg",
                                                              ".kube",
                                                              ".docker",
                                                              ".config/containers/auth.json",
                                                              ".config/doctl",
                                                              ".config/gcloud",
                                                              ".config/gh",
                                                              ".config/glab-cli",
                                                              ".config/hub",
                                                              ".config/op",
                                                              ".config/rclone",
                                                              ".config/sops",
                                                              ".config/git/credentials",
                                                              ".cargo/credentials",
                                                              ".cargo/credentials.toml",
                                                              ".databrickscfg",
                                                              ".gem/credentials",
                                                              ".git-credentials",
                                                              ".m2/settings.xml",
                                                              ".my.cnf",
                                                              ".netrc",
                                                              ".npmrc",
                                                              ".oci",
                                                              ".pgpass",
                                                              ".pypirc",
                                                              ".s3cfg",
                                                              ".terraform.d",
                                                              ".vault-token",
                                                              ".yarnrc.yml",
                                                              "_netrc",
                                                              "/etc/ssh",
                                                              "/etc/ssl/private",
                                                              "/etc/krb5.keytab"});

constexpr std::array kBrowser = std::to_array<std::string_view>({".mozilla",
                                                                 ".librewolf",
                                                                 ".waterfox",
                                                                 ".thunderbird",
                                                                 ".config/google-chrome",
                                                                 ".config/google-chrome-beta",
                                                                 ".config/google-chrome-unstable",
                                                                 ".config/chromium",
                                                                 ".config/BraveSoftware",
                                                                 ".config/microsoft-edge",
                                                                 ".config/vivaldi",
                                                                 ".config/opera",
                                                                 ".config/mozilla",
                                                                 "snap/firefox",
                                                                 "snap/chromium",
                                                                 "snap/brave",
                                                                 ".var/app/org.mozilla.firefox",
                                                                 ".var/app/org.chromium.Chromium",
                                                                 ".var/app/com.google.Chrome",
                                                                 ".var/app/com.brave.Browser",
                                                                 ".var/app/com.microsoft.Edge"});

constexpr std::array kPasswords = std::to_array<std::string_view>(
    {".password-store", ".config/Bitwarden", ".config/KeePass", ".config/keepassxc", ".config/1Password",
     ".local/share/gopass", ".local/share/keyrings", ".local/share/kwalletd", ".local/share/pass", "/etc/shadow",
     "/etc/gshadow", "/etc/NetworkManager/system-connections"});

constexpr std::array kClient = std::to_array<std::string_view>({".aider.conf.yml",
                                                                ".amazonq",
                                                                ".claude",
                                                                ".claude.json",
                                                                ".cline",
                                                                ".codeium",
                                                                ".codex",
                                                                ".config/Claude",
                                                                ".config/Code",
                                                                ".config/Cursor",
                                                                ".config/VSCodium",
                                                                ".config/Windsurf",
                                                                ".config/github-copilot",
                                                                ".config/goose",
                                                                ".config/mcp-cordon",
                                                                ".config/opencode",
                                                                ".config/zed",
                                                                ".continue",
                                                                ".cursor",
                                                                ".gemini",
                                                                ".kiro",
                                                                ".local/share/opencode",
                                                                ".local/state/mcp-cordon",
                                                                ".roo",
                                                                ".vscode",
                                                                ".windsurf"});

constexpr std::array kHistory = std::to_array<std::string_view>(
    {".bash_history", ".local/share/fish/fish_history", ".node_repl_history", ".psql_history", ".mysql_history",
     ".python_history", ".zsh_history", ".zhistory", ".histfile"});

constexpr std::array kControl = std::to_array<std::string_view>(
    {"/etc/sudoers", "/etc/sudoers.d", "/run/containerd", "/run/crio", "/run/dbus", "/run/docker.sock", "/run/podman",
     "/run/systemd", "/run/user", "/tmp/.X11-unix", "/var/run/docker.sock", "/var/lib/docker", "/var/lib/containers"});

constexpr std::array kPlaces = std::to_array<SensitivePlaces>({
    {"keys or tokens", kKeys},
    {"a browser profile or mail", kBrowser},
    {"passwords", kPasswords},
    {"the settings of an MCP client, an agent or an editor", kClient},
    {"what was typed in a shell", kHistory},
    {"control over this machine or session", kControl},
});

using Parts = std::vector<std::string_view>;

// Components without empty ones and single dots.
Parts parts_of(std::string_view path) {
  Parts parts = text::split(path, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  return parts;
}

bool is_prefix(const Parts& shorter, const Parts& longer) {
  return shorter.size() <= longer.size() && std::equal(shorter.begin(), shorter.end(), longer.begin());
}

bool touches(const Parts& a, const Parts& b) { return is_prefix(a, b) || is_prefix(b, a); }

// What stands behind the first `count` components.
Parts behind(const Parts& parts, std::size_t count) {
  return {parts.begin() + static_cast<std::ptrdiff_t>(count), parts.end()};
}

// What stands below a home folder, when the path is one or lies in one.
std::optional<Parts> below_home(std::string_view path, std::string_view home) {
  const Parts parts = parts_of(path);
  if (path.starts_with('~')) {
    return behind(parts, 1);
  }
  const Parts known = parts_of(home);
  if (!known.empty() && is_prefix(known, parts)) {
    return behind(parts, known.size());
  }
  const std::string_view first = parts.empty() ? "" : parts.front();
  const std::size_t count = first == "root" ? 1 : first == "home" ? 2 : 0;
  return count == 0 || parts.size() < count ? std::nullopt : std::optional(behind(parts, count));
}

}  // namespace

std::span<const SensitivePlaces> sensitive_places() { return kPlaces; }

std::optional<std::string> why_sensitive(std::string_view path, std::string_view home) {
  const Parts parts = parts_of(path);
  if (parts.empty()) {
    return "the whole file system";
  }
  if (parts == Parts{"home"}) {
    return "every home folder";
  }
  const auto below = below_home(path, home);
  const Parts known = parts_of(home);
  if ((below && below->empty()) || (!known.empty() && is_prefix(parts, known) && path.starts_with('/'))) {
    return "a whole home folder";
  }
  for (const SensitivePlaces& kind : kPlaces) {
    for (const std::string_view place : kind.paths) {
      const bool absolute = place.starts_with('/');
      if (absolute ? path.starts_with('/') && touches(parts_of(place), parts)
                   : below && touches(parts_of(place), *below)) {
        return text::cat(kind.what, " (", absolute ? "" : "~/", place, ")");
      }
    }
  }
  return std::nullopt;
}

}  // namespace cordon::policy
