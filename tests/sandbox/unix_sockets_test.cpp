// SPDX-License-Identifier: Apache-2.0
// ipc.unix_sockets: what stops a server from reaching sockets that are not listed, and when nothing does.
#include <doctest/doctest.h>

#include "base/text.hpp"
#include "facts.hpp"
#include "sandbox/select.hpp"

using namespace cordon;
using namespace cordon::sandbox;

namespace {

struct Case {
  int abi = 7;
  bool folder = false;
  bool listed = false;
  bool filter = true;
};

// "strength, calls allowed or refused: reason", or the refusal.
std::string verdict(const Case& one, BackendChoice backend = BackendChoice::native) {
  HostFacts facts = test::able_host();
  facts.landlock_abi = one.abi;
  facts.sources = {{.path = "/data", .kind = PathKind::directory},
                   {.path = "/file", .kind = PathKind::file},
                   {.path = "/run/s", .kind = PathKind::socket}};
  LaunchSpec spec = test::simple_spec();
  spec.backend = backend;
  spec.mounts = {{.source = "/file", .target = "/file"}};
  if (one.folder) {
    spec.mounts.push_back({.source = "/data", .target = "/data"});
  }
  if (one.listed) {
    spec.unix_sockets = {"/run/s"};
  }
  if (!one.filter) {
    spec.syscall_filter = false;
    std::erase(spec.require, "syscalls");
  }
  const auto plan = select(spec, facts);
  if (!plan) {
    return plan.error().to_string();
  }
  const Guarantee* sockets = find_guarantee(*plan, "ipc.unix_sockets");
  return text::cat(name(sockets->strength), ", calls ", name(plan->unix_sockets), ": ", sockets->reason);
}

}  // namespace

TEST_CASE("without a folder of the outside there is nothing to stop") {
  CHECK(verdict({}) == "enforced, calls allowed: no folder is shown that could hold one");
  CHECK(verdict({.listed = true}) == "enforced, calls allowed: no folder is shown that could hold one");
  CHECK(verdict({.abi = 0, .listed = true}).starts_with("enforced, calls allowed"));
}

TEST_CASE("a kernel that can tell sockets apart leaves the server its own") {
  CHECK(verdict({.abi = 9, .folder = true}) == "enforced, calls allowed: Landlock ABI 9");
  CHECK(verdict({.abi = 9, .folder = true, .listed = true}) == "enforced, calls allowed: Landlock ABI 9");
  CHECK(verdict({.abi = 9, .folder = true, .filter = false}) == "enforced, calls allowed: Landlock ABI 9");
}

TEST_CASE("an older one leaves none, as soon as a folder is granted") {
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap}) {
    CHECK(verdict({.folder = true}, backend) ==
          "enforced, calls refused: seccomp, no Unix sockets but connected pairs of streams");
  }
  CHECK(verdict({.abi = 8, .folder = true}).starts_with("enforced, calls refused"));
  CHECK(verdict({.abi = 0, .folder = true}).starts_with("enforced, calls refused"));
}

TEST_CASE("where nothing can stop the others, the launch is refused with what to do") {
  for (const Case& one : {Case{.folder = true, .listed = true}, Case{.folder = true, .filter = false}}) {
    const std::string refusal = verdict(one);
    CHECK_MESSAGE(refusal.find("requirement ipc.unix_sockets is not enforced (asked for by isolation.require): reason "
                               "landlock_abi7") != std::string::npos,
                  refusal);
    CHECK(refusal.find("take ipc out of isolation.require") != std::string::npos);
  }
}

TEST_CASE("a launch that does not require ipc may say partial") {
  HostFacts facts = test::able_host();
  LaunchSpec spec = test::simple_spec();
  std::erase(spec.require, "ipc");
  spec.mounts = {{.source = "/data", .target = "/data"}};
  spec.unix_sockets = {"/run/s"};
  const auto plan = select(spec, facts);
  REQUIRE(plan);
  CHECK(find_guarantee(*plan, "ipc.unix_sockets")->strength == Strength::partial);
  CHECK(plan->unix_sockets == UnixSockets::allowed);
}

TEST_CASE("a program's own folder counts like a grant, those of the system do not") {
  HostFacts facts = test::able_host();
  LaunchSpec spec = test::simple_spec();
  facts.program.prefix = "/home/user/.nvm/versions/node/v22";
  facts.program.path = "/home/user/.nvm/versions/node/v22/bin/node";
  const auto plan = select(spec, facts);
  REQUIRE(plan);
  CHECK(plan->unix_sockets == UnixSockets::refused);
}

TEST_CASE("what is listed must be a socket, and a socket must be listed") {
  HostFacts facts = test::able_host();
  LaunchSpec spec = test::simple_spec();
  const auto refusal = [&] {
    const auto plan = select(spec, facts);
    return plan ? std::string("accepted") : plan.error().to_string();
  };
  spec.unix_sockets = {"/run/s"};
  facts.sources = {{.path = "/run/s", .kind = PathKind::file}};
  CHECK(refusal().starts_with("/run/s: is no socket"));
  facts.sources = {{.path = "/run/s"}};
  CHECK(refusal().starts_with("/run/s: listed socket does not exist"));
  spec.unix_sockets = {"/dev/log"};
  CHECK(refusal().find("nothing below /proc, /dev and /sys") != std::string::npos);
  spec.unix_sockets.clear();
  spec.mounts = {{.source = "/run/s", .target = "/run/s"}};
  facts.sources = {{.path = "/run/s", .kind = PathKind::socket}};
  CHECK(refusal().find("isolation.unix_sockets") != std::string::npos);
}
