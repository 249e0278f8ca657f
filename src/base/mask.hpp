// SPDX-License-Identifier: Apache-2.0
#pragma once
// Masker: replaces the exact values of secrets in everything that is written for people or for the audit log.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cordon {

struct NamedSecret {
  std::string name = {};
  std::string value = {};
};

class Masker {
 public:
  Masker() = default;
  // Empty values are left out. Of a value with several lines, every line of eight bytes or more is masked by itself
  // too, because servers print a key line by line. The form that text::printable gives a value is masked as well.
  explicit Masker(const std::vector<NamedSecret>& secrets);

  bool empty() const { return patterns_.empty(); }
  // Length of the longest text that is replaced: how much more than a cut must be looked at.
  std::size_t longest() const { return longest_; }
  bool hits(std::string_view text) const;
  // Every occurrence becomes "[secret NAME]"; at one place the longest value wins.
  std::string mask(std::string_view text) const;

 private:
  struct Pattern {
    std::string value;
    std::string replacement;
  };
  void add(std::string_view value, const std::string& replacement);

  std::vector<Pattern> patterns_ = {};  // longest first
  std::size_t longest_ = 0;
};

}  // namespace cordon
