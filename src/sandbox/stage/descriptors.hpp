// SPDX-License-Identifier: Apache-2.0
#pragma once
// What launcher and stage agree on besides the plan: the numbers of descriptors.

namespace cordon::sandbox::stage {

// The launcher gives the first three, the outer stage the rest to one that a tool starts inside.
enum Descriptor : int {
  kStatusFd = 3,     // write end: "step: detail" on failure, closed by the exec of the server
  kLifelineFd = 4,   // read end: end of file when the launcher is gone
  kPlanFd = 5,       // memfd with the plan
  kLeashFd = 6,      // read end: signals from the outer stage; end of file when it is gone
  kNotesFd = 6,      // write end, before there is a leash: what the launch has to say at its end; with groups only
  kReadyFd = 7,      // write end: one byte when the server is about to be executed, or has failed
  kErrorFd = 8,      // the server's stderr, while a tool's own goes to the outer stage
  kBinaryFd = 9,     // this program
  kTraceFd = 10,     // write end, with a traced plan only: what the server touches
  kHandoverFd = 11,  // one end of a pair of sockets, with allowed hosts only: their sockets are sent here
  kGoFd = 12,        // one end of a pair of sockets, with a held launch only: a word, before the server is executed
  kFirstFreeFd = 13,
};

// Tools that close low numbers, or use them, are given all of the above by this much higher.
inline constexpr int kHighBase = 100;
// Above all of them, so that moving descriptors to those cannot hit one that is still needed.
inline constexpr int kToolParkingFd = 128;
inline constexpr const char* kHighWord = "high";

inline constexpr const char* kProgramName = "mcp-cordon-stage";
inline constexpr const char* kInsideWord = "inside";
// One that waits for this byte on its lifeline before it does anything.
inline constexpr const char* kSpareWord = "spare";
// One that does all its steps, and waits for that byte on kGoFd before it executes the server.
inline constexpr const char* kHeldWord = "held";
inline constexpr char kStartWord = 's';

}  // namespace cordon::sandbox::stage
