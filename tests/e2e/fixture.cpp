// SPDX-License-Identifier: Apache-2.0
#include "e2e/fixture.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace e2e {
namespace {

// What in_copy.sh says.
std::string setting(const char* name) {
  const char* value = std::getenv(name);
  REQUIRE_MESSAGE(value != nullptr, name, " is not set: run this through in_copy.sh");
  return value;
}

}  // namespace

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Fixture::Fixture() {
  std::string name = std::filesystem::temp_directory_path().string() + "/cordon-e2e-XXXXXX";
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  folder_ = name;
  mark_ = "--mark=" + name.substr(name.rfind('/') + 1);
  for (const char* part : {"/data", "/home", "/outside"}) std::filesystem::create_directory(folder_ + part);
  write_text(granted("hello.txt"), "hello from inside\n");
  write_text(folder_ + "/outside/secret.txt", "the secret\n");
  write_policy();
}

Fixture::~Fixture() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Fixture::own_server() const {
  const std::string path = folder_ + "/outside/server";
  std::filesystem::copy_file(setting("FAKE_SERVER"), path);
  return path;
}

void Fixture::write_policy(const std::string& catalog, const std::string& command, const std::string& rule) {
  const std::string server = setting("FAKE_SERVER");
  // What a configuration would hold; the backend decides who really starts it.
  const char* image = std::getenv("CORDON_TEST_IMAGE");
  const std::string container =
      image == nullptr ? std::string() : std::string("docker, run, -i, --rm, \"") + image + "\", ";
  write_text(folder_ + "/fake.yaml",
             "version: 1\n"
             "server: fake\n"
             "launch:\n"
             "  command: [" +
                 container + "\"" + (command.empty() ? server : command) + "\", \"" + mark_ +
                 "\"]\n"
                 "  environment: {pass: [FAKE_SWITCHES]}\n"
                 "isolation:\n"
                 "  backend: " +
                 setting("CORDON_TEST_BACKEND") +
                 "\n"
                 "  filesystem:\n"
                 "    read: [\"" +
                 server +
                 "\"]\n"
                 "    write: [\"" +
                 folder_ + "/data\"]\n" + catalog +
                 "tools:\n"
                 "  rules:\n"
                 "    - " +
                 rule +
                 "\n"
                 "    - {tools: [\"*\"], action: allow}\n");
}

std::unique_ptr<fake::Peer> Fixture::start(const std::vector<std::string>& words, const std::string& switches) const {
  std::vector<std::string> argv = {setting("CORDON_BIN")};
  argv.insert(argv.end(), words.begin(), words.end());
  return std::make_unique<fake::Peer>(
      argv, std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=" + folder_ + "/home", "SECRET=not for the server",
                                     "FAKE_SWITCHES=" + switches});
}

std::string Fixture::review(const std::string& switches) {
  const auto peer =
      start({"review", "--policy", folder_ + "/fake.yaml", "--accept-all", "--reviewer", "test"}, switches);
  peer->close_stdin();
  const std::optional<int> status = peer->wait_exit(fake::Peer::kPatienceMs);
  if (status == 0) return {};
  return "review ended with " + (status ? std::to_string(*status) : "nothing") + ": " + peer->stderr_text();
}

std::unique_ptr<fake::Peer> Fixture::run(const std::string& switches) const {
  return start({"run", "--policy", folder_ + "/fake.yaml"}, switches);
}

std::unique_ptr<fake::Peer> Fixture::opened(const std::string& switches) const {
  auto peer = run(switches);
  const fake::Json answer = peer->open();
  INFO(answer.raw, "\n", peer->stderr_text());
  REQUIRE(answer["result"]);
  return peer;
}

std::string error_type(const fake::Json& answer) {
  const fake::Json& error = answer["error"];
  if (error["data"]["type"]) return error["data"]["type"].text;
  return error["message"].text.substr(0, error["message"].text.find(':'));
}

bool refused(const fake::Json& answer) { return answer["error"] || answer["result"]["isError"].text == "true"; }

}  // namespace e2e
