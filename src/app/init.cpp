// SPDX-License-Identifier: Apache-2.0
#include "app/init.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "app/expand.hpp"
#include "app/fetchers.hpp"
#include "app/image_command.hpp"
#include "app/package_command.hpp"
#include "app/paths.hpp"
#include "app/plain_file.hpp"
#include "app/policy_lookup.hpp"
#include "app/wrap_names.hpp"
#include "base/text.hpp"
#include "clients/command_shape.hpp"
#include "clients/known_servers.hpp"
#include "clients/secrets.hpp"
#include "clients/starter_policy.hpp"
#include "core/policy/sensitive.hpp"
#include "core/policy/source.hpp"
#include "formats/policy_yaml.hpp"
#include "run/files.hpp"
#include "sandbox/paths.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxPolicyBytes = 1'000'000;

bool exists(const std::string& path, bool& folder) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return false;
  }
  folder = S_ISDIR(info.st_mode);
  return folder || S_ISREG(info.st_mode);
}

bool is_interpreter(std::string_view program) {
  return program.starts_with("python") || program == "node" || program == "nodejs" || program == "bun" ||
         program == "deno" || program == "ruby" || program == "perl" || program == "php" || program == "sh" ||
         program == "bash" || program == "tsx" || program == "java";
}

// Files and folders of this machine that the command names, but for its program and its script, which are shown anyway.
std::vector<clients::NamedPath> named_paths(const Caller& caller, const clients::Starter& starter) {
  std::vector<std::string> candidates;
  const std::vector<std::string> words = clients::innermost(starter.command);
  if (!starter.package || starter.package->kind != clients::PackageKind::oci) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      for (const std::string_view name : sandbox::names_in_word(words[i])) {
        candidates.emplace_back(name);
      }
    }
    for (const auto& [name, value] : starter.set) {
      candidates.push_back(value);
    }
  }
  bool script = !words.empty() && is_interpreter(clients::program_name(words.front()));
  std::vector<clients::NamedPath> out;
  for (const std::string& candidate : candidates) {
    bool folder = false;
    if (!candidate.starts_with('/') || clients::has_placeholder(candidate) || !exists(candidate, folder)) {
      continue;
    }
    if (script && !folder) {
      script = false;
      continue;
    }
    clients::NamedPath named;
    named.written = normalised(candidate);
    named.path = resolved(named.written);
    named.sensitive = policy::why_sensitive(named.path, caller.home).value_or("");
    if (std::ranges::find(out, named.written, &clients::NamedPath::written) == out.end()) {
      out.push_back(std::move(named));
    }
  }
  return out;
}

// What `docker run` says by its options becomes what the policy says: of all of them, or of none.
void take_over(const Caller& caller, const ImageCommand& image, clients::Starter& starter) {
  starter.source_kind = policy::name(image.source.kind);
  starter.source = policy::spelled(image.source);
  starter.source_bin = image.source.bin;
  starter.source_command = image.command;
  starter.cwd = image.asked.working_directory;
  starter.memory_bytes = image.asked.memory_bytes.value_or(0);
  starter.processes = image.asked.processes.value_or(0);
  for (const sandbox::ContainerMount& mount : image.asked.mounts) {
    clients::NamedPath named;
    named.written = mount.target;
    named.path = resolved(mount.source);
    named.sensitive = policy::why_sensitive(named.path, caller.home).value_or("");
    named.writable = mount.writable;
    starter.paths.push_back(std::move(named));
  }
  for (const sandbox::ContainerVariable& variable : image.asked.variables) {
    if (!variable.value) {
      starter.environment.push_back(variable.name);
      continue;
    }
    std::erase_if(starter.set, [&](const auto& one) { return one.first == variable.name; });
    std::erase(starter.environment, variable.name);
    starter.set.emplace_back(variable.name, *variable.value);
  }
}

// Nothing, and a reason in `starter`'s place, when the policy keeps the command as it is.
std::optional<ImageCommand> image_of(const std::vector<std::string>& command, std::vector<std::string>& warnings) {
  if (!is_image_command(command) || std::ranges::any_of(command, clients::has_placeholder)) {
    return std::nullopt;
  }
  Result<ImageCommand> image = image_command(command);
  if (image) {
    return std::move(*image);
  }
  const Error& error = image.error();
  warnings.push_back(text::cat("the command will not be started as it is: ", error.where, ": ", error.detail,
                               error.remedy.empty() ? "" : "; ", error.remedy));
  return std::nullopt;
}

// The text of the shipped policy, when this command is one that it is for.
std::string shipped_text(const Caller& caller, std::string_view name) {
  if (name.empty()) {
    return {};
  }
  const Result<std::string> text =
      read_plain(text::cat(caller.share_folder(), "/policies/", name, ".yaml"), kMaxPolicyBytes);
  return text ? *text : std::string();  // not installed: the server is then as unknown as any other
}

// The package that a policy can name in place of the command. What a client fills in first is not known here.
Result<PackageCommand> stands_for(const std::vector<std::string>& command) {
  return std::ranges::any_of(command, clients::has_placeholder)
             ? fail(Errc::policy_invalid, "the client fills in a part of it", "the command")
             : package_command(command);
}

// What the command fetches at every start, where it does not say plainly enough which package for launch.source.
std::string unseen_fetch(const std::vector<std::string>& command) {
  const std::optional<Fetch> fetch = fetches(command, {});
  if (!fetch) {
    return {};
  }
  const std::string what = text::cat(fetch->tool, " fetches ", fetch->package.empty() ? "a package" : fetch->package,
                                     " at every start, and a server has no network, so it will be refused: ");
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (package_command({command.begin() + static_cast<std::ptrdiff_t>(i), command.end()})) {
      return text::cat(what, "leave out what stands before ", text::printable(command[i], 200),
                       ", here and in the client's config, and launch.source stands for the rest");
    }
  }
  return text::cat(what, fetch->remedy);
}

// A package that launch.source cannot name.
void warn_of_package(const clients::PackageSpec& package, const Error& why, std::vector<std::string>& out) {
  const std::string written = text::printable(package.written, 300);
  if (!package.pinned) {
    out.push_back(text::cat(package.runner, ' ', written, " is whatever version there is when it starts: name one"));
  }
  if (package.kind != clients::PackageKind::oci) {
    out.push_back(text::cat(package.runner, ' ', written, " cannot stand in launch.source, because ", why.detail));
    out.push_back(
        text::cat(package.runner,
                  " downloads when it starts, and a server has no network: it will not start until the package is "
                  "installed and named by its program and entry file"));
  }
}

// A value in the command, which the policy takes over as it stands there.
void warn_of_secret(const std::string& name, std::string_view instead, std::vector<std::string>& out) {
  if (clients::names_secret(name)) {
    out.push_back(text::cat(text::printable(name, 80),
                            " stands in clear in the command, and then in the policy: give it to the client's env, ",
                            instead, ", and name it in launch.environment.secrets"));
  }
}

}  // namespace

bool relative_file(std::string_view word) {
  constexpr auto kEndings =
      std::to_array<std::string_view>({".js", ".mjs", ".cjs", ".ts", ".py", ".jar", ".rb", ".sh"});
  if (word.starts_with('-') || word.starts_with('/') || word.starts_with('~') || word.starts_with('@') ||
      word.find(':') != std::string_view::npos) {
    return false;
  }
  return word.starts_with("./") || word.starts_with("../") ||
         std::ranges::any_of(kEndings, [word](std::string_view ending) { return word.ends_with(ending); });
}

Status refuse_relative_files(const std::vector<std::string>& command) {
  for (std::size_t i = 0; i < command.size() && !clients::detect(command); ++i) {
    std::error_code error;
    const bool program = i == 0 && command[i].find('/') != std::string::npos && !command[i].starts_with('/');
    if (!(program || (i > 0 && relative_file(command[i]))) || !std::filesystem::exists(command[i], error)) {
      continue;
    }
    const std::filesystem::path absolute = std::filesystem::absolute(command[i], error);
    return fail(
        Errc::policy_invalid,
        text::cat(text::printable(command[i], 300), " is a relative path, and the server starts in its private home"),
        {},
        text::cat("write ", text::printable(absolute.lexically_normal().string(), 4096),
                  ", here and in the client's config"));
  }
  return {};
}

std::vector<std::string> command_warnings(const InitRequest& request) {
  std::vector<std::string> out;
  for (const clients::Danger danger : clients::dangers(request.command)) {
    out.push_back(text::cat("the command ", clients::phrase(danger)));
  }
  const auto package = clients::detect(request.command);
  const std::optional<ImageCommand> image = image_of(request.command, out);
  const Result<PackageCommand> stands = stands_for(request.command);
  if (image) {
    for (const sandbox::ContainerVariable& variable : image->asked.variables) {
      if (variable.value) {
        warn_of_secret(variable.name, text::cat("write -e ", text::printable(variable.name, 80), " without a value"),
                       out);
      }
    }
  } else if (stands) {
    for (const auto& [name, value] : stands->set) {
      warn_of_secret(name, "take it out of the command", out);
    }
  }
  if (package && (image || stands)) {
    out.push_back(text::cat(package->runner, ' ', text::printable(package->written, 300),
                            " is fetched once, by mcp-cordon install or the first review, and started from there"));
  } else if (package) {
    warn_of_package(*package, stands.error(), out);
  } else if (const std::string fetched = unseen_fetch(request.command); !fetched.empty()) {
    out.push_back(fetched);
  }
  const bool placeholder = std::ranges::any_of(request.command, clients::has_placeholder);
  if (placeholder) {
    out.emplace_back(
        "the client fills in ${NAME} and its like in the command, so the policy takes the command from the client");
  }
  const std::string program = request.command.empty() ? std::string() : request.command.front();
  if (!placeholder && program.find('/') != std::string::npos && !program.starts_with('/')) {
    out.push_back(
        text::cat(text::printable(program, 300),
                  " is looked for in no working directory: write its absolute path, here and in the client's config"));
  }
  for (std::size_t i = 1; !placeholder && !package && i < request.command.size(); ++i) {
    if (relative_file(request.command[i])) {
      out.push_back(
          text::cat(text::printable(request.command[i], 300),
                    " is a relative path, and the server starts in its private home: write the absolute path, "
                    "here and in the client's config"));
    }
  }
  if (!request.cwd.empty()) {
    out.push_back(text::cat("the working directory ", text::printable(request.cwd, 300),
                            " is not used: write absolute paths, or launch.cwd in the policy"));
  }
  return out;
}

Result<NewPolicy> prepare_policy(const Caller& caller, const InitRequest& request) {
  if (!valid_name(request.name)) {
    return fail(Errc::policy_invalid, text::cat("'", text::printable(request.name, 100), "' is no name of a policy"),
                {}, "names match [A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  }
  if (request.command.empty() || request.command.front().empty()) {
    return fail(Errc::policy_invalid, "there is no command", {}, "write it behind --");
  }
  clients::Starter starter;
  starter.server = request.name;
  starter.command = request.command;
  starter.package = clients::detect(request.command);
  if (const auto stands = stands_for(request.command)) {
    starter.source_kind = policy::name(stands->source.kind);
    starter.source = policy::spelled(stands->source);
    starter.source_command = stands->command;
    starter.set = stands->set;
  }
  starter.environment = request.environment;
  std::erase_if(starter.environment, [&](const std::string& name) {
    return std::ranges::any_of(starter.set, [&](const auto& one) { return one.first == name; });
  });
  starter.environment_file = request.environment_file;
  NewPolicy out;
  out.name = request.name;
  out.path = text::cat(caller.config_folder(), "/policies/", request.name, ".yaml");
  out.warnings = command_warnings(request);
  starter.paths = named_paths(caller, starter);
  std::vector<std::string> unused;
  if (const auto image = image_of(request.command, unused)) {
    take_over(caller, *image, starter);
  }
  const std::string_view known = clients::shipped_policy_for(request.command);
  if (const std::string shipped = shipped_text(caller, known); !shipped.empty()) {
    Result<std::string> text = clients::starter_from_shipped(starter, shipped);
    if (!text) {
      return std::unexpected(text.error());
    }
    out.text = std::move(*text);
    out.shipped = known;
  } else {
    out.text = clients::starter_policy(starter);
  }
  const Result<policy::Policy> made = formats::read_policy(out.text, out.path);
  for (const std::string& name : made ? request.environment : std::vector<std::string>()) {
    if (made->launch.set.contains(name)) {
      out.warnings.push_back(text::cat(
          "the policy sets ", text::printable(name, 100), " itself (launch.environment.set), to ",
          text::printable(made->launch.set.at(name), 300), ": what the client's config names there is not used"));
    }
  }
  const std::vector<Error> faults = formats::check_policy(out.text, out.path);
  if (!faults.empty()) {
    return fail(Errc::policy_invalid, text::cat("no policy can hold this command: ", faults.front().detail), {},
                faults.front().remedy);
  }
  return out;
}

Status store_policy(const Caller& caller, const NewPolicy& policy) {
  if (const Result<std::string> folder = run::ensure_private_folder(caller.config_folder() + "/policies"); !folder) {
    return std::unexpected(folder.error());
  }
  return run::write_atomic(policy.path, policy.text, {run::Replace::never, 0600});
}

}  // namespace cordon::app
