// SPDX-License-Identifier: Apache-2.0
#include "run/harness.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <fstream>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace cordon::run::test {
namespace {

constexpr int kPatienceMs = 20'000;

class FakeEngine final : public Engine {
 public:
  FakeEngine(Behaviour behaviour, int trace_fd) : how_(std::move(behaviour)), trace_fd_(trace_fd) {}

  gate::Actions start(Instant now) override {
    gate::Actions actions;
    if (how_.tick_after_start_ms >= 0) {
      deadline_ = now + how_.tick_after_start_ms;
    }
    if (!how_.greeting.empty()) {
      actions.emplace_back(gate::ToClient{how_.greeting});
    }
    if (how_.drop_spare_at_start) {
      actions.emplace_back(gate::DropSpare{});
    }
    if (how_.stop_at_start) {
      actions.emplace_back(gate::Stop{how_.status});
    }
    trace("start");
    return actions;
  }
  gate::Actions feed(gate::Side from, std::string_view bytes, Instant) override {
    gate::Actions actions;
    const bool from_client = from == gate::Side::client;
    if (from_client ? how_.answer_client : !how_.answer_server) {
      actions.emplace_back(gate::ToClient{std::string(bytes)});
      return actions;
    }
    if (how_.record_chunks) {
      actions.emplace_back(gate::Record{R"({"event":"call"})"});
    }
    actions.emplace_back(gate::ToServer{std::string(bytes)});
    return actions;
  }
  gate::Actions end(gate::Side from, Instant now) override {
    trace(from == gate::Side::client ? "end client" : "end server");
    gate::Actions actions;
    if (from == gate::Side::client) {
      deadline_ = now + how_.kill_after_end_ms;
      if (how_.close_on_end) {
        actions.emplace_back(gate::CloseServerInput{});
      }
      if (how_.stop_on_client_end) {
        actions.emplace_back(gate::Stop{how_.status});
      }
    } else if (how_.stop_on_server_end) {
      actions.emplace_back(gate::Stop{how_.status});
    }
    return actions;
  }
  gate::Actions exited(gate::ExitReport report, Instant) override {
    trace(text::cat("exited ", report.signalled ? "signal " : "status ", report.code));
    gate::Actions actions;
    if (std::exchange(how_.respawn_on_exit, false)) {
      actions.emplace_back(gate::Respawn{});
      actions.emplace_back(gate::ToServer{"for the second\n"});
      return actions;
    }
    if (how_.stop_on_exit) {
      actions.emplace_back(gate::Stop{how_.status});
    }
    return actions;
  }
  gate::Actions respawned(const Status& how, Instant) override {
    trace(how ? "respawned" : text::cat("not respawned: ", how.error().detail));
    return {};
  }
  gate::Actions terminate(Instant) override {
    trace("terminate");
    gate::Actions actions;
    if (how_.terminate_on_signal) {
      actions.emplace_back(gate::SignalServer{gate::SignalServer::Kind::terminate});
    }
    return actions;
  }
  gate::Actions audit_failed(Instant) override {
    trace("audit failed");
    gate::Actions actions;
    actions.emplace_back(gate::ToClient{"audit failed\n"});
    actions.emplace_back(gate::ToServer{"must not arrive\n"});
    actions.emplace_back(gate::CloseServerInput{});
    if (how_.stop_on_audit_failure) {
      actions.emplace_back(gate::Stop{exit_status(Errc::audit_unavailable)});
    }
    return actions;
  }
  gate::Actions tick(Instant now) override {
    trace("tick");
    CORDON_ASSERT(deadline_ && now >= *deadline_);
    deadline_.reset();
    gate::Actions actions;
    actions.emplace_back(gate::SignalServer{gate::SignalServer::Kind::kill});
    return actions;
  }
  std::optional<Instant> next_deadline() const override { return deadline_; }

 private:
  void trace(std::string_view what) const {
    const std::string line = text::cat(what, "\n");
    CORDON_ASSERT(::write(trace_fd_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }
  Behaviour how_;
  int trace_fd_;
  std::optional<Instant> deadline_ = {};
};

class FakeSink final : public RecordSink {
 public:
  explicit FakeSink(int fail_at) : fail_at_(fail_at) {}
  Status append(std::string_view) override {
    return count_++ == fail_at_ ? fail(Errc::audit_unavailable, "no space", "audit") : Status();
  }
  Status flush() override { return {}; }
  std::optional<Instant> next_deadline() const override { return std::nullopt; }

 private:
  int fail_at_;
  int count_ = 0;
};

ServerProcess start_server(const std::string& script) {
  ServerProcess server;
  cordon::test::Pipe in;
  cordon::test::Pipe out;
  cordon::test::Pipe err;
  server.pid = ::fork();
  CORDON_ASSERT(server.pid >= 0);
  if (server.pid == 0) {
    ::dup2(in.read.get(), 0);
    ::dup2(out.write.get(), 1);
    ::dup2(err.write.get(), 2);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  server.in = std::move(in.write);
  server.out = std::move(out.read);
  server.err = std::move(err.read);
  return server;
}

}  // namespace

SpareServer spare_server(const std::string& script, const std::string& says) {
  SpareServer spare;
  cordon::test::Pipe in;
  cordon::test::Pipe out;
  cordon::test::Pipe err;
  cordon::test::Pipe status;
  cordon::test::Pipe lifeline;
  const std::string whole = text::cat("test \"$(head -c1 <&3)\" = s || exit 0; ",
                                      says.empty() ? std::string() : text::cat("echo ", says, " >&4; exit 125; "),
                                      "exec 3<&- 4>&-; ", script);
  spare.process.pid = ::fork();
  CORDON_ASSERT(spare.process.pid >= 0);
  if (spare.process.pid == 0) {
    ::setpgid(0, 0);
    constexpr int kHigh = 100;
    const int life = ::fcntl(lifeline.read.get(), F_DUPFD_CLOEXEC, kHigh);
    const int told = ::fcntl(status.write.get(), F_DUPFD_CLOEXEC, kHigh);
    ::dup2(in.read.get(), 0);
    ::dup2(out.write.get(), 1);
    ::dup2(err.write.get(), 2);
    ::dup2(life, 3);
    ::dup2(told, 4);
    ::close_range(5, ~0U, 0);
    ::execl("/bin/sh", "sh", "-c", whole.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::setpgid(spare.process.pid, spare.process.pid);
  spare.process.in = std::move(in.write);
  spare.process.out = std::move(out.read);
  spare.process.err = std::move(err.read);
  spare.process.lifeline = std::move(lifeline.write);
  spare.status = std::move(status.read);
  return spare;
}

bool readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1;
}

std::string numbered(std::size_t bytes) {
  std::string out;
  for (int i = 0; out.size() < bytes; ++i) {
    out += text::cat(i, "\n");
  }
  return out;
}

ProxyRun::ProxyRun(Options options) {
  cordon::test::Pipe to;
  cordon::test::Pipe from;
  if (options.client == ClientKind::socket) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    to.read = UniqueFd(ends[0]);
    to.write = UniqueFd(ends[1]);
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    from.read = UniqueFd(ends[0]);
    from.write = UniqueFd(ends[1]);
  }
  pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    to.write.reset();
    from.read.reset();
    log_pipe_.read.reset();
    trace_pipe_.read.reset();
    lifeline_pipe_.read.reset();
    options.client_in = options.client_in >= 0 ? options.client_in : to.read.get();
    options.client_out = options.client_out >= 0 ? options.client_out : from.write.get();
    child(options);
  }
  in = std::move(to.write);
  out = std::move(from.read);
  log_pipe_.write.reset();
  trace_pipe_.write.reset();
  lifeline_pipe_.write.reset();
  lifeline = std::move(lifeline_pipe_.read);
}

ProxyRun::~ProxyRun() {
  if (!waited_) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

void ProxyRun::child(Options& options) {
  // The test framework catches signals to report them; here and in the server they mean what they mean.
  for (const int number : {SIGTERM, SIGINT, SIGABRT, SIGSEGV, SIGFPE, SIGILL}) {
    ::signal(number, SIG_DFL);
  }
  options.before();
  ProxyConfig config;
  config.client_in = options.client_in;
  config.client_out = options.client_out;
  if (!options.script.empty()) {
    config.server = start_server(options.script);
    config.server.lifeline = std::move(lifeline_pipe_.write);
  }
  options.tune(config);
  FakeEngine engine(options.behaviour, trace_pipe_.write.get());
  Log log({.fd = log_pipe_.write.get(), .server = "demo"});
  std::optional<audit::Writer> writer;
  std::unique_ptr<RecordSink> sink = std::make_unique<FakeSink>(options.behaviour.fail_record);
  if (!options.audit_state_dir.empty()) {
    auto opened = audit::Writer::open(
        {.state_dir = options.audit_state_dir, .server = "demo", .session_id = "s", .version = "0"});
    CORDON_ASSERT(opened);
    writer.emplace(std::move(*opened));
    sink = std::make_unique<AuditSink>(*writer);
  }
  const auto status = run_proxy(std::move(config), engine, *sink, log);
  ::_exit(status ? *status : 255);
}

void ProxyRun::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(in.get(), bytes.data(), bytes.size());
    REQUIRE(count > 0);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::size_t ProxyRun::send_until_stuck(std::string_view chunk, std::size_t most, int quiet_ms) {
  std::size_t sent = 0;
  pollfd entry{in.get(), POLLOUT, 0};
  ::fcntl(in.get(), F_SETFL, O_NONBLOCK);
  while (sent < most && ::poll(&entry, 1, quiet_ms) == 1) {
    const ssize_t count = ::write(in.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EAGAIN) {
      continue;
    }
    if (count <= 0) {
      break;
    }
    sent += static_cast<std::size_t>(count);
  }
  ::fcntl(in.get(), F_SETFL, 0);
  return sent;
}

std::string ProxyRun::receive(std::size_t count) {
  std::string got;
  std::array<char, 65536> buffer;
  while (got.size() < count) {
    REQUIRE(readable(out.get(), kPatienceMs));
    const ssize_t more = ::read(out.get(), buffer.data(), std::min(buffer.size(), count - got.size()));
    REQUIRE(more >= 0);
    if (more == 0) {
      break;
    }
    got.append(buffer.data(), static_cast<std::size_t>(more));
  }
  return got;
}

bool ProxyRun::wait_for(std::string_view traced) {
  const std::string line = text::cat(traced, "\n");
  std::array<char, 4096> buffer;
  while (!trace.contains(line)) {
    if (!readable(trace_pipe_.read.get(), kPatienceMs)) {
      return false;
    }
    const ssize_t count = ::read(trace_pipe_.read.get(), buffer.data(), buffer.size());
    if (count <= 0) {
      trace_ended_ = true;
      return false;
    }
    trace.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return true;
}

int ProxyRun::wait() {
  // The trace ends when the proxy does, and reading it has a deadline.
  wait_for("never traced");
  if (!trace_ended_) {
    MESSAGE("the proxy went on for too long");
    ::kill(pid, SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  waited_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::int64_t ProxyRun::resident_kb() const {
  std::ifstream in_file(text::cat("/proc/", pid, "/status"));
  for (std::string word; in_file >> word;) {
    if (word == "VmHWM:") {
      std::int64_t kb = 0;
      in_file >> kb;
      return kb;
    }
  }
  return -1;
}

std::string ProxyRun::log_to_end() {
  std::string got;
  std::array<char, 4096> buffer;
  for (;;) {
    REQUIRE(readable(log_pipe_.read.get(), kPatienceMs));
    const ssize_t count = ::read(log_pipe_.read.get(), buffer.data(), buffer.size());
    if (count <= 0) {
      return got;
    }
    got.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace cordon::run::test
