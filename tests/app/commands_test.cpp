// SPDX-License-Identifier: Apache-2.0
// The use cases that start nothing: check, diff of two files, explain, doctor's table, audit show.

#include <doctest/doctest.h>

#include "app/audit_log.hpp"
#include "app/check_files.hpp"
#include "app/compare_catalogs.hpp"
#include "app/doctor.hpp"
#include "app/explain.hpp"
#include "app/propose_effects.hpp"
#include "app/server_words.hpp"
#include "app/temp_folder.hpp"
#include "audit/writer.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "formats/snapshot.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

catalog::Snapshot reviewed(const std::string& effect, catalog::EffectSource source) {
  catalog::Snapshot out;
  out.server = "one";
  out.reviewer = "tester";
  out.reviewed_at = "2026-01-31T12:00:00Z";
  out.tools.push_back({.name = "tool",
                       .definition = R"({"inputSchema":{"type":"object"},"name":"tool"})",
                       .effect = effect,
                       .effect_source = source});
  catalog::seal(out);
  return out;
}

}  // namespace

TEST_CASE("check finds every fault of a policy, with its place") {
  const TempFolder temp;
  const std::string path = temp.file(
      "one.yaml", "version: 1\nserver: one\nlaunch: {command: [a]}\nisolaton: {}\ntools: {effects: {raed: allow}}\n");
  const std::vector<CheckFinding> faults = check_file({}, path);
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].error.where.starts_with(path + ":4:1"));
  CHECK(says(faults[0].error.to_string(), "isolation"));
  CHECK(faults[1].error.where.starts_with(path + ":5:"));
}

TEST_CASE("check tells policies from snapshots by their text") {
  const TempFolder temp;
  CHECK(check_file({}, temp.file("good.yaml", "version: 1\nserver: one\nlaunch: {command: [a]}\n")).empty());
  CHECK(check_file({}, temp.file("json.yaml", R"({"version": 1, "server": "one", "launch": {"command": ["a"]}})"))
            .empty());
  CHECK(check_file({}, temp.file("good.catalog.json",
                                 formats::write_snapshot(reviewed("read", catalog::EffectSource::reviewer))))
            .empty());
  REQUIRE(check_file({}, temp.file("bad.json", "{\"format\": 1}")).size() == 1);
  CHECK(check_file({}, temp.at("bad.json"))[0].error.code == Errc::snapshot_invalid);
  CHECK(check_file({}, temp.at("absent.yaml"))[0].error.code == Errc::file_unreadable);
  CHECK(says(check_file({}, temp.at("absent.yaml"))[0].error.remedy, "NAME"));
}

TEST_CASE("check takes a file, and the name of a policy where there is no such file") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  const std::string policy = temp.file("home/.config/mcp-cordon/policies/one.yaml", "");
  CHECK(*file_to_check(caller, "one") == policy);
  CHECK(*file_to_check(caller, "one.yaml") == "one.yaml");
  CHECK(*file_to_check(caller, "./one") == "./one");
  CHECK(*file_to_check(caller, temp.at("absent")) == temp.at("absent"));
  const auto absent = file_to_check(caller, "ona");
  REQUIRE_FALSE(absent.has_value());
  CHECK(says(absent.error().to_string(), "did you mean 'one'?"));
}

TEST_CASE("effects are proposed for a plain list, as text and as an object") {
  const TempFolder temp;
  const std::string list = temp.file(
      "list.json",
      R"({"tools":[{"name":"get_x"},{"name":"x","inputSchema":{"properties":{"mode":{"enum":["list","delete"]}}}}]})");
  const Caller caller;
  const Result<std::string> text = propose_effects({.caller = caller, .file = list});
  REQUIRE_MESSAGE(text.has_value(), text.error().to_string());
  CHECK(says(*text, "read         get_x\n    | the name says \"get\"\n"));
  CHECK(says(*text, "    | when /mode = delete: destructive"));
  const Result<std::string> object = propose_effects({.caller = caller, .file = list, .format = "json"});
  REQUIRE(object.has_value());
  CHECK(says(*object, "\"format\": \"mcp-cordon.effects\""));
  CHECK(says(*object, "\"when\": []"));
  CHECK_FALSE(propose_effects({.caller = caller, .file = list + "x"}).has_value());
  CHECK(is_catalog_path("./a"));
  CHECK(is_catalog_path("a.json"));
  CHECK_FALSE(is_catalog_path("files"));
}

TEST_CASE("two plain lists of tools can be compared") {
  const TempFolder temp;
  const std::string before = temp.file("old.json", R"({"tools":[{"name":"a","description":"x"}]})");
  const std::string after =
      temp.file("new.json", R"({"result":{"tools":[{"name":"a","description":"y"},{"name":"b"}]}})");
  const Result<catalog::Diff> diff = compare_files(before, after);
  REQUIRE_MESSAGE(diff.has_value(), diff.error().to_string());
  CHECK(diff->changes.size() == 2);
  CHECK(diff->drifted());
  CHECK_FALSE(compare_files(before, before)->drifted());
  CHECK(says(compare_files("one", "two").error().remedy, "the NAME of a policy stands alone"));
  CHECK(says(render(*diff, "text", Style{}, {}), "b"));
  CHECK(render(*diff, "json", Style{}, {}).starts_with("{"));
  for (const std::string_view format : {"markdown", "sarif", "junit", "html"}) {
    CHECK(knows_format(format));
    CHECK(says(render(*diff, format, Style{}, {}), "b"));
  }
  CHECK(says(render(*diff, "sarif", Style{}, {.artifact = "new.json"}), "\"uri\": \"new.json\""));
  CHECK_FALSE(knows_format("nonsense"));
}

TEST_CASE("explain names class, decision and line") {
  policy::Policy policy;
  policy.file = "one.yaml";
  policy.server = "one";
  policy.tools.file = "one.yaml";
  const catalog::Snapshot snapshot = reviewed("write", catalog::EffectSource::reviewer);
  CHECK(says(explain_tool(policy, &snapshot, "tool"), "tool: confirm"));
  CHECK(says(explain_tool(policy, &snapshot, "tool"), "effect class: write"));
  CHECK(says(explain_tool(policy, &snapshot, "absent"), "not in the snapshot"));
  CHECK(says(explain_tool(policy, &snapshot, "toool"), "did you mean 'tool'?"));
  CHECK(says(explain_tool(policy, &snapshot, "tool"), "to change that: another class (mcp-cordon review one --all)"));
  CHECK(says(explain_tool(policy, &snapshot, "tool"), "{tools: [\"tool\"], action: allow}"));
  policy.tools.rules.push_back({.tools = {"to*"}, .action = policy::Action::allow, .position = {12, 7}});
  CHECK(says(explain_tool(policy, &snapshot, "tool"), "tool: allow"));
  CHECK(says(explain_tool(policy, &snapshot, "tool"), "one.yaml:12:7"));
  CHECK_FALSE(says(explain_tool(policy, &snapshot, "tool"), "to change that"));
}

TEST_CASE("what to do about a server that ended hangs on whether it was reviewed") {
  CHECK(says(next_step(Errc::server_exited, "one", true), "mcp-cordon run --trace one"));
  // Without a snapshot `run` starts nothing, with --trace either.
  for (const Errc code : {Errc::server_exited, Errc::timed_out}) {
    CHECK_FALSE(says(next_step(code, "one", false), "--trace"));
    CHECK(says(next_step(code, "one", false), "without mcp-cordon"));
  }
  CHECK(next_step(Errc::policy_invalid, "one", false).empty());
  CHECK(with_next_step({Errc::server_exited, "d", "w", "kept"}, "one", true).remedy == "kept");
}

TEST_CASE("explain shows the way of one call through the rules") {
  policy::Policy policy;
  policy.tools.file = "one.yaml";
  policy.tools.rules.push_back({.tools = {"to*"},
                                .action = policy::Action::allow,
                                .arguments = {{.pointer = "/path", .within = {"/data"}}},
                                .position = {12, 7}});
  catalog::Snapshot snapshot = reviewed("read", catalog::EffectSource::reviewer);
  snapshot.tools[0].definition =
      R"({"inputSchema":{"properties":{"path":{},"file":{}},"type":"object"},"name":"tool"})";
  snapshot.tools[0].when = {{"/file", std::nullopt, "write"}};
  const auto explained = [&](const std::string& arguments) {
    const auto document = json::read(arguments, {});
    REQUIRE(document.has_value());
    return explain_call(policy, &snapshot, "tool", document->root());
  };
  const std::string passed = explained(R"({"path":"/data/a","file":"x"})");
  CHECK(says(passed, "tool: allow"));
  CHECK(says(passed, "of this call: write read"));
  CHECK(says(passed, "rule 1 (one.yaml:12:7): argument /path holds (by its text; a session follows links)"));
  const std::string denied = explained(R"({"path":"/etc/a"})");
  CHECK(says(denied, "tool: block, argument_denied"));
  CHECK(says(denied, "argument /path leads out of the folders of `within`"));
  policy.tools.read_only = true;
  CHECK(says(explained(R"({"path":"/data/a","file":"x"})"), "read-only"));
  CHECK(says(explain_tool(policy, &snapshot, "tool"), "--arguments"));
}

TEST_CASE("explain judges as a read-only session does, when it is told to") {
  const TempFolder temp;
  const std::string policy = temp.file("one.yaml",
                                       "version: 1\nserver: one\nlaunch: {command: [/bin/true]}\n"
                                       "tools: {effects: {read: allow, write: allow}}\n");
  const Caller caller = temp.caller();
  const auto explained = [&](bool read_only) {
    const auto arguments = json::read("{}", {});
    const PolicyChoice choice = {.name = {}, .file = policy, .ceilings = {}};
    const Result<std::string> tool = explain({caller, choice, "tool", {}, read_only});
    const Result<std::string> call = explain({caller, choice, "tool", arguments->root(), read_only});
    REQUIRE(tool.has_value());
    REQUIRE(call.has_value());
    return text::cat(*tool, *call);
  };
  for (const std::string effect : {"read", "write"}) {
    CAPTURE(effect);
    temp.file("one.catalog.json", formats::write_snapshot(reviewed(effect, catalog::EffectSource::reviewer)));
    CHECK_FALSE(says(explained(false), "block"));
    const std::string in_read_only = explained(true);
    CHECK(says(in_read_only, "tool: allow") == (effect == "read"));
    CHECK(says(in_read_only, "block\n  the session is read-only, and this call is not") == (effect == "write"));
    CHECK(says(in_read_only, "the session is read-only; else ") == (effect == "write"));
  }
}

TEST_CASE("a class read that nobody set counts as unknown") {
  const policy::Policy policy;
  const catalog::Snapshot snapshot = reviewed("read", catalog::EffectSource::proposed);
  CHECK(says(explain_tool(policy, &snapshot, "tool"), "tool: block"));
  CHECK(says(explain_tool(policy, &snapshot, "tool"), "effect class: unknown (nobody has set it)"));
}

TEST_CASE("doctor shows each guarantee of each backend, and why one does not hold") {
  sandbox::Assessment native;
  native.backend = "native";
  native.usable = true;
  native.guarantees = {{"filesystem", sandbox::Strength::enforced, "mount namespace"},
                       {"limits", sandbox::Strength::partial, "no_cgroup"}};
  sandbox::Assessment bubblewrap;
  bubblewrap.backend = "bubblewrap";
  bubblewrap.error = {Errc::unsupported_isolation, "reason backend_missing", "bubblewrap", "apt install bubblewrap"};
  TriedBoundary tried;
  tried.plan.guarantees = native.guarantees;
  Examination found{.backends = {{.assessment = native, .tried = tried}, {.assessment = bubblewrap}}};
  const std::string out = found.text(Style{});
  CHECK(says(out, "filesystem    yes           -"));
  CHECK(says(out, "limits        partial"));
  CHECK(says(out, "native: limits: partial: no_cgroup"));
  CHECK(
      says(out, "bubblewrap: cannot be used: bubblewrap: reason backend_missing\n      do: apt install bubblewrap\n"));
  CHECK(out.find('\x1b') == std::string::npos);
  CHECK(says(found.text(Style{true}), "\x1b[32m"));
  // What nobody tried is not called held.
  found.backends[0].tried.reset();
  CHECK(says(found.text(Style{}), "filesystem    untried       -"));
}

TEST_CASE("audit show prints records escaped, verify finds an edit") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  std::string path;
  {
    audit::WriterConfig config;
    config.state_dir = caller.state_folder();
    config.server = "one";
    config.session_id = "abc";
    Result<audit::Writer> writer = audit::Writer::open(std::move(config));
    REQUIRE(writer.has_value());
    REQUIRE(
        writer->append("{\"event\":\"call\",\"tool\":\"na\\u001bme\",\"why\":\"two words\",\"count\":3}").has_value());
    REQUIRE(writer
                ->append("{\"event\":\"launch\",\"plan_digest\":\"sha256:" + std::string(64, 'a') +
                         "\",\"guarantees\":{\"ipc\":{\"strength\":\"partial\",\"reason\":\"x\"},\"network\":{"
                         "\"strength\":\"enforced\",\"reason\":\"y\"}}}")
                .has_value());
    path = writer->path();
  }
  CHECK(*audited_server(caller, {"one", ""}) == "one");
  std::string shown;
  REQUIRE(show_audit(caller, "one", false, [&](std::string_view text) { shown += text; }).has_value());
  CHECK(says(shown, " call tool=na\\x1bme why=\"two words\" count=3\n"));
  CHECK(says(shown, " launch plan_digest=sha256:aaaaaaaaaaaa guarantees=\"1 enforced; ipc partial\"\n"));
  CHECK(verify_audit(caller, "one", "")->intact);

  std::string json;
  REQUIRE(show_audit(caller, "one", true, [&](std::string_view text) { json += text; }).has_value());
  CHECK(json.starts_with("{\"format\":\"mcp-cordon.audit\",\"version\":1,"));
  CHECK(json.ends_with("\n]}\n"));
  CHECK(says(json, "\"reason\":\"y\""));
  CHECK(says(json, std::string(64, 'a')));

  std::fstream file(path, std::ios::in | std::ios::out);
  std::string content((std::istreambuf_iterator<char>(file)), {});
  content.replace(content.find("\"count\":3"), 9, "\"count\":4");
  std::ofstream(path, std::ios::trunc) << content;
  CHECK_FALSE(verify_audit(caller, "one", "")->intact);
  CHECK_FALSE(verify_audit(caller, "one", "no head"));
  shown.clear();
  REQUIRE(show_audit(caller, "one", false, [&](std::string_view text) { shown += text; }).has_value());
  CHECK(says(shown, "damaged line: "));
}

TEST_CASE("a server without a log is audit_unavailable or a missing policy, not an empty list") {
  const TempFolder temp;
  CHECK_FALSE(audited_server(temp.caller(), {"one", ""}).has_value());
  CHECK_FALSE(show_audit(temp.caller(), "one", false, [](std::string_view) {}).has_value());
}
