// SPDX-License-Identifier: Apache-2.0
#include "app/pypi_settings.hpp"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "app/paths.hpp"
#include "base/text.hpp"
#include "formats/ini.hpp"
#include "formats/uv_settings.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

using formats::IniSection;

constexpr std::size_t kMaxFile = 8'000'000;

std::vector<std::string> words_of(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    c = c == '\n' || c == '\t' ? ' ' : c;
  }
  std::vector<std::string> out;
  for (const std::string_view word : text::split(plain, ' ')) {
    if (!word.empty()) {
      out.emplace_back(word);
    }
  }
  return out;
}

std::string config_home(const Caller& caller) {
  const std::string set = variable(caller, "XDG_CONFIG_HOME");
  return set.starts_with('/') ? set : caller.home + "/.config";
}

// Calls for each file that is there.
Status read_files(const std::vector<std::string>& paths,
                  const std::function<Status(const std::string& path, const std::string& content)>& read) {
  for (const std::string& path : paths) {
    const auto file = run::read_trusted_if_present(resolved(path), {.max_bytes = kMaxFile});
    if (!file) {
      return std::unexpected(file.error());
    }
    if (Status done = *file ? read(path, (*file)->content) : Status(); !done) {
      return done;
    }
  }
  return {};
}

// From the weakest to the strongest. PIP_CONFIG_FILE=/dev/null means none at all.
std::vector<std::string> pip_files(const Caller& caller) {
  const std::string own = variable(caller, "PIP_CONFIG_FILE");
  if (own == "/dev/null") {
    return {};
  }
  std::vector<std::string> out = {"/etc/xdg/pip/pip.conf", "/etc/pip.conf"};
  if (own.starts_with('/')) {
    out.push_back(own);
  } else {
    out.push_back(caller.home + "/.pip/pip.conf");
    out.push_back(config_home(caller) + "/pip/pip.conf");
  }
  return out;
}

std::string pip_key(std::string_view key) {
  std::string out = text::lower_ascii(key);
  out = out.starts_with("--") ? out.substr(2) : out;
  for (char& c : out) {
    c = c == '_' ? '-' : c;
  }
  return out;
}

// What pip takes from its files and its environment, for `pip install`; `file_hosts` is our own section.
Result<IniSection> pip_settings(const Caller& caller, std::string& file_hosts) {
  IniSection out;
  const Status read = read_files(pip_files(caller), [&](const std::string&, const std::string& content) {
    formats::Ini sections = formats::read_ini(content, true);
    for (const char* name : {"global", "install"}) {
      for (const auto& [key, value] : sections[name]) {
        out[pip_key(key)] = value;
      }
    }
    if (const auto found = sections["mcp-cordon"].find("file-hosts"); found != sections["mcp-cordon"].end()) {
      file_hosts = found->second;
    }
    return Status();
  });
  if (!read) {
    return std::unexpected(read.error());
  }
  constexpr std::string_view kPrefix = "PIP_";
  for (const auto& [name, value] : caller.environment) {
    if (name.starts_with(kPrefix) && !value.empty()) {
      out[pip_key(name.substr(kPrefix.size()))] = value;
    }
  }
  return out;
}

Result<formats::UvIndexes> uv_indexes(const Caller& caller) {
  formats::UvIndexes out;
  const std::string own = variable(caller, "UV_CONFIG_FILE");
  std::vector<std::string> paths = {"/etc/uv/uv.toml", config_home(caller) + "/uv/uv.toml"};
  if (own.starts_with('/')) {
    paths = {own};
  }
  if (const std::string none = variable(caller, "UV_NO_CONFIG"); !none.empty() && none != "0" && none != "false") {
    paths.clear();
  }
  const Status read = read_files(paths, [&out](const std::string& path, const std::string& content) {
    Result<formats::UvIndexes> one = formats::read_uv_settings(content, path);
    if (!one) {
      return Status(std::unexpected(one.error()));
    }
    out.main = one->main.empty() ? out.main : one->main;
    out.more.insert(out.more.end(), one->more.begin(), one->more.end());
    return Status();
  });
  if (!read) {
    return std::unexpected(read.error());
  }
  for (const char* name : {"UV_INDEX_URL", "UV_DEFAULT_INDEX"}) {
    const std::string set = variable(caller, name);
    out.main = set.empty() ? out.main : set;
  }
  for (const char* name : {"UV_EXTRA_INDEX_URL", "UV_INDEX"}) {
    for (const std::string& one : words_of(variable(caller, name))) {
      const std::size_t equals = one.find('=');  // NAME=URL
      const bool named = equals != std::string::npos && equals < one.find(':');
      out.more.push_back(named ? one.substr(equals + 1) : one);
    }
  }
  return out;
}

Status add_netrc(const Caller& caller, PypiSettings& out) {
  const std::string own = variable(caller, "NETRC");
  const std::vector<std::string> paths = {own.starts_with('/') ? own : caller.home + "/.netrc"};
  return read_files(paths, [&out](const std::string&, const std::string& content) {
    out.netrc = formats::read_netrc(content);
    return Status();
  });
}

std::string first_of(const Caller& caller, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = variable(caller, name); !value.empty()) {
      return value;
    }
  }
  return {};
}

}  // namespace

Result<FoundPypiSettings> pypi_settings(const Caller& caller) {
  FoundPypiSettings found;
  PypiSettings& out = found.settings;
  std::string file_hosts;
  Result<IniSection> pip = pip_settings(caller, file_hosts);
  const Result<formats::UvIndexes> uv = pip ? uv_indexes(caller) : std::unexpected(pip.error());
  if (!uv) {
    return std::unexpected(uv.error());
  }
  if (Status added = add_netrc(caller, out); !added) {
    return std::unexpected(added.error());
  }
  const bool from_uv = !uv->main.empty() || !uv->more.empty();
  out.index = from_uv ? uv->main : (*pip)["index-url"];
  out.more = from_uv ? uv->more : words_of((*pip)["extra-index-url"]);
  const std::string& none = (*pip)["no-index"];
  out.no_index = !from_uv && (none == "1" || none == "true" || none == "yes" || none == "on");
  out.trusted_hosts = words_of((*pip)["trusted-host"]);
  for (const std::string& host : words_of(variable(caller, "UV_INSECURE_HOST"))) {
    out.trusted_hosts.push_back(host);
  }
  out.file_hosts = words_of(file_hosts);
  out.client_certificate = (*pip)["client-cert"];
  out.proxy = (*pip)["proxy"];
  if (out.proxy.empty()) {
    out.proxy = first_of(caller, {"https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"});
  }
  found.certificates = (*pip)["cert"];
  if (found.certificates.empty()) {
    found.certificates = first_of(caller, {"REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"});
  }
  return found;
}

}  // namespace cordon::app
