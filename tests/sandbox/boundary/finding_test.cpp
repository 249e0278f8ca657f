// SPDX-License-Identifier: Apache-2.0
#include "sandbox/boundary/finding.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cordon;
using namespace cordon::sandbox::boundary;
using sandbox::Plan;
using sandbox::Strength;

namespace {

std::string line(const std::string& id, const std::string& result, const std::string& guarantee = "network.outside") {
  return R"({"id":")" + id + R"(","guarantee":")" + guarantee + R"(","result":")" + result +
         R"(","expected":"denied","got":"allowed","errno":0,"mechanism":"m","attempts":2,"attempt":"a"})" + "\n";
}

std::string complete(int lines) { return R"({"id":"complete","lines":)" + std::to_string(lines) + "}\n"; }

Finding breach_of(const std::string& guarantee) {
  return {.id = "x", .guarantee = guarantee, .verdict = Verdict::breached};
}

Finding judged(const Plan& plan, const std::string& guarantee) {
  std::vector<Finding> findings = {breach_of(guarantee)};
  judge(findings, plan);
  return findings.front();
}

}  // namespace

TEST_CASE("the whole output of a probe is read") {
  const auto findings = read_findings(line("one", "held") + line("two", "breached") + complete(2));
  REQUIRE(findings.has_value());
  REQUIRE(findings->size() == 2);
  CHECK(findings->at(0).verdict == Verdict::held);
  CHECK(findings->at(1).verdict == Verdict::breached);
  CHECK(findings->at(1).id == "two");
  CHECK(findings->at(1).attempts == 2);
  CHECK(count(*findings, Verdict::held) == 1);
}

TEST_CASE("what is not the whole output of a probe says nothing, least of all that something held") {
  for (const std::string& output :
       {std::string(), line("one", "held"), line("one", "held") + complete(2), complete(1),
        line("one", "held") + line("one", "held") + complete(2),
        line("one", "held") + complete(1) + line("two", "held"), std::string("hello\n"),
        line("one", "fine") + complete(1), line("one", "expected") + complete(1), line("", "held") + complete(1),
        line("one", "held", "") + complete(1), line("one", "held") + "{\n" + complete(1), complete(1) + complete(1)}) {
    CAPTURE(output);
    const auto findings = read_findings(output);
    REQUIRE_FALSE(findings.has_value());
    CHECK(findings.error().code == Errc::launch_failed);
  }
}

TEST_CASE("a probe that refused to start is told as such") {
  const auto findings = read_findings(line("probe.token", "breached"));
  REQUIRE_FALSE(findings.has_value());
  CHECK(findings.error().detail.find("refused to start") != std::string::npos);
}

TEST_CASE("a breach counts where the plan says enforced, else it is expected with the plan's reason") {
  Plan plan;
  plan.guarantees = {{.name = "network", .strength = Strength::enforced, .reason = "netns"},
                     {.name = "ipc", .strength = Strength::partial, .reason = "landlock_abi"},
                     {.name = "filesystem", .strength = Strength::no, .reason = "backend_none"},
                     {.name = "filesystem.read", .strength = Strength::enforced, .reason = "view"}};
  CHECK(judged(plan, "network").verdict == Verdict::breached);
  CHECK(judged(plan, "network.outside").verdict == Verdict::breached);  // by the guarantee that it belongs to
  CHECK(judged(plan, "ipc.own").verdict == Verdict::expected);
  CHECK(judged(plan, "ipc.own").reason == "partial: landlock_abi");
  CHECK(judged(plan, "filesystem.read").verdict == Verdict::breached);  // the detail before the guarantee
  CHECK(judged(plan, "filesystem.write").reason == "no: backend_none");
  CHECK(judged(plan, "devices.listed").verdict == Verdict::expected);  // never spoken of
}

TEST_CASE("FIFOs in grants are promised by name or not at all") {
  Plan plan;
  plan.guarantees = {{.name = "filesystem", .strength = Strength::enforced}};
  CHECK(judged(plan, "filesystem.fifos").verdict == Verdict::expected);
  plan.guarantees.push_back({.name = "filesystem.fifos", .strength = Strength::enforced});
  CHECK(judged(plan, "filesystem.fifos").verdict == Verdict::breached);
}

TEST_CASE("what was tried and not crossed is concluded, and nothing from what could not be tried") {
  const auto finding = [](std::string id, std::string guarantee, Verdict verdict, std::string reason = {}) {
    return Finding{
        .id = std::move(id), .guarantee = std::move(guarantee), .verdict = verdict, .reason = std::move(reason)};
  };
  const auto said = [](const std::vector<Finding>& findings) {
    std::string out;
    for (const sandbox::ConfirmedDetail& detail : conclude(findings)) {
      out += detail.name + (detail.held ? "+" : "-");
    }
    return out;
  };
  CHECK(said({finding("a", "network.outside", Verdict::held)}) == "network.outside+");
  CHECK(said({finding("a", "network.outside", Verdict::held),
              finding("b", "network.outside", Verdict::not_applicable, "nothing was planted")}) == "network.outside+");
  CHECK(said({finding("a", "network.outside", Verdict::held), finding("b", "network.outside", Verdict::not_applicable,
                                                                      "not tried: there is another interface")}) == "");
  CHECK(said({finding("a", "network.outside", Verdict::held),
              finding("network.interfaces", "network.outside", Verdict::not_applicable, "eth0")}) == "");
  CHECK(said({finding("a", "network.outside", Verdict::not_applicable, "nothing was planted")}) == "");
  // One way across is enough, whatever else held or was not tried.
  CHECK(said({finding("a", "ipc.own", Verdict::held), finding("b", "ipc.own", Verdict::expected),
              finding("c", "ipc.own", Verdict::not_applicable, "not tried: x")}) == "ipc.own-");
  CHECK(said({finding("a", "ipc.own", Verdict::breached)}) == "ipc.own-");
  // What belongs to a guarantee as a whole says nothing of its details.
  CHECK(said({finding("a", "limits", Verdict::held)}) == "");
}
