// SPDX-License-Identifier: Apache-2.0
// The gate in the middle, the pipes, the time, and the account at the end.
#include "interleaving_world.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::test {

using gate::Side;

namespace {

catalog::PinnedTool pinned(std::string_view definition, std::string_view effect) {
  const auto document = json::read(std::string(definition), {});
  catalog::PinnedTool tool;
  tool.name = document->root().find("name").string();
  tool.definition = json::canonical(document->root());
  tool.effect = effect;
  tool.effect_source = catalog::EffectSource::reviewer;
  return tool;
}

catalog::PinnedItem item(catalog::ListKind kind, std::string_view definition) {
  const auto document = json::read(std::string(definition), {});
  const auto read = catalog::read_item(kind, document->root());
  return {read->key, read->definition, catalog::item_digest(read->definition)};
}

}  // namespace

World::World(std::uint64_t seed) : random_(seed) {
  stateless_ = chance(50);
  forms_ = chance(75);
  tasks_ = chance(70);
  limited_ = chance(25);
  probes_first_ = !stateless_ && chance(20);
  session_.emplace(config());
}

gate::SessionConfig World::config() {
  gate::SessionConfig config;
  config.session_id = "t";
  config.can_approve = true;
  config.roots = {"/data"};
  config.policy.server = "fake";
  config.policy.client_requests.sampling = policy::Action::allow;
  config.policy.tools.effects[policy::Effect::read] = policy::Action::allow;
  config.policy.tools.effects[policy::Effect::write] = policy::Action::confirm;
  config.policy.tools.effects[policy::Effect::destructive] = policy::Action::block;
  config.policy.tools.rules.push_back({.tools = {"slow"}, .answer_timeout_seconds = 5});
  if (limited_) {
    config.policy.tools.rules.push_back({.tools = {"get"}, .calls_in_flight = 3});
  }
  config.can_respawn = probes_first_;
  if (chance(25)) {
    config.policy.messages.in_flight = 6;
  }
  config.snapshot.emplace();
  config.snapshot->server_info = R"({"name":"fake","version":"1"})";
  config.snapshot->capabilities =
      R"({"extensions":{"io.modelcontextprotocol/tasks":{}},"logging":{},"prompts":{},"resources":{},"tasks":{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}},"tools":{"listChanged":true}})";
  config.snapshot->tools = {
      pinned(R"({"name":"drop","inputSchema":{}})", "destructive"),
      pinned(R"({"name":"get","inputSchema":{},"execution":{"taskSupport":"optional"}})", "read"),
      pinned(R"({"name":"put","inputSchema":{},"execution":{"taskSupport":"optional"}})", "write"),
      pinned(R"({"name":"slow","inputSchema":{},"execution":{"taskSupport":"optional"}})", "read")};
  config.snapshot->items(catalog::ListKind::prompts) = {item(catalog::ListKind::prompts, R"({"name":"hello"})")};
  config.snapshot->items(catalog::ListKind::resources) = {
      item(catalog::ListKind::resources, R"({"uri":"demo://1","name":"One"})")};
  return config;
}

void World::problem(std::string text) {
  if (problems_.size() < 20) {
    problems_.push_back(std::move(text));
  }
}

void World::note(std::string_view pipe, std::string_view line) {
  trace_.push_back(text::cat(now_.ms, ' ', pipe, ' ', line));
  if (trace_.size() > 400) {
    trace_.pop_front();
  }
}

std::string World::trace() const {
  std::string out;
  for (const std::string& line : trace_) {
    out += text::cat(line, '\n');
  }
  return out;
}

World::Message World::parsed(const std::string& line) {
  auto message = wire::parse(line, {});
  if (!message) {
    problem(text::cat("a line that is none: ", line));
    return {};
  }
  return std::move(*message);
}

// Some bytes of what is on its way, whatever they cut through.
void World::deliver(Side from, bool all) {
  std::string& bytes = from == Side::client ? from_client_ : from_server_;
  const std::size_t count = all || bytes.empty() ? bytes.size() : 1 + pick(std::min<std::size_t>(bytes.size(), 900));
  if (count == 0 || stopped_) {
    return;
  }
  if (from == Side::server && server_ == Server::starting) {
    return;  // nothing of it is read before it is known to run
  }
  const std::string chunk = bytes.substr(0, count);
  bytes.erase(0, count);
  take(session_->feed(from, chunk, now_));
}

void World::take(const gate::Actions& actions) {
  std::size_t records = 0;
  for (const gate::Action& action : actions) {
    if (std::holds_alternative<gate::Record>(action)) {
      ++records;
    } else if (const auto* line = std::get_if<gate::ToClient>(&action)) {
      note("gate > client", line->line.substr(0, line->line.size() - 1));
      to_client_.push_back(line->line.substr(0, line->line.size() - 1));
    } else if (const auto* forward = std::get_if<gate::ToServer>(&action)) {
      note("gate > server", forward->line.substr(0, forward->line.size() - 1));
      to_server_.push_back(forward->line.substr(0, forward->line.size() - 1));
      if (forward->line.find("\"tools/call\"") != std::string::npos) {
        if (records == 0) {
          problem(text::cat("a call that no record precedes: ", forward->line));
        }
        records = 0;
      }
    } else if (const auto* publish = std::get_if<gate::Publish>(&action)) {
      published_.clear();
      for (const std::string_view one : text::split(publish->lines, '\n')) {
        if (!one.empty()) {
          published_.emplace_back(one);
        }
      }
    } else if (std::holds_alternative<gate::Respawn>(action)) {
      note("gate         ", "starts the second server");
      to_server_.clear();  // was for the first one
      server_ = Server::starting;
    } else if (std::holds_alternative<gate::Stop>(action)) {
      stopped_ = true;
    }
  }
}

// Ticks at every deadline on the way, as the loop does.
void World::advance(std::int64_t ms) {
  const Instant until = now_ + ms;
  for (int ticks = 0; !stopped_; ++ticks) {
    const auto deadline = session_->next_deadline();
    if (!deadline || *deadline > until) {
      break;
    }
    if (ticks > 10'000) {
      problem("a deadline that does not pass");
      break;
    }
    now_ = std::max(now_, *deadline);
    take(session_->tick(now_));
  }
  now_ = until;
}

// A person on another terminal.
void World::decide(bool all) {
  while (!published_.empty() && !stopped_) {
    const std::string line = published_[pick(published_.size())];
    const auto document = json::read(line, {});
    const std::string text = document->root().find("text").string();
    const std::size_t at = text.find("\"tag\": ");
    const std::size_t tag = at == std::string::npos ? 0 : std::stoul(text.substr(at + 7));
    const bool yes = chance(80);
    const std::string digest = chance(90) ? hex(sha256(line)) : std::string("0");
    for (Request& request : requests_) {
      if (request.tag == tag && yes && digest != "0") {
        request.allowed = true;
      }
    }
    saw(yes ? "approved elsewhere" : "refused elsewhere");
    take(session_->approval(text::cat(yes ? "allow " : "refuse ", document->root().find("id").string(), ' ', digest),
                            now_));
    if (!all) {
      return;
    }
  }
}

void World::step() {
  const std::size_t what = pick(100);
  if (what < 18) {
    deliver(Side::client, false);
  } else if (what < 36) {
    deliver(Side::server, false);
  } else if (what < 48 && !to_client_.empty()) {
    const std::string line = std::exchange(to_client_.front(), {});
    to_client_.pop_front();
    client_hears(parsed(line));
  } else if (server_is_on_its_way() && what < 60) {
    server_comes_and_goes();
  } else if (what < 60 && !to_server_.empty()) {
    const std::string line = std::exchange(to_server_.front(), {});
    to_server_.pop_front();
    server_hears(parsed(line), line);
  } else if (what < 70) {
    client_asks();
  } else if (what < 73) {
    client_cancels();
  } else if (what < 80) {
    client_answers();
  } else if (what < 96) {
    if (server_is_there()) {
      server_acts();
    }
  } else if (what < 97) {
    decide(false);
  } else {
    advance(static_cast<std::int64_t>(pick(1'500)));
  }
}

// All that is on its way arrives, and whoever owes an answer gives it.
void World::drain() {
  draining_ = true;
  for (int round = 0; round < 400 && !stopped_; ++round) {
    settle();
    deliver(Side::client, true);
    deliver(Side::server, true);
    while (!to_client_.empty()) {
      const std::string line = std::exchange(to_client_.front(), {});
      to_client_.pop_front();
      client_hears(parsed(line));
    }
    while (!to_server_.empty() && server_is_there()) {
      const std::string line = std::exchange(to_server_.front(), {});
      to_server_.pop_front();
      server_hears(parsed(line), line);
    }
    for (std::size_t i = asked_.size(); i > 0; --i) {
      client_answers();
    }
    decide(true);
    for (std::size_t i = todo_.size(); i > 0; --i) {
      server_answers(pick(todo_.size()));
    }
    const bool quiet = from_client_.empty() && from_server_.empty() && to_client_.empty() && to_server_.empty();
    if (quiet && open_.empty() && open_questions_.empty()) {
      break;
    }
    advance(quiet ? 1'000 : 0);
  }
}

// Whoever is about to end or to start does so.
void World::settle() {
  while (server_is_on_its_way() && !stopped_) {
    server_comes_and_goes();
  }
}

// Three ends: everybody is done; the server dies; the client leaves.
void World::finish() {
  const std::size_t end = pick(4);
  settle();
  if (stopped_) {
    saw("the server is gone");
  } else if (server_ == Server::gone) {
    drain();
  } else if (end == 0) {
    saw("the server dies");
    deliver(Side::client, true);
    if (chance(50)) {
      take(session_->end(Side::server, now_));
    }
    take(session_->exited({false, 1}, now_));
  } else if (end == 1) {
    saw("the client leaves");
    deliver(Side::client, true);
    take(session_->end(Side::client, now_));
    left_ = true;
    advance(5'000);
    take(session_->exited({false, 0}, now_));
  } else {
    drain();
  }
  while (!to_client_.empty()) {
    const std::string line = std::exchange(to_client_.front(), {});
    to_client_.pop_front();
    client_hears(parsed(line));
  }
  if (!session_->feed(Side::client, "{}\n", now_).empty() && stopped_) {
    problem("something comes after the end");
  }
  check();
}

void World::run() {
  open();
  for (int i = 0; i < 400 && !stopped_; ++i) {
    step();
  }
  if (stopped_ && !may_stop_) {
    problem("the session stopped by itself");
  }
  finish();
}

void World::check_request(const Request& request) {
  const std::string which = text::cat(request.method, ' ', request.id, " (n ", request.n, ')');
  if (request.replies > 1) {
    problem(text::cat(which, " was answered ", request.replies, " times"));
  }
  if (request.replies == 0 && !request.cancelled && request.n < lost_from_) {
    problem(text::cat(which, " was not answered"));
  }
  if (request.forwarded > request.may_be_forwarded) {
    problem(text::cat(which, " reached the server ", request.forwarded, " times"));
  }
  if (request.cancels_heard > 1) {
    problem(text::cat(which, " was cancelled twice at the server"));
  }
  if (request.forwarded > 0 && (request.tool == "drop" || request.tool == "nosuch")) {
    problem(text::cat(which, " is not allowed and was run"));
  }
  if (request.forwarded > 0 && request.tool == "put" && !request.allowed) {
    problem(text::cat(which, " was run, and nobody allowed it"));
  }
}

void World::check() {
  if (may_stop_ && stopped_) {
    // It stopped at a line of the client; what the client said behind that was not read.
    lost_from_ = 0;
    for (const Request& request : requests_) {
      lost_from_ = request.replies > 0 ? request.n + 1 : lost_from_;
    }
  }
  check_jobs();
  for (const Request& request : requests_) {
    check_request(request);
  }
  for (const Question& question : questions_) {
    if (question.answers > 1) {
      problem(text::cat("the question ", question.id, " was answered ", question.answers, " times"));
    }
  }
  if (draining_) {
    for (const auto& [id, at] : open_questions_) {
      problem(text::cat("the question ", id, " was not answered"));
    }
    if (said_ != heard_) {
      problem("log messages were lost or reordered");
    }
  } else if (heard_.size() > said_.size() || !std::equal(heard_.begin(), heard_.end(), said_.begin())) {
    problem("log messages were lost or reordered");
  }
}

}  // namespace cordon::test
