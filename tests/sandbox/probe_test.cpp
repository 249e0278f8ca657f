// SPDX-License-Identifier: Apache-2.0
// The boundary, tested from inside: every backend, as whoever runs the tests and as an ordinary user.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "canaries.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

constexpr std::size_t kAtLeast = 200;

std::string hold(BackendChoice backend) {
  const test::Canaries canaries;
  std::size_t checks = 0;
  std::string wrong = test::breaches(test::plan_for(canaries.spec(backend)), checks);
  // What the probe did where it may, seen from here.
  const auto exists = [&](const char* name) { return ::access((canaries.folder() / name).c_str(), F_OK) == 0; };
  if (exists("beside") || exists("read/new") || !exists("read/file") || !exists("write/secret.txt")) {
    wrong += "something changed outside\n";
  }
  struct stat status = {};
  if (::stat((canaries.folder() / "write/folder/moved").c_str(), &status) != 0 || status.st_uid != ::geteuid()) {
    wrong += "what was written does not belong to the owner outside\n";
  }
  if (wrong.empty() && checks < kAtLeast) {
    return text::cat("only ", checks, " checks were made");
  }
  return wrong;
}

}  // namespace

TEST_CASE("native holds against the probe") {
  if (!test::must_skip(BackendChoice::native)) {
    CHECK(test::as_we_are([] { return hold(BackendChoice::native); }) == "");
  }
}

TEST_CASE("native holds against the probe as an ordinary user") {
  if (!test::must_skip(BackendChoice::native)) {
    CHECK(test::as_ordinary_user([] { return hold(BackendChoice::native); }) == "");
  }
}

TEST_CASE("bubblewrap holds against the probe") {
  if (!test::must_skip(BackendChoice::bubblewrap)) {
    CHECK(test::as_we_are([] { return hold(BackendChoice::bubblewrap); }) == "");
  }
}

TEST_CASE("bubblewrap holds against the probe as an ordinary user") {
  if (!test::must_skip(BackendChoice::bubblewrap)) {
    CHECK(test::as_ordinary_user([] { return hold(BackendChoice::bubblewrap); }) == "");
  }
}

TEST_CASE("started without a sandbox, the probe does nothing") {
  sandbox::LaunchSpec spec = test::spec_for({CORDON_TEST_PROBE, "key=/etc/hostname"}, BackendChoice::none);
  const test::Outcome outcome = test::run(test::plan_for(spec));
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.out.find("\"id\":\"inside\"") != std::string::npos);
  CHECK(outcome.out.find('\n') == outcome.out.size() - 1);
}
