// SPDX-License-Identifier: Apache-2.0
// Plans of the backends that are used only when they are named, as text, made without privileges; and what holds for
// the plan of every backend.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "facts.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/confirmation.hpp"
#include "sandbox/seatbelt.hpp"
#include "sandbox/select.hpp"

using namespace cordon;
using namespace cordon::sandbox;
using cordon::test::able_host;
using cordon::test::root_on;
using cordon::test::simple_spec;

namespace {

LaunchSpec spec_for(BackendChoice backend) {
  LaunchSpec spec = simple_spec();
  spec.backend = backend;
  spec.none_reason = "test";
  spec.from_template = backend == BackendChoice::command;
  cordon::test::give_image(spec);
  spec.require.clear();
  return spec;
}

LaunchSpec with_grants(BackendChoice backend) {
  LaunchSpec spec = spec_for(backend);
  spec.home_source = "/home/user/.local/state/mcp-cordon/homes/s";
  spec.temp_source = "/home/user/.local/state/mcp-cordon/temporary/s";
  spec.mounts = {{.source = "/data/read", .target = "/data/read"},
                 {.source = "/data/write", .target = "/data/write", .writable = true}};
  return spec;
}

Plan plan_of(const LaunchSpec& spec, const HostFacts& facts = able_host()) {
  auto plan = select(spec, facts);
  REQUIRE_MESSAGE(plan, (plan ? "" : plan.error().to_string()));
  return *plan;
}

std::string refusal(const LaunchSpec& spec, const HostFacts& facts = able_host()) {
  const auto plan = select(spec, facts);
  return plan ? std::string("accepted") : plan.error().to_string();
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string words(const std::vector<Step>& steps) {
  std::string text;
  for (const Step step : steps) {
    text += text::cat(text.empty() ? "" : " ", name(step));
  }
  return text;
}

std::string lines(const Plan& plan) {
  std::string text = plan.tool + "\n";
  for (const ToolArgument& argument : plan.tool_arguments) {
    text += argument.text + "\n";
  }
  return text;
}

Strength strength(const Plan& plan, std::string_view detail) {
  const Guarantee* found = find_guarantee(plan, detail);
  REQUIRE_MESSAGE(found != nullptr, detail);
  return found->strength;
}

constexpr std::array kWeak = {BackendChoice::landlock, BackendChoice::firejail, BackendChoice::srt,
                              BackendChoice::seatbelt, BackendChoice::command};

}  // namespace

TEST_CASE("no plan holds what was not asked for, and the same spec gives the same plan") {
  for (const Backend* backend : backends()) {
    CAPTURE(backend->name);
    const LaunchSpec spec = spec_for(backend->choice);
    const Plan plan = plan_of(spec);
    CHECK(to_json(plan) == to_json(plan_of(spec)));
    CHECK(plan.environment == spec.environment);
    if (!backend->images) {  // an image may have an entry point of its own
      CHECK(plan.argv == spec.argv);
    }
    CHECK(!says(to_json(plan), "very-secret"));
    CHECK(!says(to_text(plan), "very-secret"));
    for (const std::string& variable : plan.tool_environment) {
      CHECK(!says(variable, "TOKEN"));
    }
    REQUIRE(plan.steps.outer.size() >= 2);
    CHECK(plan.steps.outer[0] == Step::session);
    CHECK(plan.steps.outer[1] == Step::descriptors);
    for (const Detail& detail : details()) {
      if (detail.needed(spec)) {
        CHECK_MESSAGE(find_guarantee(plan, detail.name) != nullptr, detail.name);
      }
    }
  }
}

TEST_CASE("the weaker backends are never chosen, only named") {
  HostFacts facts = able_host();
  facts.namespaces.works = facts.bubblewrap.trial.works = false;
  facts.namespaces.reason = facts.bubblewrap.trial.reason = "userns_denied";
  const auto plan = select(spec_for(BackendChoice::automatic), facts);
  REQUIRE(!plan);
  CHECK(plan.error().code == Errc::unsupported_isolation);
  CHECK(plan.error().where == "native, bubblewrap");
  for (const BackendChoice backend : kWeak) {
    CHECK(!find_backend(backend)->automatic);
  }
}

TEST_CASE("each of them is refused where its means are missing, with the reason") {
  const auto without = [](BackendChoice backend, auto change) {
    HostFacts facts = able_host();
    change(facts);
    return refusal(spec_for(backend), facts);
  };
  const auto no_landlock = [](HostFacts& facts) { facts.landlock_abi = 0; };
  for (const BackendChoice backend : {BackendChoice::landlock, BackendChoice::firejail, BackendChoice::srt}) {
    CHECK(says(without(backend, no_landlock), "reason landlock_abi0"));
  }
  const Trial missing = {.error_number = 2, .reason = "backend_missing", .hint = "install it"};
  CHECK(
      says(without(BackendChoice::firejail, [&](HostFacts& facts) { facts.firejail.trial = missing; }),
           "firejail: cannot be used here: reason backend_missing (errno 2, No such file or directory) (install it)"));
  CHECK(says(without(BackendChoice::srt, [&](HostFacts& facts) { facts.srt.trial = missing; }), "backend_missing"));
  CHECK(says(without(BackendChoice::seatbelt, [](HostFacts& facts) { facts.seatbelt = HostFacts{}.seatbelt; }),
             "reason platform"));
  LaunchSpec spec = spec_for(BackendChoice::command);
  spec.from_template = false;
  CHECK(says(refusal(spec), "isolation.template"));
}

TEST_CASE("landlock: steps, and no view to build") {
  const Plan plan = plan_of(with_grants(BackendChoice::landlock));
  CHECK(words(plan.steps.outer) == "session descriptors");
  CHECK(words(plan.steps.init) == "");
  CHECK(words(plan.steps.server) ==
        "server_session working_directory limits no_new_privileges landlock capabilities syscalls attest");
  CHECK(words(plan_of(with_grants(BackendChoice::landlock), root_on(able_host())).steps.outer) ==
        "session descriptors identity");
  CHECK(plan.working_directory == "/home/user/.local/state/mcp-cordon/homes/s");
  CHECK(plan.shared_host);
  CHECK(!plan.own_namespaces);
  std::string shown;
  for (const ViewEntry& entry : plan.view) {
    if (entry.kind == EntryKind::bind && !entry.optional) {
      CHECK(entry.target == entry.source);
      shown += text::cat(entry.target, entry.writable ? " write" : " read", entry.executable ? " execute\n" : "\n");
    }
    CHECK((entry.kind == EntryKind::bind || entry.kind == EntryKind::device));
  }
  CHECK(shown ==
        "/usr read execute\n"
        "/etc/ssl/certs read\n"
        "/home/user/.local/state/mcp-cordon/homes/s write\n"
        "/home/user/.local/state/mcp-cordon/temporary/s write\n"
        "/data/read read execute\n"
        "/data/write write execute\n");
}

TEST_CASE("landlock: what a policy must give up is said, with the way out") {
  LaunchSpec spec = spec_for(BackendChoice::landlock);
  spec.require = simple_spec().require;
  const std::string text = refusal(spec);
  CHECK(
      says(text, "requirement filesystem.read is not enforced (asked for by isolation.require): reason names_visible"));
  CHECK(says(text, "take filesystem out of isolation.require"));
  spec.require = {"processes"};
  CHECK(says(refusal(spec), "take processes out of isolation.require"));
  spec.require = {"network", "ipc", "syscalls", "environment", "descriptors", "devices"};
  CHECK(refusal(spec) == "accepted");
}

TEST_CASE("landlock: an older kernel gives less, and says so") {
  HostFacts facts = able_host();
  facts.landlock_abi = 2;
  const Plan plan = plan_of(spec_for(BackendChoice::landlock), facts);
  CHECK(strength(plan, "filesystem.write") == Strength::no);
  CHECK(find_guarantee(plan, "filesystem.write")->reason == "landlock_abi2");
  CHECK(strength(plan, "processes.own") == Strength::no);
  CHECK(strength(plan, "processes.end") == Strength::partial);
  CHECK(strength(plan, "network.outside") == Strength::enforced);
  facts.landlock_abi = 6;
  CHECK(strength(plan_of(spec_for(BackendChoice::landlock), facts), "processes.end") == Strength::enforced);
}

TEST_CASE("without the filter there is no network and no ipc guarantee left") {
  LaunchSpec spec = spec_for(BackendChoice::landlock);
  spec.syscall_filter = false;
  const Plan plan = plan_of(spec);
  for (const char* detail : {"filesystem.write", "network.outside", "ipc.own", "syscalls.filter"}) {
    CHECK(strength(plan, detail) == Strength::no);
  }
}

TEST_CASE("another place, a mask, a read-only place in a writable one: refused where nothing is mounted") {
  for (const BackendChoice backend : {BackendChoice::landlock, BackendChoice::firejail, BackendChoice::srt}) {
    LaunchSpec spec = spec_for(backend);
    spec.mounts = {{.source = "/data", .target = "/elsewhere"}};
    CHECK(says(refusal(spec), "(asked for by at: /elsewhere): reason not_offered"));
    spec.mounts = {{.source = "/data", .target = "/data"}};
    spec.deny = {"/data/private"};
    CHECK(says(refusal(spec), "requirement filesystem.deny"));
    spec.deny.clear();
    spec.mounts = {{.source = "/data", .target = "/data", .writable = true},
                   {.source = "/data/fixed", .target = "/data/fixed"}};
    CHECK(says(refusal(spec), "cannot keep a place read-only in /data"));
    spec.mounts.clear();
    spec.proc_minimal = true;
    CHECK(says(refusal(spec), "requirement filesystem.proc"));
  }
}

TEST_CASE("firejail: the whole command line") {
  const Plan plan = plan_of(with_grants(BackendChoice::firejail));
  CHECK(lines(plan) ==
        "/usr/bin/firejail\n--quiet\n--noprofile\n--caps.drop=all\n--nonewprivs\n--nogroups\n--net=none\n"
        "--ipc-namespace\n--private-dev\n--nodbus\n--nosound\n--no3d\n--nou2f\n--novideo\n--notv\n--nodvd\n--noinput\n"
        "--deterministic-exit-code\n--deterministic-shutdown\n--keep-fd=103,104,105,106,107,108,109\n"
        "--whitelist=/home/user/.local/state/mcp-cordon/homes/s\n"
        "--whitelist=/home/user/.local/state/mcp-cordon/temporary/s\n"
        "--whitelist=/data/read\n--read-only=/data/read\n--whitelist=/data/write\n"
        "--\n/proc/self/fd/109\ninside\nhigh\n");
  CHECK(words(plan.steps.outer) == "session descriptors sources");
  CHECK(words(plan.steps.init) == "identify_sources");
  CHECK(plan.tool_environment == std::vector<std::string>{"PATH=/usr/bin:/bin"});
}

TEST_CASE("firejail: paths that it reads as something else are refused") {
  for (const char* path : {"/data/a*b", "/data/${HOME}", "/data/a b", "/data/a,b", "/data/~"}) {
    LaunchSpec spec = spec_for(BackendChoice::firejail);
    spec.mounts = {{.source = path, .target = path}};
    CHECK_MESSAGE(says(refusal(spec), "takes characters of this path"), path);
  }
  LaunchSpec spec = spec_for(BackendChoice::firejail);
  spec.mounts = {{.source = "/usr/local/data", .target = "/usr/local/data", .writable = true}};
  CHECK(says(refusal(spec), "keeps this place read-only"));
}

TEST_CASE("srt: the whole command line, and settings in which reading is denied unless listed") {
  const Plan plan = plan_of(with_grants(BackendChoice::srt));
  CHECK(
      lines(plan) ==
      "/usr/bin/node\n/opt/srt/dist/cli.js\n--settings\n"
      R"({"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":["/"],"allowRead":["/usr",)"
      R"("/etc/ssl/certs","/home/user/.local/state/mcp-cordon/homes/s","/home/user/.local/state/mcp-cordon/temporary/s",)"
      R"("/data/read","/data/write","/opt/srt/vendor/seccomp/x64"],"allowWrite":["/home/user/.local/state/mcp-cordon/)"
      R"(homes/s","/home/user/.local/state/mcp-cordon/temporary/s","/data/write"],"denyWrite":[]},"bwrapPath":)"
      R"("/usr/bin/bwrap","socatPath":"/usr/bin/socat","seccomp":{"applyPath":"/opt/srt/vendor/seccomp/x64/)"
      R"(apply-seccomp"},"ripgrep":{"command":"/usr/bin/rg"},"mandatoryDenySearchDepth":1})"
      "\n-c\nexec /proc/self/fd/109 inside high\n");
  CHECK(plan.tool_arguments[2].kind == ToolArgumentKind::memory);
  LaunchSpec spec = spec_for(BackendChoice::srt);
  spec.mounts = {{.source = "/data/[a]", .target = "/data/[a]"}};
  CHECK(says(refusal(spec), "for a pattern"));
}

TEST_CASE("seatbelt: the profile as text") {
  const std::vector<ViewEntry> view = {
      {.kind = EntryKind::device, .target = "/dev/null", .source = "/dev/null"},
      {.kind = EntryKind::bind, .target = "/usr/local", .source = "/usr/local", .executable = true},
      {.kind = EntryKind::bind, .target = "/Users/a \"b\\", .source = "/Users/a \"b\\", .writable = true}};
  const auto profile = seatbelt_profile(view);
  REQUIRE(profile);
  CHECK(*profile ==
        "(version 1)\n"
        "(deny default)\n"
        "(allow process-fork)\n"
        "(allow signal (target same-sandbox))\n"
        "(allow process-info* (target same-sandbox))\n"
        "(allow sysctl-read)\n"
        "(allow file-read-metadata (literal \"/\"))\n"
        "(allow file-read* file-map-executable process-exec* (subpath \"/usr/lib\") (subpath \"/System/Library\"))\n"
        "(allow file-read* (literal \"/dev/random\") (literal \"/dev/urandom\") (literal \"/dev/null\") (literal "
        "\"/dev/zero\"))\n"
        "(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))\n"
        "(allow file-read-metadata (literal \"/usr\"))\n"
        "(allow file-read* file-map-executable process-exec* (subpath \"/usr/local\"))\n"
        "(allow file-read-metadata (literal \"/Users\"))\n"
        "(allow file-read* (subpath \"/Users/a \\\"b\\\\\"))\n"
        "(allow file-write* (subpath \"/Users/a \\\"b\\\\\"))\n"
        "(deny file-write-setugid file-mknod (subpath \"/Users/a \\\"b\\\\\"))\n");
  CHECK(!seatbelt_profile(std::vector<ViewEntry>{{.kind = EntryKind::bind, .target = "/a\nb"}}));
  const Plan plan = plan_of(spec_for(BackendChoice::seatbelt));
  CHECK(plan.tool == "/usr/bin/sandbox-exec");
  CHECK(strength(plan, "filesystem.read") == Strength::partial);
}

TEST_CASE("command: nothing is enforced until the probe has looked") {
  LaunchSpec spec = spec_for(BackendChoice::command);
  const Plan plan = plan_of(spec);
  for (const Guarantee& said : plan.guarantees) {
    CHECK(said.strength == Strength::partial);
    CHECK(said.reason == "unconfirmed");
  }
  CHECK(words(plan.steps.outer) == "session descriptors");
  CHECK(words(plan.steps.server) == "server_session working_directory");
  spec.require = {"network"};
  CHECK(says(refusal(spec), "reason unconfirmed"));
  CHECK(says(refusal(spec), "mcp-cordon probe"));
}

TEST_CASE("command: a confirmation counts for its plan, on its boot, and for what was looked at") {
  LaunchSpec spec = spec_for(BackendChoice::command);
  HostFacts facts = able_host();
  facts.boot_id = "boot-1";
  facts.confirmation = {.plan_key = confirmation_key(plan_of(spec)),
                        .boot_id = "boot-1",
                        .details = {{"network.outside", true}, {"filesystem.read", true}, {"filesystem.write", false}}};
  const Plan plan = plan_of(spec, facts);
  CHECK(strength(plan, "network.outside") == Strength::enforced);
  CHECK(strength(plan, "filesystem.read") == Strength::enforced);
  CHECK(strength(plan, "filesystem.write") == Strength::no);
  CHECK(find_guarantee(plan, "filesystem.write")->reason == "breached");
  CHECK(strength(plan, "ipc.own") == Strength::partial);
  CHECK(confirmation_key(plan) == facts.confirmation.plan_key);
  spec.require = {"network"};
  CHECK(refusal(spec, facts) == "accepted");
  spec.require = {"filesystem"};
  CHECK(says(refusal(spec, facts), "breached"));

  spec.require = {"network"};
  const auto refused = [&](auto change) {
    LaunchSpec other = spec;
    HostFacts now = facts;
    change(other, now);
    return says(refusal(other, now), "unconfirmed");
  };
  CHECK(refused([](LaunchSpec&, HostFacts& now) { now.boot_id = "boot-2"; }));
  CHECK(refused([](LaunchSpec&, HostFacts& now) { now.boot_id = now.confirmation.boot_id = ""; }));
  CHECK(refused([](LaunchSpec& other, HostFacts&) { other.argv.push_back("--privileged"); }));
  CHECK(refused([](LaunchSpec&, HostFacts& now) {
    now.program.identity.inode = 99;
    now.confirmation.plan_key = "x";
  }));
}

TEST_CASE("command: what the template is not told of is refused, not ignored") {
  const auto refused = [](auto change) {
    LaunchSpec spec = spec_for(BackendChoice::command);
    change(spec);
    return says(refusal(spec), "a template is not told of it");
  };
  CHECK(refused([](LaunchSpec& spec) { spec.mounts = {{.source = "/data", .target = "/data"}}; }));
  CHECK(refused([](LaunchSpec& spec) { spec.deny = {"/data"}; }));
  CHECK(refused([](LaunchSpec& spec) { spec.limits.open_files = 10; }));
  CHECK(refused([](LaunchSpec& spec) { spec.proc_minimal = true; }));
}

TEST_CASE("a confirmation is written and read back, and nothing else is taken for one") {
  const Confirmation written = {"sha256:1", "sha256:2", "boot", {{"ipc.own", false}, {"filesystem.read", true}}};
  const std::string text = write_confirmation(written);
  CHECK(text ==
        R"({"format":"mcp-cordon.confirmation","version":1,"plan":"sha256:1","program":"sha256:2","boot_id":"boot",)"
        R"("details":{"filesystem.read":"held","ipc.own":"breached"}})"
        "\n");
  const auto read = read_confirmation(text);
  REQUIRE(read);
  CHECK(write_confirmation(*read) == text);
  for (
      const char* bad :
      {"", "[]", "{}", R"({"format":"x","version":1,"plan":"p","program":"q","boot_id":"b","details":{}})",
       R"({"format":"mcp-cordon.confirmation","version":2,"plan":"p","program":"q","boot_id":"b","details":{}})",
       R"({"format":"mcp-cordon.confirmation","version":1,"plan":"p","boot_id":"b","details":{}})",
       R"({"format":"mcp-cordon.confirmation","version":1,"plan":1,"program":"q","boot_id":"b","details":{}})",
       R"({"format":"mcp-cordon.confirmation","version":1,"plan":"p","program":"q","boot_id":"b","details":[]})",
       R"({"format":"mcp-cordon.confirmation","version":1,"plan":"p","program":"q","boot_id":"b","details":{"ipc.other":"held"}})",
       R"({"format":"mcp-cordon.confirmation","version":1,"plan":"p","program":"q","boot_id":"b","details":{"ipc.own":true}})",
       R"({"format":"mcp-cordon.confirmation","version":1,"plan":"p","program":"q","boot_id":"b","details":{"ipc.own":"held","ipc.own":"breached"}})"}) {
    CHECK_MESSAGE(!read_confirmation(bad), bad);
  }
}
