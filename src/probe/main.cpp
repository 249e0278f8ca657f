// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "base/text.hpp"
#include "probe/check.hpp"
#include "probe/proof.hpp"

namespace cordon::probe {
namespace {

// How far we may go, and why no further.
struct Standing {
  std::string not_inside = {};
  std::string not_alone = {};

  const std::string* reason_against(Place place) const {
    switch (place) {
      case Place::anywhere:
        return nullptr;
      case Place::inside:
        return not_inside.empty() ? nullptr : &not_inside;
      case Place::lo_only:
        return not_inside.empty() ? (not_alone.empty() ? nullptr : &not_alone) : &not_inside;
    }
    return &not_inside;
  }
};

class Lines {
 public:
  void print(const std::string& line) {
    ++count_;
    std::puts(line.c_str());
    std::fflush(stdout);
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

void run_all(std::span<const Check> checks, const Request& request, const Standing& standing, Lines& lines) {
  for (const Check& check : checks) {
    Result result;
    if (const std::string* reason = standing.reason_against(check.place)) {
      result.not_applicable("not tried: " + *reason);
    } else {
      check.run(request, result);
    }
    lines.print(result.line(check.id, check.guarantee, check.mechanism));
  }
}

// The canary process: somebody outside with a secret in its environment. Ends with whoever holds its stdin.
int hold() {
  std::array<char, 64> buffer = {};
  while (::read(STDIN_FILENO, buffer.data(), buffer.size()) > 0) {
  }
  return 0;
}

// Leaves a process behind that holds our stdout, in a session of its own, for some seconds. Which pipe that is, is
// said, since whoever passes streams on would close another one.
int linger(bool at_end) {
  constexpr unsigned kSeconds = 10;
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    ::close(STDIN_FILENO);
    ::close(STDERR_FILENO);
    ::sleep(kSeconds);
    ::_exit(0);
  }
  struct stat stream = {};
  if (child < 0 || ::fstat(STDOUT_FILENO, &stream) != 0) {
    return 1;
  }
  std::printf("{\"id\":\"lingering\",\"stdout\":%llu}\n", static_cast<unsigned long long>(stream.st_ino));
  std::fflush(stdout);
  if (!at_end) {
    ::sleep(kSeconds);
  }
  return 0;
}

int run(const Request& request) {
  Lines lines;
  const std::string missing = missing_token(request);
  if (request.has("linger") && missing.empty()) {
    return linger(request.one("linger") == "at_end");
  }
  Result asked;
  asked.equal("token", "planted", missing.empty() ? "planted" : missing);
  lines.print(asked.line("probe.token", "filesystem", "the launcher's token"));
  if (!missing.empty()) {
    return kNotInside;
  }
  const Standing standing{missing_proof(request), other_interfaces(request)};
  // Where the plan has no namespaces of its own, their absence is no finding: other checks look at what it promises.
  const auto place = [&](std::string_view fact, std::string_view expected, const std::string& missing_sign) {
    Result result;
    if (request.has("namespaces") || missing_sign.empty()) {
      result.equal(fact, expected, missing_sign.empty() ? expected : std::string_view(missing_sign));
    } else {
      result.not_applicable(missing_sign);
    }
    return result;
  };
  lines.print(place("proof", "inside", standing.not_inside).line("processes.inside", "processes.own", "namespaces"));
  lines.print(
      place("interfaces", "lo", standing.not_alone).line("network.interfaces", "network.outside", "network namespace"));
  for (const auto& checks :
       {start_checks(), view_checks(), grant_checks(), cover_checks(), set_id_checks(), procfs_checks(),
        process_checks(), ipc_checks(), network_checks(), egress_checks(), syscall_checks()}) {
    run_all(checks, request, standing, lines);
  }
  // Without this last line a reader knows that something is missing.
  std::printf("{\"id\":\"complete\",\"lines\":%d}\n", lines.count());
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cordon::probe

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "hold") {
    return cordon::probe::hold();
  }
  cordon::probe::Request request;
  for (int i = 1; i < argc; ++i) {
    request.add(argv[i]);
  }
  return cordon::probe::run(request);
}
