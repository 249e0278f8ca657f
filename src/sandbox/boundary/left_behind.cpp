// SPDX-License-Identifier: Apache-2.0
// What becomes of a process that a server leaves behind, asked of a program that is not ours: the process holds the
// server's stdout, so that the end of that stream is its own end.
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include "base/text.hpp"
#include "core/json/limits.hpp"
#include "core/json/read.hpp"
#include "sandbox/boundary/look.hpp"

namespace cordon::sandbox::boundary {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kGraceMs = 4'000;  // less than the process that is left would stay
constexpr std::size_t kMaxBytes = 4'096;

// Reads until a line is whole (`until_line`) or the stream ends; false when neither came in time.
bool read_until(int fd, std::string& out, bool until_line, int timeout_ms) {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (!until_line || out.find('\n') == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting = {.fd = fd, .events = POLLIN, .revents = 0};
    if (left <= 0 || out.size() > kMaxBytes || ::poll(&waiting, 1, static_cast<int>(left)) == 0) {
      return false;
    }
    std::array<char, 512> buffer = {};
    const ssize_t length = ::read(fd, buffer.data(), buffer.size());
    if (length == 0) {
      return true;
    }
    out.append(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  }
  return true;
}

// The pipe that the process holds; nothing when the line is not the probe's.
std::optional<std::uint64_t> pipe_of(const std::string& line) {
  const auto read = json::read(line.substr(0, line.find('\n')), json::Limits{});
  const json::Value number = read ? read->root().find("stdout") : json::Value();
  const auto value = number && number.is(json::Kind::number) ? number.safe_integer() : std::nullopt;
  return value && *value >= 0 ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

void end_all(Launched& launched) {
  launched.lifeline.reset();
  ::kill(launched.pid, SIGKILL);
  while (::waitpid(launched.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<Finding> left_behind(const Plan& plan, const Canaries& canaries, const LookOptions& options, bool killed) {
  Result<Launched> launched = launch(plan, options.launch);
  if (!launched) {
    return std::unexpected(launched.error());
  }
  tell(*launched, canaries);
  Finding finding{.id = killed ? "processes.left_when_killed" : "processes.left_at_end",
                  .guarantee = "processes.end",
                  .expected = "ended",
                  .mechanism = "seen from outside",
                  .attempt = killed ? "leave a process, kill the launch" : "leave a process, exit",
                  .attempts = 1};
  std::string line;
  const int out = launched->server_out.get();
  const bool heard = read_until(out, line, true, static_cast<int>(options.timeout_ms));
  const std::optional<std::uint64_t> pipe = heard ? pipe_of(line) : std::nullopt;
  struct stat ours = {};
  if (!pipe || ::fstat(out, &ours) != 0) {
    end_all(*launched);
    return fail(Errc::launch_failed, "the probe did not come to leave a process behind", plan.backend);
  }
  if (killed) {
    end_all(*launched);
  }
  const bool gone = read_until(out, line, false, kGraceMs);
  if (!killed) {
    end_all(*launched);
  }
  if (*pipe != ours.st_ino) {
    finding.verdict = Verdict::not_applicable;
    finding.reason = "not tried: its output is passed on by another process, so that its end cannot be seen";
    return finding;
  }
  finding.verdict = gone ? Verdict::held : Verdict::breached;
  finding.got = gone ? "ended" : "still there";
  return finding;
}

}  // namespace cordon::sandbox::boundary
