// SPDX-License-Identifier: Apache-2.0
// probe and doctor with real sandboxes, whole and broken on purpose.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/doctor.hpp"
#include "app/planned_launch.hpp"
#include "app/probe.hpp"
#include "app/temp_folder.hpp"
#include "base/text.hpp"
#include "core/json/limits.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using namespace cordon::app;
using sandbox::Step;

namespace {

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A caller whose installation has the two helpers of the build.
Caller installed(const TempFolder& temp) {
  Caller caller = temp.caller();
  ::chmod(temp.path().c_str(), 0755);
  for (const auto& [from, to] :
       {std::pair(CORDON_TEST_STAGE, caller.stage_path()), std::pair(CORDON_TEST_PROBE, caller.probe_path())}) {
    std::filesystem::create_directories(std::filesystem::path(to).parent_path());
    std::filesystem::copy_file(from, to);
    ::chmod(to.c_str(), 0755);
  }
  return caller;
}

std::string policy_with(const TempFolder& temp, const std::string& isolation) {
  return temp.file("p/one.yaml", text::cat("version: 1\nserver: one\nlaunch:\n  command: [/bin/true]\n"
                                           "  environment:\n    secrets: {T: {from_command: [touch, ",
                                           temp.at("fetched"), "]}}\nisolation:\n", isolation));
}

Result<ProbeReport> probe(const TempFolder& temp, const Caller& caller, const std::string& isolation,
                          const std::function<void(sandbox::Plan&)>& alter = {}) {
  const Result<LoadedPolicy> loaded = load_policy(caller, {"", policy_with(temp, isolation)});
  REQUIRE(loaded.has_value());
  return probe_policy({caller, *loaded, {}, alter});
}

// Prints why and gives true when this machine has no sandbox to try.
bool skipped(const Result<ProbeReport>& report) {
  if (report || report.error().code != Errc::unsupported_isolation) {
    return false;
  }
  const char* required = std::getenv("CORDON_REQUIRE_SANDBOX");
  if (required != nullptr && std::string_view(required) == "1") {
    FAIL("CORDON_REQUIRE_SANDBOX=1, but: ", report.error().to_string());
  }
  std::fprintf(stderr, "SKIPPED: %s\n", report.error().to_string().c_str());
  return true;
}

void without(sandbox::Plan& plan, Step step) { std::erase(plan.steps.server, step); }

std::size_t left_over(const Caller& caller) {
  const std::filesystem::path folder = caller.state_folder() + "/probe";
  return std::filesystem::exists(folder)
             ? static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}))
             : 0;
}

}  // namespace

TEST_CASE("a server's boundary holds, no secret is fetched and nothing stays") {
  const TempFolder temp;
  const Caller caller = installed(temp);
  temp.folder("data");
  temp.file("out/file", "the user's");
  const Result<ProbeReport> report =
      probe(temp, caller, text::cat("  filesystem: {read: [", temp.at("data"), "], write: [", temp.at("out"), "]}\n"));
  if (skipped(report)) {
    return;
  }
  REQUIRE_MESSAGE(report.has_value(), report.error().to_string());
  CHECK_FALSE(report->tried.breached());
  const std::string table = report->text({});
  CHECK(says(table, "\nfilesystem: enforced ("));
  CHECK(says(table, "  held           filesystem.policy_read_grants"));
  CHECK(says(table, ", 0 breached, "));
  CHECK(says(table, "  not applicable limits.cpu "));
  CHECK_FALSE(std::filesystem::exists(temp.at("fetched")));
  CHECK(left_over(caller) == 0);
  // In the grants of the policy nothing was made or changed.
  CHECK(std::filesystem::is_empty(temp.at("data")));
  CHECK(std::distance(std::filesystem::directory_iterator(temp.at("out")), {}) == 1);
  CHECK_FALSE(std::filesystem::exists(caller.state_folder() + "/homes"));

  // Ids are stable, and each is explained.
  std::ifstream page(CORDON_PROBE_PAGE);
  const std::string known((std::istreambuf_iterator<char>(page)), {});
  for (const auto& finding : report->tried.findings) {
    CHECK_MESSAGE(says(known, text::cat("| `", finding.id, "` | `", finding.guarantee, "` |")), finding.id);
  }
  const auto json = json::read(report->json(), json::Limits{});
  REQUIRE(json.has_value());
  CHECK(json->root().find("format").string() == "mcp-cordon.probe");
  CHECK(json->root().find("checks").size() > 100);
  CHECK(json->root().find("summary").find("breached").safe_integer() == 0);
}

TEST_CASE("a plan that does not do what it says is breached, by name") {
  const TempFolder temp;
  const Caller caller = installed(temp);
  const Result<ProbeReport> report = probe(temp, caller, "  network: none\n", [](sandbox::Plan& plan) {
    without(plan, Step::syscalls);
    without(plan, Step::attest);
  });
  if (skipped(report)) {
    return;
  }
  REQUIRE_MESSAGE(report.has_value(), report.error().to_string());
  CHECK(report->tried.breached());
  CHECK(says(report->text({}), "The plan says that these cannot be crossed, and they were:\n"));
  CHECK(says(report->text({}), "  breached       syscalls.filter_on"));
  CHECK(says(report->json(), R"("id":"syscalls.filter_on","guarantee":"syscalls.filter","verdict":"breached")"));
  CHECK(left_over(caller) == 0);
}

TEST_CASE("what the plan does not promise is expected, with its reason") {
  const TempFolder temp;
  const Caller caller = installed(temp);
  const Result<ProbeReport> report =
      probe(temp, caller, "  syscalls: off\n  require: [filesystem, network, processes]\n");
  if (skipped(report)) {
    return;
  }
  REQUIRE_MESSAGE(report.has_value(), report.error().to_string());
  CHECK_FALSE(report->tried.breached());
  CHECK(says(report->text({}), "  expected       syscalls.filter_on"));
  CHECK(says(report->text({}), "(no: switched_off)"));
}

TEST_CASE("a stage that gives up is an error, not a boundary that held") {
  const TempFolder temp;
  const Caller caller = installed(temp);
  const Result<ProbeReport> report =
      probe(temp, caller, "  network: none\n", [](sandbox::Plan& plan) { without(plan, Step::capabilities); });
  if (skipped(report)) {
    return;
  }
  REQUIRE_FALSE(report.has_value());
  CHECK(report.error().code == Errc::launch_failed);
  CHECK(says(report.error().detail, "attest: "));
  CHECK(left_over(caller) == 0);
}

TEST_CASE("without its program the probe says so") {
  const TempFolder temp;
  const Caller caller = installed(temp);
  std::filesystem::remove(caller.probe_path());
  const Result<ProbeReport> report = probe(temp, caller, "  network: none\n");
  if (skipped(report)) {
    return;
  }
  REQUIRE_FALSE(report.has_value());
  CHECK(report.error().code == Errc::file_unreadable);
  CHECK(says(report.error().to_string(), "libexec/mcp-cordon/probe"));
}

TEST_CASE("doctor takes back what the probe disproves") {
  const TempFolder temp;
  const Caller caller = installed(temp);
  const Result<Examination> whole = examine(caller);
  REQUIRE(whole.has_value());
  CHECK_FALSE(whole->breached());
  if (!whole->backends.front().assessment.usable) {
    return;  // said by the tests above
  }
  CHECK(says(whole->text({}), "syscalls      yes"));
  CHECK(json::read(whole->json(), json::Limits{}).has_value());
  const Result<Examination> broken = examine(caller, [](sandbox::Plan& plan) {
    without(plan, Step::syscalls);
    without(plan, Step::attest);
  });
  REQUIRE(broken.has_value());
  CHECK(broken->breached());
  CHECK(says(broken->text({}), "syscalls      breached"));
  CHECK(says(broken->text({}), "native: syscalls.filter: syscalls.filter_on: "));
  CHECK(says(broken->json(), R"("syscalls":"breached")"));
}

TEST_CASE("command: what a template holds is known once it was probed, and what it does not is refused") {
  if (!std::filesystem::exists("/usr/bin/bwrap")) {
    std::fprintf(stderr, "SKIPPED: no bwrap, which stands for an organisation's own program here\n");
    return;
  }
  const TempFolder temp;
  const Caller caller = installed(temp);
  const auto isolation = [&](std::string_view require, std::string_view flags) {
    return text::cat("  backend: command\n  require: [", require, "]\n  template: [/usr/bin/bwrap, --unshare-user, ",
                     "--unshare-pid, --unshare-ipc, --new-session, ", flags,
                     " --ro-bind, /usr, /usr, --symlink, usr/lib, /lib, --symlink, usr/lib64, /lib64, --symlink, "
                     "usr/bin, /bin, --proc, /proc, --dev, /dev, --ro-bind, ",
                     caller.probe_path(), ", ", caller.probe_path(), ", \"{command}\"]\n");
  };
  const auto planned = [&](const std::string& text, LaunchRequest::Depth depth = LaunchRequest::Depth::show) {
    const Result<LoadedPolicy> loaded = load_policy(caller, {"", policy_with(temp, text)});
    REQUIRE(loaded.has_value());
    const auto plan = plan_launch({.caller = caller, .loaded = *loaded, .depth = depth});
    return plan ? std::string("planned") : plan.error().to_string();
  };
  const std::string closed = isolation("network, descriptors, ipc", "--unshare-net, --die-with-parent,");
  CHECK(says(planned(closed), "reason unconfirmed"));
  const Result<ProbeReport> report = probe(temp, caller, closed);
  if (skipped(report)) {
    return;
  }
  REQUIRE_MESSAGE(report.has_value(), report.error().to_string());
  const std::string text = report->text({});
  CHECK(says(text, "  confirmed: filesystem.read, network.outside, processes.end, "));
  CHECK(says(text, "crossed, and so refused where required: "));  // it filters no system call
  CHECK(report->found());
  CHECK(planned(closed) == "planned");
  // The values of secrets, which only a launch has, are not what was tried.
  CHECK_MESSAGE(!says(planned(closed, LaunchRequest::Depth::start), "unconfirmed"),
                planned(closed, LaunchRequest::Depth::start));
  // The same plan, but for what is asked of it.
  CHECK(says(planned(isolation("syscalls", "--unshare-net, --die-with-parent,")), "reason breached"));
  CHECK(says(planned(isolation("network", "--unshare-net,")), "reason unconfirmed"));

  const std::string open = isolation("network", "");
  const Result<ProbeReport> crossed = probe(temp, caller, open);
  REQUIRE_MESSAGE(crossed.has_value(), crossed.error().to_string());
  CHECK(says(crossed->text({}), "expected       processes.left_when_killed"));
  CHECK(says(crossed->text({}), "expected       network.loopback_outside"));
  CHECK(says(planned(open), "reason breached"));
  CHECK(left_over(caller) == 0);
}
