// SPDX-License-Identifier: Apache-2.0
#include "app/pypi_client.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "app/pypi_settings.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kDefaultIndex = "https://pypi.org/simple";
constexpr std::string_view kCertificates = "pip-ca.pem";

// Indexes whose files are known to lie at another host.
struct Pair {
  std::string_view index = {};
  std::string_view files = {};
};
constexpr auto kPairs =
    std::to_array<Pair>({{"pypi.org", "files.pythonhosted.org"}, {"test.pypi.org", "test-files.pythonhosted.org"}});

std::unexpected<Error> refused(std::string_view what, std::string_view why, std::string remedy) {
  return fail(Errc::policy_invalid, text::cat(what, ' ', why), "pip and uv", std::move(remedy));
}

bool is_default_port(const Url& url) { return url.port == (url.scheme == "https" ? 443 : 80); }

// pip compares what stands here with the addresses of files when it decides who gets credentials.
std::string authority(const Url& url) { return is_default_port(url) ? url.host : text::cat(url.host, ':', url.port); }

std::string shown(const Url& url) { return text::cat(url.scheme, "://", authority(url), url.path); }

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : text::cat('%', kDigits[byte >> 4U], kDigits[byte & 15U]);
  }
  return out;
}

bool is_loopback(const std::string& host) { return host == "localhost" || host.starts_with("127."); }

class Reader {
 public:
  explicit Reader(const PypiSettings& settings) : settings_(settings) {}

  Result<PypiClient> run() {
    if (settings_.no_index) {
      return refused("pip's setting 'no-index'", "leaves no registry to fetch from", "take it out");
    }
    if (!settings_.client_certificate.empty()) {
      return refused("pip's setting 'client-cert'", "is not supported by this version",
                     "use an index that takes a password or token");
    }
    Status done = add_index(settings_.index.empty() ? std::string(kDefaultIndex) : settings_.index, true);
    for (const std::string& one : settings_.more) {
      done = done ? add_index(one, false) : done;
    }
    for (const std::string& one : settings_.file_hosts) {
      done = done ? add_files(one) : done;
    }
    done = done ? add_proxy() : done;
    if (!done) {
      return std::unexpected(done.error());
    }
    out_.environment.push_back(text::cat("PIP_INDEX_URL=", indexes_.front()));
    if (indexes_.size() > 1) {
      out_.environment.push_back(text::cat("PIP_EXTRA_INDEX_URL=", text::join(std::span(indexes_).subspan(1), " ")));
    }
    if (!trusted_.empty()) {
      out_.environment.push_back(text::cat("PIP_TRUSTED_HOST=", text::join(trusted_, " ")));
    }
    return std::move(out_);
  }

 private:
  Status add_index(const std::string& written, bool main) {
    std::optional<Url> url = read_url(written);
    if (!url) {
      return refused(text::cat("'", text::printable(written.substr(written.rfind('@') + 1), 200), "'"),
                     "is no URL of an index", "write https://HOST/simple");
    }
    if (Status fine = check_security(*url); !fine) {
      return fine;
    }
    add_credentials(*url);
    leave_localhost(*url);
    add_host(*url);
    for (const Pair& pair : kPairs) {
      if (url->host == pair.index) {
        add_host({.scheme = "https", .credentials = {}, .host = std::string(pair.files), .port = 443, .path = "/"});
      }
    }
    if (main) {
      out_.index = shown(*url);
    }
    indexes_.push_back(text::cat(url->scheme, "://", url->credentials, url->credentials.empty() ? "" : "@",
                                 authority(*url), url->path));
    return {};
  }

  // Without TLS anybody on the way could answer; the digests are taken from that answer.
  Status check_security(const Url& url) {
    const bool trusted = std::ranges::any_of(settings_.trusted_hosts, [&url](const std::string& one) {
      return one == url.host || one == text::cat(url.host, ':', url.port);
    });
    if (url.scheme == "https" && trusted) {
      return refused(text::cat("the setting 'trusted-host' for ", url.host), "would let anybody answer for the index",
                     "set cert instead");
    }
    if (url.scheme == "http" && !trusted && !is_loopback(url.host)) {
      return refused(text::cat("the index at ", url.host), "is asked without TLS, and pip would pass it over",
                     "use https, or name its host in trusted-host");
    }
    if (trusted) {
      trusted_.push_back(url.host);
    }
    return {};
  }

  void add_credentials(Url& url) {
    if (url.credentials.empty()) {
      if (const auto entry = formats::netrc_entry(settings_.netrc, url.host); entry && !entry->password.empty()) {
        url.credentials = text::cat(percent_encoded(entry->login), ':', percent_encoded(entry->password));
        out_.secrets.push_back({"password", entry->password});
      }
    }
    if (!url.credentials.empty()) {
      out_.secrets.push_back({"password", url.credentials});
      const std::string password = url.credentials.substr(url.credentials.find(':') + 1);
      out_.secrets.push_back({"password", password});
    }
  }

  Status add_files(const std::string& written) {
    std::optional<Url> url = read_url(written.find("://") == std::string::npos ? "https://" + written : written);
    if (!url) {
      return refused(text::cat("'", text::printable(written, 200), "' of file-hosts"), "is no host",
                     "write HOST or HOST:PORT");
    }
    leave_localhost(*url);
    add_host(*url);
    return {};
  }

  void add_host(const Url& url) {
    allow_host(url, out_.network);
    out_.hosts.push_back(url);
  }

  Status add_proxy() {
    if (settings_.proxy.empty()) {
      return {};
    }
    const std::optional<std::string> inside = through_proxy(settings_.proxy, out_.network);
    if (!inside) {
      return refused("the setting 'proxy'", "is no URL", "write http://HOST:PORT");
    }
    out_.environment.push_back(text::cat("PIP_PROXY=", *inside));
    if (const std::string credentials = read_url(settings_.proxy)->credentials; !credentials.empty()) {
      out_.secrets.push_back({"proxy", credentials});
    }
    return {};
  }

  const PypiSettings& settings_;
  PypiClient out_ = {};
  std::vector<std::string> indexes_ = {};
  std::vector<std::string> trusted_ = {};
};

}  // namespace

bool PypiClient::serves(const std::string& url) const {
  const std::optional<Url> read = read_url(url);
  return read && std::ranges::any_of(hosts, [&read](const Url& host) {
           return host.scheme == read->scheme && host.host == read->host && host.port == read->port;
         });
}

bool PypiClient::reaches(std::string_view place) const {
  return std::ranges::any_of(network.allow, [place](const egress::Rule& rule) {
    return std::ranges::any_of(rule.ports,
                               [&](std::uint16_t port) { return text::cat(rule.host, ':', port) == place; });
  });
}

Result<PypiClient> pypi_client_of(const PypiSettings& settings) { return Reader(settings).run(); }

Result<PypiClient> pypi_client(const Caller& caller) {
  Result<FoundPypiSettings> settings = pypi_settings(caller);
  if (!settings) {
    return std::unexpected(settings.error());
  }
  Result<PypiClient> out = pypi_client_of(settings->settings);
  if (!out || settings->certificates.empty()) {
    return out;
  }
  if (Status added = copy_certificates(settings->certificates, kCertificates, out->files); !added) {
    return std::unexpected(added.error());
  }
  out->environment.push_back(text::cat("PIP_CERT=/home/cordon/", kCertificates));
  return out;
}

}  // namespace cordon::app
