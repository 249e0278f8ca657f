// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/diff.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "core/catalog/definition_changes.hpp"
#include "core/catalog/groups.hpp"
#include "core/catalog/item_diff.hpp"
#include "core/catalog/renames.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

namespace {

What capabilities_what(std::string_view) { return What::capability_changed; }
// The version changes with nearly every release; the name is who the server says it is.
What server_info_what(std::string_view key) {
  return key == "name" || key.empty() ? What::identity_changed : What::server_version_changed;
}
What launch_what(std::string_view) { return What::launch_changed; }

std::vector<const PinnedTool*> by_name(const std::vector<PinnedTool>& tools) {
  std::vector<const PinnedTool*> list;
  list.reserve(tools.size());
  for (const PinnedTool& tool : tools) {
    list.push_back(&tool);
  }
  std::ranges::sort(list, {}, &PinnedTool::name);
  return list;
}

ItemChange item_of(std::string item, std::string name, ChangeKind kind, Places places) {
  return {.item = std::move(item),
          .name = std::move(name),
          .kind = kind,
          .severity = places.worst,
          .places = std::move(places.list),
          .omitted_places = places.omitted};
}

// One place, the whole item, with a text on each side that has one.
Places text_places(const std::optional<std::string>& before, const std::optional<std::string>& after, What what) {
  const auto quoted = [](const std::optional<std::string>& text) { return text ? json::quoted(*text) : std::string(); };
  return whole_change(quoted(before), quoted(after), what, {});
}

class Differ {
 public:
  Differ(const Snapshot& before, const Snapshot& after) : before_(before), after_(after) {}

  Diff run() {
    compare_tools();
    if (!before_.tools_only && !after_.tools_only) {
      compare_instructions();
      compare_data("server_info", before_.server_info, after_.server_info, server_info_what);
      compare_data("capabilities", before_.capabilities, after_.capabilities, capabilities_what);
      compare_versions();
      compare_launch();
      names_.own.clear();
      std::ranges::move(item_changes(before_, after_, names_), std::back_inserter(diff_.changes));
    }
    std::ranges::sort(diff_.changes, [](const ItemChange& a, const ItemChange& b) {
      return std::tie(b.severity, a.item, a.name) < std::tie(a.severity, b.item, b.name);
    });
    number_groups(diff_);
    return std::move(diff_);
  }

 private:
  using Pinned = std::vector<const PinnedTool*>;

  void compare_tools() {
    const Pinned before = by_name(before_.tools);
    const Pinned after = by_name(after_.tools);
    for (const Pinned* list : {&before, &after}) {
      for (const PinnedTool* tool : *list) {
        names_.tools.insert(tool->name);
      }
    }
    Pinned removed;
    Pinned added;
    auto b = before.begin();
    auto a = after.begin();
    while (b != before.end() || a != after.end()) {
      if (a == after.end() || (b != before.end() && (*b)->name < (*a)->name)) {
        removed.push_back(*b++);
      } else if (b == before.end() || (*a)->name < (*b)->name) {
        added.push_back(*a++);
      } else {
        compare_definition(**b, **a);
        compare_effect(**b++, **a++);
      }
    }
    compare_names(removed, added);
  }

  void compare_names(Pinned& removed, Pinned& added) {
    for (const auto& [gone, come] : find_renames(removed, added)) {
      const PinnedTool& before = *removed[gone];
      const PinnedTool& after = *added[come];
      names_.own = after.name;
      ItemChange change =
          item_of("tool", after.name, ChangeKind::renamed,
                  definition_changes(comparison_form(before.definition), comparison_form(after.definition), names_));
      change.old_name = before.name;
      diff_.changes.push_back(std::move(change));
      removed[gone] = nullptr;
      added[come] = nullptr;
    }
    for (const PinnedTool* tool : removed) {
      if (tool != nullptr) {
        diff_.changes.push_back(item_of("tool", tool->name, ChangeKind::removed,
                                        whole_change(tool->definition, "", What::item_removed, names_)));
      }
    }
    for (const PinnedTool* tool : added) {
      if (tool != nullptr) {
        names_.own = tool->name;
        diff_.changes.push_back(item_of("tool", tool->name, ChangeKind::added,
                                        whole_change("", tool->definition, What::item_added, names_)));
      }
    }
  }

  void compare_definition(const PinnedTool& before, const PinnedTool& after) {
    if (before.definition == after.definition) {
      return;
    }
    const std::string old_form = comparison_form(before.definition);
    const std::string new_form = comparison_form(after.definition);
    if (old_form == new_form) {
      return;
    }
    names_.own = before.name;
    Places places = definition_changes(old_form, new_form, names_);
    ChangeKind kind = ChangeKind::changed;
    if (cosmetic_form(before.definition) == cosmetic_form(after.definition)) {
      kind = ChangeKind::cosmetic;
      places.worst = Severity::info;
      for (Place& place : places.list) {
        place.severity = Severity::info;
        place.what = What::form_changed;
        place.cues.clear();
      }
    }
    diff_.changes.push_back(item_of("tool", before.name, kind, std::move(places)));
  }

  // A condition that went, or a new one that is milder than the class of the tool.
  static bool conditions_lowered(const PinnedTool& before, const PinnedTool& after) {
    const auto in = [](const EffectCondition& one, const PinnedTool& tool) {
      return std::ranges::find(tool.when, one) != tool.when.end();
    };
    return std::ranges::any_of(before.when, [&](const EffectCondition& one) { return !in(one, after); }) ||
           std::ranges::any_of(after.when, [&](const EffectCondition& one) {
             return !in(one, before) && effect_rank(one.effect).value_or(0) < effect_rank(after.effect).value_or(0);
           });
  }

  // The class, and on what it hangs.
  static std::string effect_text(const PinnedTool& tool) {
    std::string out = tool.effect;
    for (const EffectCondition& one : tool.when) {
      out += text::cat("; ", one.argument, one.value ? text::cat(" is ", *one.value) : " is given", ": ", one.effect);
    }
    return out;
  }

  // A class that nobody set, in a candidate that nobody accepted, states nothing that could have changed.
  void compare_effect(const PinnedTool& before, const PinnedTool& after) {
    const auto states = [](const Snapshot& snapshot, const PinnedTool& tool) {
      return !snapshot.tools_only && (snapshot.reviewed || tool.effect_source == EffectSource::reviewer);
    };
    if ((before.effect == after.effect && before.when == after.when) || !states(before_, before) ||
        !states(after_, after)) {
      return;
    }
    const bool lowered = effect_rank(after.effect).value_or(0) < effect_rank(before.effect).value_or(0) ||
                         conditions_lowered(before, after);
    diff_.changes.push_back(item_of(
        "effect", before.name, ChangeKind::changed,
        text_places(effect_text(before), effect_text(after), lowered ? What::effect_lowered : What::effect_raised)));
  }

  void compare_instructions() {
    if (before_.instructions == after_.instructions) {
      return;
    }
    const auto [kind, what] = !before_.instructions  ? std::pair(ChangeKind::added, What::instructions_added)
                              : !after_.instructions ? std::pair(ChangeKind::removed, What::instructions_removed)
                                                     : std::pair(ChangeKind::changed, What::instructions_changed);
    names_.own.clear();
    const auto quoted = [](const std::optional<std::string>& text) { return text ? json::quoted(*text) : ""; };
    diff_.changes.push_back(
        item_of("instructions", "", kind,
                whole_change(quoted(before_.instructions), quoted(after_.instructions), what, names_)));
  }

  void compare_data(std::string item, const std::string& before, const std::string& after,
                    What (*of_member)(std::string_view)) {
    if (before != after) {
      names_.own.clear();
      Places places = data_changes(before, after, of_member, names_);
      if (item == "launch") {
        weigh_launch(places);
      }
      diff_.changes.push_back(item_of(std::move(item), "", ChangeKind::changed, std::move(places)));
    }
  }

  // Our own words, so there are no cues; what is executed, and with what values, weighs most.
  static void weigh_launch(Places& places) {
    places.worst = Severity::medium;
    for (Place& place : places.list) {
      place.cues.clear();
      const bool heavy = place.pointer.starts_with("/command") || place.pointer.starts_with("/set_values");
      place.severity = heavy ? Severity::high : Severity::medium;
      places.worst = std::max(places.worst, place.severity);
    }
    std::ranges::stable_sort(places.list, std::greater<>(), &Place::severity);
  }

  void compare_versions() {
    const auto sorted = [](std::vector<std::string> list) {
      std::ranges::sort(list);
      return list;
    };
    const std::vector<std::string> before = sorted(before_.protocol_versions);
    const std::vector<std::string> after = sorted(after_.protocol_versions);
    Places places = {.worst = facts(What::protocol_versions_changed).severity};
    const auto add = [&](const std::vector<std::string>& from, const std::vector<std::string>& other, bool removed) {
      std::vector<std::string> gone;
      std::ranges::set_difference(from, other, std::back_inserter(gone));
      for (const std::string& version : gone) {
        Place place = {.severity = places.worst, .element = true, .what = What::protocol_versions_changed};
        (removed ? place.before : place.after) = json::quoted(version);
        if (places.list.size() < kMaxPlaces) {
          places.list.push_back(std::move(place));
        } else {
          ++places.omitted;
        }
      }
    };
    add(before, after, true);
    add(after, before, false);
    if (!places.list.empty()) {
      diff_.changes.push_back(item_of("protocol_versions", "", ChangeKind::changed, std::move(places)));
    }
  }

  // A snapshot that was never bound to a launch has no command.
  void compare_launch() {
    if (!before_.launch.command.empty() && !after_.launch.command.empty()) {
      compare_data("launch", fingerprint_json(before_.launch), fingerprint_json(after_.launch), launch_what);
    }
  }

  const Snapshot& before_;
  const Snapshot& after_;
  CueNames names_ = {};
  Diff diff_ = {};
};

}  // namespace

bool Diff::drifted() const {
  return std::ranges::any_of(changes, [](const ItemChange& change) { return change.kind != ChangeKind::cosmetic; });
}

Diff diff(const Snapshot& before, const Snapshot& after) { return Differ(before, after).run(); }

}  // namespace cordon::catalog
