// SPDX-License-Identifier: Apache-2.0
// What npm and pip print when they fail, with a registry's words in it, after a line with the package. Whatever it is,
// the error says what and where, in one line that a terminal may get, and of bounded length. Each line is an address,
// too, whose host is the one that others take it to.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/npm_errors.hpp"
#include "app/pip_errors.hpp"
#include "app/registry_url.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

using namespace cordon;

namespace {

constexpr char32_t kCut = 0x2026;  // where a long line was cut

void check_visible(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const text::CodePoint point = text::decode_utf8(text, i);
    CORDON_ASSERT(point.length != 0);
    CORDON_ASSERT((point.value >= 0x20 && point.value < 0x7F) || point.value == kCut ||
                  text::is_visible_letter(point.value));
    i += point.length;
  }
}

void check(const Error& error) {
  CORDON_ASSERT(error.code == Errc::launch_failed && !error.detail.empty() && !error.where.empty());
  for (const std::string* part : {&error.detail, &error.where, &error.remedy}) {
    check_visible(*part);
    CORDON_ASSERT(part->size() < 20'000);
  }
}

// As RFC 3986 cuts an address.
void check_url(std::string_view text) {
  const auto url = app::read_url(text);
  if (!url) {
    return;
  }
  const std::string_view rest = text.substr(text.find("://") + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#\\"));
  const std::string_view place = authority.substr(authority.rfind('@') + 1);
  CORDON_ASSERT(url->host == text::lower_ascii(place.substr(0, place.find(':'))) && url->port != 0);
  const auto again = app::read_url(app::to_text(*url));
  CORDON_ASSERT(again && again->host == url->host && again->port == url->port && again->scheme == url->scheme);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string_view> words = text::split(input, '\n');
  std::vector<std::string> lines;
  for (std::size_t i = 1; i < words.size(); ++i) {
    lines.push_back(text::printable(words[i], 2000));  // as the keeper of these lines gives them
  }
  for (const std::string_view word : words) {
    check_url(word);
  }
  check(app::npm_failure(words.front(), 1, lines));
  check(app::pip_failure(words.front(), 1, lines, [](std::string_view host) { return host.size() % 2 == 0; }));
  return 0;
}
