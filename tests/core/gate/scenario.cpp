// SPDX-License-Identifier: Apache-2.0
#include "core/gate/scenario.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>

#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/gate/session.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::test {
namespace {

using gate::Side;

struct Step {
  int line = 0;
  std::string verb = {};
  std::string rest = {};
};

bool is_expectation(const std::string& verb) { return verb.starts_with('>') || verb == "R" || verb == "stray"; }

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// ${a*3} → aaa, \xHH → one byte.
std::string expand(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "${") {
      const std::size_t star = text.find('*', i);
      const std::size_t end = text.find('}', star);
      for (std::size_t n = number(text.substr(star + 1, end - star - 1)); n > 0; --n) {
        out += text.substr(i + 2, star - i - 2);
      }
      i = end + 1;
    } else if (text.substr(i, 2) == "\\x") {
      unsigned value = 0;
      std::from_chars(text.data() + i + 2, text.data() + i + 4, value, 16);
      out += static_cast<char>(value);
      i += 4;
    } else {
      out += text[i++];
    }
  }
  return out;
}

class Runner {
 public:
  Runner(std::string folder, std::size_t chunk) : folder_(std::move(folder)), chunk_(chunk) {
    config_.policy.server = "fake";
    config_.session_id = "t";
    config_.version = "0";
    snapshot_.server = "fake";
    snapshot_.server_info = R"({"name":"fake","version":"1"})";
    snapshot_.capabilities = R"({"logging":{},"tools":{"listChanged":true}})";
    for (auto& [effect, action] : config_.policy.tools.effects) {
      action = effect == policy::Effect::read ? policy::Action::allow : policy::Action::block;
    }
  }

  std::vector<std::string> run(std::string_view text) {
    parse(text);
    if (!without_snapshot_) {
      std::ranges::sort(snapshot_.tools, {}, &catalog::PinnedTool::name);
      for (const catalog::ListKind kind : catalog::kItemKinds) {
        std::ranges::sort(snapshot_.items(kind), {}, &catalog::PinnedItem::key);
      }
      config_.snapshot = snapshot_;
    }
    session_.emplace(config_);
    for (std::size_t i = 0; i < steps_.size();) {
      const Step& input = steps_[i++];
      const gate::Actions actions = act(input);
      std::vector<Step> expected;
      while (i < steps_.size() && is_expectation(steps_[i].verb)) {
        expected.push_back(steps_[i++]);
      }
      compare(input, actions, expected);
    }
    return problems_;
  }

 private:
  void problem(int line, std::string what) { problems_.push_back(text::cat("line ", line, ": ", what)); }

  void parse(std::string_view text) {
    int line = 0;
    for (const std::string_view raw : text::split(text, '\n')) {
      ++line;
      if (raw.empty() || raw.starts_with('#')) {
        continue;
      }
      const std::size_t space = raw.find(' ');
      std::string verb(raw.substr(0, space));
      std::string rest = space == std::string_view::npos ? std::string() : expand(raw.substr(space + 1));
      if (verb == "include") {
        std::ifstream file(folder_ + "/" + rest);
        std::stringstream content;
        content << file.rdbuf();
        if (content.str().empty()) {
          problem(line, "cannot include " + rest);
        }
        parse(content.str());
      } else if (!configure(line, verb, rest)) {
        steps_.push_back({line, std::move(verb), std::move(rest)});
      }
    }
  }

  bool configure(int line, const std::string& verb, const std::string& rest) {
    if (verb == "pin") {
      return pin(line, rest);
    }
    if (const auto kind = pin_verb(verb)) {
      pin_item(line, *kind, rest);
      return true;
    }
    if (verb == "pinned-interface") {
      const auto parts = text::split(rest, ' ');
      for (catalog::PinnedTool& tool : snapshot_.tools) {
        if (tool.name == parts[0]) {
          tool.interface = parts[1];
        }
      }
      return true;
    }
    if (verb == "variable") {
      variable(line, text::split(rest, ' '));
      return true;
    }
    if (verb == "dynamic") {
      config_.policy.catalog.dynamic.push_back(rest);
      return true;
    }
    if (verb == "uri-rule" || verb == "items") {
      const std::size_t last = rest.rfind('=');
      item_policy(line, verb, rest.substr(0, last), *policy::action_from_name(rest.substr(last + 1)));
      return true;
    }
    if (verb == "snapshot") {
      without_snapshot_ = rest == "none";
      config_.policy.catalog.missing = policy::Missing::flag;
    } else if (verb == "pinned-instructions") {
      snapshot_.instructions = rest;
    } else if (verb == "pinned-capabilities") {
      snapshot_.capabilities = rest;
    } else if (verb == "effect") {
      const auto parts = text::split(rest, '=');
      config_.policy.tools.effects[*policy::effect_from_name(parts[0])] = *policy::action_from_name(parts[1]);
    } else if (verb == "rule") {
      const auto parts = text::split(rest, '=');
      config_.policy.tools.rules.push_back(
          {.tools = {std::string(parts[0])}, .action = policy::action_from_name(parts[1])});
    } else if (verb == "limit") {
      limit(line, text::split(rest, ' '));
    } else if (verb == "drift") {
      set_drift(line, rest);
    } else if (verb == "set") {
      set(line, rest);
    } else if (verb == "launch-failure") {
      const std::size_t space = rest.find(' ');
      config_.launch_failure = Error{*errc_from_name(rest.substr(0, space)), rest.substr(space + 1), {}, {}};
    } else {
      return false;
    }
    return true;
  }

  static std::optional<catalog::ListKind> pin_verb(const std::string& verb) {
    return verb == "pin-prompt"     ? std::optional(catalog::ListKind::prompts)
           : verb == "pin-resource" ? std::optional(catalog::ListKind::resources)
           : verb == "pin-template" ? std::optional(catalog::ListKind::templates)
                                    : std::nullopt;
  }

  void pin_item(int line, catalog::ListKind kind, const std::string& definition) {
    const auto document = json::read(definition, {});
    const auto item = document ? catalog::read_item(kind, document->root())
                               : Result<catalog::Item>(fail(Errc::catalog_invalid, "no JSON"));
    if (!item) {
      problem(line, "the pinned definition cannot be read: " + item.error().detail);
      return;
    }
    snapshot_.items(kind).push_back({item->key, item->definition, catalog::item_digest(item->definition)});
  }

  // NAME KIND, or NAME = VALUE for one that is known; NAME @ ITEM KEY POINTER OFFSET LENGTH for a place.
  void variable(int line, const std::vector<std::string_view>& parts) {
    using Kind = policy::Variable::Kind;
    const std::string name(parts[0]);
    if (parts.size() == 7 && parts[1] == "@") {
      snapshot_.variables.push_back({std::string(parts[2]), std::string(parts[3]), std::string(parts[4]),
                                     number(parts[5]), number(parts[6]), name});
    } else if (parts.size() == 3 && parts[1] == "=") {
      config_.policy.catalog.variables[name].kind = Kind::home;
      config_.known_values[name] = parts[2];
    } else if (parts.size() == 2 && (parts[1] == "date" || parts[1] == "path")) {
      config_.policy.catalog.variables[name].kind = parts[1] == "date" ? Kind::date : Kind::path;
    } else {
      problem(line, "unknown variable");
    }
  }

  void item_policy(int line, const std::string& verb, const std::string& what, policy::Action action) {
    policy::Policy& policy = config_.policy;
    if (verb == "uri-rule") {
      policy.resources.rules.push_back({{what}, action, {}});
    } else if (what == "prompts") {
      policy.prompts.standard = action;
    } else if (what == "resources") {
      policy.resources.standard = action;
    } else if (what == "templates") {
      policy.resources.templates = action;
    } else {
      problem(line, "unknown items");
    }
  }

  bool pin(int line, const std::string& rest) {
    const auto parts = text::split(rest, ' ');
    const std::string definition = rest.substr(parts[0].size() + parts[1].size() + 2);
    const auto document = json::read(definition, {});
    if (!document) {
      problem(line, "the pinned definition is no JSON");
      return true;
    }
    catalog::PinnedTool tool;
    tool.name = document->root().find("name").string();
    tool.definition = json::canonical(document->root());
    tool.digest = catalog::tool_digest(tool.definition);
    tool.effect = parts[0];
    tool.effect_source = parts[1] == "reviewer" ? catalog::EffectSource::reviewer : catalog::EffectSource::proposed;
    snapshot_.tools.push_back(std::move(tool));
    return true;
  }

  // GLOB KIND=N …: a rule that only adds limits.
  void limit(int line, const std::vector<std::string_view>& parts) {
    policy::Rule rule;
    rule.tools = {std::string(parts[0])};
    for (const std::string_view part : std::span(parts).subspan(1)) {
      const auto pair = text::split(part, '=');
      const auto value = static_cast<std::uint32_t>(number(pair[1]));
      if (pair[0] == "per_minute") {
        rule.calls_per_minute = value;
      } else if (pair[0] == "in_flight") {
        rule.calls_in_flight = value;
      } else if (pair[0] == "timeout") {
        rule.answer_timeout_seconds = value;
      } else {
        problem(line, "unknown limit");
      }
    }
    config_.policy.tools.rules.push_back(std::move(rule));
  }

  void set_drift(int line, const std::string& rest) {
    const auto parts = text::split(rest, '=');
    const std::string_view value = parts[1];
    const policy::DriftAction action = value == "flag"     ? policy::DriftAction::flag
                                       : value == "block"  ? policy::DriftAction::block
                                       : value == "hide"   ? policy::DriftAction::hide
                                       : value == "pinned" ? policy::DriftAction::pinned
                                                           : policy::DriftAction::allow;
    policy::Drift& drift = config_.policy.catalog.drift;
    if (parts[0] == "added") {
      drift.added = action;
    } else if (parts[0] == "changed") {
      drift.changed = action;
    } else if (parts[0] == "changed-schema") {
      drift.changed_schema = action;
    } else if (parts[0] == "cosmetic") {
      drift.cosmetic = action;
    } else if (parts[0] == "instructions") {
      drift.instructions = action;
    } else if (parts[0] == "identity") {
      drift.identity = action;
    } else if (parts[0] == "capabilities") {
      drift.capabilities = action;
    } else {
      problem(line, "unknown drift");
    }
  }

  static policy::Results::Treatment treatment(std::string_view name) {
    using Treatment = policy::Results::Treatment;
    return name == "off" ? Treatment::off : name == "flag" ? Treatment::flag : Treatment::strip;
  }

  void set(int line, const std::string& rest) {
    const auto parts = text::split(rest, '=');
    const std::size_t value = number(parts[1]);
    if (parts[0] == "max_bytes") {
      config_.policy.messages.max_bytes = value;
    } else if (parts[0] == "max_depth") {
      config_.policy.messages.max_depth = value;
    } else if (parts[0] == "in_flight") {
      config_.policy.messages.in_flight = value;
    } else if (parts[0] == "max_pages") {
      config_.policy.catalog.max_pages = value;
    } else if (parts[0] == "max_tools") {
      config_.policy.catalog.max_tools = value;
    } else if (parts[0] == "read_only") {
      config_.read_only = value != 0;
    } else if (parts[0] == "hidden_text") {
      config_.policy.results.hidden_text = treatment(parts[1]);
    } else if (parts[0] == "terminal_escapes") {
      config_.policy.results.terminal_escapes = treatment(parts[1]);
    } else if (parts[0] == "secrets") {
      config_.policy.results.secrets =
          parts[1] == "redact" ? policy::Results::Secrets::redact : policy::Results::Secrets::flag;
      config_.secrets = {{"TOKEN", "correct horse"}};
    } else if (parts[0] == "output_schema") {
      config_.policy.results.structured = policy::SchemaCheck::enforce;
    } else if (parts[0] == "result_bytes") {
      config_.policy.results.max_bytes = value;
    } else if (parts[0] == "schema") {
      config_.policy.tools.schema = policy::SchemaCheck::enforce;
    } else if (parts[0] == "answer_timeout") {
      config_.policy.messages.answer_timeout_seconds = static_cast<std::uint32_t>(value);
    } else if (parts[0] == "arguments") {
      config_.policy.audit_arguments = policy::AuditArguments::full;
    } else {
      problem(line, "unknown setting");
    }
  }

  gate::Actions feed(Side side, const std::string& bytes) {
    gate::Actions all;
    for (std::size_t i = 0; i < bytes.size(); i += chunk_) {
      gate::Actions some = session_->feed(side, std::string_view(bytes).substr(i, chunk_), now_);
      std::ranges::move(some, std::back_inserter(all));
    }
    return all;
  }

  gate::Actions act(const Step& step) {
    if (step.verb == "C>") {
      return feed(Side::client, step.rest + '\n');
    }
    if (step.verb == "S>") {
      return feed(Side::server, step.rest + '\n');
    }
    if (step.verb == "C>>") {
      return feed(Side::client, step.rest);
    }
    if (step.verb == "S>>") {
      return feed(Side::server, step.rest);
    }
    if (step.verb == "C.") {
      return session_->end(Side::client, now_);
    }
    if (step.verb == "S.") {
      return session_->end(Side::server, now_);
    }
    if (step.verb == "X") {
      return session_->exited({false, static_cast<int>(number(step.rest))}, now_);
    }
    if (step.verb == "T") {
      return session_->terminate(now_);
    }
    if (step.verb == "A") {
      return session_->audit_failed(now_);
    }
    if (step.verb == "~") {
      return advance(static_cast<std::int64_t>(number(step.rest)));
    }
    problem(step.line, "unknown verb " + step.verb);
    return {};
  }

  // Ticks at every deadline on the way, as the loop does.
  gate::Actions advance(std::int64_t ms) {
    const Instant until = now_ + ms;
    gate::Actions all;
    for (auto deadline = session_->next_deadline(); deadline && *deadline <= until;
         deadline = session_->next_deadline()) {
      now_ = std::max(now_, *deadline);
      gate::Actions some = session_->tick(now_);
      std::ranges::move(some, std::back_inserter(all));
    }
    now_ = until;
    return all;
  }

  static std::string shown(const gate::Action& action) {
    const auto line = [](const std::string& text) { return text.substr(0, text.size() - 1); };
    if (const auto* to_server = std::get_if<gate::ToServer>(&action)) {
      return ">S " + line(to_server->line);
    }
    if (const auto* to_client = std::get_if<gate::ToClient>(&action)) {
      return ">C " + line(to_client->line);
    }
    if (const auto* stray = std::get_if<gate::Stray>(&action)) {
      return "stray " + stray->bytes;
    }
    if (std::holds_alternative<gate::CloseServerInput>(action)) {
      return ">close";
    }
    if (const auto* signal = std::get_if<gate::SignalServer>(&action)) {
      return signal->kind == gate::SignalServer::Kind::kill ? ">kill" : ">term";
    }
    if (const auto* stop = std::get_if<gate::Stop>(&action)) {
      return text::cat(">stop ", stop->exit_status);
    }
    return "";
  }

  static bool matches(const std::string& got, const Step& step) {
    const std::string verb = step.verb.ends_with('*') ? step.verb.substr(0, step.verb.size() - 1) : step.verb;
    if (verb == step.verb) {
      return got == verb + " " + step.rest || (step.rest.empty() && got == verb);
    }
    return got.starts_with(verb + " ") && got.find(step.rest) != std::string::npos;
  }

  void compare(const Step& input, const gate::Actions& actions, const std::vector<Step>& expected) {
    std::deque<std::string> got;
    std::string records;
    for (const gate::Action& action : actions) {
      if (const auto* record = std::get_if<gate::Record>(&action)) {
        records += record->body + "\n";
        if (!json::read(record->body, {})) {
          problem(input.line, "a record that is no JSON: " + record->body);
        }
      } else if (const std::string one = shown(action); !one.empty()) {
        got.push_back(one);
      }
    }
    for (const Step& step : expected) {
      if (step.verb == "R") {
        if (records.find(step.rest) == std::string::npos) {
          problem(step.line, "no record with " + step.rest + " among:\n" + records);
        }
      } else if (got.empty()) {
        problem(step.line, "nothing came, expected " + step.verb + " " + step.rest.substr(0, 200));
      } else {
        if (!matches(got.front(), step)) {
          problem(step.line, "got      " + got.front().substr(0, 600) + "\n       expected " + step.verb + " " +
                                 step.rest.substr(0, 600));
        }
        got.pop_front();
      }
    }
    for (const std::string& rest : got) {
      problem(input.line, "not expected: " + rest.substr(0, 600));
    }
  }

  std::string folder_;
  std::size_t chunk_;
  gate::SessionConfig config_;
  catalog::Snapshot snapshot_;
  bool without_snapshot_ = false;
  std::vector<Step> steps_;
  std::vector<std::string> problems_;
  std::optional<gate::Session> session_;
  Instant now_ = {1'000};
};

}  // namespace

std::vector<std::string> run_scenario(std::string_view text, const std::string& include_folder, std::size_t chunk) {
  return Runner(include_folder, chunk).run(text);
}

}  // namespace cordon::test
