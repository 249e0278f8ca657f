// SPDX-License-Identifier: Apache-2.0
#pragma once
// probe: a static program that is started in place of a server and tries to get out. One JSON line per check
// (docs/formats/probe.md); what was planted outside and what the plan says comes as NAME=VALUE arguments.
// May use: base, core/json. Must not: do anything before it has proven where it is, see proof.hpp.
// Start reading here, then main.cpp.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::probe {

// NAME=VALUE arguments; a name may come several times.
class Request {
 public:
  void add(std::string_view argument);
  bool has(const std::string& name) const { return values_.contains(name); }
  const std::string& one(const std::string& name) const;  // the first, else empty
  const std::vector<std::string>& all(const std::string& name) const;
  int number(const std::string& name) const;
  // The plan's list of system calls: "strict", "nested" (user namespaces of its own), else the ordinary one.
  bool calls(std::string_view which) const { return one("calls") == which; }

  // Does the plan show this path inside (`shown`, but not what is in a `deny`)? Then reaching it is no breach.
  bool shown(std::string_view path) const;
  // Is there something shown below it, so that it has to exist inside?
  bool leads_to_shown(std::string_view path) const;
  bool writable(std::string_view path) const;

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

// Where a check may run. What could do anything at all to a machine runs inside only.
enum class Place : std::uint8_t {
  anywhere,  // harmless without any isolation: looks at itself, reads canaries, connects to canaries
  inside,    // in a pid and mount namespace of our own
  lo_only,   // there, and lo is the only interface: no address that is dialled can be a real one
};

// Tries something; the errno of the failure, 0 when it worked.
using Attempt = std::function<int()>;

// What the attempts of one check came to. The worst is kept: a breach before something that is denied needlessly.
class Result {
 public:
  // Any error will do.
  void denied(std::string_view attempt, const Attempt& body);
  // The error must be this one ("EPERM"): who refused is what counts.
  void refused(std::string_view attempt, std::string_view error_name, const Attempt& body);
  // Belongs to what a server may do.
  void allowed(std::string_view attempt, const Attempt& body);
  // A fact instead of an attempt.
  void equal(std::string_view fact, std::string_view expected, std::string_view got);
  void not_applicable(std::string reason);

  enum class Kind : std::uint8_t { not_applicable, held, blocked, breached };
  Kind kind() const { return kind_; }
  std::string line(std::string_view id, std::string_view guarantee, std::string_view mechanism) const;

 private:
  void note(Kind kind, std::string_view attempt, std::string_view expected, std::string got, int error_number);

  Kind kind_ = Kind::not_applicable;
  int attempts_ = 0;
  std::string attempt_ = {};
  std::string expected_ = {};
  std::string got_ = {};
  int errno_ = 0;
  std::string reason_ = {};
};

struct Check {
  std::string_view id = {};         // stable
  std::string_view guarantee = {};  // a guarantee of the plan, or "guarantee.detail"
  std::string_view mechanism = {};  // what is meant to stop it
  Place place = Place::inside;
  void (*run)(const Request& request, Result& result) = nullptr;
};

std::span<const Check> start_checks();
std::span<const Check> view_checks();
std::span<const Check> grant_checks();
std::span<const Check> cover_checks();
std::span<const Check> set_id_checks();
std::span<const Check> procfs_checks();
std::span<const Check> process_checks();
std::span<const Check> ipc_checks();
std::span<const Check> network_checks();
std::span<const Check> egress_checks();
std::span<const Check> syscall_checks();

// errno of a call that gives -1 on failure.
int result_of(long returned);
// The same for one that gives a descriptor, which is closed.
int result_of_open(int fd);
// Runs `body` in a child; its exit status, or 1000 + the signal that ended it.
int in_child(const std::function<int()>& body);

// file attempts that several files need
int read_one(const std::string& path);
int create(const std::string& path, unsigned mode = 0600);  // and removes it again
int open_for_writing(const std::string& path);              // writes nothing
int count_entries(const std::string& path);                 // -1: cannot be listed

inline constexpr int kNotInside = 3;

}  // namespace cordon::probe
