// SPDX-License-Identifier: Apache-2.0
#include "formats/policy/fields.hpp"

#include <algorithm>
#include <tuple>

namespace cordon::formats {
namespace {

constexpr std::string_view kLater = "not supported by this version";

bool contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string list_words(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) {
    out += out.empty() ? "" : ", ";
    out += word;
  }
  return out;
}

// The candidate that was probably meant. Distance costs word × candidate; nothing that long is a slip of the finger.
std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  return word.size() <= 64 ? text::nearest(word, candidates) : std::nullopt;
}

std::string suggest(std::string_view word, const std::vector<std::string_view>& known,
                    const std::vector<std::string_view>& later) {
  std::vector<std::string_view> candidates = known;
  candidates.insert(candidates.end(), later.begin(), later.end());
  if (const auto near = nearest(word, candidates)) {
    return text::cat("did you mean ", quote(*near), "?");
  }
  return known.empty() ? "remove it" : text::cat("known here: ", list_words(known));
}

}  // namespace

void Faults::add(Position position, std::string detail, std::string remedy) {
  found_.push_back({position,
                    found_.size(),
                    {Errc::policy_invalid, std::move(detail), yaml::where(file_, position), std::move(remedy)}});
}

void Faults::unsupported(Position position, std::string_view what, std::string_view remedy) {
  add(position, text::cat(what, " is ", kLater),
      remedy.empty() ? std::string("leave it out, or use a version that enforces it") : std::string(remedy));
}

std::vector<Error> Faults::take() {
  // By the order of discovery where the place is the same.
  std::ranges::sort(found_, {}, [](const Found& found) {
    return std::tuple(found.position.line, found.position.column, found.number);
  });
  if (found_.size() > kMaxFaults) {
    const std::size_t more = found_.size() - kMaxFaults;
    const Position position = found_[kMaxFaults].position;
    found_.resize(kMaxFaults);
    add(position, text::cat(more, " more faults from here on"), "mend those above first");
  }
  std::vector<Error> errors;
  errors.reserve(found_.size());
  for (Found& found : found_) {
    errors.push_back(std::move(found.error));
  }
  found_.clear();
  return errors;
}

std::string quote(std::string_view text) { return text::cat("'", text::printable(text, 80), "'"); }

std::optional<std::size_t> read_word(Faults& faults, const yaml::Node& node, std::string_view what,
                                     const std::vector<std::string_view>& known,
                                     const std::vector<std::string_view>& later) {
  const std::string wanted = text::cat(known.size() == 1 ? "" : "one of ", list_words(known));
  if (node.kind != yaml::Kind::plain && node.kind != yaml::Kind::quoted) {
    faults.add(node.position, text::cat(what, " must be ", wanted, ", not ", kind_name(node)),
               text::cat("write one word: ", known.front()));
    return std::nullopt;
  }
  if (const auto word = std::ranges::find(known, node.text); word != known.end()) {
    return static_cast<std::size_t>(word - known.begin());
  }
  if (contains(later, node.text)) {
    faults.unsupported(node.position, text::cat(what, ": ", node.text), text::cat("this version knows ", wanted));
    return std::nullopt;
  }
  const auto near = nearest(node.text, known);
  faults.add(node.position, text::cat(what, " must be ", wanted, ", not ", quote(node.text)),
             near ? text::cat("did you mean ", quote(*near), "?") : text::cat("write ", wanted));
  return std::nullopt;
}

bool read_version(Faults& faults, const yaml::Node& root) {
  constexpr std::uint64_t kVersion = 1;
  const auto version = std::ranges::find(root.members, "version", &yaml::Member::key);
  if (version == root.members.end()) {
    if (root.kind == yaml::Kind::mapping) {
      faults.add(root.position, "version is missing", "write version: 1");
    }
    return true;
  }
  const auto number = read_integer(faults, version->value, "version", {0, 1'000'000'000});
  if (number && *number != kVersion) {
    faults.unsupported(version->value.position, text::cat(faults.subject(), " version ", *number), "write version: 1");
    return false;
  }
  return true;
}

std::vector<std::string> read_words(Faults& faults, const yaml::Node& node, std::string_view what,
                                    const std::vector<std::string_view>& known,
                                    const std::vector<std::string_view>& later, ListEmptiness empty) {
  std::vector<std::string> words;
  const auto* items = read_list(faults, node, what, empty);
  if (items == nullptr) {
    return words;
  }
  for (const yaml::Node& item : *items) {
    const auto index = read_word(faults, item, text::cat("an item of ", what), known, later);
    if (!index) {
      continue;
    }
    std::string word(known.at(*index));
    if (std::ranges::find(words, word) != words.end()) {
      faults.add(item.position, text::cat(what, " names ", quote(word), " twice"), "keep one of them");
      continue;
    }
    words.push_back(std::move(word));
  }
  return words;
}

Section::Section(Faults& faults, const yaml::Node& node, std::string name, const std::vector<std::string_view>& known,
                 const std::vector<std::string_view>& later)
    : faults_(faults), node_(node), name_(std::move(name)) {
  if (node.kind != yaml::Kind::mapping) {
    faults_.add(node.position,
                text::cat(name_.empty() ? text::cat("a ", faults_.subject()) : name_,
                          " must be a mapping of keys to values, not ", kind_name(node)),
                text::cat("write KEY: VALUE lines with keys among: ", list_words(known)));
    has_faulty_key_ = true;
    return;
  }
  for (const yaml::Member& member : node.members) {
    if (contains(known, member.key)) {
      continue;
    }
    has_faulty_key_ = true;
    if (contains(later, member.key)) {
      faults_.unsupported(member.position, path(member.key));
    } else {
      faults_.add(member.position, text::cat("unknown key ", quote(member.key)), suggest(member.key, known, later));
    }
  }
}

const yaml::Member* Section::find(std::string_view key) const {
  const auto member = std::ranges::find(node_.members, key, &yaml::Member::key);
  return member == node_.members.end() ? nullptr : &*member;
}

std::string Section::path(std::string_view key) const {
  return name_.empty() ? std::string(key) : text::cat(name_, ".", key);
}

void Section::text(std::string_view key, std::string& out, TextRules rules) const {
  if (const yaml::Member* member = find(key)) {
    out = read_text(faults_, member->value, path(key), rules).value_or(out);
  }
}

void Section::texts(std::string_view key, std::vector<std::string>& out, ListEmptiness empty) const {
  if (const yaml::Member* member = find(key)) {
    out = read_texts(faults_, member->value, path(key), {}, empty).value_or(out);
  }
}

void Section::boolean(std::string_view key, bool& out) const {
  if (const yaml::Member* member = find(key)) {
    out = read_boolean(faults_, member->value, path(key)).value_or(out);
  }
}

void Section::integer(std::string_view key, std::size_t& out, Range range) const {
  if (const yaml::Member* member = find(key)) {
    out = read_integer(faults_, member->value, path(key), range).value_or(out);
  }
}

void Section::size(std::string_view key, std::size_t& out, Range range) const {
  if (const yaml::Member* member = find(key)) {
    out = read_size(faults_, member->value, path(key), range).value_or(out);
  }
}

void Section::fixed(std::string_view key, std::string_view value, const std::vector<std::string_view>& later) const {
  if (const yaml::Member* member = find(key)) {
    read_word(faults_, member->value, path(key), {value}, later);
  }
}

void Section::only_empty(std::string_view key, yaml::Kind kind) const {
  const yaml::Member* member = find(key);
  if (member == nullptr) {
    return;
  }
  const bool is_list = kind == yaml::Kind::sequence;
  if (member->value.kind != kind) {
    faults_.add(member->value.position,
                text::cat(path(key), " must be a ", is_list ? "list" : "mapping", ", not ", kind_name(member->value)),
                text::cat("leave it out, or write ", is_list ? "[]" : "{}"));
  } else if (!member->value.items.empty() || !member->value.members.empty()) {
    faults_.unsupported(member->position, path(key), text::cat("leave it out, or write ", is_list ? "[]" : "{}"));
  }
}

void Section::fault(Position position, std::string detail, std::string remedy) const {
  faults_.add(position, std::move(detail), std::move(remedy));
}

}  // namespace cordon::formats
