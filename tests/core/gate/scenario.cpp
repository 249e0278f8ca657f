// SPDX-License-Identifier: Apache-2.0
#include "core/gate/scenario.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/gate/scenario_setup.hpp"
#include "core/gate/scenario_text.hpp"
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

bool is_expectation(const std::string& verb) {
  return verb.starts_with('>') || verb == "R" || verb == "P" || verb == "stray";
}

class Runner : ScenarioSetup {
 public:
  Runner(std::string folder, std::size_t chunk) : folder_(std::move(folder)), chunk_(chunk) {}

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
      return feed(Side::client, with_states(step.rest) + '\n');
    }
    if (step.verb == "D") {
      return decide(step);
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
    if (step.verb == "XL") {
      return session_->exited({.code = static_cast<int>(number(step.rest)), .limited = true}, now_);
    }
    if (step.verb == "B") {
      return session_->respawned(step.rest == "ok" ? Status() : fail(Errc::launch_failed, step.rest), now_);
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

  // {{state N}}: the Nth requestState that the client was given, from 1; {{state}}: the latest.
  std::string with_states(std::string line) const {
    for (std::size_t at = line.find("{{state"); at != std::string::npos; at = line.find("{{state")) {
      const std::size_t end = line.find("}}", at);
      const std::size_t which = number(std::string_view(line).substr(at + 8, end - at - 8));
      const std::size_t index = which == 0 ? states_.size() : which;
      line.replace(at, end + 2 - at, index >= 1 && index <= states_.size() ? states_[index - 1] : "none");
    }
    return line;
  }

  // D WORD N [DIGEST]: a person decides about the Nth of the calls that wait, on another terminal.
  gate::Actions decide(const Step& step) {
    const auto words = text::split(step.rest, ' ');
    const auto lines = text::split(published_, '\n');
    const std::size_t index = number(words[1]);
    if (index < 1 || index >= lines.size()) {
      problem(step.line, "no such call waits");
      return {};
    }
    const std::string_view line = lines[index - 1];
    const auto document = json::read(std::string(line), {});
    const std::string id = document->root().find("id").string();
    return session_->approval(
        text::cat(words[0], ' ', id, ' ', words.size() > 2 ? std::string(words[2]) : hex(sha256(line))), now_);
  }

  // What later inputs refer to.
  void note(const gate::Action& action) {
    if (const auto* publish = std::get_if<gate::Publish>(&action)) {
      published_ = publish->lines;
    } else if (const auto* line = std::get_if<gate::ToClient>(&action)) {
      if (const auto document = json::read(line->line, {})) {
        const json::Value state = document->root().find("result").find("requestState");
        if (state) {
          states_.push_back(state.string());
        }
      }
    }
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
    std::string published;
    for (const gate::Action& action : actions) {
      note(action);
      if (const auto* publish = std::get_if<gate::Publish>(&action)) {
        published += publish->lines.empty() ? "none\n" : publish->lines;
      }
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
      } else if (step.verb == "P") {
        if (published.find(step.rest) == std::string::npos) {
          problem(step.line, "nothing published with " + step.rest + " among:\n" + published);
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
  std::vector<Step> steps_;
  std::optional<gate::Session> session_;
  std::vector<std::string> states_;
  std::string published_;
  Instant now_ = {1'000};
};

}  // namespace

std::vector<std::string> run_scenario(std::string_view text, const std::string& include_folder, std::size_t chunk) {
  return Runner(include_folder, chunk).run(text);
}

}  // namespace cordon::test
