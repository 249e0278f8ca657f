// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/gate: the proxy as a pure function: bytes, ends, exits and the time go in, actions come out, in order.
// Must not: read, write, wait, log or ask for the time. Start reading at session.hpp.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cordon::gate {

enum class Side : std::uint8_t { client, server };

// One whole line with its LF, for the stdin of the server.
struct ToServer {
  std::string line = {};
};
// One whole line with its LF, for the stdout of the proxy.
struct ToClient {
  std::string line = {};
};
// One audit record body: a JSON object with at least "event". Must be durable before any later action is carried out;
// when it cannot be written call Session::audit_failed and drop the rest of the list.
struct Record {
  std::string body = {};
};
// One line for the person at stderr, already printable, without LF and without the "mcp-cordon: " prefix.
struct Notice {
  std::string text = {};
};
// One stray line of the server's stdout, raw bytes without LF: relayed to stderr like the server's own stderr.
struct Stray {
  std::string bytes = {};
};
// The calls that wait for a person on another terminal, all of them, one JSON object a line (docs/formats/approve.md);
// replaces what was published before. Empty when none waits.
struct Publish {
  std::string lines = {};
};
// What a failed call told the client, as it came: some servers say there alone what was denied to them. For whoever
// looks for that; shown to nobody.
struct Overheard {
  std::string text = {};
};
struct CloseServerInput {};
// Ends the server and all it started.
struct SignalServer {
  enum class Kind : std::uint8_t { terminate, kill };
  Kind kind = Kind::terminate;
};
// The server ended because it was probed: the one that is kept ready is to take its place. Every later ToServer is for
// that one, and Session::respawned is told whether it runs. Nothing else in the conversation starts anew.
struct Respawn {};
// The one that is kept ready is not needed any more, and never will be.
struct DropSpare {};
// The session is over: flush what was to be written, end the server if it lives, exit with this status.
struct Stop {
  int exit_status = 0;
};

using Action = std::variant<ToServer, ToClient, Record, Notice, Stray, Publish, CloseServerInput, SignalServer, Stop,
                            Overheard, Respawn, DropSpare>;
using Actions = std::vector<Action>;

// How the server process ended.
struct ExitReport {
  bool signalled = false;
  int code = 0;          // exit status or signal number
  bool limited = false;  // it ran into a limit of the launch
};

}  // namespace cordon::gate
