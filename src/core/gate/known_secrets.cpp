// SPDX-License-Identifier: Apache-2.0
#include "core/gate/known_secrets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/text.hpp"

namespace cordon::gate {
namespace {

enum class Letters : std::uint8_t { alphanumeric, word, upper };  // word: with _ and -, as in base64url

struct Form {
  std::string_view prefix;
  std::size_t least;  // characters behind the prefix
  Letters letters;
  std::string_view kind;
};
// Forms that their issuers publish so that leaks can be found.
constexpr std::array kForms = std::to_array<Form>({
    {"ghp_", 36, Letters::alphanumeric, "github_token"},
    {"gho_", 36, Letters::alphanumeric, "github_token"},
    {"ghu_", 36, Letters::alphanumeric, "github_token"},
    {"ghs_", 36, Letters::alphanumeric, "github_token"},
    {"ghr_", 36, Letters::alphanumeric, "github_token"},
    {"github_pat_", 40, Letters::word, "github_token"},
    {"glpat-", 20, Letters::word, "gitlab_token"},
    {"xoxb-", 20, Letters::word, "slack_token"},
    {"xoxp-", 20, Letters::word, "slack_token"},
    {"xoxa-", 20, Letters::word, "slack_token"},
    {"xoxr-", 20, Letters::word, "slack_token"},
    {"xapp-", 20, Letters::word, "slack_token"},
    {"AKIA", 16, Letters::upper, "aws_key"},
    {"ASIA", 16, Letters::upper, "aws_key"},
    {"AIza", 35, Letters::word, "google_key"},
    {"ya29.", 30, Letters::word, "google_token"},
    {"sk-ant-", 40, Letters::word, "anthropic_key"},
    {"sk-proj-", 40, Letters::word, "openai_key"},
    {"sk_live_", 20, Letters::alphanumeric, "stripe_key"},
    {"rk_live_", 20, Letters::alphanumeric, "stripe_key"},
    {"npm_", 36, Letters::alphanumeric, "npm_token"},
    {"pypi-", 80, Letters::word, "pypi_token"},
    {"hf_", 34, Letters::alphanumeric, "huggingface_token"},
    {"dop_v1_", 64, Letters::alphanumeric, "digitalocean_token"},
    {"shpat_", 32, Letters::alphanumeric, "shopify_token"},
    {"AGE-SECRET-KEY-1", 58, Letters::upper, "age_key"},
});
constexpr std::size_t kLeastOwn = 4;  // a shorter value of ours would hit everywhere

bool fits(Letters letters, char c) {
  const bool upper = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  const bool alphanumeric = upper || (c >= 'a' && c <= 'z');
  switch (letters) {
    case Letters::upper:
      return upper;
    case Letters::alphanumeric:
      return alphanumeric;
    case Letters::word:
      return alphanumeric || c == '_' || c == '-';
  }
  return false;
}

std::size_t run_of(Letters letters, std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, [&](char c) { return fits(letters, c); }) -
                                  text.begin());
}

struct Hit {
  std::size_t length = 0;
  std::string kind = {};
  bool own = false;
};

// In place of a secret; never longer than that, so that no message outgrows what a client takes.
std::string replacement(const Hit& hit) {
  constexpr std::string_view kOwn = "[secret]";
  if (!hit.own) {
    return text::cat("[", hit.kind, " removed]");
  }
  return hit.length < kOwn.size() ? std::string(hit.length, '*') : std::string(kOwn);
}

// A signed token: three parts, the first two of them JSON in base64.
std::optional<Hit> web_token(std::string_view text) {
  if (!text.starts_with("eyJ")) {
    return std::nullopt;
  }
  const std::size_t first = run_of(Letters::word, text);
  if (!text.substr(first).starts_with(".eyJ")) {
    return std::nullopt;
  }
  const std::size_t second = first + 1 + run_of(Letters::word, text.substr(first + 1));
  if (!text.substr(second).starts_with('.')) {
    return std::nullopt;
  }
  const std::size_t third = run_of(Letters::word, text.substr(second + 1));
  return third < 10 ? std::nullopt : std::optional(Hit{second + 1 + third, "web_token"});
}

std::optional<Hit> private_key(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::size_t kLongestName = 40;
  constexpr std::string_view kKey = "PRIVATE KEY-----";
  const std::size_t name =
      text.starts_with(kBegin) ? text.substr(0, kBegin.size() + kLongestName).find(kKey) : std::string_view::npos;
  if (name == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t from = name + kKey.size();
  const std::size_t end = text.find("-----END ", from);
  const std::size_t close = end == std::string_view::npos ? end : text.find(kKey, end);
  // Without its end everything that follows may be the key.
  return Hit{close == std::string_view::npos ? text.size() : close + kKey.size(), "private_key"};
}

// `before`: the character before `text`. What may hold - and _ begins behind neither, so that no run is gone through
// twice.
std::optional<Hit> hit_at(std::string_view text, const std::vector<NamedSecret>& own, char before) {
  // The longest: one secret may begin as another does.
  const NamedSecret* longest = nullptr;
  for (const NamedSecret& secret : own) {
    const bool longer = longest == nullptr || secret.value.size() > longest->value.size();
    if (secret.value.size() >= kLeastOwn && longer && text.starts_with(secret.value)) {
      longest = &secret;
    }
  }
  if (longest != nullptr) {
    return Hit{longest->value.size(), "secret " + text::printable(longest->name, 64), true};
  }
  for (const Form& form : kForms) {
    const Letters around = form.letters == Letters::word ? Letters::word : Letters::alphanumeric;
    if (text.starts_with(form.prefix) && !fits(around, before)) {
      const std::size_t length = run_of(form.letters, text.substr(form.prefix.size()));
      if (length >= form.least) {
        return Hit{form.prefix.size() + length, std::string(form.kind)};
      }
    }
  }
  if (fits(Letters::word, before) && before != '-') {
    return std::nullopt;
  }
  auto token = before == '-' ? std::nullopt : web_token(text);
  return token ? token : private_key(text);
}

// The first characters that anything begins with.
std::array<bool, 256> beginnings(const std::vector<NamedSecret>& own) {
  std::array<bool, 256> table{};
  const auto add = [&](char c) { table.at(static_cast<unsigned char>(c)) = true; };
  for (const Form& form : kForms) {
    add(form.prefix.front());
  }
  for (const NamedSecret& secret : own) {
    if (secret.value.size() >= kLeastOwn) {
      add(secret.value.front());
    }
  }
  add('e');
  add('-');
  return table;
}

}  // namespace

std::string without_secrets(std::string_view text, const std::vector<NamedSecret>& own, std::size_t& found,
                            std::set<std::string>& kinds) {
  const std::array<bool, 256> begins = beginnings(own);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (begins.at(static_cast<unsigned char>(text[at]))) {
      if (const auto hit = hit_at(text.substr(at), own, at == 0 ? ' ' : text[at - 1])) {
        ++found;
        out += replacement(*hit);
        kinds.insert(hit->kind);
        at += hit->length;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

}  // namespace cordon::gate
