// SPDX-License-Identifier: Apache-2.0
#include "formats/ceiling_yaml.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "base/text.hpp"
#include "formats/policy_yaml.hpp"

using namespace cordon;
using formats::check_ceiling;
using formats::policy_places;
using formats::read_ceiling;
using policy::Ceiling;
using policy::Limit;
using policy::Position;

namespace {

std::string data(const std::string& name) {
  std::ifstream file(std::string(CORDON_TEST_DATA) + "/" + name, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

Ceiling accept(const std::string& text) {
  Result<Ceiling> out = read_ceiling(text, "c");
  REQUIRE_MESSAGE(out.has_value(), out.error().to_string());
  return *out;
}

std::string items(const Ceiling& ceiling, const std::string& key) {
  std::string out;
  for (const Limit::Item& item : ceiling.limits.at(key).items) {
    out += (out.empty() ? "" : " ") + item.text;
  }
  return out;
}

std::string places_of_faults(const std::string& text) {
  std::string out;
  for (const Error& error : check_ceiling(text, "c")) {
    CHECK(error.code == Errc::policy_invalid);
    CHECK_FALSE(error.remedy.empty());
    out += (out.empty() ? "" : "\n") + error.where.substr(2) + ": " + error.detail;
  }
  return out;
}

}  // namespace

TEST_CASE("sockets are none or a list, and none is an empty list") {
  CHECK(items(accept("version: 1\nisolation: {unix_sockets: none}\n"), "isolation.unix_sockets").empty());
  CHECK(items(accept("version: 1\nisolation: {}\n"), "isolation.unix_sockets").empty());
  CHECK(items(accept("version: 1\nisolation: {unix_sockets: [/run/x/*]}\n"), "isolation.unix_sockets") == "/run/x/*");
}

TEST_CASE("the sample ceiling is read, key by key") {
  const Ceiling ceiling = accept(data("ceiling.yaml"));
  CHECK(ceiling.file == "c");
  CHECK(items(ceiling, "launch.environment.pass") == "LANG LC_* TZ");
  CHECK(items(ceiling, "isolation.filesystem.read") == "/srv/docs /srv/*/public ~/projects");
  CHECK(items(ceiling, "isolation.backend") == "native bubblewrap");
  CHECK(ceiling.limits.at("isolation.limits.memory").number == 2147483648);
  CHECK(ceiling.limits.at("catalog.drift.changed").word == "pinned");
  CHECK(ceiling.limits.at("isolation.syscalls").position == Position{17, 3});
}

TEST_CASE("a section that is absent limits nothing; in one that is there, what is not written is the default") {
  CHECK(accept("version: 1\n").limits.empty());
  const Ceiling ceiling = accept("version: 1\ntools:\n  effects: {destructive: hide}\nisolation:\n  limits: {}\n");
  CHECK(ceiling.limits.at("tools.effects.destructive").word == "hide");
  CHECK(ceiling.limits.at("tools.effects.write").word == "confirm");
  CHECK_FALSE(ceiling.limits.at("tools.effects.write").written);
  CHECK(ceiling.limits.at("tools.effects.write").position == Position{3, 3});
  CHECK(items(ceiling, "isolation.backend") == "native bubblewrap");
  CHECK(items(ceiling, "isolation.require") ==
        "filesystem network processes ipc syscalls environment descriptors devices");
  CHECK(ceiling.limits.at("isolation.network").network == policy::Network());
  // A section below another is one of its own.
  CHECK_FALSE(ceiling.limits.contains("isolation.filesystem.read"));
  CHECK_FALSE(ceiling.limits.contains("isolation.limits.memory"));
  const Ceiling files = accept("version: 1\nisolation: {filesystem: {read: [/srv]}}\n");
  CHECK(files.limits.at("isolation.filesystem.write").items.empty());
  // Presets show nothing that a policy chooses.
  CHECK_FALSE(files.limits.contains("isolation.filesystem.runtime"));
}

TEST_CASE("what a source may ask for") {
  const Ceiling ceiling = accept("version: 1\nlaunch: {source: {scripts: [\"@a/*\", sqlite3]}}\n");
  CHECK(items(ceiling, "launch.source.scripts") == "@a/* sqlite3");
  CHECK(ceiling.limits.at("launch.source.allow_unpinned").word == "false");
  CHECK_FALSE(accept("version: 1\nlaunch: {}\n").limits.contains("launch.source.scripts"));
  CHECK(check_ceiling("version: 1\nlaunch: {source: {npm: [x]}}\n", "c").size() == 1);
}

TEST_CASE("keys that may sign are read like those of a policy, and none at all is a fault") {
  const std::string key(40, 'A');
  const auto of = [&](std::string_view keys) {
    return text::cat("version: 1\ncatalog: {trusted_keys: [", keys, "]}\n");
  };
  CHECK(items(accept(of("\"ssh-ed25519 " + key + " somebody\"")), "catalog.trusted_keys") == "ssh-ed25519 " + key);
  CHECK_FALSE(accept("version: 1\ncatalog: {}\n").limits.contains("catalog.trusted_keys"));
  const std::vector<Error> faults = check_ceiling(of(""), "c");
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].detail.starts_with("catalog.trusted_keys is empty"));
}

TEST_CASE("hosts of a ceiling are those of a policy, and may stand for all below a suffix") {
  const auto of = [](std::string_view hosts) {
    return text::cat("version: 1\nclient_requests: {elicitation_hosts: [", hosts, "]}\n");
  };
  CHECK(items(accept(of("Login.Example.org, \"*.example.com\", \"*.com\"")), "client_requests.elicitation_hosts") ==
        "login.example.org *.example.com *.com");
  CHECK(items(accept(of("")), "client_requests.elicitation_hosts").empty());
  CHECK_FALSE(accept("version: 1\nclient_requests: {}\n").limits.contains("client_requests.elicitation_hosts"));
  CHECK(places_of_faults(of("\"https://a.example\"")).starts_with("2:39: 'https://a.example': "));
  CHECK(places_of_faults(of("a.example, a.example")).find("twice") != std::string::npos);
}

TEST_CASE("every fault of a ceiling is found in one go, with its place and the nearest right spelling") {
  std::string found;
  for (const Error& error : check_ceiling(data("ceiling-faulty.yaml"), "ceiling-faulty.yaml")) {
    found += error.to_string() + "\n";
  }
  CHECK(found == data("ceiling-faulty.expected"));
}

TEST_CASE("the page on ceilings has an example that is read, and names every key and every order") {
  std::ifstream file(std::string(CORDON_DOCS_DIR) + "/formats/ceiling.md", std::ios::binary);
  REQUIRE(file.good());
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = page.find("```yaml\n") + 8;
  accept(page.substr(begin, page.find("```", begin) - begin));
  for (const policy::CeilingKey& key : policy::ceiling_keys()) {
    CAPTURE(key.path());
    const auto names = [&page](const std::string& word) { return page.find(word) != std::string::npos; };
    CHECK((names(text::cat("`", key.key, "`")) || names(key.path() + "`") || names(text::cat(key.section, ".*`"))));
    if (key.kind != policy::LimitKind::word || key.words.find(' ') == std::string::npos) {
      continue;
    }
    std::string order;
    for (const std::string_view word : text::split(key.words, ' ')) {
      order += text::cat(order.empty() ? "`" : ", `", word, "`");
    }
    CHECK(page.find("| " + order + " |") != std::string::npos);
  }
}

TEST_CASE("no ceiling at all is an error, and so is another version") {
  CHECK(places_of_faults("") == "1:1: a ceiling must be a mapping of keys to values, not nothing");
  CHECK(places_of_faults("{}") == "1:1: version is missing");
  CHECK(places_of_faults("version: 2\nx: 1\n") == "1:10: ceiling version 2 is not supported by this version");
  CHECK(places_of_faults("version: 1\nisolation:\n") ==
        "2:1: isolation must be a mapping of keys to values, not nothing");
  CHECK(places_of_faults("version: 1\nversion: 1\n").starts_with("2:1: duplicate key"));
}

TEST_CASE("the places of a policy are those of its keys and items") {
  const std::string text =
      "version: 1\nserver: s\nlaunch:\n  command: [node]\n  environment:\n    pass: [LANG, TZ]\n"
      "isolation: {filesystem: {read: [/a, {path: /b}]}}\ntools:\n  rules:\n    - tools: [x]\n      action: hide\n";
  REQUIRE(formats::read_policy(text, "p").has_value());
  const policy::Places places = policy_places(text, "p");
  CHECK(places.at("") == Position{1, 1});
  CHECK(places.at("launch.environment.pass[1]") == Position{6, 18});
  CHECK(places.at("isolation.filesystem.read[1].path") == Position{7, 38});
  CHECK(places.at("tools.rules[0].action") == Position{11, 7});
  CHECK_FALSE(places.contains("isolation.backend"));
}
