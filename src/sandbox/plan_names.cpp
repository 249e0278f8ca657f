// SPDX-License-Identifier: Apache-2.0
// Names of the enumerators of a plan, apart because the stage needs them and nothing else of plan.cpp.
#include "sandbox/plan.hpp"

namespace cordon::sandbox {

std::string_view name(Strength strength) {
  switch (strength) {
    case Strength::enforced:
      return "enforced";
    case Strength::partial:
      return "partial";
    case Strength::no:
      return "no";
  }
  return "no";
}

std::string_view name(EntryKind kind) {
  switch (kind) {
    case EntryKind::directory:
      return "directory";
    case EntryKind::tmpfs:
      return "tmpfs";
    case EntryKind::bind:
      return "bind";
    case EntryKind::device:
      return "device";
    case EntryKind::file:
      return "file";
    case EntryKind::symlink:
      return "symlink";
    case EntryKind::link:
      return "link";
    case EntryKind::proc:
      return "proc";
    case EntryKind::freeze:
      return "freeze";
    case EntryKind::cover:
      return "cover";
  }
  return "cover";
}

std::string_view name(Owners owners) {
  switch (owners) {
    case Owners::as_outside:
      return "as_outside";
    case Owners::mapped_if_possible:
      return "mapped_if_possible";
    case Owners::mapped:
      return "mapped";
    case Owners::given:
      return "given";
  }
  return "as_outside";
}

std::string_view name(Step step) {
  switch (step) {
    case Step::session:
      return "session";
    case Step::descriptors:
      return "descriptors";
    case Step::groups:
      return "groups";
    case Step::places:
      return "places";
    case Step::sources:
      return "sources";
    case Step::identity:
      return "identity";
    case Step::namespaces:
      return "namespaces";
    case Step::loopback:
      return "loopback";
    case Step::egress:
      return "egress";
    case Step::process_namespace:
      return "process_namespace";
    case Step::root:
      return "root";
    case Step::view:
      return "view";
    case Step::pivot:
      return "pivot";
    case Step::hostname:
      return "hostname";
    case Step::identify_sources:
      return "identify_sources";
    case Step::server_session:
      return "server_session";
    case Step::working_directory:
      return "working_directory";
    case Step::limits:
      return "limits";
    case Step::no_new_privileges:
      return "no_new_privileges";
    case Step::landlock:
      return "landlock";
    case Step::capabilities:
      return "capabilities";
    case Step::syscalls:
      return "syscalls";
    case Step::attest:
      return "attest";
  }
  return "attest";
}

}  // namespace cordon::sandbox
