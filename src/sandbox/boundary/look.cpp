// SPDX-License-Identifier: Apache-2.0
#include "sandbox/boundary/look.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include "base/text.hpp"
#include "sandbox/boundary/resolver.hpp"

namespace cordon::sandbox::boundary {
namespace {

using Clock = std::chrono::steady_clock;

// The probe prints some 40 kB; what is above is no probe's.
constexpr std::size_t kMaxBytes = 4'000'000;
constexpr std::size_t kShownBytes = 400;

struct Output {
  std::string out = {};
  std::string err = {};
  std::string status = {};
};

enum class End : std::uint8_t { complete, late, interrupted, too_long };

int left_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

// False at the end of the stream.
bool read_some(int fd, std::string& into) {
  std::array<char, 16'384> buffer = {};
  const ssize_t length = ::read(fd, buffer.data(), buffer.size());
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) {
    return true;
  }
  if (length > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return length > 0;
}

// Once the probe runs. Without the sockets it finds that names are not answered, which is what it says then.
void start_answering(const Plan& plan, const Launched& launched, std::optional<Resolver>& resolver) {
  if (plan.network.hosts()) {
    if (auto sockets = receive_sockets(plan, launched)) {
      resolver.emplace(plan.network.rules, plan.network.doors, std::move(*sockets));
    }
  }
}

End read_all(const Plan& plan, Launched& launched, const LookOptions& options, Output& output) {
  std::optional<Resolver> resolver;
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(options.timeout_ms);
  const std::array<std::pair<UniqueFd*, std::string*>, 3> streams = {
      {{&launched.server_out, &output.out}, {&launched.server_err, &output.err}, {&launched.status, &output.status}}};
  for (;;) {
    std::vector<pollfd> watched(4);
    bool open = false;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      watched[i] = {.fd = streams[i].first->get(), .events = POLLIN, .revents = 0};
      open = open || *streams[i].first;
      if (streams[i].second->size() > kMaxBytes) {
        return End::too_long;
      }
    }
    if (!open) {
      return End::complete;
    }
    watched[3] = {.fd = options.interrupted, .events = POLLIN, .revents = 0};
    const std::vector<pollfd> questions = resolver ? resolver->watched() : std::vector<pollfd>();
    watched.insert(watched.end(), questions.begin(), questions.end());
    const int left = left_until(deadline);
    const int ready = left > 0 ? ::poll(watched.data(), watched.size(), left) : 0;
    if (watched[3].revents != 0) {
      return End::interrupted;
    }
    if (ready == 0) {
      return End::late;
    }
    if (ready > 0 && resolver) {
      resolver->take({watched.begin() + 4, watched.end()});
    }
    for (std::size_t i = 0; ready > 0 && i < streams.size(); ++i) {
      if (watched[i].revents != 0 && !read_some(watched[i].fd, *streams[i].second)) {
        streams[i].first->reset();
        if (streams[i].first == &launched.status && output.status.empty()) {
          start_answering(plan, launched, resolver);
        }
      }
    }
  }
}

Finding seen_outside(const Canaries& canaries) {
  Finding finding{.id = "filesystem.unchanged_outside",
                  .guarantee = "filesystem.write",
                  .verdict = Verdict::held,
                  .expected = "unchanged",
                  .got = "unchanged",
                  .mechanism = "seen from outside",
                  .attempt = "compare",
                  .attempts = 1};
  if (const std::vector<std::string> changes = canaries.changed(); !changes.empty()) {
    finding.verdict = Verdict::breached;
    finding.got = text::join(changes, "; ");
  }
  return finding;
}

// Why there is nothing to read; the status line of the stage says it best.
Error explained(const Error& error, const Output& output, int status, std::string_view backend) {
  if (!output.status.empty()) {
    return error_from_status(output.status, backend);
  }
  Error out = error;
  out.detail += WIFSIGNALED(status) ? text::cat("; it was ended by signal ", WTERMSIG(status))
                                    : text::cat("; exit status ", WEXITSTATUS(status));
  if (!output.err.empty()) {
    out.detail += text::cat("; ", text::printable(output.err, kShownBytes));
  }
  return out;
}

}  // namespace

void tell(Launched& launched, const Canaries& canaries) {
  // Few enough bytes for a pipe to take at once. Whoever has ended already does not read them, and that must not end
  // us.
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const std::string& token = canaries.token();
  [[maybe_unused]] const ssize_t written = ::write(launched.server_in.get(), token.data(), token.size());
  ::signal(SIGPIPE, before);
  launched.server_in.reset();
}

HeldSignals::HeldSignals() {
  sigset_t held;
  ::sigemptyset(&held);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    ::sigaddset(&held, number);
  }
  ::sigprocmask(SIG_BLOCK, &held, &before_);
  arrived_ = UniqueFd(::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
}

HeldSignals::~HeldSignals() {
  // Never read from, so a signal that came is still pending and does now what it would have done.
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

bool HeldSignals::arrived() const {
  pollfd waiting = {.fd = arrived_.get(), .events = POLLIN, .revents = 0};
  return arrived_ && ::poll(&waiting, 1, 0) == 1;
}

Result<std::vector<Finding>> look(const Plan& plan, const Canaries& canaries, const LookOptions& options) {
  Result<Launched> launched = launch(plan, options.launch);
  if (!launched) {
    return std::unexpected(launched.error());
  }
  tell(*launched, canaries);
  Output output;
  const End end = read_all(plan, *launched, options, output);
  if (end != End::complete) {
    launched->lifeline.reset();
    ::kill(launched->pid, SIGKILL);
  }
  int status = 0;
  while (::waitpid(launched->pid, &status, 0) < 0 && errno == EINTR) {
  }
  switch (end) {
    case End::complete:
      break;
    case End::late:
      return fail(Errc::timed_out, text::cat("the probe did not come to its end within ", options.timeout_ms, " ms"),
                  plan.backend);
    case End::interrupted:
      return fail(Errc::timed_out, "interrupted", plan.backend);
    case End::too_long:
      return fail(Errc::launch_failed, "what was started prints more than a probe does", plan.backend);
  }
  Result<std::vector<Finding>> findings = read_findings(output.out);
  if (!findings) {
    Error error = explained(findings.error(), output, status, plan.backend);
    if (plan.backend == "command") {
      error.remedy = text::cat("let the template's program show ", text::printable(canaries.probe()),
                               ", for reading, at its own path");
    }
    return std::unexpected(std::move(error));
  }
  findings->push_back(seen_outside(canaries));
  judge(*findings, plan);
  return findings;
}

}  // namespace cordon::sandbox::boundary
