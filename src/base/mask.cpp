// SPDX-License-Identifier: Apache-2.0
#include "base/mask.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cordon {
namespace {

constexpr std::size_t kMinLineBytes = 8;

}  // namespace

Masker::Masker(const std::vector<NamedSecret>& secrets) {
  for (const NamedSecret& secret : secrets) {
    const std::string replacement = text::cat("[secret ", text::printable(secret.name, 64), "]");
    add(secret.value, replacement);
    if (secret.value.find('\n') == std::string::npos) {
      continue;
    }
    for (std::string_view line : text::split(secret.value, '\n')) {
      if (line.ends_with('\r')) {
        line.remove_suffix(1);
      }
      if (line.size() >= kMinLineBytes) {
        add(line, replacement);
      }
    }
  }
  std::ranges::stable_sort(
      patterns_, [](const Pattern& left, const Pattern& right) { return left.value.size() > right.value.size(); });
  longest_ = patterns_.empty() ? 0 : patterns_.front().value.size();
}

void Masker::add(std::string_view value, const std::string& replacement) {
  if (value.empty()) {
    return;
  }
  patterns_.push_back({std::string(value), replacement});
  // Four bytes of output for one of input is the most that printable makes of a byte, ten of a code point.
  std::string escaped = text::printable(value, value.size() * 10 + 16);
  if (escaped != value) {
    patterns_.push_back({std::move(escaped), replacement});
  }
}

bool Masker::hits(std::string_view text) const {
  return std::ranges::any_of(patterns_,
                             [&](const Pattern& one) { return text.find(one.value) != std::string_view::npos; });
}

std::string Masker::mask(std::string_view text) const {
  // Where each stands next. None is looked for again before that place, so that many of one cost no other a search.
  std::vector<std::size_t> places;
  for (const Pattern& one : patterns_) {
    places.push_back(text.find(one.value));
  }
  std::string out;
  std::size_t from = 0;
  for (;;) {
    const auto first = std::ranges::min_element(places);  // of equal places the first pattern, the longest
    if (first == places.end() || *first == std::string_view::npos) {
      break;
    }
    const Pattern& found = patterns_[static_cast<std::size_t>(first - places.begin())];
    out += text.substr(from, *first - from);
    out += found.replacement;
    from = *first + found.value.size();
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] < from) {
        places[i] = text.find(patterns_[i].value, from);
      }
    }
  }
  out += text.substr(from);
  return out;
}

}  // namespace cordon
