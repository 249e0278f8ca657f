// SPDX-License-Identifier: Apache-2.0
#include "app/doctor.hpp"

#include <algorithm>
#include <utility>

#include "app/container_launch.hpp"
#include "app/paths.hpp"
#include "app/planned_launch.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/confine.hpp"
#include "sandbox/probe_host.hpp"

namespace cordon::app {
namespace {

namespace boundary = sandbox::boundary;

using sandbox::Strength;

constexpr std::size_t kColumn = 14;
// Few enough that the probe can try to go beyond.
constexpr std::uint64_t kProcesses = 64;

std::string padded(std::string text, std::size_t width) {
  text.append(text.size() < width ? width - text.size() : 1, ' ');
  return text;
}

const sandbox::Guarantee* find(const std::vector<sandbox::Guarantee>& guarantees, std::string_view name) {
  const auto found = std::ranges::find(guarantees, name, &sandbox::Guarantee::name);
  return found == guarantees.end() ? nullptr : &*found;
}

std::vector<const boundary::Finding*> breaches(const ExaminedBackend& backend, std::string_view guarantee) {
  std::vector<const boundary::Finding*> out;
  if (backend.tried) {
    for (const boundary::Finding& finding : backend.tried->findings) {
      if (finding.verdict == boundary::Verdict::breached &&
          (guarantee.empty() || boundary::guarantee_group(finding.guarantee) == guarantee)) {
        out.push_back(&finding);
      }
    }
  }
  return out;
}

// "yes", "partial", "no", "breached", "untried" where the plan says yes and nobody looked, "-".
std::string_view cell_word(const ExaminedBackend& backend, std::string_view guarantee) {
  const sandbox::Guarantee* found = find(backend.assessment.guarantees, guarantee);
  if (!backend.assessment.usable || found == nullptr) {
    return "-";
  }
  if (!breaches(backend, guarantee).empty()) {
    return "breached";
  }
  switch (found->strength) {
    case Strength::enforced:
      return backend.tried ? "yes" : "untried";
    case Strength::partial:
      return "partial";
    case Strength::no:
      return "no";
  }
  return "-";
}

std::string cell(const ExaminedBackend& backend, std::string_view guarantee, Style style) {
  const std::string_view word = cell_word(backend, guarantee);
  const std::string text = padded(std::string(word), kColumn);
  return word == "yes"                            ? style.green(text)
         : word == "no" || word == "breached"     ? style.red(text)
         : word == "partial" || word == "untried" ? style.yellow(text)
                                                  : text;
}

// A guarantee that is told in details is explained by them.
bool has_details(const std::vector<sandbox::Guarantee>& guarantees, std::string_view name) {
  const std::string prefix = text::cat(name, ".");
  return std::ranges::any_of(guarantees, [&](const sandbox::Guarantee& one) { return one.name.starts_with(prefix); });
}

std::string reason_of(std::string_view backend, std::string_view names, const sandbox::Guarantee& guarantee) {
  std::string out = text::cat("  ", backend, ": ", names, ": ", sandbox::name(guarantee.strength), ": ",
                              text::printable(guarantee.reason, 1000));
  if (guarantee.error_number != 0) {
    out += text::cat(" (errno ", guarantee.error_number, ")");
  }
  return out + (guarantee.hint.empty() ? "\n" : text::cat("\n      do: ", text::printable(guarantee.hint, 1000), '\n'));
}

std::string unusable(const sandbox::Assessment& assessment) {
  Error error = assessment.error;
  if (error.code == Errc::policy_invalid) {  // not the machine's fault: it wants an image, or the like
    return text::cat("  ", assessment.backend, ": is tried under a policy of its own (mcp-cordon probe NAME): ",
                     text::printable(error.detail, 2000), '\n');
  }
  const std::string remedy = std::exchange(error.remedy, {});
  return text::cat("  ", assessment.backend, ": cannot be used: ", text::printable(error.to_string(), 2000),
                   remedy.empty() ? "\n" : text::cat("\n      do: ", text::printable(remedy, 1000), '\n'));
}

// Why something does not hold, one line each, with what to do about it.
std::string reasons(const ExaminedBackend& backend) {
  const sandbox::Assessment& assessment = backend.assessment;
  if (!assessment.usable) {
    return unusable(assessment);
  }
  std::string out;
  if (!backend.tried) {
    out += text::cat("  ", assessment.backend,
                     ": not tried from inside: ", text::printable(backend.not_tried.to_string(), 2000), '\n');
  }
  std::vector<const sandbox::Guarantee*> lacking;
  for (const sandbox::Guarantee& guarantee : assessment.guarantees) {
    if (guarantee.strength != Strength::enforced && !has_details(assessment.guarantees, guarantee.name)) {
      lacking.push_back(&guarantee);
    }
  }
  // What has the same reason stands in one line.
  while (!lacking.empty()) {
    const sandbox::Guarantee& first = *lacking.front();
    const auto same = [&first](const sandbox::Guarantee* one) {
      return one->strength == first.strength && one->reason == first.reason && one->hint == first.hint &&
             one->error_number == first.error_number;
    };
    std::vector<std::string> names;
    for (const sandbox::Guarantee* one : lacking) {
      if (same(one)) {
        names.push_back(one->name);
      }
    }
    out += reason_of(assessment.backend, text::join(names, ", "), first);
    std::erase_if(lacking, same);
  }
  return out;
}

std::string crossed(const ExaminedBackend& backend, boundary::Verdict verdict) {
  std::string out;
  if (backend.tried && backend.assessment.usable) {
    for (const boundary::Finding& finding : backend.tried->findings) {
      if (finding.verdict == verdict) {
        out += text::cat("  ", backend.assessment.backend, ": ", finding.guarantee, ": ", finding.id, ": ",
                         text::printable(finding.attempt, 300), ": ", text::printable(finding.got, 300), '\n');
      }
    }
  }
  return out;
}

// What a policy without any wish of its own would get for a program of the system.
sandbox::LaunchSpec plain_spec() {
  sandbox::LaunchSpec spec;
  spec.argv = {resolved("/bin/true")};
  spec.environment = {"PATH=/usr/bin:/bin"};
  return spec;
}

struct Trying {
  const Caller& caller;
  const sandbox::HostFacts& host;
  int interrupted = -1;
  const std::function<void(sandbox::Plan&)>& alter;
};

Status try_start(const Trying& trying, const sandbox::LaunchSpec& spec) {
  const Result<sandbox::Plan> plan = sandbox::select(spec, trying.host);
  return plan ? try_plan(trying.caller, *plan) : std::unexpected(plan.error());
}

// There is no program in it but the probe.
Status give_empty_image(const Caller& caller, sandbox::LaunchSpec& spec) {
  Result<std::string> scratch = scratch_folder(caller);
  if (!scratch) {
    return std::unexpected(scratch.error());
  }
  spec.scratch = std::move(*scratch);
  spec.image.reference = sandbox::kEmptyImage;
  return {};
}

// An assessment says what should work; only a start shows it, and only the probe what it holds.
void try_backend(const Trying& trying, const sandbox::Backend& backend, ExaminedBackend& examined) {
  BoundaryTrial trial{trying.caller, plain_spec(), trying.interrupted, trying.alter};
  trial.spec.backend = backend.choice;
  trial.spec.none_reason = "doctor";
  if (const Status prepared =
          backend.images ? give_empty_image(trying.caller, trial.spec) : try_start(trying, trial.spec);
      !prepared) {
    examined.assessment.usable = false;
    examined.assessment.error = prepared.error();
    return;
  }
  const sandbox::Guarantee* processes = find(examined.assessment.guarantees, "limits.processes");
  if (processes != nullptr && processes->strength == Strength::enforced) {
    trial.spec.default_limits.processes = kProcesses;
  }
  Result<TriedBoundary> tried = try_boundary(trial);
  if (tried) {
    examined.tried = std::move(*tried);
  } else {
    examined.not_tried = tried.error();
  }
}

}  // namespace

std::string Examination::text(Style style) const {
  std::string out = padded("guarantee", kColumn);
  for (const ExaminedBackend& backend : backends) {
    out += padded(backend.assessment.backend, kColumn);
  }
  out += '\n';
  for (const std::string_view guarantee : sandbox::kGuarantees) {
    out += padded(std::string(guarantee), kColumn);
    for (const ExaminedBackend& backend : backends) {
      out += cell(backend, guarantee, style);
    }
    out += '\n';
  }
  std::string breached;
  std::string why;
  std::string open;
  for (const ExaminedBackend& backend : backends) {
    breached += crossed(backend, boundary::Verdict::breached);
    why += reasons(backend);
    open += backend.assessment.backend == "none" ? std::string() : crossed(backend, boundary::Verdict::expected);
  }
  if (!breached.empty()) {
    out += cordon::text::cat('\n', style.red("Breached, although the backend says that it holds:"), '\n', breached,
                             "Do not rely on these; please report them.\n");
  }
  out += why.empty() ? std::string() : cordon::text::cat("\nWhat does not hold, and why:\n", why);
  out += open.empty() ? std::string() : cordon::text::cat("\nWhat came through and is not promised:\n", open);
  out += '\n';
  for (const ExaminedBackend& backend : backends) {
    if (backend.tried) {
      out += cordon::text::cat(backend.assessment.backend, ": ", summary_line(backend.tried->findings), '\n');
    }
  }
  return out + machine;
}

std::string Examination::json() const {
  json::Writer out;
  out.begin_object().member("format", "mcp-cordon.doctor").member_int("version", 1).key("backends").begin_array();
  for (const ExaminedBackend& backend : backends) {
    const sandbox::Assessment& assessment = backend.assessment;
    out.begin_object().member("backend", assessment.backend).member_bool("usable", assessment.usable);
    if (!assessment.usable) {
      out.key("error").begin_object().member("type", name(assessment.error.code));
      out.member("detail", assessment.error.detail).member("hint", assessment.error.remedy).end_object();
    }
    out.key("table").begin_object();
    for (const std::string_view guarantee : sandbox::kGuarantees) {
      out.member(guarantee, cell_word(backend, guarantee));
    }
    out.end_object().key("guarantees");
    sandbox::write_guarantees(out, assessment.guarantees);
    if (backend.tried) {
      out.key("checks");
      write_findings(out, backend.tried->findings);
      out.key("summary");
      write_summary(out, backend.tried->findings);
    } else if (assessment.usable) {
      out.member("not_tried", backend.not_tried.to_string());
    }
    out.end_object();
  }
  out.end_array().end_object();
  return out.take();
}

bool Examination::breached() const {
  return std::ranges::any_of(backends, [](const ExaminedBackend& one) { return one.tried && one.tried->breached(); });
}

Result<Examination> examine(const Caller& caller, const std::function<void(sandbox::Plan&)>& alter) {
  const boundary::HeldSignals signals;
  const sandbox::LaunchSpec spec = plain_spec();
  const Result<sandbox::HostFacts> host = sandbox::probe_host(spec, caller.home, sandbox::ProbeDepth::everything);
  if (!host) {
    return std::unexpected(host.error());
  }
  Examination out;
  for (sandbox::Assessment& assessment : sandbox::assess(spec, *host)) {
    out.backends.push_back({.assessment = std::move(assessment)});
  }
  for (ExaminedBackend& examined : out.backends) {
    for (const sandbox::Backend* backend : sandbox::backends()) {
      if (examined.assessment.usable && backend->name == examined.assessment.backend) {
        try_backend({caller, *host, signals.descriptor(), alter}, *backend, examined);
      }
    }
    if (signals.arrived()) {
      return fail(Errc::timed_out, "interrupted", "doctor");
    }
  }
  out.machine =
      text::cat("Landlock ABI: ", host->landlock_abi, host->landlock_abi == 0 ? " (none)" : "", "; started by ",
                host->root() ? text::cat("root, servers run as uid ", host->server_uid) : text::cat("uid ", host->uid),
                "\nOur own process, once a server runs: ",
                sandbox::describe({host->landlock_abi, host->seccomp && !host->architecture.empty()}), '\n');
  return out;
}

}  // namespace cordon::app
