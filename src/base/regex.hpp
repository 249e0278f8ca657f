// SPDX-License-Identifier: Apache-2.0
#pragma once
// Regex: a regular expression whose matching is linear in the text and whose memory is bounded, whoever wrote it (RE2).

#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace cordon {

class Regex {
 public:
  enum class Dot : bool { not_line_end, any };
  // RE2's syntax over UTF-8; `dot` says what a dot stands for, unless the pattern does. The error says what is wrong
  // with the pattern, already printable.
  static std::expected<Regex, std::string> compile(std::string_view pattern, Dot dot = Dot::not_line_end);

  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&& other) noexcept;
  ~Regex();

  bool full_match(std::string_view text) const;     // the whole text
  bool partial_match(std::string_view text) const;  // anywhere in the text

 private:
  explicit Regex(std::unique_ptr<re2::RE2> compiled);

  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace cordon
