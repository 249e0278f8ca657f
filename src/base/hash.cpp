// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <sodium.h>

#include "base/error.hpp"
#include "base/sha256_fast.hpp"

namespace cordon {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// RFC 2104 with a key shorter than a block.
Digest fast_hmac(const MacKey& key, std::string_view bytes) {
  std::array<char, 64> inner{};
  std::array<char, 64> outer{};
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const std::uint8_t part = i < key.size() ? key[i] : 0;
    inner[i] = static_cast<char>(part ^ 0x36U);
    outer[i] = static_cast<char>(part ^ 0x5CU);
  }
  detail::FastSha256 first;
  first.update({inner.data(), inner.size()});
  first.update(bytes);
  const Digest middle = first.finish();
  detail::FastSha256 second;
  second.update({outer.data(), outer.size()});
  second.update({reinterpret_cast<const char*>(middle.data()), middle.size()});
  return second.finish();
}

}  // namespace

static_assert(crypto_hash_sha256_BYTES == std::tuple_size_v<Digest>);
static_assert(crypto_auth_hmacsha256_KEYBYTES == std::tuple_size_v<MacKey>);

Digest sha256(std::string_view bytes) {
  if (detail::have_fast_sha256()) {
    detail::FastSha256 fast;
    fast.update(bytes);
    return fast.finish();
  }
  Digest digest{};
  crypto_hash_sha256(digest.data(), bytes_of(bytes), bytes.size());
  return digest;
}

Digest hmac_sha256(const MacKey& key, std::string_view bytes) {
  if (detail::have_fast_sha256()) {
    return fast_hmac(key, bytes);
  }
  Digest digest{};
  crypto_auth_hmacsha256(digest.data(), bytes_of(bytes), bytes.size(), key.data());
  return digest;
}

struct Sha256::State {
  bool is_fast = detail::have_fast_sha256();
  detail::FastSha256 fast{};
  crypto_hash_sha256_state sodium{};
};

Sha256::Sha256() : state_(std::make_unique<State>()) { crypto_hash_sha256_init(&state_->sodium); }
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  if (state_->is_fast) {
    state_->fast.update(bytes);
  } else {
    crypto_hash_sha256_update(&state_->sodium, bytes_of(bytes), bytes.size());
  }
}

Digest Sha256::finish() {
  if (state_->is_fast) {
    return state_->fast.finish();
  }
  Digest digest{};
  crypto_hash_sha256_final(&state_->sodium, digest.data());
  return digest;
}

std::string hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(digest.size() * 2);
  for (const std::uint8_t byte : digest) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xFU];
  }
  return out;
}

std::string digest_text(const Digest& digest) { return "sha256:" + hex(digest); }

std::string sha256_text(std::string_view bytes) { return digest_text(sha256(bytes)); }

}  // namespace cordon
