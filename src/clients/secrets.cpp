// SPDX-License-Identifier: Apache-2.0
#include "clients/secrets.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.hpp"
#include "base/token_forms.hpp"
#include "clients/command_shape.hpp"

namespace cordon::clients {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "githubApi_KEY" → github, api, key.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> out;
  bool begin = true;
  char before = '\0';
  for (const char c : name) {
    if (!is_upper(c) && !is_lower(c) && !is_digit(c)) {
      begin = true;
    } else {
      if (begin || (is_upper(c) && is_lower(before))) {
        out.emplace_back();
      }
      begin = false;
      out.back() += c;
    }
    before = c;
  }
  for (std::string& word : out) {
    word = text::lower_ascii(word);
  }
  return out;
}

bool one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

constexpr auto kSecretWords = std::to_array<std::string_view>({"token",       "secret",    "secrets",
                                                               "password",    "passwd",    "passphrase",
                                                               "pwd",         "pw",        "pat",
                                                               "apikey",      "apitoken",  "credential",
                                                               "credentials", "bearer",    "authorization",
                                                               "cookie",      "dsn",       "privatekey",
                                                               "accesskey",   "authtoken", "connectionstring",
                                                               "webhook",     "jwt"});
// With "key" or "string" behind them.
constexpr auto kBeforeKey = std::to_array<std::string_view>(
    {"api", "access", "private", "secret", "auth", "signing", "encryption", "license", "service", "account", "master",
     "app", "client", "project", "storage", "admin", "subscription"});
// Behind a secret word, the value is about it, and is not the secret.
constexpr auto kAbout = std::to_array<std::string_view>(
    {"file",  "path",      "dir",    "folder", "url",     "uri",      "endpoint", "name",    "id",
     "limit", "count",     "ttl",    "expiry", "expires", "timeout",  "type",     "budget",  "length",
     "size",  "algorithm", "header", "env",    "enabled", "required", "issuer",   "audience"});

// scheme://user:password@host
std::string_view password_of(std::string_view value) {
  const std::size_t scheme = value.find("://");
  if (scheme == std::string_view::npos) {
    return {};
  }
  const std::string_view authority = value.substr(scheme + 3, value.find_first_of("/?# ", scheme + 3) - scheme - 3);
  const std::size_t at = authority.rfind('@');
  const std::size_t colon = authority.find(':');
  return at == std::string_view::npos || colon == std::string_view::npos || colon > at
             ? std::string_view()
             : authority.substr(colon + 1, at - colon - 1);
}

bool is_value(std::string_view value) {
  const std::string low = text::lower_ascii(value);
  // What documentation puts in place of one.
  const bool sample = low.starts_with('<') || low.starts_with("your") || low.find("xxxx") != std::string::npos ||
                      low == "changeme" || low == "..." || low == "true" || low == "false";
  return !value.empty() && !has_placeholder(value) && !sample;
}

class Search {
 public:
  void named(std::string where, std::string_view name, std::string_view value) {
    if (is_value(value) && (names_secret(name) || looks_secret(value))) {
      out.push_back({std::move(where), std::string(value)});
    }
  }

  void arguments(std::span<const std::string> command) {
    for (std::size_t i = 1; i < command.size(); ++i) {
      const std::string_view word = command[i];
      const std::string where = text::cat("argument ", i);
      const std::size_t equals = word.find('=');
      const bool option = word.starts_with('-');
      if (equals != std::string_view::npos && equals > 0) {
        // --token=x, TOKEN=x of env or docker -e, -eTOKEN=x
        const std::string_view name = word.substr(0, equals);
        const bool short_one = option && !name.starts_with("--") && name.size() > 2;
        named(text::cat(where, " (", text::printable(name, 60), ')'), short_one ? name.substr(2) : name,
              word.substr(equals + 1));
      } else if (option && i + 1 < command.size() && !command[i + 1].starts_with('-') && names_secret(word) &&
                 command[i + 1].find('=') == std::string::npos) {
        named(text::cat("argument ", i + 1, " (", text::printable(word, 60), ')'), word, command[i + 1]);
        ++i;
      } else {
        named(where, {}, word);
      }
    }
  }

  std::vector<Secret> out = {};
};

}  // namespace

bool names_secret(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool pair = (words[i] == "key" || words[i] == "string") && i > 0 &&
                      (one_of(words[i - 1], kBeforeKey) || words[i - 1] == "connection");
    const bool only_key = words[i] == "key" && i + 1 == words.size() && i > 0;
    if (one_of(words[i], kSecretWords) || pair || only_key) {
      return i + 1 == words.size() || !one_of(words.back(), kAbout);
    }
  }
  return false;
}

bool looks_secret(std::string_view value) {
  constexpr std::size_t kLeast = 20;
  std::string_view token = value;
  for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic ", "token "}) {
    token = token.starts_with(scheme) ? token.substr(scheme.size()) : token;
  }
  const bool known =
      token.size() >= kLeast && token.find_first_of(" /\\") == std::string_view::npos &&
      std::ranges::any_of(token_forms(), [&](const TokenForm& form) { return token.starts_with(form.prefix); });
  const std::string_view password = password_of(value);
  return known || is_value(password) || value.find("-----BEGIN ") != std::string_view::npos;
}

std::vector<Secret> secrets_in(const Entry& entry) {
  Search search;
  for (const Variable& variable : entry.environment) {
    search.named(text::cat("environment variable ", text::printable(variable.name, 100)), variable.name,
                 variable.value);
  }
  for (const Variable& header : entry.headers) {
    search.named(text::cat("header ", text::printable(header.name, 100)), header.name, header.value);
  }
  search.arguments(entry.command);
  if (is_value(password_of(entry.url))) {
    search.out.push_back({"address", std::string(password_of(entry.url))});
  }
  const std::size_t query = entry.url.find('?');
  if (query != std::string::npos) {
    for (const std::string_view pair : text::split(std::string_view(entry.url).substr(query + 1), '&')) {
      const std::size_t equals = pair.find('=');
      if (equals != std::string_view::npos) {
        search.named("address", pair.substr(0, equals), pair.substr(equals + 1));
      }
    }
  }
  return search.out;
}

}  // namespace cordon::clients
