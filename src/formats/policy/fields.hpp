// SPDX-License-Identifier: Apache-2.0
#pragma once
// formats/policy: one reader per section of a policy file, all of them built from what stands here: a place to put
// faults, a mapping whose keys are checked against a table, and readers for each type of value.
// Reading never stops at a fault, so that `check` names all of them at once.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "core/policy/policy.hpp"
#include "formats/yaml.hpp"

namespace cordon::formats {

using policy::Position;

class Faults {
 public:
  // `subject`: what the file is, for messages: "policy".
  explicit Faults(std::string file, std::string_view subject = "policy") : file_(std::move(file)), subject_(subject) {}

  void add(Position position, std::string detail, std::string remedy);
  // A key or value of the contract that this version does not enforce.
  void unsupported(Position position, std::string_view what, std::string_view remedy = {});
  bool none() const { return found_.empty(); }
  std::string_view subject() const { return subject_; }
  // In the order of the file, at most kMaxFaults and then one that says so.
  std::vector<Error> take();

  static constexpr std::size_t kMaxFaults = 100;

 private:
  struct Found {
    Position position = {};
    std::size_t number = 0;
    Error error = {};
  };
  std::string file_;
  std::string_view subject_;
  std::vector<Found> found_ = {};
};

// "'text'", printable and short.
std::string quote(std::string_view text);
// "a list", "nothing", "a number without quotes", …: what a node is, for "must be X, not Y".
std::string_view kind_name(const yaml::Node& node);

// ---- values; each reports a fault and gives nothing when the node is no such value ----

// `line` refuses line breaks and tabs, which have no business in names, paths and arguments.
enum class TextForm : std::uint8_t { line, free };
enum class Emptiness : std::uint8_t { refused, allowed };
struct TextRules {
  TextForm form = TextForm::line;
  Emptiness empty = Emptiness::refused;
};
// A string. Plain scalars that YAML readers take for a boolean, null or number are refused: they belong in quotes.
std::optional<std::string> read_text(Faults& faults, const yaml::Node& node, std::string_view what,
                                     TextRules rules = {});
// true or false, nothing else.
std::optional<bool> read_boolean(Faults& faults, const yaml::Node& node, std::string_view what);

struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
};
std::optional<std::uint64_t> read_integer(Faults& faults, const yaml::Node& node, std::string_view what, Range range);
// Bytes: an integer, or a number with KB, MB, GB, KiB, MiB or GiB.
std::optional<std::uint64_t> read_size(Faults& faults, const yaml::Node& node, std::string_view what, Range range);

enum class ListEmptiness : std::uint8_t { refused, allowed };
// The items of a list, or nothing and a fault.
const std::vector<yaml::Node>* read_list(Faults& faults, const yaml::Node& node, std::string_view what,
                                         ListEmptiness empty);
// A list of strings.
std::optional<std::vector<std::string>> read_texts(Faults& faults, const yaml::Node& node, std::string_view what,
                                                   TextRules rules, ListEmptiness empty);

template <typename T>
struct Choice {
  std::string_view name = {};
  T value = {};
};

// Index of the word among `known`; a word of `later` is one that this version does not enforce.
std::optional<std::size_t> read_word(Faults& faults, const yaml::Node& node, std::string_view what,
                                     const std::vector<std::string_view>& known,
                                     const std::vector<std::string_view>& later);

template <typename T>
std::optional<T> read_choice(Faults& faults, const yaml::Node& node, std::string_view what,
                             std::initializer_list<Choice<T>> choices,
                             std::initializer_list<std::string_view> later = {}) {
  std::vector<std::string_view> known;
  for (const Choice<T>& choice : choices) {
    known.push_back(choice.name);
  }
  const auto index = read_word(faults, node, what, known, later);
  return index ? std::optional<T>((choices.begin() + *index)->value) : std::nullopt;
}

// False when the file is of another version: it has other keys, and then nothing else is worth saying.
bool read_version(Faults& faults, const yaml::Node& root);

// Reads a list of words out of `known`, without repetitions.
std::vector<std::string> read_words(Faults& faults, const yaml::Node& node, std::string_view what,
                                    const std::vector<std::string_view>& known,
                                    const std::vector<std::string_view>& later, ListEmptiness empty);

// ---- mappings ----

// A mapping whose keys are `known`; those of `later` belong to the contract but not to this version. The constructor
// reports every other key, and a node that is no mapping (which then has no members).
class Section {
 public:
  Section(Faults& faults, const yaml::Node& node, std::string name, const std::vector<std::string_view>& known,
          const std::vector<std::string_view>& later = {});

  const yaml::Member* find(std::string_view key) const;
  Position position() const { return node_.position; }
  // "launch.cwd"
  std::string path(std::string_view key) const;
  bool has_faulty_key() const { return has_faulty_key_; }

  // Each leaves `out` as it is when the key is absent or faulty.
  void text(std::string_view key, std::string& out, TextRules rules = {}) const;
  void texts(std::string_view key, std::vector<std::string>& out, ListEmptiness empty) const;
  void boolean(std::string_view key, bool& out) const;
  void integer(std::string_view key, std::size_t& out, Range range) const;
  void size(std::string_view key, std::size_t& out, Range range) const;
  template <typename T>
  void choice(std::string_view key, T& out, std::initializer_list<Choice<T>> choices,
              std::initializer_list<std::string_view> later = {}) const {
    if (const yaml::Member* member = find(key)) {
      out = read_choice<T>(faults_, member->value, path(key), choices, later).value_or(out);
    }
  }
  // A key whose one value is what this version does anyway.
  void fixed(std::string_view key, std::string_view value, const std::vector<std::string_view>& later) const;
  // A list or mapping that this version reads only when it is empty.
  void only_empty(std::string_view key, yaml::Kind kind) const;
  void fault(Position position, std::string detail, std::string remedy) const;

 private:
  Faults& faults_;
  const yaml::Node& node_;
  std::string name_;
  bool has_faulty_key_ = false;
};

}  // namespace cordon::formats
