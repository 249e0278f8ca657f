// SPDX-License-Identifier: Apache-2.0
// Allowed hosts: one program that reaches a server on this machine's loopback, directly, as a server of mcp-cordon by
// name, and under srt by its proxy. What it measures itself is the whole of a short connection, and a long transfer.
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "base/text.hpp"
#include "setup.hpp"

namespace cordon::bench {
namespace {

constexpr int kGets = 200;
constexpr int kMegabytes = 200;
constexpr int kRounds = 7;
constexpr int kSrtRounds = 3;
constexpr double kOpenGoal = 2.0;
constexpr double kBulkGoal = 0.6;

void answer(int fd, const std::string& bulk) {
  std::array<char, 4096> request = {};
  const ssize_t got = ::recv(fd, request.data(), request.size(), 0);
  const bool big = std::string_view(request.data(), got > 0 ? static_cast<std::size_t>(got) : 0).find("/bulk") !=
                   std::string_view::npos;
  const std::size_t size = big ? kMegabytes * std::size_t{1'000'000} : 300;
  const std::string head = text::cat("HTTP/1.1 200 OK\r\nContent-Length: ", size, "\r\nConnection: close\r\n\r\n");
  std::size_t left = size;
  bool fine = ::send(fd, head.data(), head.size(), MSG_NOSIGNAL | MSG_MORE) > 0;
  while (fine && left > 0) {
    const ssize_t sent = ::send(fd, bulk.data(), std::min(left, bulk.size()), MSG_NOSIGNAL);
    fine = sent > 0;
    left -= fine ? static_cast<std::size_t>(sent) : 0;
  }
  ::shutdown(fd, SHUT_WR);
  ::close(fd);
}

// A child that answers one connection after the other.
class Website {
 public:
  Website() {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&place), size) != 0 ||
        ::listen(listener.get(), 128) != 0 ||
        ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&place), &size) != 0) {
      die("no listener on loopback");
    }
    port_ = ntohs(place.sin_port);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const std::string bulk(1 << 18, 'b');
      for (int fd = -1; (fd = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
        answer(fd, bulk);
      }
      ::_exit(0);
    }
  }
  ~Website() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Website(const Website&) = delete;
  Website& operator=(const Website&) = delete;
  int port() const { return port_; }

 private:
  int port_ = 0;
  pid_t pid_ = -1;
};

struct Figures {
  double open_us = 0;
  double look_up_us = 0;
  double bulk = 0;
};

// The line of bench-fetch, wherever it stands in what was said.
std::optional<Figures> figures_in(const std::string& log) {
  std::ifstream file(log);
  std::stringstream all;
  all << file.rdbuf();
  const std::string said = all.str();
  const std::size_t at = said.find("open ");
  Figures out;
  if (at == std::string::npos || std::sscanf(said.c_str() + at, "open %lf of which look-up %lf; bulk %lf MB/s",
                                             &out.open_us, &out.look_up_us, &out.bulk) != 3) {
    return std::nullopt;
  }
  return out;
}

// Starts it with an input that stays open, and ends it when it has said its figures.
std::optional<Figures> measure(const Command& command, const std::string& log) {
  std::filesystem::remove(log);
  Peer peer(command, log);
  constexpr int kLooks = 3000;
  constexpr int kStepMs = 20;
  for (int i = 0; i < kLooks; ++i) {
    if (auto figures = figures_in(log)) {
      peer.finish();
      return figures;
    }
    siginfo_t ended = {};
    if (::waitid(P_PID, static_cast<id_t>(peer.pid()), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0) {
      break;
    }
    ::poll(nullptr, 0, kStepMs);
  }
  peer.finish();
  return figures_in(log);
}

std::string fetch_arguments(std::string_view host, int port) {
  return text::cat(host, " ", port, " ", kGets, " ", kMegabytes);
}

std::vector<std::string> fetch(const std::string& program, std::string_view host, int port) {
  std::vector<std::string> out = {program};
  const std::string words = fetch_arguments(host, port);
  for (const std::string_view word : text::split(words, ' ')) {
    out.emplace_back(word);
  }
  return out;
}

Column cordon_column(Setup& setup, const std::string& program, int port) {
  Column column{"mcp-cordon, native", {}, {}};
  if (setup.options().cordon.empty()) {
    column.missing = "no mcp-cordon was given";
    return column;
  }
  std::vector<std::string> quoted;
  for (const std::string& word : fetch(program, setup.options().host, port)) {
    quoted.push_back(text::cat('"', word, '"'));
  }
  const std::string policy = setup.folder() + "/bench-egress.yaml";
  std::ofstream(policy) << "version: 1\nserver: bench\nlaunch:\n  command: [" << text::join(quoted, ", ")
                        << "]\n  home: temporary\nisolation:\n  backend: native\n  filesystem:\n    runtime: [system]\n"
                           "    read: ["
                        << program << "]\n  network:\n    allow: [{host: " << setup.options().host << ", ports: ["
                        << port << "], private: true}]\ncatalog: {missing: flag}\n";
  column.command = setup.cordon_command({"run", "--policy", policy});
  return column;
}

Column srt_column(Setup& setup, const std::string& program, int port) {
  Column column{"srt", {}, {}};
  if (setup.options().srt.empty()) {
    column.missing = "no srt was given";
    return column;
  }
  const std::string settings = setup.folder() + "/srt.json";
  std::ofstream(settings) << R"({"network":{"allowedDomains":[")" << setup.options().host
                          << R"("],"deniedDomains":[]},)"
                             R"("filesystem":{"denyRead":[],"allowWrite":["/tmp"],"denyWrite":[]}})";
  column.command = {{setup.options().srt, "--settings", settings, "-c",
                     text::cat(program, " ", fetch_arguments(setup.options().host, port), " proxy")},
                    setup.environment()};
  return column;
}

}  // namespace

void measure_egress(Setup& setup, Report& report) {
  report.section(text::cat("Allowed hosts: look-up, open, GET of 300 B (median of ", kGets, "), and one GET of ",
                           kMegabytes, " MB; best of ", kRounds, " rounds"));
  if (setup.options().fetch.empty()) {
    return report.skipped("allowed hosts", "no bench-fetch was given");
  }
  const Website website;
  const std::string program = setup.folder() + "/fetch";
  std::filesystem::copy_file(setup.options().fetch, program, std::filesystem::copy_options::overwrite_existing);
  const std::vector<Column> columns = {
      {"direct", {fetch(program, setup.options().host, website.port()), setup.environment()}, {}},
      cordon_column(setup, program, website.port()),
      srt_column(setup, program, website.port())};
  std::map<std::string, std::vector<Figures>> all;
  std::map<std::string, std::string> why;
  for (int round = 0; round < kRounds; ++round) {
    for (const Column& column : columns) {
      if (column.missing.empty() && (column.name != "srt" || round < kSrtRounds)) {
        if (const auto figures = measure(column.command, setup.log())) {
          all[column.name].push_back(*figures);
        } else {
          std::ifstream said(setup.log());
          std::getline(said, why[column.name]);
        }
      }
    }
  }
  std::map<std::string, Figures> best;
  for (const Column& column : columns) {
    if (all[column.name].empty()) {
      report.skipped(column.name,
                     column.missing.empty() ? text::cat("it reached nothing: ", why[column.name]) : column.missing);
      continue;
    }
    Figures& here = best[column.name] = all[column.name].front();
    for (const Figures& figures : all[column.name]) {
      here.look_up_us = figures.open_us < here.open_us ? figures.look_up_us : here.look_up_us;
      here.open_us = std::min(here.open_us, figures.open_us);
      here.bulk = std::max(here.bulk, figures.bulk);
    }
    report.row(column.name, text::cat(fixed(here.open_us, 0), " us, ", fixed(here.bulk, 0), " MB/s"),
               text::cat("look-up ", fixed(here.look_up_us, 0), " us"));
  }
  const auto direct = best.find("direct");
  const auto ours = best.find("mcp-cordon, native");
  if (direct != best.end() && ours != best.end()) {
    report.goal("look-up, open, GET against direct", ours->second.open_us / direct->second.open_us, "x", Better::lower,
                kOpenGoal);
    report.goal("bulk against direct", ours->second.bulk / direct->second.bulk, "x", Better::higher, kBulkGoal);
  }
}

}  // namespace cordon::bench
