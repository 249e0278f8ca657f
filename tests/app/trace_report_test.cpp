// SPDX-License-Identifier: Apache-2.0
#include "app/trace_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/text.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using namespace cordon::app;
using sandbox::EntryKind;
using sandbox::PathKind;
using sandbox::TraceAccess;
using sandbox::TraceFinding;

namespace {

struct World {
  sandbox::Plan plan = {};
  std::map<std::string, PathKind> outside = {{"/srv/x", PathKind::file},
                                             {"/srv", PathKind::directory},
                                             {"/home/u/.ssh/id", PathKind::file},
                                             {"/run/s", PathKind::other},
                                             {"/data", PathKind::directory}};

  World() {
    plan.backend = "native";
    plan.guarantees = {{"filesystem", sandbox::Strength::enforced, ""}, {"network", sandbox::Strength::enforced, ""}};
    add(EntryKind::bind, "/usr", "/usr", false, false);
    add(EntryKind::tmpfs, "/tmp", "", true, false);
    add(EntryKind::bind, "/data", "/data", false, true);
    add(EntryKind::cover, "/data/private", "/data/private", false, false);
    add(EntryKind::bind, "/output", "/srv/out", true, true);
    add(EntryKind::bind, "/idle", "/idle", false, true);
  }
  void add(EntryKind kind, const char* target, const char* source, bool writable, bool grant) {
    sandbox::ViewEntry entry;
    entry.kind = kind;
    entry.target = target;
    entry.source = source;
    entry.writable = writable;
    entry.grant = grant;
    plan.view.push_back(entry);
  }
  Surroundings around() const {
    return {plan, "/home/u",
            [this](const std::string& path) {
              const auto found = outside.find(path);
              return found == outside.end() ? PathKind::absent : found->second;
            },
            [](std::string_view path) { return path.find("/.") != std::string_view::npos; }};
  }
  TraceProposal proposal(const std::vector<TraceFinding>& findings) const {
    return propose({plan, findings, around().is_sensitive});
  }
  TraceReport report(std::vector<NamedSecret> secrets = {}) const {
    return TraceReport({.server = "one",
                        .session = "s",
                        .began = "t",
                        .policy_path = "/p.yaml",
                        .runtime = {"node"},
                        .around = around(),
                        .masker = Masker(secrets)});
  }
};

std::vector<std::string> insides(const std::vector<ProposedGrant>& grants) {
  std::vector<std::string> out;
  std::ranges::transform(grants, std::back_inserter(out), &ProposedGrant::inside);
  return out;
}

using Paths = std::vector<std::string>;

std::string lines_of(const std::vector<TraceFinding>& findings) {
  std::string out;
  for (const TraceFinding& finding : findings) {
    out += trace_line(finding) + '\n';
  }
  return out;
}

bool holds(const std::vector<std::string>& lines, std::string_view part) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("only what was used of a grant is proposed, for what it was used") {
  const World world;
  const TraceProposal proposal = world.proposal({{TraceAccess::read, 0, "/data/a"},
                                                 {TraceAccess::look, 0, "/data/b/c"},
                                                 {TraceAccess::look, ENOENT, "/data/absent"},
                                                 {TraceAccess::read, 0, "/usr/lib/x"},
                                                 {TraceAccess::write, EROFS, "/data/a"},
                                                 {TraceAccess::change, 0, "/output/sub/new"},
                                                 {TraceAccess::read, 0, "/output/in"},
                                                 {TraceAccess::write, 0, "/tmp/x"}});
  CHECK(insides(proposal.read) == Paths{"/data/a", "/data/b/c", "/output/in"});
  CHECK(proposal.write == std::vector<ProposedGrant>{{"/srv/out/sub", "/output/sub"}});
  REQUIRE(proposal.grants.size() == 3);
  CHECK(proposal.grants[0].use == Use::read);
  CHECK(proposal.grants[1].use == Use::write);
  CHECK(proposal.grants[2].use == Use::none);
}

TEST_CASE("many files of a folder are that folder, but never more than the grant") {
  const World world;
  std::vector<TraceFinding> findings;
  for (int i = 0; i < 4; ++i) {
    findings.push_back({TraceAccess::read, 0, text::cat("/data/sub/", i)});
  }
  CHECK(insides(world.proposal(findings).read) == Paths{"/data/sub"});
  findings.pop_back();
  CHECK(world.proposal(findings).read.size() == 3);
  for (int i = 0; i < 4; ++i) {
    findings.push_back({TraceAccess::read, 0, text::cat("/data/", i)});
  }
  CHECK(insides(world.proposal(findings).read) == Paths{"/data"});
  CHECK(world.proposal(findings).deny == Paths{"/data/private"});
}

TEST_CASE("what one grant covers is not proposed twice, and writing covers reading") {
  const World world;
  const TraceProposal proposal = world.proposal({{TraceAccess::list, 0, "/data"},
                                                 {TraceAccess::read, 0, "/data/a"},
                                                 {TraceAccess::change, 0, "/output/new"},
                                                 {TraceAccess::read, 0, "/output/new"},
                                                 {TraceAccess::look, 0, "/output"}});
  CHECK(insides(proposal.read) == Paths{"/data"});
  CHECK(insides(proposal.write) == Paths{"/output"});
  // Looking at a folder asks for no more than what lies in it.
  CHECK(insides(world.proposal({{TraceAccess::look, 0, "/data"}, {TraceAccess::read, 0, "/data/a"}}).read) ==
        Paths{"/data/a"});
  CHECK(insides(world.proposal({{TraceAccess::look, 0, "/data"}}).read) == Paths{"/data"});
}

TEST_CASE("covers of what steers other programs, and sockets, are no grants to count") {
  World world;
  world.add(EntryKind::bind, "/data/.git", "/data/.git", false, true);
  world.plan.view.back().steering = true;
  world.add(EntryKind::bind, "/run/s", "/run/s", false, true);
  world.plan.view.back().socket = true;
  const TraceProposal proposal =
      world.proposal({{TraceAccess::read, 0, "/data/.git/HEAD"}, {TraceAccess::look, 0, "/run/s"}});
  REQUIRE(proposal.grants.size() == 3);
  CHECK(proposal.grants[0].use == Use::read);
  CHECK(proposal.read.empty());  // the world calls hidden names sensitive
  CHECK(proposal.withheld == Paths{"/data/.git/HEAD"});
}

TEST_CASE("sensitive places and names that could break a line are not proposed") {
  const World world;
  const TraceProposal proposal = world.proposal({{TraceAccess::read, 0, "/data/.env"},
                                                 {TraceAccess::read, 0, "/data/a\"b"},
                                                 {TraceAccess::read, 0, "/data/a\nb"}});
  CHECK(proposal.read.empty());
  CHECK(proposal.withheld.size() == 3);
}

TEST_CASE("the section can be pasted") {
  const World world;
  const TraceProposal proposal =
      world.proposal({{TraceAccess::list, 0, "/data"}, {TraceAccess::change, 0, "/output/new"}});
  CHECK(policy_lines(proposal, {"node", "python"}) ==
        Paths{"isolation:", "  filesystem:", "    runtime: [node, python]", "    read:", "      - \"/data\"",
              "    write:", "      - {path: \"/srv/out\", at: \"/output\"}", "    deny:", "      - \"/data/private\""});
  CHECK(policy_lines({}, {"system"})[3] == "    read: []");
}

TEST_CASE("what was denied stands behind the proposal, as comments that change nothing") {
  const World world;
  TraceReport report = world.report();
  report.take(lines_of({{TraceAccess::read, 0, "/data/a"},
                        {TraceAccess::change, EROFS, "/data/new"},
                        {TraceAccess::change, EROFS, "/data/newer"},
                        {TraceAccess::read, ENOENT, "/srv/x"},
                        {TraceAccess::read, ENOENT, "/home/u/.ssh/id"}}) +
              "e 5 0 0\n");
  const Paths lines = report.summary("/f");
  const auto place = [&](std::string_view text) {
    return std::ranges::find_if(lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  const auto section = place("isolation:");
  REQUIRE(section != lines.end());
  CHECK(Paths(section, lines.end()) ==
        Paths{"  isolation:", "    filesystem:", "      runtime: [node]", "      read:", "        - \"/data/a\"",
              "      write: []",
              "      # denied in this run; what the server shall have of that belongs into the lists above:",
              "      #   read: \"/srv/x\"", "      #   write: \"/data\""});
  CHECK_FALSE(proposed_item("isolation.network.allow: [\"a:1\"]"));
}

TEST_CASE("what the sandbox refused is told from what is simply not there") {
  const World world;
  const auto denied = [&](TraceAccess access, int number, const char* path) {
    return denial({access, number, path}, world.around());
  };
  CHECK(denied(TraceAccess::read, ENOENT, "/srv/x")->proposal == "isolation.filesystem.read: [\"/srv/x\"]");
  CHECK_FALSE(denied(TraceAccess::read, ENOENT, "/srv/none"));
  CHECK_FALSE(denied(TraceAccess::read, EEXIST, "/srv/x"));
  CHECK(denied(TraceAccess::read, ENOENT, "/home/u/.ssh/id")->proposal == "");
  CHECK(denied(TraceAccess::change, EROFS, "/data/new")->proposal == "isolation.filesystem.write: [\"/data\"]");
  CHECK(denied(TraceAccess::connect, ENOENT, "unix:/run/s"));
  CHECK_FALSE(denied(TraceAccess::connect, ENOENT, "unix:/run/none"));
  CHECK(denied(TraceAccess::connect, ENETUNREACH, "1.2.3.4:443"));
}

TEST_CASE("the same report from any pieces, and strange lines only count") {
  const World world;
  const std::string lines = lines_of({{TraceAccess::read, 0, "/data/a"}, {TraceAccess::read, ENOENT, "/srv/x"}}) +
                            "strange\n" + std::string(20'000, 'x') + "\ne 7 0 0\nf read 0 /after\n";
  TraceReport whole = world.report();
  whole.take(lines);
  TraceReport pieces = world.report();
  for (const char byte : lines) {
    pieces.take(std::string_view(&byte, 1));
  }
  CHECK(whole.to_json() == pieces.to_json());
  const auto document = json::read(whole.to_json(), {});
  REQUIRE(document);
  const json::Value root = document->root();
  CHECK(root.find("findings").size() == 2);
  CHECK(root.find("calls").safe_integer() == 7);
  CHECK(root.find("dropped").safe_integer() == 3);
  CHECK_FALSE(root.find("complete").boolean());
  CHECK(holds(whole.summary("/f"), "3 left out"));
}

TEST_CASE("a report that was cut off says so") {
  const World world;
  TraceReport report = world.report();
  CHECK(report.empty());
  report.take("f read 0 /data/a\nf rea");
  CHECK(holds(report.summary("/f"), "cut off"));
  CHECK(report.to_json().find("\"complete\":false") != std::string::npos);
}

TEST_CASE("nothing hostile in a path reaches a person raw, and secrets are masked") {
  const World world;
  TraceReport report = world.report({{"TOKEN", "hush-hush"}});
  report.take(lines_of({{TraceAccess::read, 0, "/data/\x1b[31m\n\xff"},
                        {TraceAccess::read, ENOENT, "/srv/x"},
                        {TraceAccess::read, 0, "/data/hush-hush"}}) +
              "e 3 0 0\n");
  for (const std::string& line : report.summary("/f")) {
    CHECK(std::ranges::none_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
    CHECK(line.find("hush-hush") == std::string::npos);
  }
  CHECK(report.to_json().find("hush-hush") == std::string::npos);
  CHECK(json::read(report.to_json(), {}));
}

TEST_CASE("a trace file is read back as what was done with each path") {
  const World world;
  TraceReport report = world.report();
  report.take(lines_of({{TraceAccess::read, 0, "/data/a"},
                        {TraceAccess::write, EROFS, "/data/a"},
                        {TraceAccess::look, ENOENT, "/b"}}) +
              "e 3 0 0\n");
  const auto access = read_trace_file(report.to_json());
  REQUIRE(access);
  CHECK(*access == FileAccess{{"/data/a", "read, write EROFS"}, {"/b", "look ENOENT"}});
  for (const char* bad :
       {"", "[]", "{}", R"({"format":"mcp-cordon.trace"})", R"({"format":"mcp-cordon.trace","findings":[1]})"}) {
    CHECK_FALSE(read_trace_file(bad));
  }
}
