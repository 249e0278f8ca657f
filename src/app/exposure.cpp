// SPDX-License-Identifier: Apache-2.0
#include "app/exposure.hpp"

#include <array>
#include <string_view>

#include "base/text.hpp"

namespace cordon::app {
namespace {

struct Explanation {
  std::string_view reason = {};
  std::string_view text = {};
};

// The reason codes of docs/isolation.md.
constexpr std::array kExplanations = std::to_array<Explanation>({
    {"symlink", "a symlink steers other programs and can be replaced by the server"},
    {"home", "the server may write in the home folder: files that programs obey can be made there"},
    {"too_deep", "folders below are not searched for repositories and settings"},
    {"too_many_entries", "so much is granted that not all of it is searched for repositories and settings"},
    {"too_many_places", "more is to be covered than can be"},
    {"unreadable", "cannot be searched for repositories and settings"},
    {"named_by_config", "git's config names it, and the server can make it or write in it"},
});

std::string_view text_for(std::string_view reason) {
  for (const Explanation& one : kExplanations) {
    if (one.reason == reason) {
      return one.text;
    }
  }
  return reason;
}

}  // namespace

std::vector<std::string> exposure_notices(const sandbox::Plan& plan, const std::vector<sandbox::SteeringGap>& gaps) {
  std::vector<std::string> out;
  if (sandbox::find_guarantee(plan, "filesystem.steering") == nullptr) {
    return out;
  }
  for (const sandbox::SteeringGap& gap : gaps) {
    out.push_back(text::printable(
        text::cat("write grant: '", gap.path, "': ", text_for(gap.reason), "; grant less (", gap.reason, ")"), 2000));
  }
  return out;
}

}  // namespace cordon::app
