// SPDX-License-Identifier: Apache-2.0
#include "base/token_forms.hpp"

#include <algorithm>
#include <array>

namespace cordon {
namespace {

using L = TokenForm::Letters;
constexpr auto kUnsure = TokenForm::Sure::no;

// Of code, of models and of clouds.
constexpr std::array kFirst = std::to_array<TokenForm>({
    {"github_pat_", 40, L::word, "GitHub token"},
    {"ghp_", 30, L::alphanumeric, "GitHub token"},
    {"gho_", 30, L::alphanumeric, "GitHub token"},
    {"ghu_", 30, L::alphanumeric, "GitHub token"},
    {"ghs_", 30, L::alphanumeric, "GitHub token"},
    {"ghr_", 30, L::alphanumeric, "GitHub token"},
    {"glpat-", 20, L::word, "GitLab token"},
    {"glptt-", 40, L::word, "GitLab token"},
    {"gldt-", 20, L::word, "GitLab token"},
    {"glrt-", 20, L::word, "GitLab token"},
    {"glcbt-", 20, L::word, "GitLab token"},
    {"glsoat-", 20, L::word, "GitLab token"},
    {"xoxb-", 20, L::word, "Slack token"},
    {"xoxp-", 20, L::word, "Slack token"},
    {"xoxa-", 20, L::word, "Slack token"},
    {"xoxr-", 20, L::word, "Slack token"},
    {"xoxs-", 20, L::word, "Slack token"},
    {"xoxc-", 20, L::word, "Slack token"},
    {"xoxe.", 20, L::dotted, "Slack token"},
    {"xapp-", 20, L::word, "Slack token"},
    {"AKIA", 16, L::upper, "AWS key"},
    {"ASIA", 16, L::upper, "AWS key"},
    {"AIza", 35, L::word, "Google key"},
    {"ya29.", 20, L::word, "Google token"},
    {"GOCSPX-", 24, L::word, "Google secret"},
    {"sk-ant-", 32, L::word, "Anthropic key"},
    {"sk-proj-", 32, L::word, "OpenAI key"},
    {"sk-svcacct-", 32, L::word, "OpenAI key"},
    {"sk-admin-", 32, L::word, "OpenAI key"},
    {"sk-or-v1-", 32, L::alphanumeric, "OpenRouter key"},
    {"sk-", 32, L::alphanumeric, "API key"},
    {"sk_live_", 20, L::alphanumeric, "Stripe key"},
    {"rk_live_", 20, L::alphanumeric, "Stripe key"},
});

// Of packages and of services.
constexpr std::array kSecond = std::to_array<TokenForm>({
    {"npm_", 36, L::alphanumeric, "npm token"},
    {"pypi-", 50, L::word, "PyPI token"},
    {"hf_", 30, L::alphanumeric, "Hugging Face token"},
    {"dop_v1_", 64, L::alphanumeric, "DigitalOcean token"},
    {"doo_v1_", 64, L::alphanumeric, "DigitalOcean token"},
    {"dor_v1_", 64, L::alphanumeric, "DigitalOcean token"},
    {"shpat_", 32, L::alphanumeric, "Shopify token"},
    {"shpss_", 32, L::alphanumeric, "Shopify token"},
    {"shpca_", 32, L::alphanumeric, "Shopify token"},
    {"shppa_", 32, L::alphanumeric, "Shopify token"},
    {"AGE-SECRET-KEY-1", 58, L::upper, "age key"},
    {"SG.", 60, L::dotted, "SendGrid key"},
    {"ntn_", 40, L::alphanumeric, "Notion token"},
    {"lin_api_", 36, L::alphanumeric, "Linear key"},
    {"lin_oauth_", 40, L::alphanumeric, "Linear token"},
    {"figd_", 36, L::word, "Figma token"},
    {"sntrys_", 40, L::word, "Sentry token"},
    {"sntryu_", 60, L::alphanumeric, "Sentry token"},
    {"ATATT3", 60, L::word, "Atlassian token"},
    {"tvly-", 28, L::word, "Tavily key"},
    {"pplx-", 40, L::alphanumeric, "Perplexity key"},
    {"gsk_", 40, L::alphanumeric, "Groq key"},
    {"r8_", 36, L::alphanumeric, "Replicate token"},
    {"sbp_", 40, L::alphanumeric, "Supabase token"},
    {"sb_secret_", 20, L::word, "Supabase token"},
    {"hvs.", 24, L::word, "Vault token"},
    {"hvb.", 24, L::word, "Vault token"},
    {"dckr_pat_", 27, L::word, "Docker token"},
    {"dapi", 32, L::alphanumeric, "Databricks token"},
    {"glsa_", 32, L::word, "Grafana token"},
    {"PMAK-", 50, L::word, "Postman key"},
    {"pscale_tkn_", 32, L::word, "PlanetScale token"},
    {"rubygems_", 48, L::alphanumeric, "RubyGems key"},
    {"xai-", 60, L::alphanumeric, "xAI key"},
    {"nvapi-", 60, L::word, "NVIDIA key"},
    {"pul-", 40, L::alphanumeric, "Pulumi token"},
    {"NRAK-", 27, L::upper, "New Relic key"},
    {"xkeysib-", 64, L::word, "Brevo key"},
    {"ops_eyJ", 60, L::word, "1Password token"},
    {"whsec_", 30, L::alphanumeric, "webhook secret"},
    {"phc_", 30, L::alphanumeric, "PostHog key", kUnsure},
    {"BSA", 20, L::word, "Brave key", kUnsure},
    {"eyJhbGciOi", 10, L::dotted, "web token", kUnsure},  // inside of prose its three parts are looked at
});

constexpr auto kForms = [] {
  std::array<TokenForm, kFirst.size() + kSecond.size()> all;
  std::ranges::copy(kSecond, std::ranges::copy(kFirst, all.begin()).out);
  return all;
}();

constexpr bool longer_first() {
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    for (std::size_t j = i + 1; j < kForms.size(); ++j) {
      if (kForms.at(j).prefix.starts_with(kForms.at(i).prefix)) {
        return false;
      }
    }
  }
  return true;
}
static_assert(longer_first());
// What is told by its first three bytes has three.
static_assert(std::ranges::all_of(kForms, [](const TokenForm& form) { return form.prefix.size() >= 3; }));
// What stands in place of one ("[KIND removed]") is never longer than it was.
static_assert(std::ranges::all_of(kForms, [](const TokenForm& form) {
  constexpr std::size_t kAround = 10;
  return form.kind.size() + kAround <= form.prefix.size() + form.least;
}));

}  // namespace

std::span<const TokenForm> token_forms() { return kForms; }

}  // namespace cordon
