// SPDX-License-Identifier: Apache-2.0
#include "app/npm_client.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/expand.hpp"
#include "app/paths.hpp"
#include "app/registry_url.hpp"
#include "base/text.hpp"
#include "formats/npmrc.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

using formats::NpmSettings;

constexpr std::string_view kDefaultRegistry = "https://registry.npmjs.org/";
constexpr std::string_view kCertificates = "npm-ca.pem";
constexpr std::string_view kMoreCertificates = "node-ca.pem";
constexpr std::string_view kInside = "/home/cordon/";
constexpr std::size_t kMaxFile = 8'000'000;

std::unexpected<Error> refused(std::string_view key, std::string_view why, std::string remedy = {}) {
  return fail(Errc::policy_invalid, text::cat("npm's setting '", text::printable(key, 200), "' ", why), "npm",
              std::move(remedy));
}

class Reader {
 public:
  explicit Reader(const NpmSettings& settings) : settings_(settings) {}

  Result<NpmClient> run() {
    for (const auto& [key, value] : settings_) {
      if (key.ends_with(":certfile") || key.ends_with(":keyfile") || key == "cert" || key == "key") {
        return refused(key, "is not supported by this version", "use a registry that takes a token");
      }
    }
    if (value_of("strict-ssl") == "false") {
      return refused("strict-ssl", "would let anybody answer for the registry", "set cafile instead");
    }
    if (Status added = add_registries(); !added) {
      return std::unexpected(added.error());
    }
    add_credentials();
    add_age();
    if (Status added = add_proxy(); !added) {
      return std::unexpected(added.error());
    }
    return std::move(out_);
  }

 private:
  std::string value_of(const std::string& key) const {
    const auto found = settings_.find(key);
    return found == settings_.end() || found->second == "null" ? std::string() : found->second;
  }

  Status add_registry(const std::string& key, const std::string& value) {
    std::optional<Url> url = read_url(value);
    if (!url) {
      return refused(key, "is no URL of a registry", "write https://HOST/");
    }
    leave_localhost(*url);
    allow_host(*url, out_.network);
    registries_.push_back(*url);
    out_.environment.push_back(text::cat("npm_config_", key, '=', to_text(*url)));
    if (key == "registry") {
      out_.registry = to_text(*url);
    }
    return {};
  }

  Status add_registries() {
    const std::string main = value_of("registry");
    if (Status added = add_registry("registry", main.empty() ? std::string(kDefaultRegistry) : main); !added) {
      return added;
    }
    for (const auto& [key, value] : settings_) {
      if (key.starts_with('@') && key.ends_with(":registry")) {
        if (Status added = add_registry(key, value); !added) {
          return added;
        }
      }
    }
    return {};
  }

  // "//host:port/path/:_authToken", for the registries that are asked and no other.
  void add_credentials() {
    for (const auto& [key, value] : settings_) {
      const std::size_t end = key.rfind(':');
      if (!key.starts_with("//") || end == std::string::npos || value.empty()) {
        continue;
      }
      const std::string name = key.substr(end + 1);
      if (name != "_authToken" && name != "_auth" && name != "username" && name != "_password") {
        continue;
      }
      std::optional<Url> url = read_url(text::cat("https:", key.substr(0, end)));
      if (!url) {
        continue;
      }
      leave_localhost(*url);
      const bool has_port = key.substr(2, key.find('/', 2) - 2).find(':') != std::string::npos;
      for (const Url& registry : registries_) {
        if (registry.host != url->host || (has_port && registry.port != url->port)) {
          continue;
        }
        // npm compares the place as text with the registry's, and that always has its port here.
        out_.environment.push_back(
            text::cat("npm_config_//", registry.host, ':', registry.port, url->path, ':', name, '=', value));
        out_.secrets.push_back({name, value});
      }
    }
  }

  // Who waits before taking what is new waits here, too.
  void add_age() {
    for (const auto& [key, variable] :
         {std::pair{"before", "before"}, std::pair{"min-release-age", "min_release_age"}}) {
      if (const std::string value = value_of(key); !value.empty()) {
        out_.environment.push_back(text::cat("npm_config_", variable, '=', value));
      }
    }
  }

  Status add_proxy() {
    const std::string written = value_of("https-proxy").empty() ? value_of("proxy") : value_of("https-proxy");
    if (written.empty() || written == "false") {
      out_.environment.emplace_back("npm_config_noproxy=*");
      return {};
    }
    const std::optional<std::string> inside = through_proxy(written, out_.network);
    if (!inside) {
      return refused("https-proxy", "is no URL", "write http://HOST:PORT");
    }
    out_.environment.push_back(text::cat("npm_config_https_proxy=", *inside));
    out_.environment.push_back(text::cat("npm_config_proxy=", *inside));
    if (const std::string credentials = read_url(written)->credentials; !credentials.empty()) {
      out_.secrets.push_back({"proxy", credentials});
    }
    return {};
  }

  const NpmSettings& settings_;
  NpmClient out_ = {};
  std::vector<Url> registries_ = {};
};

// What npm takes from its environment: npm_config_REGISTRY and the like.
void add_variables(const Caller& caller, NpmSettings& settings) {
  constexpr std::string_view kPrefix = "npm_config_";
  for (const auto& [name, value] : caller.environment) {
    if (text::lower_ascii(name.substr(0, kPrefix.size())) != kPrefix || value.empty()) {
      continue;
    }
    std::string key = name.substr(kPrefix.size());
    if (!key.starts_with("//") && !key.starts_with('@')) {
      key = text::lower_ascii(key);
      for (std::size_t i = 1; i < key.size(); ++i) {
        key[i] = key[i] == '_' ? '-' : key[i];
      }
    }
    settings[key] = value;
  }
  for (const char* name : {"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"}) {
    const auto found = caller.environment.find(name);
    if (found != caller.environment.end() && !found->second.empty()) {
      settings.emplace("https-proxy", found->second);  // npm's own settings come first
    }
  }
}

// From the weakest to the strongest.
std::vector<std::string> settings_files(const Caller& caller) {
  std::vector<std::string> out = {"/etc/npmrc"};
  if (const Result<Program> node = find_program("node", caller)) {
    out.push_back(text::cat(parent_of(parent_of(node->real)), "/etc/npmrc"));
  }
  const std::string user = variable(caller, "NPM_CONFIG_USERCONFIG");
  const std::string lower = variable(caller, "npm_config_userconfig");
  out.push_back(!user.empty() ? user : !lower.empty() ? lower : caller.home + "/.npmrc");
  return out;
}

}  // namespace

Result<NpmClient> npm_client_of(const std::map<std::string, std::string>& settings) { return Reader(settings).run(); }

Result<NpmClient> npm_client(const Caller& caller) {
  NpmSettings settings;
  for (const std::string& path : settings_files(caller)) {
    const auto file = run::read_trusted_if_present(resolved(path), {.max_bytes = kMaxFile});
    if (!file) {
      return std::unexpected(file.error());
    }
    if (*file) {
      for (const auto& [key, value] : formats::read_npmrc((*file)->content, caller.environment)) {
        settings[key] = value;
      }
    }
  }
  add_variables(caller, settings);
  Result<NpmClient> out = npm_client_of(settings);
  if (!out) {
    return out;
  }
  const auto cafile = settings.find("cafile");
  Status added = copy_certificates(cafile == settings.end() || cafile->second == "null" ? "" : cafile->second,
                                   kCertificates, out->files);
  if (added && out->files.contains(std::string(kCertificates))) {
    out->environment.push_back(text::cat("npm_config_cafile=", kInside, kCertificates));
  }
  if (added) {
    added = copy_certificates(variable(caller, "NODE_EXTRA_CA_CERTS"), kMoreCertificates, out->files);
  }
  if (!added) {
    return std::unexpected(added.error());
  }
  if (out->files.contains(std::string(kMoreCertificates))) {
    out->environment.push_back(text::cat("NODE_EXTRA_CA_CERTS=", kInside, kMoreCertificates));
  }
  return out;
}

}  // namespace cordon::app
