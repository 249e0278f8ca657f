// SPDX-License-Identifier: Apache-2.0
#pragma once
// The real program in front of the fake server. Each fixture has a folder of its own with a policy, a reviewed snapshot
// and a home; FAKE_SWITCHES changes what the server does without changing how it is launched.

#include <memory>
#include <string>
#include <vector>

#include "fakes/peer.hpp"

namespace e2e {

class Fixture {
 public:
  Fixture();
  ~Fixture();
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  // Writes the policy with `extra` top-level YAML in place of the default `catalog` section.
  void write_policy(const std::string& catalog = kPinned, const std::string& command = {},
                    const std::string& rule = "{tools: [write_file], action: block}");
  // A copy of the server in the fixture's folder, for tests that change it. Its path.
  std::string own_server() const;
  // Captures the honest catalog and accepts all of it. The program's stderr on failure, else empty.
  std::string review(const std::string& switches = {});

  // Any command of the program.
  std::unique_ptr<fake::Peer> start(const std::vector<std::string>& words, const std::string& switches = {}) const;
  // `mcp-cordon run` of the policy.
  std::unique_ptr<fake::Peer> run(const std::string& switches = {}) const;
  // The same, opened in the handshake era.
  std::unique_ptr<fake::Peer> opened(const std::string& switches = {}) const;

  const std::string& folder() const { return folder_; }
  const std::string& mark() const { return mark_; }  // stands in the command line of the server and all it starts
  std::string granted(const std::string& name) const { return folder_ + "/data/" + name; }

  // What is refused by a rule, read from a folder that is granted; unknown effects are blocked by default.
  static constexpr const char* kPinned = "catalog: {accept_unattended: true}\n";

 private:
  std::string folder_ = {};
  std::string mark_ = {};
};

void write_text(const std::string& path, const std::string& text);
std::string read_text(const std::string& path);  // empty when it is not there

// error.data.type, or what stands before the colon of error.message.
std::string error_type(const fake::Json& answer);
bool refused(const fake::Json& answer);  // a JSON-RPC error, or a result with isError

}  // namespace e2e
