// SPDX-License-Identifier: Apache-2.0
#include "formats/ceiling_yaml.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/policy/fields.hpp"
#include "formats/policy/sections.hpp"
#include "formats/yaml.hpp"

namespace cordon::formats {
namespace {

using policy::CeilingKey;
using policy::Limit;
using policy::LimitKind;

constexpr Range kAnyCount = {1, 1'000'000'000};
constexpr Range kAnySize = {1, std::uint64_t{1} << 50U};
constexpr std::size_t kMaxGlobBytes = 256;

std::vector<std::string_view> words_of(std::string_view words) {
  return words.empty() ? std::vector<std::string_view>() : text::split(words, ' ');
}

// Where the sections of the table hang: "isolation" below "", "isolation.filesystem" below "isolation".
std::vector<std::string_view> names_below(std::string_view section) {
  std::vector<std::string_view> out;
  const auto add = [&out](std::string_view name) {
    if (std::ranges::find(out, name) == out.end()) {
      out.push_back(name);
    }
  };
  for (const CeilingKey& key : policy::ceiling_keys()) {
    if (key.section == section) {
      add(key.key);
    } else if (section.empty()) {
      add(key.section.substr(0, key.section.find('.')));
    } else if (key.section.starts_with(section) && key.section[section.size()] == '.') {
      const std::string_view rest = key.section.substr(section.size() + 1);
      add(rest.substr(0, rest.find('.')));
    }
  }
  return out;
}

class Reader {
 public:
  explicit Reader(Faults& faults) : faults_(faults) {}

  void read(const yaml::Node& node, const std::string& name, Position position) {
    std::vector<std::string_view> known = names_below(name);
    if (name.empty()) {
      known.insert(known.begin(), "version");
    }
    const Section section(faults_, node, name, known, {});
    for (const CeilingKey& key : policy::ceiling_keys()) {
      if (key.section == name) {
        read_key(key, section.find(key.key), position);
      }
    }
    for (const yaml::Member& member : node.members) {
      const std::string path = section.path(member.key);
      const auto is_below = [&path](const CeilingKey& key) {
        return key.section == path || key.section.starts_with(path + ".");
      };
      if (std::ranges::any_of(policy::ceiling_keys(), is_below)) {
        read(member.value, path, member.position);
      }
    }
  }

  std::map<std::string, Limit, std::less<>> take() { return std::move(limits_); }

 private:
  void read_key(const CeilingKey& key, const yaml::Member* member, Position section) {
    Limit limit;
    if (member != nullptr) {
      limit.position = member->position;
      limit.written = true;
      read_value(key, member->value, limit);
    } else if (key.standard) {
      limit.position = section;
      if (key.kind == LimitKind::word || key.kind == LimitKind::flag) {
        limit.word = *key.standard;
      }
      if (key.kind == LimitKind::choices || key.kind == LimitKind::demands) {
        for (const std::string_view word : words_of(*key.standard)) {
          limit.items.push_back({std::string(word), section});
        }
      }
    } else {
      return;
    }
    limits_.emplace(key.path(), std::move(limit));
  }

  void read_value(const CeilingKey& key, const yaml::Node& node, Limit& limit) {
    const std::string path = key.path();
    switch (key.kind) {
      case LimitKind::word:
        return read_word_of(key, node, path, limit);
      case LimitKind::flag:
        limit.word = read_boolean(faults_, node, path).value_or(false) ? "true" : "false";
        return;
      case LimitKind::size:
        limit.number = read_size(faults_, node, path, kAnySize).value_or(0);
        return;
      case LimitKind::count:
        limit.number = read_integer(faults_, node, path, kAnyCount).value_or(0);
        return;
      case LimitKind::names:
        return read_items(node, path, limit, [this](const yaml::Node& item) { return read_name(item); });
      case LimitKind::paths:
        if (path == "isolation.unix_sockets" && node.kind == yaml::Kind::plain && node.text == "none") {
          return;  // as in a policy
        }
        return read_items(node, path, limit, [this](const yaml::Node& item) { return read_path_glob(item); });
      case LimitKind::network:
        limit.network = read_network(faults_, node, NetworkReader::ceiling);
        return;
      case LimitKind::hosts:
        return read_items(node, path, limit, [&](const yaml::Node& item) {
          return read_host(faults_, item, path, Wildcards::of_suffixes_too);
        });
      case LimitKind::keys:
        read_items(node, path, limit, [this](const yaml::Node& item) { return read_public_key(faults_, item); });
        if (node.kind == yaml::Kind::sequence && node.items.empty()) {
          faults_.add(node.position, text::cat(path, " is empty: no policy could fit"),
                      "name the keys that may sign, or leave it out");
        }
        return;
      case LimitKind::choices:
      case LimitKind::demands:
        return read_items(node, path, limit, [&](const yaml::Node& item) -> std::optional<std::string> {
          const std::vector<std::string_view> words = words_of(key.words);
          const auto index = read_word(faults_, item, "an item of " + path, words, {});
          return index ? std::optional<std::string>(words.at(*index)) : std::nullopt;
        });
    }
  }

  void read_word_of(const CeilingKey& key, const yaml::Node& node, const std::string& path, Limit& limit) {
    const std::vector<std::string_view> words = words_of(key.words);
    if (const auto index = read_word(faults_, node, path, words, {})) {
      limit.word = words.at(*index);
    }
  }

  template <typename ReadItem>
  void read_items(const yaml::Node& node, const std::string& path, Limit& limit, const ReadItem& read_item) {
    const auto* items = read_list(faults_, node, path, ListEmptiness::allowed);
    if (items == nullptr) {
      return;
    }
    for (const yaml::Node& item : *items) {
      std::optional<std::string> text = read_item(item);
      if (!text) {
        continue;
      }
      if (std::ranges::find(limit.items, *text, &Limit::Item::text) != limit.items.end()) {
        faults_.add(item.position, text::cat(path, " names ", quote(*text), " twice"), "keep one of them");
        continue;
      }
      limit.items.push_back({std::move(*text), item.position});
    }
  }

  std::optional<std::string> read_name(const yaml::Node& node) {
    auto name = read_text(faults_, node, "a name");
    if (!name) {
      return std::nullopt;
    }
    const auto fits = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("_-.*?@/~").contains(c);
    };
    if (name->size() > kMaxGlobBytes || !std::ranges::all_of(*name, fits)) {
      faults_.add(node.position, text::cat("no name, and no glob of names: ", quote(*name)),
                  "use letters, digits and _, @ and / of packages, and * or ? for any of them");
      return std::nullopt;
    }
    return name;
  }

  std::optional<std::string> read_path_glob(const yaml::Node& node) {
    auto path = read_path(faults_, node, "a path of a ceiling");
    if (!path) {
      return std::nullopt;
    }
    for (const std::string_view part : text::split(*path, '/')) {
      if (part != "**" && part.find("**") != std::string_view::npos) {
        faults_.add(node.position, text::cat("** stands for whole components: ", quote(*path)),
                    "write it alone between slashes, or * within a component");
        return std::nullopt;
      }
    }
    return path;
  }

  Faults& faults_;
  std::map<std::string, Limit, std::less<>> limits_ = {};
};

struct Reading {
  policy::Ceiling ceiling = {};
  std::vector<Error> errors = {};
};

Reading read_all(std::string_view text, std::string file) {
  Reading reading;
  auto root = yaml::read(text, file);
  if (!root) {
    reading.errors.push_back(std::move(root.error()));
    return reading;
  }
  Faults faults(file, "ceiling");
  if (read_version(faults, *root)) {
    Reader reader(faults);
    reader.read(*root, "", root->position);
    reading.ceiling.limits = reader.take();
  }
  reading.ceiling.file = std::move(file);
  reading.errors = faults.take();
  return reading;
}

void collect(const yaml::Node& node, const std::string& path, policy::Places& out) {
  for (const yaml::Member& member : node.members) {
    const std::string below = path.empty() ? member.key : text::cat(path, ".", member.key);
    out.emplace(below, member.position);
    collect(member.value, below, out);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string below = text::cat(path, "[", i, "]");
    out.emplace(below, node.items[i].position);
    collect(node.items[i], below, out);
  }
}

}  // namespace

Result<policy::Ceiling> read_ceiling(std::string_view text, std::string file) {
  Reading reading = read_all(text, std::move(file));
  if (!reading.errors.empty()) {
    return std::unexpected(std::move(reading.errors.front()));
  }
  return std::move(reading.ceiling);
}

std::vector<Error> check_ceiling(std::string_view text, std::string file) {
  return read_all(text, std::move(file)).errors;
}

policy::Places policy_places(std::string_view text, std::string_view file) {
  policy::Places out;
  if (const auto root = yaml::read(text, file)) {
    out.emplace("", root->position);
    collect(*root, "", out);
  }
  return out;
}

}  // namespace cordon::formats
