// SPDX-License-Identifier: Apache-2.0
// What the app does for backends that are used only when they are named: homes outside, templates, confirmations.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "app/command_template.hpp"
#include "app/confirmations.hpp"
#include "app/host_home.hpp"
#include "app/launch_plan.hpp"
#include "app/temp_folder.hpp"
#include "sandbox/command_template.hpp"
#include "sandbox/select.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

struct Fixture {
  TempFolder temp = {};
  Caller caller = temp.caller();
  policy::Policy policy = {};

  explicit Fixture(policy::Backend backend) {
    policy.server = "one";
    policy.file = "one.yaml";
    policy.launch.command = {"sh", "-c", "true"};
    policy.isolation.backend = backend;
    caller.uid = 1000;
  }
  Result<PreparedLaunch> prepare() const {
    return prepare_launch({policy,
                           caller,
                           {},
                           own_paths(caller, temp.at("one.yaml"), temp.at("one.json")),
                           {},
                           LaunchRequest::Depth::start});
  }
};

bool has(const std::vector<std::string>& list, std::string_view entry) {
  return std::ranges::find(list, entry) != list.end();
}

mode_t mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

sandbox::Plan some_plan(std::vector<std::string> argv) { return {.backend = "command", .argv = std::move(argv)}; }

}  // namespace

TEST_CASE("without a view HOME and TMPDIR are private folders of ours, seen where they are") {
  for (const policy::Backend backend : {policy::Backend::landlock, policy::Backend::firejail, policy::Backend::srt}) {
    Fixture f(backend);
    f.policy.isolation.srt = backend == policy::Backend::srt ? "~/srt/dist/cli.js" : "";
    const Result<PreparedLaunch> out = f.prepare();
    REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().to_string()));
    CHECK(out->spec.home_source == f.temp.at("home/.local/state/mcp-cordon/homes/one"));
    CHECK(out->spec.temp_source == f.temp.at("home/.local/state/mcp-cordon/temporary/one"));
    CHECK(has(out->spec.environment, "HOME=" + out->spec.home_source));
    CHECK(has(out->spec.environment, "TMPDIR=" + out->spec.temp_source));
    CHECK(mode_of(out->spec.home_source) == 0700);
    CHECK(mode_of(out->spec.temp_source) == 0700);
    CHECK(out->spec.srt == (backend == policy::Backend::srt ? f.temp.at("home/srt/dist/cli.js") : ""));
  }
}

TEST_CASE("without a view there is no place for a temporary home") {
  Fixture f(policy::Backend::landlock);
  f.policy.launch.home = policy::HomeMode::temporary;
  CHECK(f.prepare().error().code == Errc::policy_invalid);
}

TEST_CASE("started by root, these folders lie where the server's account can reach them") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: not root");
    return;
  }
  Fixture f(policy::Backend::landlock);
  f.caller.uid = 0;
  f.caller.environment["XDG_STATE_HOME"] = f.caller.state_home = f.temp.folder("state");
  const Result<HostHome> made = make_host_home(f.caller, "one");
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().to_string()));
  CHECK(made->home == f.temp.at("state/mcp-cordon-homes/homes/one"));
  CHECK(mode_of(f.temp.at("state/mcp-cordon-homes")) == 0711);
  CHECK(mode_of(made->home) == 0700);
  // The stage gives it away; the next start finds it so.
  REQUIRE(::chown(made->home.c_str(), 65534, 65534) == 0);
  CHECK(make_host_home(f.caller, "one").has_value());
  ::rmdir(made->home.c_str());
  f.temp.link("state/mcp-cordon-homes/homes/one", "/tmp");
  CHECK(make_host_home(f.caller, "one").error().code == Errc::file_untrusted);
  f.caller.environment.erase("XDG_STATE_HOME");
  CHECK(host_home(f.caller, "one").home == "/var/lib/mcp-cordon/homes/one");
}

TEST_CASE("a template takes the command as items of its own, and nothing is split") {
  CHECK(sandbox::expand_template({"/usr/bin/runsc", "--cwd={cwd}", "{command}", "end"}, {"sh", "-c", "a b; {cwd}"},
                                 "/data") ==
        std::vector<std::string>{"/usr/bin/runsc", "--cwd=/data", "sh", "-c", "a b; {cwd}", "end"});
  CHECK(sandbox::expand_template({"/x", "{cwd}{cwd}"}, {}, "{cwd}") == std::vector<std::string>{"/x", "{cwd}{cwd}"});
}

TEST_CASE("with a template the whole line is what is started and what is pinned") {
  Fixture f(policy::Backend::command);
  f.policy.isolation.command_template = {f.temp.file("prefix/launcher", "#!/bin/sh\n", 0755), "--", "{command}"};
  const Result<PreparedLaunch> out = f.prepare();
  REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().to_string()));
  const std::vector<std::string> line = {f.temp.at("prefix/launcher"), "--", "sh", "-c", "true"};
  CHECK(out->spec.argv == line);
  CHECK(out->spec.from_template);
  CHECK(out->fingerprint.command == line);
  CHECK(out->spec.executable == line[0]);
  f.policy.isolation.command_template[1] = "--privileged";
  CHECK(f.prepare()->fingerprint.command != line);
}

TEST_CASE("a template's program that others can change is not started") {
  Fixture f(policy::Backend::command);
  f.policy.isolation.command_template = {f.temp.file("prefix/launcher", "#!/bin/sh\n", 0777), "{command}"};
  CHECK(f.prepare().error().code == Errc::file_untrusted);
}

TEST_CASE("what the probe found is known to the next plan, on this boot and for this plan") {
  Fixture f(policy::Backend::command);
  sandbox::LaunchSpec spec;
  spec.backend = sandbox::BackendChoice::command;
  sandbox::HostFacts facts;
  catalog::LaunchFingerprint program;
  program.executable = "sha256:1";
  program.files["/conf"] = "sha256:2";
  REQUIRE(add_confirmation(f.caller, "one", spec, program, facts).has_value());
  CHECK(facts.confirmation.plan_key.empty());

  REQUIRE(record_confirmation(f.caller, "one", some_plan({"/x"}), program, {{"network.outside", true}}).has_value());
  // The template's program, or a file that it is told of, has other content by now.
  catalog::LaunchFingerprint other_program = program;
  other_program.executable = "sha256:3";
  catalog::LaunchFingerprint other_file = program;
  other_file.files["/conf"] = "sha256:3";
  for (const catalog::LaunchFingerprint& other : {other_program, other_file}) {
    REQUIRE(add_confirmation(f.caller, "one", spec, other, facts).has_value());
    CHECK(facts.confirmation.plan_key.empty());
  }
  REQUIRE(add_confirmation(f.caller, "one", spec, program, facts).has_value());
  CHECK(facts.confirmation.plan_key == sandbox::confirmation_key(some_plan({"/x"})));
  CHECK(facts.confirmation.plan_key != sandbox::confirmation_key(some_plan({"/y"})));
  CHECK(!facts.boot_id.empty());
  CHECK(facts.confirmation.boot_id == facts.boot_id);
  REQUIRE(facts.confirmation.details.size() == 1);
  CHECK(facts.confirmation.details[0].held);
  CHECK(mode_of(f.temp.at("home/.local/state/mcp-cordon/confirmations/one.json")) == 0600);

  // Other backends do not depend on it, whatever is there.
  f.temp.file("home/.local/state/mcp-cordon/confirmations/one.json", "no JSON", 0600);
  CHECK(add_confirmation(f.caller, "one", spec, program, facts).error().where.ends_with("one.json"));
  spec.backend = sandbox::BackendChoice::native;
  CHECK(add_confirmation(f.caller, "one", spec, program, facts).has_value());
  spec.backend = sandbox::BackendChoice::command;
  f.temp.file("home/.local/state/mcp-cordon/confirmations/one.json", "{}", 0666);
  CHECK(add_confirmation(f.caller, "one", spec, program, facts).error().code == Errc::file_untrusted);
}
