// SPDX-License-Identifier: Apache-2.0
#include "base/regex.hpp"

#include <re2/re2.h>

#include <cstdint>
#include <utility>

#include "base/text.hpp"

namespace cordon {
namespace {

// Of one expression: its program and what matching keeps between texts. RE2 gets slower beyond it, never wrong.
constexpr std::int64_t kMaxMemory = 2 << 20;
// A longer pattern is nobody's check of an argument.
constexpr std::size_t kMaxPattern = 10'000;

bool match(const re2::RE2& compiled, std::string_view text, re2::RE2::Anchor anchor) {
  const re2::StringPiece piece(text.data(), text.size());
  return compiled.Match(piece, 0, piece.size(), anchor, nullptr, 0);
}

}  // namespace

Regex::Regex(std::unique_ptr<re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&& other) noexcept = default;
Regex& Regex::operator=(Regex&& other) noexcept = default;
Regex::~Regex() = default;

std::expected<Regex, std::string> Regex::compile(std::string_view pattern, Dot dot) {
  if (pattern.size() > kMaxPattern) {
    return std::unexpected(text::cat("a pattern has at most ", kMaxPattern, " bytes"));
  }
  re2::RE2::Options options;
  options.set_max_mem(kMaxMemory);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_dot_nl(dot == Dot::any);
  auto compiled = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok()) return std::unexpected(text::printable(compiled->error()));
  return Regex(std::move(compiled));
}

bool Regex::full_match(std::string_view text) const { return match(*compiled_, text, re2::RE2::ANCHOR_BOTH); }

bool Regex::partial_match(std::string_view text) const { return match(*compiled_, text, re2::RE2::UNANCHORED); }

}  // namespace cordon
