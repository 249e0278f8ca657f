// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/diff.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "core/catalog/item_diff.hpp"
#include "core/catalog/places.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

namespace {

constexpr Severity kAddedTool = Severity::medium;
constexpr Severity kRemovedTool = Severity::low;

Severity instructions_severity(std::string_view) { return Severity::high; }
Severity capabilities_severity(std::string_view) { return Severity::medium; }
Severity versions_severity(std::string_view) { return Severity::low; }
// The version changes with nearly every release; the name is who the server says it is.
Severity server_info_severity(std::string_view key) { return key == "name" ? Severity::medium : Severity::low; }
Severity launch_severity(std::string_view key) {
  return key == "command" || key == "set_values" ? Severity::high : Severity::medium;
}

std::vector<const PinnedTool*> by_name(const std::vector<PinnedTool>& tools) {
  std::vector<const PinnedTool*> list;
  list.reserve(tools.size());
  for (const PinnedTool& tool : tools) {
    list.push_back(&tool);
  }
  std::ranges::sort(list, {}, &PinnedTool::name);
  return list;
}

ItemChange one_sided(const PinnedTool& tool, ChangeKind kind) {
  const bool added = kind == ChangeKind::added;
  const Severity severity = added ? kAddedTool : kRemovedTool;
  Place place;
  (added ? place.after : place.before) = tool.definition;
  place.severity = severity;
  return {.item = "tool", .name = tool.name, .kind = kind, .severity = severity, .places = {std::move(place)}};
}

ItemChange changed_item(std::string item, std::string name, ChangeKind kind, Places places) {
  return {.item = std::move(item),
          .name = std::move(name),
          .kind = kind,
          .severity = places.worst,
          .places = std::move(places.list),
          .omitted_places = places.omitted};
}

class Differ {
 public:
  Differ(const Snapshot& before, const Snapshot& after) : before_(before), after_(after) {}

  Diff run() {
    compare_tools();
    if (!before_.tools_only && !after_.tools_only) {
      compare_instructions();
      compare_data("server_info", before_.server_info, after_.server_info, server_info_severity);
      compare_data("capabilities", before_.capabilities, after_.capabilities, capabilities_severity);
      compare_versions();
      compare_launch();
      std::ranges::move(item_changes(before_, after_), std::back_inserter(diff_.changes));
    }
    std::ranges::sort(diff_.changes, [](const ItemChange& a, const ItemChange& b) {
      return std::tie(b.severity, a.item, a.name) < std::tie(a.severity, b.item, b.name);
    });
    return std::move(diff_);
  }

 private:
  void compare_tools() {
    const std::vector<const PinnedTool*> before = by_name(before_.tools);
    const std::vector<const PinnedTool*> after = by_name(after_.tools);
    auto b = before.begin();
    auto a = after.begin();
    while (b != before.end() || a != after.end()) {
      if (a == after.end() || (b != before.end() && (*b)->name < (*a)->name)) {
        diff_.changes.push_back(one_sided(**b++, ChangeKind::removed));
      } else if (b == before.end() || (*a)->name < (*b)->name) {
        diff_.changes.push_back(one_sided(**a++, ChangeKind::added));
      } else {
        compare_definition(**b, **a);
        compare_effect(**b++, **a++);
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
    Places places = tool_places(old_form, new_form);
    ChangeKind kind = ChangeKind::changed;
    if (cosmetic_form(before.definition) == cosmetic_form(after.definition)) {
      kind = ChangeKind::cosmetic;
      places.worst = Severity::info;
      for (Place& place : places.list) {
        place.severity = Severity::info;
      }
    }
    diff_.changes.push_back(changed_item("tool", before.name, kind, std::move(places)));
  }

  // A class that nobody set, in a candidate that nobody accepted, states nothing that could have changed.
  void compare_effect(const PinnedTool& before, const PinnedTool& after) {
    const auto states = [](const Snapshot& snapshot, const PinnedTool& tool) {
      return !snapshot.tools_only && (snapshot.reviewed || tool.effect_source == EffectSource::reviewer);
    };
    if (before.effect == after.effect || !states(before_, before) || !states(after_, after)) {
      return;
    }
    const bool lowered = effect_rank(after.effect).value_or(0) < effect_rank(before.effect).value_or(0);
    const Severity severity = lowered ? Severity::high : Severity::medium;
    diff_.changes.push_back(
        {.item = "effect",
         .name = before.name,
         .kind = ChangeKind::changed,
         .severity = severity,
         .places = {
             {.before = json::quoted(before.effect), .after = json::quoted(after.effect), .severity = severity}}});
  }

  void compare_instructions() {
    if (before_.instructions == after_.instructions) {
      return;
    }
    const ChangeKind kind = !before_.instructions  ? ChangeKind::added
                            : !after_.instructions ? ChangeKind::removed
                                                   : ChangeKind::changed;
    const Severity severity = kind == ChangeKind::removed ? Severity::medium : instructions_severity("");
    const auto quoted = [](const std::optional<std::string>& text) { return text ? json::quoted(*text) : ""; };
    diff_.changes.push_back(
        {.item = "instructions",
         .kind = kind,
         .severity = severity,
         .places = {
             {.before = quoted(before_.instructions), .after = quoted(after_.instructions), .severity = severity}}});
  }

  void compare_data(std::string item, const std::string& before, const std::string& after,
                    Severity (*of_member)(std::string_view)) {
    if (before != after) {
      diff_.changes.push_back(
          changed_item(std::move(item), "", ChangeKind::changed, data_places(before, after, of_member)));
    }
  }

  void compare_versions() {
    const auto sorted = [](std::vector<std::string> list) {
      std::ranges::sort(list);
      return list;
    };
    const std::vector<std::string> before = sorted(before_.protocol_versions);
    const std::vector<std::string> after = sorted(after_.protocol_versions);
    Places places = {.worst = versions_severity("")};
    const auto add = [&](const std::vector<std::string>& from, const std::vector<std::string>& other, bool removed) {
      std::vector<std::string> gone;
      std::ranges::set_difference(from, other, std::back_inserter(gone));
      for (const std::string& version : gone) {
        Place place = {.severity = places.worst, .element = true};
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
      diff_.changes.push_back(changed_item("protocol_versions", "", ChangeKind::changed, std::move(places)));
    }
  }

  // A snapshot that was never bound to a launch has no command.
  void compare_launch() {
    if (!before_.launch.command.empty() && !after_.launch.command.empty()) {
      compare_data("launch", fingerprint_json(before_.launch), fingerprint_json(after_.launch), launch_severity);
    }
  }

  const Snapshot& before_;
  const Snapshot& after_;
  Diff diff_ = {};
};

}  // namespace

std::string_view name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::added:
      return "added";
    case ChangeKind::removed:
      return "removed";
    case ChangeKind::changed:
      return "changed";
    case ChangeKind::cosmetic:
      return "cosmetic";
  }
  return "";
}

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::low:
      return "low";
    case Severity::medium:
      return "medium";
    case Severity::high:
      return "high";
  }
  return "";
}

bool Diff::drifted() const {
  return std::ranges::any_of(changes, [](const ItemChange& change) { return change.kind != ChangeKind::cosmetic; });
}

Diff diff(const Snapshot& before, const Snapshot& after) { return Differ(before, after).run(); }

}  // namespace cordon::catalog
