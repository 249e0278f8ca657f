// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program in a folder of a test's own, with a home, a copy of the fake server, and a policy for it.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "fakes/peer.hpp"

namespace cli_test {

using Words = std::vector<std::string>;

inline std::string required(const char* variable) {
  const char* value = std::getenv(variable);
  REQUIRE_MESSAGE(value != nullptr, variable);
  return value;
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Outcome {
  int status = -1;
  std::string out = {};
  std::string err = {};
};

// A folder with a home, a copy of the fake server, and a policy for it.
class Place {
 public:
  Place() {
    std::string name = std::filesystem::temp_directory_path().string() + "/cordon-cli-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    std::filesystem::create_directory(at("home"));
    std::filesystem::copy_file(required("FAKE_SERVER"), at("server"));
    policy("");
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  void policy(const std::string& more, const std::string& launch = "") const {
    write_text(at("one.yaml"), "version: 1\nserver: one\nlaunch:\n  command: [\"" + at("server") + "\"]\n" + launch +
                                   "isolation:\n  backend: " + required("CORDON_TEST_BACKEND") + "\n" + more);
  }
  Words argv(const Words& words) const {
    Words out = {required("CORDON_BIN")};
    out.insert(out.end(), words.begin(), words.end());
    return out;
  }
  Words environment(const Words& more = {}) const {
    Words out = {"PATH=/usr/bin:/bin", "HOME=" + at("home")};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  Outcome tool(const Words& words, const Words& more = {}) const {
    fake::Peer peer(argv(words), environment(more));
    peer.close_stdin();
    Outcome out;
    while (const auto line = peer.line()) {
      out.out += *line + "\n";
    }
    out.status = peer.wait_exit(fake::Peer::kPatienceMs).value_or(-1);
    out.err = peer.stderr_text();
    return out;
  }
  Outcome accept_all() const {
    return tool({"review", "--policy", at("one.yaml"), "--accept-all", "--reviewer", "robot"});
  }
  // Opens `run` and gives the answer to initialize; stdout must hold nothing but protocol.
  fake::Json opening(const Words& more = {}, const Words& words = {}) const {
    Words all = {"run", "--policy", at("one.yaml")};
    all.insert(all.end(), words.begin(), words.end());
    fake::Peer peer(argv(all), environment(more));
    fake::Json answer = peer.open();
    peer.close_stdin();
    peer.wait_exit(fake::Peer::kPatienceMs);
    CHECK(peer.stray.empty());
    last_stderr_ = peer.stderr_text();
    return answer;
  }
  const std::string& last_stderr() const { return last_stderr_; }

 private:
  std::string folder_;
  mutable std::string last_stderr_ = {};
};

inline std::string error_type(const fake::Json& answer) { return answer["error"]["data"]["type"].text; }

}  // namespace cli_test
