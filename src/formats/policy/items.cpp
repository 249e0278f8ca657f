// SPDX-License-Identifier: Apache-2.0
// The sections `prompts` and `resources`, and lists of URI globs.
#include <algorithm>
#include <string>

#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

using policy::Action;

constexpr std::size_t kMaxGlobBytes = 4'096;  // as long as a URI can be

// There is no question that a person could be asked about a prompt or resource, so no `confirm`.
std::optional<Action> read_item_action(Faults& faults, const yaml::Node& node, std::string_view what) {
  return read_choice<Action>(
      faults, node, what,
      {{"allow", Action::allow}, {"flag", Action::flag}, {"block", Action::block}, {"hide", Action::hide}});
}

policy::ResourceRule read_rule(Faults& faults, const yaml::Node& node) {
  policy::ResourceRule rule;
  rule.position = node.position;
  const Section section(faults, node, "resources.rules", {"uris", "action"});
  if (const yaml::Member* uris = section.find("uris")) {
    rule.uris = read_uri_globs(faults, uris->value, "uris of a rule", ListEmptiness::refused);
  } else if (node.kind == yaml::Kind::mapping) {
    faults.add(node.position, "a rule names no URIs", "write uris: [GLOB, ...]");
  }
  if (const yaml::Member* action = section.find("action")) {
    rule.action = read_item_action(faults, action->value, "action of a rule").value_or(rule.action);
  } else if (node.kind == yaml::Kind::mapping && !section.has_faulty_key()) {
    faults.add(node.position, "a rule has no action", "add action: allow, flag, block or hide");
  }
  return rule;
}

}  // namespace

std::vector<std::string> read_uri_globs(Faults& faults, const yaml::Node& list, std::string_view what,
                                        ListEmptiness empty) {
  std::vector<std::string> globs;
  const auto* items = read_list(faults, list, what, empty);
  for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
    const yaml::Node& item = (*items)[i];
    auto glob = read_text(faults, item, text::cat("an item of ", what));
    if (!glob) {
      continue;
    }
    // `[` stands in addresses of hosts; what other tools take for alternatives or negation would silently match
    // nothing.
    if (glob->find_first_of("{}\\!") != std::string::npos) {
      faults.add(item.position, text::cat("only * and ? are special in a glob: ", quote(*glob)),
                 "write one glob for each alternative, and ? for a character such as { that a URI really has");
    } else if (glob->size() > kMaxGlobBytes) {
      faults.add(item.position, text::cat("a glob has more than ", kMaxGlobBytes, " bytes"),
                 "use * for the middle of a long URI");
    } else if (std::ranges::find(globs, *glob) != globs.end()) {
      faults.add(item.position, text::cat("the glob ", quote(*glob), " stands twice in ", what), "keep one of them");
    } else {
      globs.push_back(std::move(*glob));
    }
  }
  return globs;
}

policy::Prompts read_prompts(Faults& faults, const yaml::Node& node) {
  policy::Prompts prompts;
  const Section section(faults, node, "prompts", {"default"});
  if (const yaml::Member* standard = section.find("default")) {
    prompts.standard = read_item_action(faults, standard->value, "prompts.default").value_or(prompts.standard);
    prompts.position = standard->position;
  }
  return prompts;
}

policy::Resources read_resources(Faults& faults, const yaml::Node& node) {
  policy::Resources resources;
  const Section section(faults, node, "resources", {"default", "templates", "rules"});
  if (const yaml::Member* standard = section.find("default")) {
    resources.standard = read_item_action(faults, standard->value, "resources.default").value_or(resources.standard);
    resources.position = standard->position;
  }
  if (const yaml::Member* templates = section.find("templates")) {
    resources.templates =
        read_item_action(faults, templates->value, "resources.templates").value_or(resources.templates);
    resources.templates_position = templates->position;
  }
  if (const yaml::Member* rules = section.find("rules")) {
    if (const auto* items = read_list(faults, rules->value, "resources.rules", ListEmptiness::allowed)) {
      for (const yaml::Node& item : *items) {
        resources.rules.push_back(read_rule(faults, item));
      }
    }
  }
  check_unreachable_uris(faults, resources.rules);
  return resources;
}

}  // namespace cordon::formats
