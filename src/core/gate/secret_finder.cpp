// SPDX-License-Identifier: Apache-2.0
#include "core/gate/secret_finder.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "base/token_forms.hpp"
#include "core/gate/text_treatment.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {
namespace {

using Letters = TokenForm::Letters;
using Reach = SecretFinder::Reach;

constexpr std::uint8_t kFormBegins = 1;
constexpr std::uint8_t kOwnBegins = 2;
constexpr std::size_t kLeastOwn = 4;   // a shorter value of ours would hit everywhere
constexpr std::size_t kLeastLine = 8;  // of a value with several lines
constexpr std::string_view kWebToken = "eyJ";
constexpr std::string_view kPrivateKey = "-----BEGIN ";

std::size_t run_of(Letters letters, std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, [&](char c) { return fits(letters, c); }) -
                                  text.begin());
}

// What went before in the text of a string inside of a string (\n, \u0022) or of an address (%3D) is no part of a word.
bool ends_escape(std::string_view before) {
  const std::size_t size = before.size();
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  if (size >= 2 && before[size - 2] == '\\') {
    return std::string_view("nrtbf").contains(before.back());
  }
  if (size >= 3 && before[size - 3] == '%') {
    return hex(before[size - 2]) && hex(before[size - 1]);
  }
  return size >= 6 && before[size - 6] == '\\' && before[size - 5] == 'u';
}

// Nor is a colour or its kin whose ESC is spelled out or lost: \u001b[31m, [0m.
bool ends_sequence(std::string_view before) {
  if (before.empty() || !fits(Letters::alphanumeric, before.back())) {
    return false;
  }
  constexpr std::size_t kLongest = 32;
  before.remove_suffix(1);
  before = before.substr(before.size() - std::min(before.size(), kLongest));
  const std::size_t last = before.find_last_not_of("0123456789;:?");
  return last != std::string_view::npos && before[last] == '[';
}

// A place in a text, and what may begin there.
struct Place {
  std::string_view text = {};
  std::size_t at = 0;
  bool gap = false;  // something that is not seen stands before

  std::string_view rest() const { return text.substr(at); }
  bool begins(Letters around) const {
    const std::string_view before = text.substr(0, at);
    return at == 0 || gap || !fits(around, text[at - 1]) || ends_escape(before) || ends_sequence(before);
  }
};

// Three parts, the first two of them JSON in base64. Behind a - it is the middle of something longer, and when a run
// begins none, no later place in it does, whatever gaps it has: no run is gone through twice.
std::size_t web_token_length(const Place& place, Reach reach, std::size_t& none_before) {
  constexpr std::size_t kLongest = 4096;
  constexpr std::size_t kLeast = 30;
  constexpr std::size_t kLeastSignature = 8;
  const std::string_view text = reach == Reach::run ? place.rest() : place.rest().substr(0, kLongest + 1);
  if (place.at < none_before || !text.starts_with(kWebToken) || !place.begins(Letters::word)) {
    return 0;
  }
  const std::size_t first = run_of(Letters::word, text);
  none_before = reach == Reach::run ? place.at + first : 0;
  if (!text.substr(first).starts_with('.') || (reach == Reach::run && !text.substr(first + 1).starts_with(kWebToken))) {
    return 0;
  }
  const std::size_t second = first + 1 + run_of(Letters::word, text.substr(first + 1));
  if (!text.substr(second).starts_with('.')) {
    return 0;
  }
  const std::size_t length = second + 1 + run_of(Letters::word, text.substr(second + 1));
  const bool long_enough = length - second > kLeastSignature && length >= kLeast;
  return long_enough && (reach == Reach::run || length <= kLongest) ? length : 0;
}

std::size_t private_key_length(std::string_view text, Reach reach) {
  constexpr std::size_t kLongestName = 40;
  constexpr std::size_t kLongest = 16'384;
  constexpr std::string_view kKey = "PRIVATE KEY-----";
  const std::size_t name =
      text.starts_with(kPrivateKey) ? text.substr(0, kPrivateKey.size() + kLongestName).find(kKey) : text.npos;
  if (name == text.npos) {
    return 0;
  }
  std::size_t length = name + kKey.size();
  if (reach == Reach::run) {
    const std::size_t end = text.find("-----END ", length);
    const std::size_t close = end == text.npos ? end : text.find(kKey, end);
    // Without its end everything that follows may be the key.
    return close == text.npos ? text.size() : close + kKey.size();
  }
  while (length < text.size() && length < kLongest &&
         (fits(Letters::alphanumeric, text[length]) || std::string_view("+/=\n\r").contains(text[length]))) {
    ++length;
  }
  return length;
}

std::optional<SecretSpan> form_at(const Place& place, Reach reach, std::size_t& no_web_token_before) {
  constexpr std::size_t kLongestToken = 512;
  const std::string_view text = place.rest();
  if (text.front() == '-') {
    const std::size_t length = private_key_length(text, reach);
    return length == 0 ? std::nullopt : std::optional(SecretSpan{place.at, length, "private key"});
  }
  if (!place.begins(Letters::alphanumeric)) {
    return std::nullopt;
  }
  for (const TokenForm& form : token_forms()) {
    const bool joined = form.letters == Letters::word || form.letters == Letters::dotted;
    if (form.sure == TokenForm::Sure::no || !text.starts_with(form.prefix) ||
        !place.begins(joined ? Letters::word : Letters::alphanumeric)) {
      continue;
    }
    const std::string_view most = reach == Reach::run ? text : text.substr(0, kLongestToken + 1);
    const std::size_t length = form.prefix.size() + run_of(form.letters, most.substr(form.prefix.size()));
    if (length >= form.prefix.size() + form.least && (reach == Reach::run || length <= kLongestToken)) {
      return SecretSpan{place.at, length, std::string(form.kind)};
    }
  }
  const std::size_t length = web_token_length(place, reach, no_web_token_before);
  return length == 0 ? std::nullopt : std::optional(SecretSpan{place.at, length, "web token"});
}

// "GitHub token" as github_token.
std::string name_of(std::string_view kind) {
  std::string out = text::lower_ascii(kind);
  std::ranges::replace(out, ' ', '_');
  return out;
}

// In place of a secret; never longer than that, so that no message outgrows what a client takes.
std::string replacement(const SecretSpan& span) {
  constexpr std::string_view kOwn = "[secret]";
  if (!span.own) {
    return text::cat("[", name_of(span.kind), " removed]");
  }
  return span.length < kOwn.size() ? std::string(span.length, '*') : std::string(kOwn);
}

}  // namespace

SecretFinder::SecretFinder(const std::vector<NamedSecret>& own) {
  for (const TokenForm& form : token_forms()) {
    if (form.sure == TokenForm::Sure::yes) {
      begin_with(form.prefix, kFormBegins);
    }
  }
  begin_with(kWebToken, kFormBegins);
  begin_with(kPrivateKey, kFormBegins);
  for (const NamedSecret& secret : own) {
    const std::string kind = "secret " + text::printable(secret.name, 64);
    add(secret.value, kind);
    // As it stands in a string inside of a string, and as it looks without what is looked over.
    const std::string quoted = json::quoted(secret.value);
    values_are_plain_ = values_are_plain_ && quoted.size() == secret.value.size() + 2;
    add(std::string_view(quoted).substr(1, quoted.size() - 2), kind);
    add(seen_text(secret.value, Drop::characters).text, kind);
    // Servers print a key line by line.
    for (std::string_view line : text::split(secret.value, '\n')) {
      line = line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
      if (line.size() >= kLeastLine) {
        add(line, kind);
      }
    }
  }
  for (const Own& one : own_) {
    begin_with(one.value, kOwnBegins);
  }
}

// The next place at which something may begin.
std::size_t SecretFinder::next_begin(std::string_view text, std::size_t at) const {
  return has_short_ ? at : beginnings_.next(text, at);
}

void SecretFinder::begin_with(std::string_view text, std::uint8_t what) {
  begins_.at(static_cast<unsigned char>(text.front())) |= what;
  if (text.size() < Beginnings::kBytes) {
    has_short_ = true;
  } else {
    beginnings_.add(text);
  }
}

void SecretFinder::add(std::string_view value, const std::string& kind) {
  if (!value.empty() && std::ranges::find(own_, value, &Own::value) == own_.end()) {
    own_.push_back({std::string(value), kind});
  }
}

// The longest: one secret may begin as another does.
void SecretFinder::own_at(std::string_view text, std::size_t at, std::size_t least, SecretSpan& span) const {
  for (const Own& one : own_) {
    if (one.value.size() >= least && one.value.size() > span.length && text.substr(at).starts_with(one.value)) {
      span = {at, one.value.size(), one.kind, true};
    }
  }
}

std::vector<SecretSpan> SecretFinder::find(std::string_view text, Reach reach,
                                           std::span<const std::size_t> gaps) const {
  std::vector<SecretSpan> found;
  const std::size_t least = reach == Reach::run ? kLeastOwn : 1;
  std::size_t no_web_token_before = 0;
  for (std::size_t at = next_begin(text, 0); at < text.size(); at = next_begin(text, at + 1)) {
    const std::uint8_t begins = begins_[static_cast<unsigned char>(text[at])];
    if (begins == 0) {
      continue;
    }
    SecretSpan span;
    if ((begins & kOwnBegins) != 0) {
      own_at(text, at, least, span);
    }
    if (span.length == 0 && (begins & kFormBegins) != 0) {
      const bool gap = !gaps.empty() && std::ranges::binary_search(gaps, at);
      span = form_at({text, at, gap}, reach, no_web_token_before).value_or(SecretSpan{});
    }
    if (span.length > 0) {
      at += span.length - 1;
      found.push_back(std::move(span));
    }
  }
  return found;
}

std::optional<std::string> SecretFinder::without_secrets(std::string_view text, Look look, std::size_t& found,
                                                         std::set<std::string>& kinds) const {
  std::optional<std::string> now;
  const auto replace = [&](const Seen& seen, std::string_view read) {
    std::vector<std::size_t> gaps;
    std::ranges::transform(seen.cuts, std::back_inserter(gaps), &Seen::Cut::seen);
    const std::vector<SecretSpan> spans = find(read, Reach::run, gaps);
    if (spans.empty()) {
      return;
    }
    const std::string_view whole = now ? std::string_view(*now) : text;
    std::string out;
    std::size_t from = 0;
    for (const SecretSpan& span : spans) {
      const std::size_t begin = seen.origin(span.begin);
      out += whole.substr(from, begin - from);
      out += replacement(span);
      from = seen.origin(span.begin + span.length - 1) + 1;
      kinds.insert(span.own ? span.kind : name_of(span.kind));
      ++found;
    }
    out += whole.substr(from);
    now = std::move(out);
  };
  if (look == Look::closely) {
    // The longest first. What a sequence holds is text where the sequence is not obeyed.
    for (const Drop drop : {Drop::sequences, Drop::characters}) {
      const Seen seen = seen_text(now ? *now : text, drop);
      if (!seen.cuts.empty()) {
        replace(seen, seen.text);
      }
    }
  }
  const std::string last = now.value_or(std::string());
  replace({}, now ? std::string_view(last) : text);
  return now;
}

}  // namespace cordon::gate
