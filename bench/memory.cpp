// SPDX-License-Identifier: Apache-2.0
// Resident memory of the proxy: at rest with a catalog of 200 tools, and with a peer that does not read.
#include <time.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/text.hpp"
#include "setup.hpp"

namespace cordon::bench {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr std::size_t kMaxMessage = 10'000'000;  // messages.max_bytes by default

struct Memory {
  double resident = 0;    // bytes; pages shared with other programs count in full
  double shared_out = 0;  // the same with shared pages divided among their users
};

// A field of /proc/PID/smaps_rollup or status, in kB there.
double field_bytes(const std::string& path, std::string_view field) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(field)) {
      std::istringstream rest(line.substr(field.size()));
      double kilobytes = 0;
      rest >> kilobytes;
      return kilobytes * 1024;
    }
  }
  return 0;
}

Memory memory_of(pid_t pid) {
  const std::string rollup = text::cat("/proc/", pid, "/smaps_rollup");
  return {field_bytes(rollup, "Rss:"), field_bytes(rollup, "Pss:")};
}

double peak_of(pid_t pid) { return field_bytes(text::cat("/proc/", pid, "/status"), "VmHWM:"); }

// All processes below `pid` whose program is not the server: what else of ours stays resident.
Memory helpers_of(pid_t pid) {
  Memory sum;
  std::ifstream children(text::cat("/proc/", pid, "/task/", pid, "/children"));
  pid_t child = 0;
  while (children >> child) {
    std::error_code error;
    const std::string program = std::filesystem::read_symlink(text::cat("/proc/", child, "/exe"), error).filename();
    if (program != "echo-server") {
      const Memory own = memory_of(child);
      sum.resident += own.resident;
      sum.shared_out += own.shared_out;
    }
    const Memory below = helpers_of(child);
    sum.resident += below.resident;
    sum.shared_out += below.shared_out;
  }
  return sum;
}

std::string mib(double bytes) { return text::cat(fixed(bytes / kMiB, 1), " MiB"); }

void pause_ms(int milliseconds) {
  const timespec wait{milliseconds / 1000, long{milliseconds % 1000} * 1'000'000};
  nanosleep(&wait, nullptr);
}

// Waits until the memory of `pid` has not moved for half a second: what was to be queued is queued.
void settle(pid_t pid) {
  double before = -1;
  for (int still = 0; still < 10;) {
    const double now = memory_of(pid).resident;
    still = now == before ? still + 1 : 0;
    before = now;
    pause_ms(50);
  }
}

void measure_idle(Setup& setup, Report& report, std::string_view backend) {
  const Column column = setup.cordon(backend, 200);
  if (!column.missing.empty()) {
    report.skipped(column.name, column.missing);
    return;
  }
  Peer peer(column.command, setup.log());
  peer.open();
  for (int i = 0; i < 1000; ++i) {
    peer.call("\"size\":200");
  }
  const Memory own = memory_of(peer.pid());
  const Memory helpers = helpers_of(peer.pid());
  report.row(column.name, mib(own.resident),
             text::cat("of it not shared ", mib(own.shared_out), ", helpers ", mib(helpers.shared_out)));
  report.goal("  proxy, resident", own.resident / kMiB, "MiB", Better::lower, 16);
}

}  // namespace

void measure_memory(Setup& setup, Report& report) {
  report.section("Memory: after 1000 calls, catalog of 200 tools");
  measure_idle(setup, report, "none");
  measure_idle(setup, report, "native");
}

void measure_stalled(Setup& setup, Report& report) {
  report.section("Queued memory: a peer that stops reading, against what the proxy had before");
  const Column column = setup.cordon("none");
  if (!column.missing.empty()) {
    report.skipped(column.name, column.missing);
    return;
  }
  {
    // The server writes 200 notifications of 1 MB, the client reads none of them.
    Peer peer(column.command, setup.log());
    peer.open();
    peer.call("\"size\":200");
    const double before = memory_of(peer.pid()).resident;
    const std::int64_t id = peer.next_id();
    peer.send(text::cat("{\"jsonrpc\":\"2.0\",\"id\":", id,
                        ",\"method\":\"tools/call\",\"params\":{\"name\":\"tool_0\",\"arguments\":{"
                        "\"size\":1000000,\"flood\":200}}}\n"));
    settle(peer.pid());
    const double queued = memory_of(peer.pid()).resident - before;
    report.row("client reads nothing", mib(queued), text::cat("of 200 MB offered; peak ", mib(peak_of(peer.pid()))));
    report.goal("  against messages.max_bytes", queued / kMaxMessage, "x", Better::lower, 3);
    peer.reply(id);
  }
  {
    // The client sends calls of 1 MB, the server reads none of them.
    Peer peer(column.command, setup.log());
    peer.open();
    peer.call("\"size\":200,\"stall\":true");
    const double before = memory_of(peer.pid()).resident;
    const std::string call =
        text::cat(R"({"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"tool_0","arguments":{"query":")",
                  std::string(1'000'000, 'q'), "\"}}}\n");
    const std::size_t taken = peer.send_until_stalled(call, 200'000'000, 1000);
    const double queued = memory_of(peer.pid()).resident - before;
    report.row(
        "server reads nothing", mib(queued),
        text::cat(fixed(static_cast<double>(taken) / 1e6, 0), " MB of 200 taken; peak ", mib(peak_of(peer.pid()))));
    report.goal("  against messages.max_bytes", queued / kMaxMessage, "x", Better::lower, 3);
  }
}

}  // namespace cordon::bench
