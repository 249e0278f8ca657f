// SPDX-License-Identifier: Apache-2.0
// Plans as text: what is promised, what is seen, which steps in which order. Made without privileges.
#include "sandbox/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "core/json/limits.hpp"
#include "core/json/read.hpp"
#include "facts.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/plan_codec.hpp"
#include "sandbox/select.hpp"

using namespace cordon;
using namespace cordon::sandbox;
using cordon::test::able_host;
using cordon::test::root_on;
using cordon::test::simple_spec;

namespace {

Plan plan_of(const LaunchSpec& spec, const HostFacts& facts) {
  auto plan = select(spec, facts);
  REQUIRE_MESSAGE(plan, (plan ? "" : plan.error().to_string()));
  return *plan;
}

std::string words(const std::vector<Step>& steps) {
  std::string text;
  for (const Step step : steps) {
    text += text::cat(text.empty() ? "" : " ", name(step));
  }
  return text;
}

std::string tool_line(const Plan& plan) {
  std::string text;
  for (const ToolArgument& argument : plan.tool_arguments) {
    text += text.empty() ? "" : " ";
    text += argument.kind == ToolArgumentKind::literal ? argument.text
                                                       : text::cat("<", plan.view.at(argument.entry).target, ">");
  }
  return text;
}

// The entries that a grant or a mask made, in order.
std::string own_entries(const Plan& plan) {
  std::string text;
  for (const ViewEntry& entry : plan.view) {
    const bool base = entry.optional || entry.owners == Owners::as_outside;
    if (!base || (entry.kind == EntryKind::cover && !entry.optional)) {
      text += text::cat(name(entry.kind), " ", entry.target, entry.source.empty() ? "" : " from ", entry.source,
                        entry.writable ? " rw\n" : "\n");
    }
  }
  return text;
}

std::string refusal(const LaunchSpec& spec, const HostFacts& facts = able_host()) {
  const auto plan = select(spec, facts);
  return plan ? std::string("accepted") : plan.error().to_string();
}

}  // namespace

TEST_CASE("the order of steps under native") {
  const Plan plan = plan_of(simple_spec(), able_host());
  CHECK(words(plan.steps.outer) == "session descriptors namespaces loopback");
  CHECK(words(plan.steps.init) == "sources root view pivot hostname");
  CHECK(words(plan.steps.server) ==
        "server_session working_directory limits no_new_privileges landlock capabilities syscalls attest");
}

TEST_CASE("root opens what is granted and then stops being root before anything else") {
  const Plan plan = plan_of(simple_spec(), root_on(able_host()));
  CHECK(words(plan.steps.outer) == "session descriptors sources identity namespaces loopback");
  CHECK(words(plan.steps.init) == "root view pivot hostname");
}

TEST_CASE("steps whose means are missing are not in the plan") {
  HostFacts facts = able_host();
  facts.landlock_abi = 0;
  LaunchSpec spec = simple_spec();
  spec.syscall_filter = false;
  spec.require = {"filesystem"};
  const Plan plan = plan_of(spec, facts);
  CHECK(words(plan.steps.server) == "server_session working_directory limits no_new_privileges capabilities attest");
  CHECK(find_guarantee(plan, "filesystem")->reason.find("no Landlock") != std::string::npos);
}

TEST_CASE("bubblewrap is given the hard forms, and our stage as pid 1") {
  LaunchSpec spec = simple_spec();
  spec.backend = BackendChoice::bubblewrap;
  spec.mounts = {{.source = "/data", .target = "/data", .writable = true}};
  const Plan plan = plan_of(spec, able_host());
  CHECK(words(plan.steps.outer) == "session descriptors sources");
  CHECK(words(plan.steps.init) == "identify_sources");
  const std::string line = tool_line(plan);
  CHECK(
      line.starts_with("--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup "
                       "--cap-drop ALL --new-session --die-with-parent --clearenv --as-pid-1 --hostname cordon "
                       "--disable-userns "));
  CHECK(line.find("-try") == std::string::npos);
  CHECK(line.find("--bind </data> /data") != std::string::npos);
  CHECK(line.find("--ro-bind </usr> /usr") != std::string::npos);
  CHECK(line.find("--perms 01777 --size 268435456 --tmpfs /tmp") != std::string::npos);
  CHECK(line.find("--dev ") == std::string::npos);
  CHECK(line.find("--remount-ro / --chdir / -- <") != std::string::npos);
  CHECK(line.find("very-secret") == std::string::npos);
}

TEST_CASE("an old bubblewrap is not asked for what it does not know") {
  HostFacts facts = able_host();
  facts.bubblewrap.disable_userns = false;
  LaunchSpec spec = simple_spec();
  spec.backend = BackendChoice::bubblewrap;
  CHECK(tool_line(plan_of(spec, facts)).find("--disable-userns") == std::string::npos);
  spec.proc_minimal = true;
  CHECK(refusal(spec).find("filesystem.proc") != std::string::npos);
}

TEST_CASE("the basic view") {
  const Plan plan = plan_of(simple_spec(), able_host());
  const std::string text = to_text(plan);
  for (const char* line :
       {"bind /usr read-only\n", "symlink /bin to usr/bin\n", "bind /etc/ssl/certs read-only no-exec\n",
        "tmpfs /tmp read-write no-exec 268435456 bytes\n", "device /dev/null\n", "proc /proc\n", "freeze /proc/sys\n",
        "cover /proc/kcore\n", "tmpfs /home/cordon read-write no-exec"}) {
    CHECK_MESSAGE(text.find(line) != std::string::npos, line, " in\n", text);
  }
  for (const char* absent : {"/lib32", "/dev/tty", "ptmx", "/sys ", "very-secret"}) {
    CHECK_MESSAGE(text.find(absent) == std::string::npos, absent);
  }
  CHECK(text.find("  TOKEN\n") != std::string::npos);
}

TEST_CASE("grants come parents first and deny wins wherever the same thing shows") {
  LaunchSpec spec = simple_spec();
  spec.mounts = {{.source = "/data/docs", .target = "/data/docs", .writable = false},
                 {.source = "/data", .target = "/data", .writable = true},
                 {.source = "/data/docs", .target = "/alias", .writable = false}};
  spec.deny = {"/data/docs/private"};
  CHECK(own_entries(plan_of(spec, able_host())) ==
        "bind /alias from /data/docs\n"
        "bind /data from /data rw\n"
        "bind /data/docs from /data/docs\n"
        "cover /data/docs/private from /data/docs/private\n"
        "cover /alias/private from /data/docs/private\n");
}

TEST_CASE("folders between a write grant and what is mounted in it are mounted on themselves") {
  LaunchSpec spec = simple_spec();
  spec.mounts = {{.source = "/data", .target = "/shared", .writable = true},
                 {.source = "/docs", .target = "/shared/a/b/docs"},
                 {.source = "/plain", .target = "/plain"}};
  spec.deny = {"/shared/a/x/y/secret", "/plain/a/b/secret"};
  CHECK(own_entries(plan_of(spec, able_host())) ==
        "bind /plain from /plain\n"
        "bind /shared from /data rw\n"
        "bind /shared/a from /data/a rw\n"
        "bind /shared/a/b from /data/a/b rw\n"
        "bind /shared/a/b/docs from /docs\n"
        "bind /shared/a/x from /data/a/x rw\n"
        "bind /shared/a/x/y from /data/a/x/y rw\n"
        "cover /shared/a/x/y/secret from /data/a/x/y/secret\n"
        "cover /plain/a/b/secret from /plain/a/b/secret\n");
  // A kept home is a writable grant as well; what the grant shows under another name is held there, too.
  spec.mounts = {{.source = "/data/a", .target = "/alias", .writable = true}};
  spec.deny = {"/home/cordon/a/b/secret"};
  spec.home_source = "/data";
  const std::string text = to_text(plan_of(spec, able_host()));
  for (const char* line : {"bind /home/cordon/a from /data/a read-write no-exec\n",
                           "bind /home/cordon/a/b from /data/a/b read-write no-exec\n",
                           "bind /alias/b from /data/a/b read-write (granted)\n", "cover /alias/b/secret from"}) {
    CHECK_MESSAGE(text.find(line) != std::string::npos, line, " in\n", text);
  }
}

TEST_CASE("grants that make no sense are refused with the path") {
  const auto with = [](std::vector<Mount> mounts, std::vector<std::string> deny = {}) {
    LaunchSpec spec = simple_spec();
    spec.mounts = std::move(mounts);
    spec.deny = std::move(deny);
    return refusal(spec);
  };
  CHECK(with({{.source = "/", .target = "/x"}}).find("root of the file system") != std::string::npos);
  CHECK(with({{.source = "/x", .target = "/"}}).find("root of the file system") != std::string::npos);
  CHECK(with({{.source = "/a/../b", .target = "/b"}}).starts_with("/a/../b: not an absolute path"));
  CHECK(with({{.source = "/proc/1/root", .target = "/x"}}).find("nothing below /proc") != std::string::npos);
  CHECK(with({{.source = "/x", .target = "/dev/x"}}).find("nothing below /dev") != std::string::npos);
  CHECK(with({{.source = "/a", .target = "/x"}, {.source = "/b", .target = "/x"}}).find("two grants") !=
        std::string::npos);
  CHECK(with({}, {"/data"}).find("lies in nothing that is granted") != std::string::npos);
  CHECK(with({{.source = "/d", .target = "/d"}, {.source = "/d/s/x", .target = "/x"}}, {"/d/s"})
            .find("granted, but it lies in what is denied") != std::string::npos);
}

TEST_CASE("missing and symlinked grants are refused with what they are") {
  LaunchSpec spec = simple_spec();
  spec.mounts = {{.source = "/data", .target = "/data"}};
  HostFacts facts = able_host();
  facts.sources = {{.path = "/data"}};
  CHECK(refusal(spec, facts) == "/data: granted path does not exist (create it or take it out of the policy)");
  facts.sources = {{.path = "/data", .kind = PathKind::symlink, .resolved = "/home/user/.ssh"}};
  CHECK(refusal(spec, facts).find("leads to /home/user/.ssh") != std::string::npos);
}

TEST_CASE("programs outside the system are shown with what they need and no more") {
  LaunchSpec spec = simple_spec();
  spec.runtime = {"node"};
  HostFacts facts = able_host();
  facts.program = {.path = "/home/user/.nvm/versions/node/v22/bin/node",
                   .identity = {1, 2},
                   .found = true,
                   .prefix = "/home/user/.nvm/versions/node/v22",
                   .entry_link = "/opt/mcp/node_modules/pkg/dist/index.js",
                   .entry = "/opt/mcp/node_modules/pkg/dist/index.js",
                   .entry_root = "/opt/mcp/node_modules"};
  CHECK(own_entries(plan_of(spec, facts)) ==
        "bind /home/user/.nvm/versions/node/v22 from /home/user/.nvm/versions/node/v22\n"
        "bind /opt/mcp/node_modules from /opt/mcp/node_modules\n");
  // npm's own links lie in what is shown already; those of a global installation do not.
  facts.program.entry_link = "/opt/mcp/node_modules/.bin/server";
  const auto makes_link = [&] {
    const Plan plan = plan_of(spec, facts);
    return std::ranges::find(plan.view, facts.program.entry_link, &ViewEntry::target) != plan.view.end();
  };
  CHECK_FALSE(makes_link());
  facts.program.entry_link = "/opt/mcp/bin/server";
  CHECK(makes_link());
  spec.mounts = {{.source = "/opt", .target = "/opt"}};
  CHECK(own_entries(plan_of(spec, facts)) ==
        "bind /home/user/.nvm/versions/node/v22 from /home/user/.nvm/versions/node/v22\n"
        "bind /opt from /opt\n");
}

TEST_CASE("every backend's plan is reproducible, keeps secrets and reads back as it was") {
  for (const Backend* backend : backends()) {
    LaunchSpec spec = simple_spec();
    spec.backend = backend->choice;
    spec.none_reason = "test";
    cordon::test::give_image(spec);
    spec.require.clear();
    spec.from_template = backend->choice == BackendChoice::command;
    if (!spec.from_template && backend->choice != BackendChoice::seatbelt) {  // these promise no limits
      spec.limits.cpu_seconds = 7;
    }
    const Plan plan = plan_of(spec, able_host());
    const std::string json = to_json(plan);
    CHECK(json == to_json(plan_of(spec, able_host())));
    CHECK(json.find("very-secret") == std::string::npos);
    CHECK(to_text(plan).find("very-secret") == std::string::npos);
    CHECK(json::read(json, json::Limits{}).has_value());
    CHECK(digest(plan).starts_with("sha256:"));

    const Witness witness = {.namespaces = {1, 2, 3, 4, 5, 6, 7}, .sources = {{8, 9}}, .umask = 027};
    const std::string bytes = encode(plan, witness);
    const auto back = decode(bytes);
    REQUIRE(back);
    CHECK(to_json(back->plan) == json);
    CHECK(back->plan.environment == plan.environment);
    CHECK(back->witness == witness);
    CHECK(!decode(bytes.substr(0, bytes.size() - 1)));
    CHECK(!decode(bytes + "x"));
    CHECK(!decode(""));
    std::string other_version = bytes;
    other_version[0] = static_cast<char>(other_version[0] ^ 1);
    CHECK(!decode(other_version));
  }
}

TEST_CASE("a plan does not claim Landlock where rights for writing are inherited") {
  constexpr std::string_view kLess = "which does not hold where a read-only place lies in a writable one";
  const auto reason = [](const std::string& target, BackendChoice backend) {
    LaunchSpec spec = simple_spec();
    spec.backend = backend;
    spec.mounts = {{.source = "/data", .target = "/data", .writable = true}, {.source = "/docs", .target = target}};
    return find_guarantee(plan_of(spec, able_host()), "filesystem")->reason;
  };
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    CHECK(reason("/docs", backend).find(kLess) == std::string::npos);
    for (const char* target : {"/tmp/docs", "/home/cordon/docs", "/data/docs"}) {
      CHECK_MESSAGE(reason(target, backend).find(kLess) != std::string::npos, target);
    }
  }
}

TEST_CASE("a changed launch has another digest") {
  LaunchSpec spec = simple_spec();
  const std::string before = digest(plan_of(spec, able_host()));
  spec.argv.push_back("--more");
  CHECK(digest(plan_of(spec, able_host())) != before);
}

TEST_CASE("every backend speaks of every guarantee") {
  for (const Backend* backend : backends()) {
    LaunchSpec spec = simple_spec();
    spec.backend = backend->choice;
    spec.none_reason = "test";
    cordon::test::give_image(spec);
    spec.require.clear();
    spec.from_template = backend->choice == BackendChoice::command;
    const Plan plan = plan_of(spec, able_host());
    for (const std::string_view guarantee : kGuarantees) {
      CHECK_MESSAGE(find_guarantee(plan, guarantee) != nullptr, backend->name, " ", guarantee);
    }
  }
}
