// SPDX-License-Identifier: Apache-2.0
// Texts of a server: the first line is a value of ours, the rest what is looked through. Each look at many bytes at
// once against the plain loop: no beginning is passed over; what the glance passes by has nothing for the looks behind
// it, as part of a message, too; what was treated needs no treatment; every own value is met by a find.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/plain.hpp"
#include "base/text.hpp"
#include "core/gate/beginnings.hpp"
#include "core/gate/own_name.hpp"
#include "core/gate/secret_finder.hpp"
#include "core/gate/text_treatment.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using gate::SecretFinder;

namespace {

void check_plain(std::string_view text) {
  const std::size_t run = text::plain_run(text);
  CORDON_ASSERT(run <= text.size() && std::ranges::all_of(text.substr(0, run), text::is_plain));
  CORDON_ASSERT(run == text.size() || !text::is_plain(text[run]));
}

void check_beginnings(std::string_view words, std::string_view text) {
  gate::Beginnings beginnings;
  std::vector<std::string_view> added;
  for (const std::string_view word : text::split(words, ' ')) {
    if (word.size() >= gate::Beginnings::kBytes && added.size() < 16) {
      beginnings.add(word);
      added.push_back(word.substr(0, 4));
    }
  }
  std::size_t first = text.size();  // where one really stands, from `at` on
  for (std::size_t at = text.size(); at-- > 0;) {
    const std::string_view rest = text.substr(at);
    first = std::ranges::any_of(added, [&](auto word) { return rest.starts_with(word); }) ? at : first;
    // Both err on the side of finding one, the bytes by themselves more often.
    const std::size_t next = beginnings.next(text, at);
    CORDON_ASSERT(next <= first && next >= beginnings.next_by_byte(text, at) && next >= at);
  }
}

bool has_spelling(std::string_view raw) {
  for (std::size_t at = 0; at + 1 < raw.size(); ++at) {
    if (raw[at] == '\\') {
      ++at;
      if (raw[at] == 'u' || raw[at] == '/') {
        return true;
      }
    }
  }
  return false;
}

void check_treatments(const std::string& text) {
  std::size_t found = 0;
  const std::string obeyed = gate::without_terminal_escapes(text, found);
  CORDON_ASSERT((found == 0) == (obeyed == text));
  found = 0;
  CORDON_ASSERT(gate::without_terminal_escapes(obeyed, found) == obeyed && found == 0);
  const std::string seen = gate::without_hidden_text(text, found);
  CORDON_ASSERT((found == 0) == (seen == text));
  found = 0;
  CORDON_ASSERT(gate::without_hidden_text(seen, found) == seen && found == 0);
}

void check_string(const json::Value& string) {
  const std::string_view raw = string.string_raw();
  const gate::Glance glance = gate::glance_at(raw);
  const std::string text = string.string();
  check_treatments(text);
  if (glance.worth_a_look) {
    return;
  }
  std::size_t found = gate::lines_as_us(text);
  gate::without_terminal_escapes(text, found);
  gate::without_hidden_text(text, found);
  CORDON_ASSERT(found == 0 && gate::seen_text(text, gate::Drop::sequences).cuts.empty());
  CORDON_ASSERT(gate::seen_text(text, gate::Drop::characters).cuts.empty());
  CORDON_ASSERT(glance.spelled == has_spelling(raw));
}

// true: one of its strings is worth a look.
bool check_strings(const json::Value& value) {
  bool worth = false;
  if (value.is(json::Kind::string)) {
    check_string(value);
    worth = gate::worth_a_look(value.string_raw());
  }
  for (const json::Value element : value.elements()) {
    worth = check_strings(element) || worth;
  }
  for (const json::Member member : value.members()) {
    worth = check_strings(member.key) || worth;
    worth = check_strings(member.value) || worth;
  }
  return worth;
}

void check_secrets(const std::string& own, std::string_view text) {
  const SecretFinder finder({{"OWN", own}});
  const auto spans = finder.find(text, SecretFinder::Reach::run);
  std::size_t end = 0;
  for (const gate::SecretSpan& span : spans) {
    CORDON_ASSERT(span.begin >= end && span.length > 0 && span.length <= text.size() - span.begin);
    end = span.begin + span.length;
  }
  constexpr std::size_t kLeastOwn = 4;
  for (std::size_t at = text.find(own); own.size() >= kLeastOwn && at != text.npos; at = text.find(own, at + 1)) {
    CORDON_ASSERT(std::ranges::any_of(spans, [&](const gate::SecretSpan& span) {
      return span.begin < at + own.size() && at < span.begin + span.length;
    }));
  }
  for (const auto look : {SecretFinder::Look::plainly, SecretFinder::Look::closely}) {
    std::size_t found = 0;
    std::set<std::string> kinds;
    const auto now = finder.without_secrets(text, look, found, kinds);
    CORDON_ASSERT(now.has_value() == (found > 0) && kinds.empty() == (found == 0));
    CORDON_ASSERT(!now || now->size() <= text.size());
    CORDON_ASSERT(found > 0 || spans.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view first = input.substr(0, line);
  const std::string_view text = input.substr(std::min(line + 1, input.size()));
  check_plain(text);
  constexpr std::size_t kMost = 4096;  // it begins anew at each place
  check_beginnings(first, text.substr(0, kMost));
  check_secrets(std::string(first), text);
  gate::glance_at(text);
  for (const std::string& message : {std::string(text), text::cat('"', text, '"')}) {
    if (const auto document = json::read(message, {})) {
      CORDON_ASSERT(!check_strings(document->root()) || gate::worth_a_look(message));
    }
  }
  return 0;
}
