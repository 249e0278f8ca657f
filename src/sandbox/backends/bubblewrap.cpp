// SPDX-License-Identifier: Apache-2.0
// bubblewrap: bwrap builds namespaces and view from our list, our stage runs inside as pid 1 and adds what bwrap does
// not do: Landlock, the syscall filter, limits, an init that reaps and forwards, and the look from inside.
#include <array>
#include <charconv>

#include "base/text.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/plan_common.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "bubblewrap";

class Arguments {
 public:
  void literals(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) {
      list_.push_back({.text = std::string(text)});
    }
  }
  void late(ToolArgumentKind kind, std::size_t entry) {
    list_.push_back({.kind = kind, .entry = static_cast<std::uint32_t>(entry)});
  }
  std::vector<ToolArgument> take() { return std::move(list_); }

 private:
  std::vector<ToolArgument> list_;
};

std::string octal(std::uint32_t mode) {
  std::array<char, 16> digits = {};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), mode, 8);
  return text::cat("0", std::string_view(digits.data(), static_cast<std::size_t>(end.ptr - digits.data())));
}

void add_entry(Arguments& arguments, const ViewEntry& entry, std::size_t index) {
  switch (entry.kind) {
    case EntryKind::directory:
      arguments.literals({"--perms", octal(entry.mode), "--dir", entry.target});
      break;
    case EntryKind::tmpfs:
      arguments.literals(
          {"--perms", octal(entry.mode), "--size", std::to_string(entry.size_bytes), "--tmpfs", entry.target});
      break;
    case EntryKind::bind:
      if (entry.steering) {
        arguments.late(ToolArgumentKind::bind, index);
        break;
      }
      arguments.literals({entry.writable ? "--bind" : "--ro-bind"});
      arguments.late(ToolArgumentKind::source, index);
      arguments.literals({entry.target});
      break;
    case EntryKind::device:
      arguments.literals({"--dev-bind", entry.source, entry.target});
      break;
    case EntryKind::file:
      arguments.literals({"--perms", octal(entry.mode), "--file"});
      arguments.late(ToolArgumentKind::content, index);
      arguments.literals({entry.target});
      break;
    case EntryKind::symlink:
      arguments.literals({"--symlink", entry.text, entry.target});
      break;
    case EntryKind::proc:
      arguments.literals({"--proc", entry.target});
      break;
    case EntryKind::link:
      break;  // left out: it follows them
    case EntryKind::freeze:
      arguments.late(ToolArgumentKind::freeze, index);
      break;
    case EntryKind::cover:
      arguments.late(ToolArgumentKind::cover, index);
      break;
  }
}

std::vector<ToolArgument> arguments_of(const Plan& plan, const HostFacts& facts) {
  Arguments arguments;
  // The hard forms: the -try forms of --unshare-all go on without a namespace that cannot be had.
  arguments.literals({"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
                      "--unshare-cgroup", "--cap-drop", "ALL", "--new-session", "--die-with-parent", "--clearenv",
                      "--as-pid-1", "--hostname", plan.hostname});
  if (facts.bubblewrap.disable_userns && !plan.filter.nested_userns) {
    arguments.literals({"--disable-userns"});
  }
  for (std::size_t i = 0; i < plan.view.size(); ++i) {
    add_entry(arguments, plan.view[i], i);
  }
  // Last, or nothing could be created any more.
  arguments.literals({"--remount-ro", "/", "--chdir", "/", "--"});
  arguments.late(ToolArgumentKind::stage, 0);
  return arguments.take();
}

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  if (!facts.bubblewrap.trial.works) {
    return std::unexpected(refused(kName, {}, facts.bubblewrap.trial));
  }
  if (spec.proc_minimal) {
    return std::unexpected(to_error({.backend = std::string(kName),
                                     .requirement = "filesystem.proc",
                                     .reason = "backend_version",
                                     .hint = "bubblewrap cannot mount a minimal /proc; use proc: masked"}));
  }
  auto plan = common_plan(spec, facts, kName);
  if (!plan) {
    return plan;
  }
  auto view = build_view(spec, facts);
  if (!view) {
    return std::unexpected(view.error());
  }
  leave_links(*view);
  plan->view = std::move(*view);
  plan->own_namespaces = true;
  plan->landlock_abi = facts.landlock_abi;
  choose_filter(*plan, spec, facts);
  if (facts.bubblewrap.setuid && plan->network.hosts()) {
    // Its namespaces are root's, and nobody else opens a door in them.
    return std::unexpected(to_error({.backend = plan->backend,
                                     .requirement = "network.hosts",
                                     .because = "isolation.network",
                                     .reason = "not_offered",
                                     .hint = "take the set-id bit from bwrap, or use native"}));
  }
  plan->guarantees =
      isolated_statements(spec, facts, text::cat("bubblewrap ", facts.bubblewrap.version), plan->view).complete(spec);
  plan->steps.outer = {Step::session, Step::descriptors};
  const std::vector<Step> places = place_steps(*plan);
  plan->steps.outer.insert(plan->steps.outer.end(), places.begin(), places.end());
  plan->steps.outer.push_back(Step::sources);
  if (plan->switch_user) {
    plan->steps.outer.push_back(Step::identity);
  }
  choose_groups(*plan, spec, facts);
  plan->steps.init = {Step::identify_sources};
  plan->steps.server = server_steps(*plan);
  plan->tool = facts.bubblewrap.path;
  plan->tool_arguments = arguments_of(*plan, facts);
  return plan;
}

}  // namespace

extern constinit const Backend kBackend_bubblewrap;
constinit const Backend kBackend_bubblewrap = {
    .name = kName, .choice = BackendChoice::bubblewrap, .automatic = true, .plan = make_plan};

}  // namespace cordon::sandbox
