// SPDX-License-Identifier: Apache-2.0
#pragma once
// Secrets inside a text: the values of this launch's own ones, and tokens that are told by their usual form
// (base/token_forms.hpp). Linear in the text.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mask.hpp"
#include "core/gate/beginnings.hpp"

namespace cordon::gate {

struct SecretSpan {
  std::size_t begin = 0;
  std::size_t length = 0;
  std::string kind = {};  // for a person: "GitHub token", "secret API_TOKEN"
  bool own = false;
};

class SecretFinder {
 public:
  // Is no value of ours spelled in another way inside of a string of JSON, however deep?
  bool values_are_plain() const { return values_are_plain_; }

  // How far one reaches.
  enum class Reach : std::uint8_t {
    token,  // as far as it can be nothing else, so that nothing else hides behind a mask
    run,    // as far as it may, so that nothing of it is left
  };

  SecretFinder() : SecretFinder(std::vector<NamedSecret>()) {}
  explicit SecretFinder(const std::vector<NamedSecret>& own);

  // In the order of the text, without overlaps. `gaps`: offsets, sorted, at which a word ends though nothing is seen.
  std::vector<SecretSpan> find(std::string_view text, Reach reach, std::span<const std::size_t> gaps = {}) const;

  // `text` with every secret in it replaced by its kind, by "[secret]" or by as many asterisks; the kinds go to
  // `kinds`, and `found` grows by one for each. Never longer than `text`. With `closely`, hidden characters and
  // terminal escapes inside of a secret are looked over, and go with it.
  enum class Look : bool { plainly, closely };
  // Nothing when there is none.
  std::optional<std::string> without_secrets(std::string_view text, Look look, std::size_t& found,
                                             std::set<std::string>& kinds) const;

 private:
  std::size_t next_begin(std::string_view text, std::size_t at) const;
  void begin_with(std::string_view text, std::uint8_t what);

  struct Own {
    std::string value = {};
    std::string kind = {};
  };
  void add(std::string_view value, const std::string& kind);
  void own_at(std::string_view text, std::size_t at, std::size_t least, SecretSpan& span) const;

  std::vector<Own> own_ = {};
  std::array<std::uint8_t, 256> begins_ = {};  // what may begin with this byte
  Beginnings beginnings_ = {};
  bool values_are_plain_ = true;
  bool has_short_ = false;  // a value of one or two bytes
};

}  // namespace cordon::gate
