// SPDX-License-Identifier: Apache-2.0
// podman, for real: an image made of static programs is started by a plan.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.hpp"
#include "image.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

// Makes the image once for all tests of this file.
const test::Image* image() {
  static const std::optional<test::Image> made = test::Image::make({});
  return made ? &*made : nullptr;
}

struct Place {
  test::TempFolder folder = {};
  std::string scratch = folder / "scratch";
  Place() { std::filesystem::create_directory(scratch); }
};

sandbox::LaunchSpec spec_in(const Place& place, std::vector<std::string> argv) {
  sandbox::LaunchSpec spec = test::spec_for(std::move(argv), BackendChoice::podman);
  spec.image.reference = image()->reference();
  spec.scratch = place.scratch;
  return spec;
}

// Skips with the reason where podman cannot start anything; CORDON_REQUIRE_SANDBOX=1 makes that a failure.
bool must_skip() {
  sandbox::LaunchSpec spec = test::spec_for({"/bin/sh"}, BackendChoice::podman);
  const auto facts = sandbox::probe_host(spec, "");
  std::string reason;
  if (!facts) {
    reason = facts.error().to_string();
  } else if (!facts->podman.trial.works) {
    reason = text::cat("podman: ", facts->podman.trial.reason, ": ", facts->podman.trial.hint);
  } else if (test::static_shell().empty()) {
    reason = "no static busybox (apt-get install busybox-static)";
  } else if (image() == nullptr) {
    reason = "podman cannot import an image";
  }
  if (reason.empty()) {
    return false;
  }
  const char* required = std::getenv("CORDON_REQUIRE_SANDBOX");
  if (required != nullptr && std::string_view(required) == "1") {
    FAIL("CORDON_REQUIRE_SANDBOX=1, but: ", reason);
  }
  std::fprintf(stderr, "SKIPPED: %s\n", reason.c_str());
  return true;
}

}  // namespace

TEST_CASE("a program of an image answers over the launcher's own pipes") {
  if (must_skip()) {
    return;
  }
  const Place place;
  const test::Outcome outcome =
      test::run(test::plan_for(spec_in(
                    place, {"sh", "-c", "read line; echo got $line; echo to-err >&2; id -u; pwd; env; exit 7"})),
                "hello\n");
  CHECK(outcome.status == "");
  CHECK(outcome.out.find("got hello\n") == 0);
  CHECK(outcome.out.find("\n/srv\n") != std::string::npos);
  CHECK(outcome.out.find("COLOUR=blue\n") != std::string::npos);
  CHECK(outcome.out.find("HOME=/home/cordon\n") != std::string::npos);
  CHECK(outcome.err == "to-err\n");
  CHECK(outcome.exit_code == 7);
  CHECK(test::containers_left() == "");
  CHECK(std::filesystem::is_empty(place.scratch));
}
