// SPDX-License-Identifier: Apache-2.0
// Allowed hosts from inside: what is listed is reached by unmodified programs, and nothing else is.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "base/text.hpp"
#include "fake_broker.hpp"
#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;
using sandbox::Plan;
using sandbox::Step;

namespace {

constexpr std::array kBackends = {BackendChoice::native, BackendChoice::bubblewrap};

egress::Rules rules_for_test() {
  egress::Rules rules;
  rules.allow = {{.host = "one.test", .ports = {443, 8443}},
                 {.host = "two.test", .ports = {443}},
                 {.kind = egress::HostKind::address, .host = "10.1.2.3", .ports = {22}, .private_addresses = true},
                 {.kind = egress::HostKind::address, .host = "127.0.0.1", .ports = {5432}, .private_addresses = true}};
  return rules;
}

egress::Rules rules_with_wildcard() {
  egress::Rules rules = rules_for_test();
  rules.allow.push_back({.kind = egress::HostKind::wildcard, .host = "wild.test", .ports = {443}});
  return rules;
}

sandbox::LaunchSpec reaching(std::vector<std::string> argv, BackendChoice backend, egress::Rules rules) {
  sandbox::LaunchSpec spec = test::spec_for(std::move(argv), backend);
  spec.network = std::move(rules);
  return spec;
}

// Reads the status pipe to its end, which is when the server has been started, and starts answering.
struct Session {
  sandbox::Launched launched;
  std::string status;
  std::unique_ptr<test::FakeBroker> broker = {};
  std::string error = {};

  explicit Session(const Plan& plan, int trace_fd = -1)
      : launched(test::start(plan, trace_fd)), status(test::read_to_end(launched.status.get())) {
    if (!status.empty()) {
      return;
    }
    auto sockets = sandbox::receive_sockets(plan, launched);
    if (!sockets) {
      error = sockets.error().to_string();
      return;
    }
    broker = std::make_unique<test::FakeBroker>(plan.network.rules, plan.network.doors, std::move(*sockets));
  }
};

test::Outcome run(const Plan& plan) {
  Session session(plan);
  test::Outcome outcome = test::finish(std::move(session.launched));
  outcome.status += session.status + session.error;
  return outcome;
}

test::Outcome run_client(BackendChoice backend, const egress::Rules& rules, std::vector<std::string> attempts) {
  attempts.insert(attempts.begin(), CORDON_TEST_EGRESS_CLIENT);
  return run(test::plan_for(reaching(std::move(attempts), backend, rules)));
}

std::string missing_in(const test::Outcome& outcome, std::initializer_list<std::string_view> lines) {
  std::string wrong = outcome.status;
  for (const std::string_view line : lines) {
    if (outcome.out.find(text::cat(line, "\n")) == std::string::npos) {
      wrong += text::cat("not there: ", line, "\n");
    }
  }
  return wrong.empty() ? wrong : text::cat(wrong, outcome.out, outcome.err);
}

template <typename Body>
void everywhere(Body body) {
  for (const BackendChoice backend : kBackends) {
    if (test::must_skip(backend)) {
      continue;
    }
    CAPTURE(backend);
    // A child of its own: what it starts has threads.
    CHECK(test::in_child([&] { return body(backend); }) == "");
    CHECK(test::as_ordinary_user([&] { return body(backend); }) == "");
  }
}

}  // namespace

TEST_CASE("listed hosts are reached by name, each at its own address, and by listed addresses") {
  everywhere([](BackendChoice backend) {
    return missing_in(run_client(backend, rules_for_test(),
                                 {"resolve:one.test", "get:one.test:443", "get:one.test:8443", "get:two.test:443",
                                  "get:10.1.2.3:22", "get:127.0.0.1:5432", "dns-tcp:two.test"}),
                      {"resolve one.test 198.18.1.1", "get one.test:443 door 198.18.1.1:443",
                       "get one.test:8443 door 198.18.1.1:8443", "get two.test:443 door 198.18.1.2:443",
                       "get 10.1.2.3:22 door 10.1.2.3:22", "get 127.0.0.1:5432 door 127.0.0.1:5432",
                       "dns-tcp two.test rcode 0 answers 1"});
  });
}

TEST_CASE("nothing else is reached: names, ports, addresses, metadata, UDP, other resolvers") {
  everywhere([](BackendChoice backend) {
    return missing_in(
        run_client(backend, rules_for_test(),
                   {"resolve:three.test", "dns-tcp:three.test", "connect:198.18.1.1:444", "connect:198.18.1.2:8443",
                    "connect:198.18.77.1:443", "connect:10.1.2.3:443", "connect:192.0.2.1:443",
                    "connect:169.254.169.254:80", "connect:127.0.0.1:22", "connect:8.8.8.8:53", "udp:198.18.1.1:443",
                    "udp:192.0.2.1:443", "udp:8.8.8.8:53"}),
        {"resolve three.test EAI_NONAME", "dns-tcp three.test rcode 3 answers 0", "connect 198.18.1.1:444 ECONNREFUSED",
         "connect 198.18.1.2:8443 ECONNREFUSED", "connect 198.18.77.1:443 ECONNREFUSED",
         "connect 10.1.2.3:443 ECONNREFUSED", "connect 192.0.2.1:443 ECONNREFUSED",
         "connect 169.254.169.254:80 ECONNREFUSED", "connect 127.0.0.1:22 ECONNREFUSED",
         "connect 8.8.8.8:53 ECONNREFUSED", "udp 198.18.1.1:443 ECONNREFUSED", "udp 192.0.2.1:443 ECONNREFUSED",
         "udp 8.8.8.8:53 ECONNREFUSED"});
  });
}

TEST_CASE("a listener on the machine's loopback is not reached, allowed or not") {
  everywhere([](BackendChoice backend) -> std::string {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof place;
    if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&place), length) != 0 || ::listen(listener.get(), 1) != 0 ||
        ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&place), &length) != 0) {
      return "no listener";
    }
    const int port = ntohs(place.sin_port);
    return missing_in(run_client(backend, rules_for_test(), {text::cat("connect:127.0.0.1:", port)}),
                      {text::cat("connect 127.0.0.1:", port, " ECONNREFUSED")});
  });
}

TEST_CASE("names below a wildcard get doors when they are asked for") {
  everywhere([](BackendChoice backend) {
    return missing_in(
        run_client(backend, rules_with_wildcard(),
                   {"get:a.wild.test:443", "get:b.c.wild.test:443", "get:a.wild.test:443", "get:a.wild.test:444",
                    "resolve:wild.test", "get:one.test:443"}),
        {"get a.wild.test:443 door 198.19.0.1:443", "get b.c.wild.test:443 door 198.19.0.2:443",
         "get a.wild.test:444 ECONNREFUSED", "resolve wild.test EAI_NONAME", "get one.test:443 door 198.18.1.1:443"});
  });
}

TEST_CASE("the agent opens nothing but what lies below a wildcard, and ends at what is no request") {
  everywhere([](BackendChoice backend) -> std::string {
    Session session(test::plan_for(reaching({CORDON_TEST_EGRESS_CLIENT, "wait"}, backend, rules_with_wildcard())));
    if (!session.broker) {
      return session.status + session.error;
    }
    std::string wrong;
    const auto expect = [&](egress::Door door, int error) {
      if (const int got = session.broker->ask_agent(door); got != error) {
        wrong += text::cat(egress::to_string(door.address), ":", door.port, " gave ", got, "\n");
      }
    };
    expect({egress::kFirstWildcard, 443}, 0);
    expect({egress::kFirstWildcard, 443}, EADDRINUSE);
    expect({egress::kFirstWildcard, 444}, EACCES);
    expect({egress::kFirstName, 443}, EACCES);
    expect({egress::ipv4(127, 0, 0, 1), 443}, EACCES);
    expect({egress::ipv4(10, 1, 2, 3), 443}, EACCES);
    expect({egress::ipv4(198, 19, 255, 254), 443}, 0);
    constexpr std::string_view kNoRequest = "sixteen letters.";
    (void)::send(session.broker->agent_fd(), kNoRequest.data(), kNoRequest.size(), MSG_NOSIGNAL);
    pollfd gone = {.fd = session.broker->agent_fd(), .events = 0, .revents = 0};
    constexpr int kPatienceMs = 5000;
    if (::poll(&gone, 1, kPatienceMs) != 1 || (gone.revents & POLLHUP) == 0) {
      wrong += "the agent is still there\n";
    }
    const test::Outcome outcome = test::finish(std::move(session.launched));
    return wrong + (outcome.exit_code == 0 ? "" : text::cat("exit ", outcome.exit_code, outcome.err));
  });
}

namespace {

// Programs of the system, unmodified; those that are not installed are left out.
struct Program {
  const char* path;
  std::vector<std::string> arguments;
  const char* preset;
  const char* expected;
};

const std::vector<Program>& programs() {
  static const std::vector<Program> kList = {
      {"/usr/bin/curl", {"-sS", "http://one.test:8443/"}, "system", "door 198.18.1.1:8443"},
      {"/usr/bin/curl", {"-sS", "http://a.wild.test:443/"}, "system", "door 198.19.0.1:443"},
      {"/usr/bin/python3",
       {"-c", "import urllib.request as r; print(r.urlopen('http://one.test:8443/').read().decode())"},
       "python",
       "door 198.18.1.1:8443"},
      {"/usr/bin/python3",
       {"-c",
        "import socket as s; c=s.create_connection(('two.test',443)); c.send(b'x\\r\\n\\r\\n'); "
        "print(c.recv(999).decode())"},
       "python",
       "door 198.18.1.2:443"},
      {"/usr/bin/node",
       {"-e", "fetch('http://one.test:8443/').then(r => r.text()).then(t => console.log(t))"},
       "node",
       "door 198.18.1.1:8443"},
      {"/usr/bin/node",
       {"-e", "require('http').get('http://two.test:443/', r => r.on('data', d => console.log(String(d))))"},
       "node",
       "door 198.18.1.2:443"},
      {"/usr/bin/node",
       {"-e", "require('dns').resolve4('one.test', (e, a) => console.log(e, a))"},
       "node",
       "null [ '198.18.1.1' ]"},
      {"/usr/bin/node", {"-e", "require('dns').resolve4('three.test', e => console.log(e.code))"}, "node", "ENOTFOUND"},
      {CORDON_TEST_EGRESS_MUSL, {"get:one.test:443"}, "none", "door 198.18.1.1:443"},
      {CORDON_TEST_EGRESS_MUSL, {"resolve:three.test"}, "none", "EAI_NONAME"},
  };
  return kList;
}

}  // namespace

TEST_CASE("unmodified programs reach what is listed") {
  everywhere([](BackendChoice backend) {
    std::string wrong;
    for (const Program& program : programs()) {
      if (*program.path == '\0' || !std::filesystem::exists(program.path)) {
        continue;
      }
      std::vector<std::string> argv = program.arguments;
      argv.insert(argv.begin(), std::filesystem::canonical(program.path));
      sandbox::LaunchSpec spec = reaching(std::move(argv), backend, rules_with_wildcard());
      spec.runtime = {program.preset};
      const test::Outcome outcome = run(test::plan_for(spec));
      if (outcome.out.find(program.expected) == std::string::npos) {
        wrong += text::cat(program.path, " ", program.arguments.back(), ": ", outcome.status, outcome.out, outcome.err);
      }
    }
    return wrong;
  });
}

TEST_CASE("where init connects for the server, hosts are reached all the same, and nothing else") {
  everywhere([](BackendChoice backend) {
    const test::TempFolder folder;
    sandbox::LaunchSpec spec = reaching({CORDON_TEST_EGRESS_CLIENT, "get:one.test:443", "get:a.wild.test:443",
                                         "connect:198.18.1.1:444", "connect:192.0.2.1:443"},
                                        backend, rules_with_wildcard());
    spec.nested_userns = true;
    spec.mounts = {{.source = folder.path(), .target = "/granted"}};
    return missing_in(run(test::plan_for(spec)),
                      {"get one.test:443 door 198.18.1.1:443", "get a.wild.test:443 door 198.19.0.1:443",
                       "connect 198.18.1.1:444 ECONNREFUSED", "connect 192.0.2.1:443 ECONNREFUSED"});
  });
}

TEST_CASE("a minimal /proc still shows the look from inside what it needs") {
  if (!test::must_skip(BackendChoice::native)) {
    sandbox::LaunchSpec spec =
        reaching({CORDON_TEST_EGRESS_CLIENT, "get:one.test:443"}, BackendChoice::native, rules_for_test());
    spec.proc_minimal = true;
    CHECK(test::in_child(
              [&] { return missing_in(run(test::plan_for(spec)), {"get one.test:443 door 198.18.1.1:443"}); }) == "");
  }
}

TEST_CASE("a server that is traced reaches the same") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  const auto body = []() -> std::string {
    std::array<int, 2> ends = {-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return "pipe2";
    }
    const UniqueFd in(ends[0]);
    UniqueFd out(ends[1]);
    Plan plan = test::plan_for(
        reaching({CORDON_TEST_EGRESS_CLIENT, "get:one.test:443", "get:a.wild.test:443", "connect:192.0.2.1:443"},
                 BackendChoice::native, rules_with_wildcard()));
    plan.trace = true;
    Session session(plan, out.get());
    out.reset();
    const test::Outcome outcome = test::finish(std::move(session.launched));
    const std::string traced = test::read_to_end(in.get());
    return missing_in(outcome, {"get one.test:443 door 198.18.1.1:443", "get a.wild.test:443 door 198.19.0.1:443",
                                "connect 192.0.2.1:443 ECONNREFUSED"}) +
           (traced.find("192.0.2.1") != std::string::npos ? "" : text::cat(session.status, "not traced: ", traced));
  };
  CHECK(test::in_child(body) == "");
  CHECK(test::as_ordinary_user(body) == "");
}

TEST_CASE("the certificates of the system are there, and cannot be changed") {
  everywhere([](BackendChoice backend) -> std::string {
    constexpr const char* kBundle = "/etc/ssl/certs/ca-certificates.crt";
    if (!std::filesystem::exists(kBundle)) {
      return {};
    }
    const std::string script = text::cat("head -c 11 ", kBundle, "; test -w /etc/ssl/certs && echo writable");
    const test::Outcome outcome = run(test::plan_for(reaching({"/bin/sh", "-c", script}, backend, rules_for_test())));
    return outcome.out == "-----BEGIN " ? std::string() : text::cat(outcome.status, outcome.out, outcome.err);
  });
}

TEST_CASE("without hosts there are no sockets, and a name is refused at once") {
  everywhere([](BackendChoice backend) {
    const test::Outcome outcome = test::run(test::plan_for(test::spec_for(
        {CORDON_TEST_EGRESS_CLIENT, "connect:127.0.0.1:53", "udp:127.0.0.1:53", "connect:198.18.1.1:443"}, backend)));
    return missing_in(outcome, {"connect 127.0.0.1:53 ECONNREFUSED", "udp 127.0.0.1:53 ECONNREFUSED",
                                "connect 198.18.1.1:443 ENETUNREACH"});
  });
}

namespace {

// A server that says so when it runs at all.
Plan plan_that_prints(BackendChoice backend, egress::Rules rules) {
  return test::plan_for(reaching({"/bin/echo", "started"}, backend, std::move(rules)));
}

std::string refused(const Plan& plan, std::string_view step) {
  const test::Outcome outcome = test::run(plan);
  const bool said = outcome.status.find(step) == 0;
  return said && outcome.out.empty() ? std::string() : text::cat("not refused: ", outcome.status, outcome.out);
}

}  // namespace

TEST_CASE("a door that cannot be opened refuses the launch, with reason and errno") {
  everywhere([](BackendChoice backend) {
    Plan plan = plan_that_prints(backend, rules_for_test());
    plan.network.doors.listen.push_back({egress::ipv4(192, 0, 2, 1), 443});
    const test::Outcome outcome = test::run(plan);
    const Error error = sandbox::error_from_status(outcome.status, plan.backend);
    const bool fine = outcome.out.empty() && error.code == Errc::unsupported_isolation &&
                      error.detail.find("network_denied") != std::string::npos &&
                      outcome.status.find(text::cat("errno=", EADDRNOTAVAIL)) != std::string::npos &&
                      !error.remedy.empty();
    return fine ? std::string() : text::cat(outcome.status, outcome.out, error.to_string());
  });
}

TEST_CASE("doors that are not those of the plan are noticed from inside") {
  everywhere([](BackendChoice backend) -> std::string {
    const Plan whole = plan_that_prints(backend, rules_with_wildcard());
    std::string wrong = missing_in(run(whole), {"started"});
    if (backend == BackendChoice::native) {
      for (const Step step : {Step::egress, Step::process_namespace, Step::loopback}) {
        Plan plan = whole;
        std::erase(plan.steps.outer, step);
        wrong += refused(plan, step == Step::loopback ? "egress: " : "");
        const std::string status = test::run(plan).status;
        wrong += status.empty() ? text::cat("not noticed: without ", name(step), "\n") : std::string();
      }
    }
    return wrong;
  });
}

TEST_CASE("who cannot take the sockets gets no server") {
  everywhere([](BackendChoice backend) -> std::string {
    const Plan plan = plan_that_prints(backend, rules_for_test());
    // As if the launcher had closed its end.
    sandbox::Launched launched = test::start(plan);
    launched.handover.reset();
    const test::Outcome outcome = test::finish(std::move(launched));
    const bool started = outcome.out == "started\n" && outcome.status.empty();
    return started || outcome.status.find("hand out") != std::string::npos ? std::string() : outcome.status;
  });
}
