// SPDX-License-Identifier: Apache-2.0
#include "core/gate/secret_forms.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"

namespace cordon::gate {
namespace {

constexpr std::size_t kMaxToken = 512;

struct Form {
  std::string_view prefix = {};
  std::string_view more = {};  // besides letters and digits
  std::size_t least = 0;       // characters after the prefix
  std::string_view kind = {};
};

// Published by those who issue them. Longer prefixes first where one begins with another.
constexpr std::array kForms = std::to_array<Form>({
    {"github_pat_", "_", 40, "GitHub token"},
    {"ghp_", "", 30, "GitHub token"},
    {"gho_", "", 30, "GitHub token"},
    {"ghu_", "", 30, "GitHub token"},
    {"ghs_", "", 30, "GitHub token"},
    {"ghr_", "", 30, "GitHub token"},
    {"glpat-", "_-", 20, "GitLab token"},
    {"xoxb-", "-", 20, "Slack token"},
    {"xoxp-", "-", 20, "Slack token"},
    {"xapp-", "-", 20, "Slack token"},
    {"sk_live_", "", 20, "Stripe key"},
    {"rk_live_", "", 20, "Stripe key"},
    {"sk-", "_-", 32, "API key"},
    {"AKIA", "", 16, "AWS key id"},
    {"ASIA", "", 16, "AWS key id"},
    {"AIza", "_-", 35, "Google API key"},
    {"ya29.", "_-", 20, "Google token"},
    {"npm_", "", 36, "npm token"},
    {"pypi-", "_-", 50, "PyPI token"},
    {"hf_", "", 30, "Hugging Face token"},
    {"SG.", "._-", 60, "SendGrid key"},
    {"eyJ", "._-", 40, "JSON web token"},
});

bool is_plain(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool looks_like_jwt(std::string_view token) { return std::ranges::count(token, '.') == 2; }

std::optional<SecretSpan> token_at(std::string_view text, std::size_t at) {
  if (at > 0 && (is_plain(text[at - 1]) || text[at - 1] == '_')) {
    return std::nullopt;  // in the middle of a word
  }
  for (const Form& form : kForms) {
    if (!text.substr(at).starts_with(form.prefix)) {
      continue;
    }
    std::size_t end = at + form.prefix.size();
    while (end < text.size() && (is_plain(text[end]) || form.more.contains(text[end]))) {
      ++end;
    }
    const std::size_t length = end - at;
    // A JSON web token may be long; anything else of that size is no token, and is shown.
    const bool fits =
        length - form.prefix.size() >= form.least && length <= (form.prefix == "eyJ" ? 8 * kMaxToken : kMaxToken);
    if (fits && (form.prefix != "eyJ" || looks_like_jwt(text.substr(at, length)))) {
      return SecretSpan{at, length, std::string(form.kind)};
    }
  }
  return std::nullopt;
}

// -----BEGIN … PRIVATE KEY----- up to its end, as far as it holds nothing but a key.
std::optional<SecretSpan> private_key_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kKey = "PRIVATE KEY-----";
  constexpr std::size_t kMaxKey = 16'384;
  const std::string_view rest = text.substr(at);
  if (!rest.starts_with(kBegin)) {
    return std::nullopt;
  }
  const std::size_t head = rest.substr(0, 64).find(kKey);
  if (head == std::string_view::npos) {
    return std::nullopt;
  }
  std::size_t end = head + kKey.size();
  while (end < rest.size() && end < kMaxKey &&
         (is_plain(rest[end]) || std::string_view("+/=\n\r").contains(rest[end]))) {
    ++end;
  }
  return SecretSpan{at, end, "private key"};
}

std::optional<SecretSpan> known_at(std::string_view text, std::size_t at, const std::vector<NamedSecret>& known) {
  std::optional<SecretSpan> longest;
  for (const NamedSecret& secret : known) {
    if (!secret.value.empty() && text.substr(at).starts_with(secret.value) &&
        (!longest || secret.value.size() > longest->length)) {
      longest = SecretSpan{at, secret.value.size(), text::cat("secret ", text::printable(secret.name, 100))};
    }
  }
  return longest;
}

}  // namespace

std::vector<SecretSpan> find_secrets(std::string_view text, const std::vector<NamedSecret>& known) {
  std::vector<SecretSpan> found;
  for (std::size_t at = 0; at < text.size();) {
    std::optional<SecretSpan> span = known_at(text, at, known);
    if (!span) {
      span = private_key_at(text, at);
    }
    if (!span) {
      span = token_at(text, at);
    }
    at += span ? span->length : 1;
    if (span) {
      found.push_back(std::move(*span));
    }
  }
  return found;
}

}  // namespace cordon::gate
