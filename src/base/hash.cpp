// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <nettle/hmac.h>
#include <nettle/sha2.h>

#include <utility>

#include "base/error.hpp"

namespace cordon {
namespace {

const std::uint8_t* bytes_of(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

}  // namespace

static_assert(SHA256_DIGEST_SIZE == std::tuple_size_v<Digest>);

Digest sha256(std::string_view bytes) {
  Digest digest{};
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), bytes_of(bytes));
  sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

Digest hmac_sha256(const MacKey& key, std::string_view bytes) {
  Digest digest{};
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), key.data());
  hmac_sha256_update(&context, bytes.size(), bytes_of(bytes));
  hmac_sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

struct Mac::State {
  hmac_sha256_ctx keyed;
};

Mac::Mac(const MacKey& key) {
  auto state = std::make_unique<State>();
  hmac_sha256_set_key(&state->keyed, key.size(), key.data());
  state_ = std::move(state);
}
Mac::~Mac() = default;

Digest Mac::of(std::string_view bytes) const {
  Digest digest{};
  hmac_sha256_ctx context = state_->keyed;
  hmac_sha256_update(&context, bytes.size(), bytes_of(bytes));
  hmac_sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

struct Sha256::State {
  sha256_ctx context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { sha256_init(&state_->context); }
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) { sha256_update(&state_->context, bytes.size(), bytes_of(bytes)); }

Digest Sha256::finish() {
  Digest digest{};
  sha256_digest(&state_->context, digest.size(), digest.data());
  return digest;
}

void append_hex(std::string& out, const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<char, std::tuple_size_v<Digest> * 2> digits;
  std::size_t at = 0;
  for (const std::uint8_t byte : digest) {
    digits[at++] = kDigits[byte >> 4U];
    digits[at++] = kDigits[byte & 0xFU];
  }
  out.append(digits.data(), digits.size());
}

std::string hex(const Digest& digest) {
  std::string out;
  append_hex(out, digest);
  return out;
}

std::string digest_text(const Digest& digest) {
  constexpr std::string_view kPrefix = "sha256:";
  std::string out;
  out.reserve(kPrefix.size() + digest.size() * 2);
  out += kPrefix;
  append_hex(out, digest);
  return out;
}

std::string sha256_text(std::string_view bytes) { return digest_text(sha256(bytes)); }

}  // namespace cordon
