// SPDX-License-Identifier: Apache-2.0
#include "setup.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/text.hpp"

namespace cordon::bench {
namespace fs = std::filesystem;
namespace {

std::string policy_text(std::string_view server, const std::string& echo, std::string_view backend, std::size_t tools,
                        Checks checks) {
  return text::cat("version: 1\nserver: ", server, "\nlaunch:\n  command: [", echo, ", --tools, \"", tools,
                   "\"]\n  cwd: /\n  home: temporary\nisolation:\n  backend: ", backend,
                   backend == "none" ? "\n  reason: measuring the proxy alone\n  require: []" : "",
                   "\n  filesystem:\n    runtime: [system]\n    read: [", echo,
                   "]\ncatalog:\n  accept_unattended: true\ntools:\n  rules:\n    - tools: [\"*\"]\n"
                   "      action: allow\n",
                   checks == Checks::every
                       ? "  schema: enforce\nresults: {hidden_text: strip, secrets: redact, schema: enforce}\n"
                       : "");
}

}  // namespace

Setup::Setup(Options options) : options_(std::move(options)) {
  std::string pattern = (fs::temp_directory_path() / "mcp-cordon-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    die("no temporary folder can be made");
  }
  folder_ = pattern;
  fs::permissions(folder_, fs::perms(0755));
  echo_ = folder_ + "/echo-server";
  fs::copy_file(options_.echo, echo_);
  fs::permissions(echo_, fs::perms(0755));
  const std::string home = folder_ + "/home";
  fs::create_directory(home);
  environment_ = {text::cat("HOME=", home), "PATH=/usr/local/bin:/usr/bin:/bin"};
}

Setup::~Setup() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Column Setup::direct(std::size_t tools) const {
  return {"direct", {{echo_, "--tools", std::to_string(tools)}, environment_}, {}};
}

Column Setup::relay() const { return {"bare relay", {{options_.relay, echo_}, environment_}, {}}; }

Command Setup::cordon_command(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), options_.cordon);
  return {std::move(arguments), environment_};
}

Column Setup::cordon(std::string_view backend, std::size_t tools, Checks checks) {
  const std::string_view more = checks == Checks::every ? ", all checks" : "";
  Column column{text::cat("mcp-cordon, ", backend, more), {}, {}};
  if (options_.cordon.empty()) {
    column.missing = "no mcp-cordon was given";
    return column;
  }
  const std::string server = text::cat("bench-", backend, "-", tools, more.empty() ? "" : "-all");
  const std::string policy = text::cat(folder_, "/", server, ".yaml");
  if (!fs::exists(policy)) {
    std::ofstream(policy) << policy_text(server, echo_, backend, tools, checks);
    const Command review = cordon_command({"review", "--policy", policy, "--accept-all", "--reviewer", "bench"});
    if (run(review, folder_ + "/review", log()) != 0) {
      std::ifstream why(log());
      std::string line;
      std::getline(why, line);
      column.missing = line.empty() ? "review failed" : line;
      fs::remove(policy);
      return column;
    }
  }
  column.command = cordon_command({"run", "--policy", policy});
  return column;
}

std::vector<Column> Setup::columns() {
  std::vector<Column> all;
  all.push_back(direct());
  all.push_back(relay());
  all.push_back(cordon("none"));
  all.push_back(cordon("native"));
  all.push_back(cordon("none", 1, Checks::every));
  return all;
}

OneCore::OneCore() : before_(sizeof(cpu_set_t)) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::memcpy(before_.data(), &set, sizeof set);
  std::size_t core = CPU_SETSIZE - 1;
  while (core > 0 && !CPU_ISSET(core, &set)) {
    --core;
  }
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

OneCore::~OneCore() {
  cpu_set_t set;
  std::memcpy(&set, before_.data(), sizeof set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace cordon::bench
