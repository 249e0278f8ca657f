// SPDX-License-Identifier: Apache-2.0
#include "core/gate/sealed_state.hpp"

#include <array>
#include <cstdint>

#include "base/text.hpp"
#include "core/gate/own_text.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {
namespace {

constexpr std::string_view kPrefix = "mcp-cordon/state/1/";
constexpr std::size_t kMacDigits = 64;
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// base64url without padding.
std::string encode(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 4 / 3 + 4);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = (bits << 8U) | static_cast<std::uint8_t>(c);
    for (held += 8; held >= 6; held -= 6) {
      out += kDigits[(bits >> static_cast<unsigned>(held - 6)) & 63U];
    }
  }
  if (held > 0) {
    out += kDigits[(bits << static_cast<unsigned>(6 - held)) & 63U];
  }
  return out;
}

// Of text that we encoded ourselves: its authenticity was checked before.
std::string decode(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    CORDON_ASSERT(digit != std::string_view::npos);
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>((bits >> static_cast<unsigned>(held)) & 255U);
    }
  }
  return out;
}

// In a time that does not depend on where they differ.
bool same(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

std::string mac(const MacKey& key, std::string_view body) {
  return hex(hmac_sha256(key, text::cat("requestState/", body)));
}

}  // namespace

std::string seal(const MacKey& key, const SealedState& state) {
  json::Writer w;
  w.begin_object().member("stage", state.stage == Confirmations::Stage::asked ? "asked" : "granted");
  w.member("server", state.server).member("session", state.session).member("tool", state.tool);
  w.member("call", state.call).member("nonce", state.nonce).member_int("expires", state.expires.ms);
  if (state.inner) {
    w.member("inner", *state.inner);
  }
  w.end_object();
  const std::string body = encode(w.take());
  return text::cat(kPrefix, body, '/', mac(key, body));
}

bool looks_sealed(std::string_view request_state) { return request_state.starts_with("mcp-cordon/"); }

std::optional<SealedState> unseal(const MacKey& key, std::string_view request_state) {
  if (!request_state.starts_with(kPrefix) || request_state.size() < kPrefix.size() + 1 + kMacDigits) {
    return std::nullopt;
  }
  request_state.remove_prefix(kPrefix.size());
  const std::size_t slash = request_state.size() - kMacDigits - 1;
  const std::string_view body = request_state.substr(0, slash);
  if (request_state[slash] != '/' || !same(request_state.substr(slash + 1), mac(key, body))) {
    return std::nullopt;
  }
  const json::Document document = parse_own(decode(body));
  const json::Value root = document.root();
  SealedState state;
  state.stage = root.find("stage").string_equals("asked") ? Confirmations::Stage::asked : Confirmations::Stage::granted;
  state.server = root.find("server").string();
  state.session = root.find("session").string();
  state.tool = root.find("tool").string();
  state.call = root.find("call").string();
  state.nonce = root.find("nonce").string();
  state.expires = {root.find("expires").safe_integer().value_or(0)};
  if (const json::Value inner = root.find("inner")) {
    state.inner = inner.string();
  }
  return state;
}

}  // namespace cordon::gate
