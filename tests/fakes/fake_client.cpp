// SPDX-License-Identifier: Apache-2.0
// A client for a person: starts a server, does what the words before `--` say, and prints one line for each.
//   fake-client [--list] [--call TOOL JSON]… -- COMMAND…
// It inherits nothing to the server but PATH, HOME and FAKE_SWITCHES. Ends with 0 when every step was answered.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fakes/peer.hpp"

namespace {

// The server's words on a terminal: no control characters.
std::string shown(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "⏎";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
  }
  return out;
}

bool print_list(const fake::Json& answer) {
  if (!answer["result"]) return false;
  std::string names;
  for (const fake::Json& tool : answer["result"]["tools"].items) {
    names += (names.empty() ? "" : ", ") + tool["name"].text;
  }
  std::printf("tools: %s\n", shown(names).c_str());
  return true;
}

bool print_call(const std::string& tool, const fake::Json& answer) {
  if (!answer) return false;
  if (answer["error"]) {
    std::printf("%s -> error: %s\n", tool.c_str(), shown(answer["error"]["message"].text).c_str());
  } else {
    const bool refused = answer["result"]["isError"].text == "true";
    std::printf("%s -> %s%s\n", tool.c_str(), refused ? "error: " : "", shown(fake::text_of(answer)).c_str());
  }
  return true;
}

std::vector<std::string> environment() {
  std::vector<std::string> out;
  for (const char* name : {"PATH", "HOME", "FAKE_SWITCHES"}) {
    if (const char* value = std::getenv(name)) out.push_back(std::string(name) + "=" + value);
  }
  return out;
}

int failed(fake::Peer& peer, const char* what) {
  peer.close_stdin();
  peer.wait_exit(2000);
  std::fprintf(stderr, "fake-client: %s was not answered; stderr of the server:\n%s", what, peer.stderr_text().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::size_t dashes = 0;
  while (dashes < words.size() && words[dashes] != "--") ++dashes;
  if (dashes + 1 >= words.size()) {
    std::fprintf(stderr, "usage: fake-client [--list] [--call TOOL JSON]... -- COMMAND...\n");
    return 2;
  }
  fake::Peer peer({words.begin() + static_cast<std::ptrdiff_t>(dashes) + 1, words.end()}, environment());
  const fake::Json opening = peer.open();
  if (opening["error"]) std::printf("initialize -> error: %s\n", shown(opening["error"]["message"].text).c_str());
  if (!opening["result"]) return failed(peer, "initialize");
  int id = 0;
  for (std::size_t i = 0; i < dashes; ++i) {
    const std::string number = std::to_string(++id);
    if (words[i] == "--list") {
      if (!print_list(peer.request(number, "tools/list"))) return failed(peer, "tools/list");
    } else if (words[i] == "--call" && i + 2 < dashes) {
      if (!print_call(words[i + 1], peer.call(number, words[i + 1], words[i + 2]))) return failed(peer, "tools/call");
      i += 2;
    }
  }
  peer.close_stdin();
  return peer.wait_exit(2000) ? 0 : 1;
}
