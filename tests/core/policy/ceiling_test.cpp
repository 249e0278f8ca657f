// SPDX-License-Identifier: Apache-2.0
#include "core/policy/ceiling.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"

using namespace cordon;
using namespace cordon::policy;

namespace {

struct Fixture {
  Policy policy = {};
  Places places = {{"", {1, 1}}};
  Ceiling ceiling = {};

  Limit& limit(const std::string& key) {
    Limit& out = ceiling.limits[key];
    out.position = {7, 3};
    return out;
  }
  void items(const std::string& key, const std::vector<std::string>& texts) {
    Limit& out = limit(key);
    out.items.clear();
    for (const std::string& text : texts) {
      out.items.push_back({text, {}});
    }
  }
  // Keys of all excesses, each once, in order.
  std::string keys() const {
    std::string out;
    std::string last;
    for (const Excess& excess : compare(policy, places, ceiling)) {
      if (excess.key != last) {
        out += (out.empty() ? "" : " ") + excess.key;
      }
      last = excess.key;
    }
    return out;
  }
  bool fits() const { return keys().empty(); }
};

}  // namespace

TEST_CASE("an empty ceiling limits nothing") {
  Fixture f;
  f.policy.isolation.write = {{"/", {}, {}, {}}};
  f.policy.isolation.backend = Backend::none;
  CHECK(f.fits());
}

TEST_CASE("words: as strict or stricter fits, weaker does not, and both lines are named") {
  Fixture f;
  f.limit("catalog.missing").word = "block";
  CHECK(f.fits());
  f.policy.catalog.missing = Missing::flag;
  f.places["catalog.missing"] = {12, 5};
  const std::vector<Excess> found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 1);
  CHECK(found[0] == Excess{"catalog.missing", "flag is asked for", "accepts no more than block", {12, 5}, {7, 3}});
  f.limit("catalog.missing").word = "flag";
  CHECK(f.fits());
}

TEST_CASE("drift is as permissive as the weaker of its two words") {
  Fixture f;
  f.limit("catalog.drift.changed").word = "block";
  f.policy.catalog.drift.changed_schema = DriftAction::block;
  CHECK(f.fits());
  f.policy.catalog.drift.changed_schema = DriftAction::flag;
  CHECK(f.keys() == "catalog.drift.changed");
  f.policy.catalog.drift.changed_schema = DriftAction::block;
  f.policy.catalog.drift.changed = DriftAction::pinned;
  CHECK(f.keys() == "catalog.drift.changed");
}

TEST_CASE("packages: code that runs while they are installed, and versions that stay open") {
  Fixture f;
  f.items("launch.source.scripts", {});
  f.limit("launch.source.allow_unpinned").word = "false";
  CHECK(f.fits());
  f.policy.launch.source.emplace();
  CHECK(f.fits());
  f.policy.launch.source->scripts = Source::Scripts::allow;
  f.policy.launch.source->script_packages = {"@a/native", "sqlite3"};
  CHECK(f.keys() == "launch.source.scripts");
  CHECK(compare(f.policy, f.places, f.ceiling).size() == 2);
  f.items("launch.source.scripts", {"@a/*"});
  f.places["launch.source.scripts.allow[1]"] = {5, 9};
  const std::vector<Excess> found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 1);
  CHECK(found[0].asked_at == Position{5, 9});
  f.items("launch.source.scripts", {"@a/*", "sqlite3"});
  CHECK(f.fits());
  f.policy.launch.source->allow_unpinned = true;
  CHECK(f.keys() == "launch.source.allow_unpinned");
  f.limit("launch.source.allow_unpinned").word = "true";
  CHECK(f.fits());
}

TEST_CASE("user namespaces of the server's own count, written or implied by the preset browser") {
  Fixture f;
  f.limit("isolation.nested_userns").word = "false";
  CHECK(f.fits());
  f.policy.isolation.nested_userns = true;
  CHECK(f.keys() == "isolation.nested_userns");
  f.policy.isolation.nested_userns = false;
  f.policy.isolation.runtime = {"node", "browser"};
  CHECK(f.keys() == "isolation.nested_userns");
  f.limit("isolation.nested_userns").word = "true";
  CHECK(f.fits());
}

TEST_CASE("a default counts like what is written, and its section stands for it") {
  Fixture f;
  f.limit("tools.effects.read").word = "confirm";
  f.places["tools"] = {9, 1};
  const std::vector<Excess> found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 1);
  CHECK(found[0].asked == "allow is asked for by default");
  CHECK(found[0].asked_at == Position{9, 1});
}

TEST_CASE("the order of strictness of every word") {
  // For each key the words from the most permissive to the strictest, as they must never be reordered by accident.
  const std::map<std::string, std::string> expected = {{"launch.command_from_client", "true false"},
                                                       {"launch.environment.from_command", "true false"},
                                                       {"launch.source.allow_unpinned", "true false"},
                                                       {"isolation.proc", "masked minimal"},
                                                       {"isolation.nested_userns", "true false"},
                                                       {"isolation.syscalls", "off default strict"},
                                                       {"catalog.missing", "flag trust-first-use block"},
                                                       {"catalog.accept_unattended", "true false"},
                                                       {"catalog.drift.added", "flag hide"},
                                                       {"catalog.drift.changed", "flag pinned block hide"},
                                                       {"catalog.drift.removed", "allow flag"},
                                                       {"catalog.drift.cosmetic", "allow block"},
                                                       {"catalog.drift.instructions", "flag pinned block"},
                                                       {"catalog.drift.identity", "flag pinned block"},
                                                       {"catalog.drift.capabilities", "hide block"},
                                                       {"catalog.drift.launch", "flag block"},
                                                       {"tools.annotations", "server reviewed"},
                                                       {"tools.schema", "off enforce"},
                                                       {"tools.confirm.remember", "session same_arguments never"},
                                                       {"results.hidden_text", "off flag strip"},
                                                       {"results.terminal_escapes", "off flag strip"},
                                                       {"results.secrets", "off flag redact"},
                                                       {"results.schema", "off enforce"},
                                                       {"tools.effects.read", "allow flag confirm block hide"},
                                                       {"tools.effects.write", "allow flag confirm block hide"},
                                                       {"tools.effects.destructive", "allow flag confirm block hide"},
                                                       {"tools.effects.execute", "allow flag confirm block hide"},
                                                       {"tools.effects.send", "allow flag confirm block hide"},
                                                       {"tools.effects.unknown", "allow flag confirm block hide"},
                                                       {"prompts.default", "allow flag block hide"},
                                                       {"resources.default", "allow flag block hide"},
                                                       {"resources.templates", "allow flag block hide"},
                                                       {"client_requests.sampling", "allow flag block"},
                                                       {"client_requests.elicitation", "allow flag block"},
                                                       {"client_requests.roots", "allow flag policy block"},
                                                       {"audit.arguments", "none digest full"}};
  std::map<std::string, std::string> found;
  for (const CeilingKey& key : ceiling_keys()) {
    if (key.kind == LimitKind::word || key.kind == LimitKind::flag) {
      found.emplace(key.path(), std::string(key.words));
    }
  }
  CHECK(found == expected);
}

TEST_CASE("every key of the table has what its kind needs, and its default is one of its words") {
  std::set<std::string> seen;
  for (const CeilingKey& key : ceiling_keys()) {
    CAPTURE(key.path());
    CHECK(seen.insert(key.path()).second);
    const bool word = key.kind == LimitKind::word || key.kind == LimitKind::flag;
    const bool number = key.kind == LimitKind::size || key.kind == LimitKind::count;
    CHECK((key.word != nullptr) == word);
    CHECK((key.number != nullptr) == number);
    CHECK((word || number || key.kind == LimitKind::network || key.list != nullptr));
    if (word) {
      const auto words = text::split(key.words, ' ');
      REQUIRE(key.standard.has_value());
      CHECK(std::ranges::find(words, *key.standard) != words.end());
      // What a policy says by default is a word that the table knows.
      CHECK(std::ranges::find(words, key.word(Policy{})) != words.end());
    }
  }
}

TEST_CASE("a policy of defaults stays below a ceiling of defaults") {
  Fixture f;
  for (const CeilingKey& key : ceiling_keys()) {
    if (!key.standard) {
      continue;
    }
    Limit& limit = f.limit(key.path());
    limit.word = *key.standard;
    for (const std::string_view word : text::split(*key.standard, ' ')) {
      limit.items.push_back({std::string(word), {}});
    }
  }
  CHECK(f.keys() == "");
}

TEST_CASE("hosts that a person may be sent to: no list asks for every host") {
  Fixture f;
  f.items("client_requests.elicitation_hosts", {"login.example.org", "*.example.com"});
  REQUIRE(compare(f.policy, f.places, f.ceiling).size() == 1);
  CHECK(compare(f.policy, f.places, f.ceiling)[0].asked == "every host is asked for by default");
  const auto fits = [&](const std::vector<std::string>& hosts) {
    f.policy.client_requests.elicitation_hosts = hosts;
    return f.fits();
  };
  CHECK(fits({"login.example.org"}));
  CHECK(fits({"a.example.com", "*.b.example.com", "*.example.com"}));
  CHECK_FALSE(fits({"example.com"}));
  CHECK_FALSE(fits({"login.example.org", "*.example.org"}));
  CHECK_FALSE(fits({"*.com"}));
  // Where no address passes, none is asked for.
  f.policy.client_requests.elicitation = Action::block;
  CHECK(fits({}));
}

TEST_CASE("treatment of text, schemas, hints and memory: weaker than the ceiling is refused") {
  Fixture f;
  f.limit("tools.annotations").word = "reviewed";
  f.limit("tools.schema").word = "enforce";
  f.limit("tools.confirm.remember").word = "same_arguments";
  f.limit("results.hidden_text").word = "flag";
  f.limit("results.terminal_escapes").word = "strip";
  f.limit("results.secrets").word = "flag";
  f.limit("results.schema").word = "enforce";
  CHECK(f.keys() == "tools.schema results.secrets results.schema");
  f.policy.tools.schema = SchemaCheck::enforce;
  f.policy.results = {.secrets = Results::Secrets::redact, .structured = SchemaCheck::enforce};
  f.policy.tools.confirm.remember = Confirm::Remember::same_arguments;
  CHECK(f.fits());
  f.policy.tools.annotations = Annotations::server;
  f.policy.tools.confirm.remember = Confirm::Remember::session;
  f.policy.results.hidden_text = Results::Treatment::off;
  f.policy.results.terminal_escapes = Results::Treatment::flag;
  CHECK(f.keys() == "tools.annotations tools.confirm.remember results.hidden_text results.terminal_escapes");
}

TEST_CASE("questions of the server: the policy's own words count") {
  using Roots = ClientRequests::Roots;
  Fixture f;
  f.limit("client_requests.sampling").word = "flag";
  f.limit("client_requests.elicitation").word = "block";
  f.limit("client_requests.roots").word = "policy";
  CHECK(f.keys() == "client_requests.elicitation");
  f.policy.client_requests = {.sampling = Action::allow, .elicitation = Action::block, .roots = Roots::flag};
  CHECK(f.keys().find("client_requests.sampling") != std::string::npos);
  CHECK(f.keys().find("client_requests.roots") != std::string::npos);
  CHECK(f.keys().find("client_requests.elicitation") == std::string::npos);
  f.policy.client_requests = {.sampling = Action::flag, .elicitation = Action::block, .roots = Roots::block};
  CHECK(f.keys() == "");
}

TEST_CASE("numbers: at most, and one that is not written is no limit") {
  Fixture f;
  f.limit("isolation.limits.memory").number = 1000;
  CHECK(f.keys() == "isolation.limits.memory");
  f.policy.isolation.limits.memory_bytes = 1001;
  CHECK(f.keys() == "isolation.limits.memory");
  f.policy.isolation.limits.memory_bytes = 1000;
  CHECK(f.fits());
  f.limit("isolation.limits.cpu_seconds").number = 5;
  CHECK(f.keys() == "isolation.limits.cpu_seconds");
}

TEST_CASE("names of the environment match by globs, each by itself") {
  Fixture f;
  f.policy.launch.pass = {"LANG", "LC_ALL", "AWS_SECRET"};
  f.policy.launch.set = {{"NODE_ENV", "x"}};
  f.items("launch.environment.pass", {"LANG", "LC_*"});
  f.items("launch.environment.set", {});
  f.places["launch.environment.pass[2]"] = {5, 30};
  const std::vector<Excess> found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 2);
  CHECK(found[0].asked == "'AWS_SECRET' is asked for");
  CHECK(found[0].most == "accepts no more than LANG, LC_*");
  CHECK(found[0].asked_at == Position{5, 30});
  CHECK(found[1].most == "accepts no more than nothing");
}

TEST_CASE("secrets are limited by where they come from") {
  Fixture f;
  f.policy.launch.secrets["A"] = {Secret::Source::env, "GITHUB_TOKEN", {}};
  f.policy.launch.secrets["B"] = {Secret::Source::file, "/keys/b", {}};
  f.items("launch.environment.from_env", {"GITHUB_*"});
  f.items("launch.environment.from_file", {"/keys"});
  f.limit("launch.environment.from_command").word = "false";
  CHECK(f.fits());
  f.policy.launch.secrets["A"].from = "AWS_SECRET";
  f.policy.launch.secrets["B"].from = "/keyring/b";
  f.policy.launch.secrets["C"] = {Secret::Source::command, "", {"pass", "show"}};
  CHECK(f.keys() == "launch.environment.from_env launch.environment.from_file launch.environment.from_command");
}

TEST_CASE("auto asks for both of its backends; a preset none asks for nothing") {
  Fixture f;
  f.items("isolation.backend", {"native"});
  CHECK(f.keys() == "isolation.backend");
  f.policy.isolation.backend = Backend::native;
  CHECK(f.fits());
  f.items("isolation.filesystem.runtime", {"node"});
  CHECK(f.keys() == "isolation.filesystem.runtime");
  f.policy.isolation.runtime = {"none"};
  CHECK(f.fits());
}

TEST_CASE("what must be demanded is missed one by one") {
  Fixture f;
  f.items("isolation.require", {"network", "limits"});
  CHECK(f.keys() == "isolation.require");
  f.policy.isolation.require = {"limits", "network"};
  CHECK(f.fits());
  f.policy.isolation.require = {};
  CHECK(compare(f.policy, f.places, f.ceiling).size() == 2);
}

TEST_CASE("grants: write implies read, and a denial makes a grant no smaller") {
  Fixture f;
  f.items("isolation.filesystem.read", {"/srv/docs"});
  f.items("isolation.filesystem.write", {"/srv/out"});
  f.policy.isolation.read = {{"/srv/docs/a", {}, {}, {}}, {"/srv/out", {}, {}, {}}};
  f.policy.isolation.write = {{"/srv/out/b", {}, {}, {}}};
  CHECK(f.fits());
  f.policy.isolation.write = {{"/srv/docs", {}, {}, {}}};
  CHECK(f.keys() == "isolation.filesystem.write");
  f.policy.isolation.write = {};
  f.policy.isolation.read = {{"/srv", {}, {}, {}}};
  f.policy.isolation.deny = {{"/srv/private", {}, {}, {}}};
  CHECK(f.keys() == "isolation.filesystem.read");
}

TEST_CASE("each listed socket is accepted by an entry, and none by none") {
  Fixture f;
  f.items("isolation.unix_sockets", {});
  CHECK(f.fits());
  f.policy.isolation.unix_sockets = {{"/run/x/s", {}, {}, {}}};
  CHECK(f.keys() == "isolation.unix_sockets");
  f.items("isolation.unix_sockets", {"/run/x/*"});
  CHECK(f.fits());
  f.policy.isolation.unix_sockets.push_back({"/run/y", {}, {}, {}});
  CHECK(f.keys() == "isolation.unix_sockets");
}

TEST_CASE("a policy has to ask for signatures, and only of keys that are accepted") {
  Fixture f;
  f.limit("catalog.trusted_keys").items = {{"ssh-ed25519 AAAA", {}}, {"ssh-ed25519 BBBB", {}}};
  std::vector<Excess> found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 1);
  CHECK(found[0].asked == "no signature is asked for by default");
  CHECK(found[0].most == "demands keys among ssh-ed25519 AAAA, ssh-ed25519 BBBB");
  f.policy.catalog.trusted_keys = {"ssh-ed25519 BBBB"};
  CHECK(compare(f.policy, f.places, f.ceiling).empty());
  f.policy.catalog.trusted_keys = {"ssh-ed25519 BBBB", "ssh-ed25519 CCCC"};
  found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 1);
  CHECK(found[0].asked.starts_with("'ssh-ed25519 CCCC' is asked for"));
}

TEST_CASE("prompts and resources are no less strict, nor is a rule for resources") {
  Fixture f;
  f.limit("prompts.default").word = "block";
  f.limit("resources.default").word = "allow";
  f.limit("resources.templates").word = "block";
  f.policy.resources.rules = {{.uris = {"a://*"}, .action = Action::hide}, {.uris = {"b://*"}, .action = Action::flag}};
  std::vector<Excess> found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 2);
  CHECK(found[0].key == "prompts.default");
  CHECK(found[1].key == "resources.rules[1].action");
  CHECK(found[1].asked == "flag is asked for, for resources, listed or not");
  f.policy.prompts.standard = Action::hide;
  f.policy.resources.templates = Action::allow;
  f.policy.resources.rules.clear();
  found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 1);
  CHECK(found[0].key == "resources.templates");
}

TEST_CASE("a rule is held to the strictest class, since it may meet a tool of any") {
  Fixture f;
  f.policy.tools.rules = {{.tools = {"a"}, .action = Action::confirm},
                          {.tools = {"b"}, .action = Action::hide},
                          {.tools = {"c"}, .action = Action::allow}};
  f.limit("tools.effects.read").word = "allow";
  CHECK(f.fits());
  f.limit("tools.effects.destructive").word = "block";
  f.places["tools.rules[2].action"] = {20, 9};
  const std::vector<Excess> found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 2);
  CHECK(found[0].key == "tools.rules[0].action");
  CHECK(found[1].asked_at == Position{20, 9});
  CHECK(found[1].most == "accepts no more than block for one of them");
}

TEST_CASE("excesses are bounded") {
  Fixture f;
  f.items("launch.environment.pass", {});
  for (int i = 0; i < 1000; ++i) {
    f.policy.launch.pass.push_back("N" + std::to_string(i));
  }
  CHECK(compare(f.policy, f.places, f.ceiling).size() == kMaxExcesses);
}

TEST_CASE("hosts are admitted by an entry each; how they are looked at must not be weaker") {
  Fixture f;
  Limit& limit = f.limit("isolation.network");
  f.policy.isolation.network.sni = SniCheck::off;
  CHECK(f.fits());  // without a host it means nothing
  f.policy.isolation.network.sni = SniCheck::match;
  f.policy.isolation.network.allow = {{"api.example.org", {443}, false}};
  f.places["isolation.network.allow[0]"] = {8, 9};
  auto found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 1);
  CHECK(found[0] ==
        Excess{"isolation.network", "'api.example.org:443' is asked for", "accepts no more than none", {8, 9}, {7, 3}});
  limit.network.allow = {{"*.example.org", {80, 443}, false}};
  CHECK(f.fits());
  f.policy.isolation.network.allow[0].private_addresses = true;
  CHECK_FALSE(f.fits());
  limit.network.allow[0].private_addresses = true;
  CHECK(f.fits());
  f.policy.isolation.network.sni = SniCheck::flag;
  found = compare(f.policy, f.places, f.ceiling);
  REQUIRE(found.size() == 1);
  CHECK(found[0].asked == "sni: flag is asked for by default");
  CHECK(found[0].most == "accepts no less than sni: match");
  limit.network.sni = SniCheck::off;
  CHECK(f.fits());
  f.policy.isolation.network.mode = NetworkMode::proxy;
  CHECK_FALSE(f.fits());
  limit.network.mode = NetworkMode::proxy;
  CHECK(f.fits());
}
