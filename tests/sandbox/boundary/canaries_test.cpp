// SPDX-License-Identifier: Apache-2.0
// Canaries come into being where nobody else is, and are gone afterwards, however we end.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/text.hpp"
#include "sandbox/boundary/canaries.hpp"
#include "sandbox/boundary/look.hpp"
#include "sandbox/planted.hpp"

using namespace cordon;
using sandbox::BackendChoice;
using sandbox::boundary::Canaries;
using sandbox::boundary::HeldSignals;

namespace {

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

// Runs `body` in a child; the wait status.
int status_of_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);  // doctest has a handler of its own
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("canaries are removed at the end, with their process and their variable") {
  const test::TempFolder folder;
  {
    const auto canaries = Canaries::plant(folder.path(), CORDON_TEST_PROBE);
    REQUIRE(canaries.has_value());
    CHECK(test::read_file((*canaries)->key_path()) == (*canaries)->secret());
    CHECK(::getenv(sandbox::boundary::kCanaryVariable) != nullptr);
    CHECK((*canaries)->changed().empty());
    CHECK_FALSE((*canaries)->contacted());
    test::write_file((*canaries)->unwritten_path(), "x");
    CHECK((*canaries)->changed() == std::vector<std::string>{"made: outside/written"});
  }
  CHECK(entries(folder.path()) == 0);
  CHECK(::getenv(sandbox::boundary::kCanaryVariable) == nullptr);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left
}

TEST_CASE("a signal waits until the canaries are removed, and then does what it does") {
  const test::TempFolder folder;
  const int status = status_of_child([&] {
    const HeldSignals held;
    const auto canaries = Canaries::plant(folder.path(), CORDON_TEST_PROBE);
    ::raise(SIGTERM);
    if (!canaries || !held.arrived() || entries(folder.path()) != 1) {
      ::_exit(1);
    }
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(entries(folder.path()) == 0);
}

TEST_CASE("what a killed process left behind is removed by the next one, and nothing else") {
  const test::TempFolder folder;
  const int status = status_of_child([&] {
    const auto canaries = Canaries::plant(folder.path(), CORDON_TEST_PROBE);
    ::raise(SIGKILL);
  });
  CHECK(WIFSIGNALED(status));
  REQUIRE(entries(folder.path()) == 1);
  const std::string other = folder / "mcp-cordon-probe-link";
  std::filesystem::create_directory(folder / "kept");
  test::write_file(folder / "kept/file", "mine");
  std::filesystem::create_directory_symlink(folder / "kept", other);
  {
    const auto first = Canaries::plant(folder.path(), CORDON_TEST_PROBE);
    REQUIRE(first.has_value());
    CHECK(entries(folder.path()) == 3);
    // One that is in use stays.
    sandbox::boundary::remove_abandoned_canaries(folder.path());
    CHECK(entries(folder.path()) == 3);
  }
  CHECK(entries(folder.path()) == 2);
  CHECK(test::read_file(folder / "kept/file") == "mine");
}

TEST_CASE("a look that is given up ends what was started and says nothing about the boundary") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  const test::Planted planted;
  const sandbox::Plan plan = planted.plan(BackendChoice::native);
  std::array<int, 2> ends = {-1, -1};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  out.reset();  // readable from now on
  const auto found = sandbox::boundary::look(plan, planted.canaries(),
                                             {.launch = {.stage_path = CORDON_TEST_STAGE}, .interrupted = in.get()});
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().code == Errc::timed_out);
}

TEST_CASE("a probe that is cut short is an error") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  const test::Planted planted;
  // The program is started so that it prints nothing.
  sandbox::Plan plan = planted.plan(BackendChoice::native);
  plan.argv = {"mcp-cordon-probe", "hold"};
  const test::Look look = test::look(plan, planted);
  CHECK(look.findings.empty());
  CHECK(look.error.find("did not come to its end") != std::string::npos);
}
