// SPDX-License-Identifier: Apache-2.0
#pragma once
// SHA-256 and its keyed form, from nettle (which takes the processor's own instructions where it has them). Pure: no
// random numbers here.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cordon {

using Digest = std::array<std::uint8_t, 32>;
using MacKey = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
Digest hmac_sha256(const MacKey& key, std::string_view bytes);

// hmac_sha256 under one key, made ready once: with a key of its own each time, half of a short text's cost is the key.
class Mac {
 public:
  explicit Mac(const MacKey& key);
  ~Mac();
  Mac(const Mac&) = delete;
  Mac& operator=(const Mac&) = delete;
  Digest of(std::string_view bytes) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

// Incremental SHA-256 for files and streams.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(std::string_view bytes);
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// 64 lower-case hex digits.
std::string hex(const Digest& digest);
void append_hex(std::string& out, const Digest& digest);
// "sha256:" and 64 hex digits: how a digest is written in every file format.
std::string digest_text(const Digest& digest);
// sha256 of `bytes`, as digest_text.
std::string sha256_text(std::string_view bytes);

}  // namespace cordon
