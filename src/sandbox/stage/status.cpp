// SPDX-License-Identifier: Apache-2.0
// How a step that failed is told to the launcher: one line, then the end.
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return;  // the launcher is gone: nobody is left to tell
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

using StepFunction = Outcome (*)(Stage&);

StepFunction function_of(Step step) {
  switch (step) {
    case Step::session:
      return enter_session;
    case Step::descriptors:
      return close_descriptors;
    case Step::groups:
      return make_groups;
    case Step::places:
      return put_places;
    case Step::sources:
      return open_sources;
    case Step::identity:
      return switch_identity;
    case Step::namespaces:
      return enter_namespaces;
    case Step::loopback:
      return raise_loopback;
    case Step::egress:
      return open_egress;
    case Step::process_namespace:
      return enter_process_namespace;
    case Step::root:
      return make_root;
    case Step::view:
      return build_view;
    case Step::pivot:
      return pivot_into_view;
    case Step::hostname:
      return set_hostname;
    case Step::identify_sources:
      return identify_sources;
    case Step::server_session:
      return enter_server_session;
    case Step::working_directory:
      return change_directory;
    case Step::limits:
      return set_limits;
    case Step::no_new_privileges:
      return forbid_new_privileges;
    case Step::landlock:
      return restrict_with_landlock;
    case Step::capabilities:
      return drop_capabilities;
    case Step::syscalls:
      return filter_syscalls;
    case Step::attest:
      return attest;
  }
  return nullptr;
}

}  // namespace

std::unexpected<Failure> failed(std::string_view what, std::string_view reason) {
  const int error_number = errno;
  return std::unexpected(Failure{errno_text(what, error_number), std::string(reason), error_number});
}

std::unexpected<Failure> refuse(std::string detail, std::string_view reason) {
  return std::unexpected(Failure{std::move(detail), std::string(reason), 0});
}

void report_and_exit(Stage& stage, std::string_view step, const Failure& failure) {
  std::string line = text::cat(step, ": ", text::printable(failure.detail, 2048));
  if (!failure.reason.empty()) {
    line += text::cat(" [reason=", failure.reason, " errno=", failure.error_number, "]");
  }
  line += '\n';
  wait_until_swept(stage);
  // Shortly before exec its action is the standard one again, and the reader may have heard enough.
  ::signal(SIGPIPE, SIG_IGN);
  write_all(stage.status.get(), line);
  if (stage.ready_out) {
    write_all(stage.ready_out.get(), "f");
  }
  ::_exit(kFailureStatus);
}

void run_steps(Stage& stage, const std::vector<Step>& steps) {
  for (const Step step : steps) {
    const StepFunction run = function_of(step);
    if (run == nullptr) {
      report_and_exit(stage, "plan", {.detail = "unknown step"});
    }
    if (const Outcome outcome = run(stage); !outcome) {
      report_and_exit(stage, name(step), outcome.error());
    }
  }
}

}  // namespace cordon::sandbox::stage
