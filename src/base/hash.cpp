// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <sodium.h>

#include "base/error.hpp"

namespace cordon {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

static_assert(crypto_hash_sha256_BYTES == std::tuple_size_v<Digest>);
static_assert(crypto_auth_hmacsha256_KEYBYTES == std::tuple_size_v<MacKey>);

Digest sha256(std::string_view bytes) {
  Digest digest{};
  crypto_hash_sha256(digest.data(), bytes_of(bytes), bytes.size());
  return digest;
}

Digest hmac_sha256(const MacKey& key, std::string_view bytes) {
  Digest digest{};
  crypto_auth_hmacsha256(digest.data(), bytes_of(bytes), bytes.size(), key.data());
  return digest;
}

struct Sha256::State {
  crypto_hash_sha256_state sodium{};
};

Sha256::Sha256() : state_(std::make_unique<State>()) { crypto_hash_sha256_init(&state_->sodium); }
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  crypto_hash_sha256_update(&state_->sodium, bytes_of(bytes), bytes.size());
}

Digest Sha256::finish() {
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
