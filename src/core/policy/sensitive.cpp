// SPDX-License-Identifier: Apache-2.0
#include "core/policy/sensitive.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

constexpr std::string_view kKeys = "keys or tokens";
constexpr std::string_view kBrowser = "a browser profile or mail";
constexpr std::string_view kPasswords = "passwords";
constexpr std::string_view kClient = "the settings of an MCP client, an agent or an editor";
constexpr std::string_view kHistory = "what was typed in a shell";
constexpr std::string_view kControl = "control over this machine or session";

constexpr std::array kPlaces = std::to_array<SensitivePlace>({
    {".ssh", kKeys},
    {".aws", kKeys},
    {".azure", kKeys},
    {".gnupg", kKeys},
    {".kube", kKeys},
    {".docker", kKeys},
    {".config/containers/auth.json", kKeys},
    {".config/doctl", kKeys},
    {".config/gcloud", kKeys},
    {".config/gh", kKeys},
    {".config/glab-cli", kKeys},
    {".config/hub", kKeys},
    {".config/op", kKeys},
    {".config/rclone", kKeys},
    {".config/sops", kKeys},
    {".config/git/credentials", kKeys},
    {".cargo/credentials", kKeys},
    {".cargo/credentials.toml", kKeys},
    {".databrickscfg", kKeys},
    {".gem/credentials", kKeys},
    {".git-credentials", kKeys},
    {".m2/settings.xml", kKeys},
    {".my.cnf", kKeys},
    {".netrc", kKeys},
    {".npmrc", kKeys},
    {".oci", kKeys},
    {".pgpass", kKeys},
    {".pypirc", kKeys},
    {".s3cfg", kKeys},
    {".terraform.d", kKeys},
    {".vault-token", kKeys},
    {".yarnrc.yml", kKeys},
    {"_netrc", kKeys},
    {".mozilla", kBrowser},
    {".librewolf", kBrowser},
    {".waterfox", kBrowser},
    {".thunderbird", kBrowser},
    {".config/google-chrome", kBrowser},
    {".config/google-chrome-beta", kBrowser},
    {".config/google-chrome-unstable", kBrowser},
    {".config/chromium", kBrowser},
    {".config/BraveSoftware", kBrowser},
    {".config/microsoft-edge", kBrowser},
    {".config/vivaldi", kBrowser},
    {".config/opera", kBrowser},
    {".config/mozilla", kBrowser},
    {"snap/firefox", kBrowser},
    {"snap/chromium", kBrowser},
    {"snap/brave", kBrowser},
    {".var/app/org.mozilla.firefox", kBrowser},
    {".var/app/org.chromium.Chromium", kBrowser},
    {".var/app/com.google.Chrome", kBrowser},
    {".var/app/com.brave.Browser", kBrowser},
    {".var/app/com.microsoft.Edge", kBrowser},
    {".password-store", kPasswords},
    {".config/Bitwarden", kPasswords},
    {".config/KeePass", kPasswords},
    {".config/keepassxc", kPasswords},
    {".config/1Password", kPasswords},
    {".local/share/gopass", kPasswords},
    {".local/share/keyrings", kPasswords},
    {".local/share/kwalletd", kPasswords},
    {".local/share/pass", kPasswords},
    {".aider.conf.yml", kClient},
    {".amazonq", kClient},
    {".claude", kClient},
    {".claude.json", kClient},
    {".cline", kClient},
    {".codeium", kClient},
    {".codex", kClient},
    {".config/Claude", kClient},
    {".config/Code", kClient},
    {".config/Cursor", kClient},
    {".config/VSCodium", kClient},
    {".config/Windsurf", kClient},
    {".config/github-copilot", kClient},
    {".config/goose", kClient},
    {".config/mcp-cordon", kClient},
    {".config/opencode", kClient},
    {".config/zed", kClient},
    {".continue", kClient},
    {".cursor", kClient},
    {".gemini", kClient},
    {".kiro", kClient},
    {".local/share/opencode", kClient},
    {".local/state/mcp-cordon", kClient},
    {".roo", kClient},
    {".vscode", kClient},
    {".windsurf", kClient},
    {".bash_history", kHistory},
    {".local/share/fish/fish_history", kHistory},
    {".node_repl_history", kHistory},
    {".psql_history", kHistory},
    {".mysql_history", kHistory},
    {".python_history", kHistory},
    {".zsh_history", kHistory},
    {".zhistory", kHistory},
    {".histfile", kHistory},
    {"/etc/shadow", kPasswords},
    {"/etc/gshadow", kPasswords},
    {"/etc/ssh", kKeys},
    {"/etc/ssl/private", kKeys},
    {"/etc/krb5.keytab", kKeys},
    {"/etc/NetworkManager/system-connections", kPasswords},
    {"/etc/sudoers", kControl},
    {"/etc/sudoers.d", kControl},
    {"/run/containerd", kControl},
    {"/run/crio", kControl},
    {"/run/dbus", kControl},
    {"/run/docker.sock", kControl},
    {"/run/podman", kControl},
    {"/run/systemd", kControl},
    {"/run/user", kControl},
    {"/tmp/.X11-unix", kControl},
    {"/var/run/docker.sock", kControl},
    {"/var/lib/docker", kControl},
    {"/var/lib/containers", kControl},
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

std::span<const SensitivePlace> sensitive_places() { return kPlaces; }

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
  for (const SensitivePlace& place : kPlaces) {
    const bool absolute = place.path.starts_with('/');
    if (absolute ? path.starts_with('/') && touches(parts_of(place.path), parts)
                 : below && touches(parts_of(place.path), *below)) {
      return text::cat(place.what, " (", absolute ? "" : "~/", place.path, ")");
    }
  }
  return std::nullopt;
}

}  // namespace cordon::policy
