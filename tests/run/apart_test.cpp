// SPDX-License-Identifier: Apache-2.0
#include "run/apart.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>

#include "base/fd.hpp"

using namespace cordon;

namespace {

constexpr std::size_t kEnough = 10'000'000;

}  // namespace

TEST_CASE("what is worked out apart comes back whole, be it a text or an error") {
  const std::string big(3'000'000, '\0');
  CHECK(run::apart([&] { return Result<std::string>(big); }, kEnough).value() == big);
  CHECK(run::apart([] { return Result<std::string>(""); }, kEnough).value().empty());
  const Error error{Errc::timed_out, "detail", "", "remedy"};
  CHECK(run::apart([&] { return Result<std::string>(std::unexpected(error)); }, kEnough).error() == error);
}

TEST_CASE("a text from apart that is an error cannot steer a terminal") {
  const auto result = run::apart(
      [] { return Result<std::string>(fail(Errc::internal, "\x1b[31mred", std::string("a\0b", 3), "")); }, kEnough);
  CHECK(result.error().detail.find('\x1b') == std::string::npos);
  CHECK(result.error().where == "a");
}

TEST_CASE("a process that dies, says nothing or too much is an error") {
  CHECK(run::apart(
            []() -> Result<std::string> {
              ::raise(SIGKILL);
              return "";
            },
            kEnough)
            .error()
            .code == Errc::internal);
  CHECK(run::apart([]() -> Result<std::string> { ::_exit(0); }, kEnough).error().code == Errc::internal);
  CHECK(run::apart([] { return Result<std::string>(std::string(70'000, 'x')); }, 1000).error().code ==
        Errc::message_too_large);
}

TEST_CASE("the process apart has standard error and nothing else of ours") {
  const UniqueFd ours(::open("/dev/null", O_RDONLY));
  REQUIRE(ours);
  const auto open_ones = run::apart(
      [] {
        std::string numbers;
        for (int fd = 0; fd < 256; ++fd) {
          numbers += ::fcntl(fd, F_GETFD) >= 0 ? std::to_string(fd) + " " : "";
        }
        return Result<std::string>(numbers);
      },
      kEnough);
  CHECK(open_ones.value() == "0 1 2 3 ");  // /dev/null twice, standard error, the pipe
}
