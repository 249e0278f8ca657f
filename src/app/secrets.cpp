// SPDX-License-Identifier: Apache-2.0
#include "app/secrets.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "app/command_output.hpp"
#include "app/expand.hpp"
#include "app/named_files.hpp"
#include "app/way.hpp"
#include "base/text.hpp"
#include "run/files.hpp"
#include "run/trust.hpp"

namespace cordon::app {
namespace {

Result<std::string> from_environment(const policy::Secret& secret, const Caller& caller) {
  const auto found = caller.environment.find(secret.from);
  if (found == caller.environment.end()) {
    return fail(Errc::launch_failed, text::cat("the environment variable ", secret.from, " is not set"), {},
                "set it in the client's configuration of this server");
  }
  return found->second;
}

// The file at the end of `way`, when nobody else can change it or where the way leads.
Result<run::OpenedFile> trusted_end(const std::vector<std::string>& way, const Caller& caller) {
  for (const std::string& step : way) {
    if (const auto place = run::walk_to_file(step, caller.uid); !place) {
      return std::unexpected(place.error());
    }
    struct stat info{};
    if (::lstat(step.c_str(), &info) != 0) {
      return fail(Errc::file_unreadable, errno_text("lstat", errno), text::printable(step));
    }
    if (info.st_uid != 0 && info.st_uid != caller.uid) {
      return fail(
          Errc::file_untrusted, text::cat("belongs to user ", info.st_uid, ", not to root or to user ", caller.uid),
          text::printable(step), text::cat("if you trust it: chown -h ", caller.uid, ' ', run::shell_word(step)));
    }
  }
  constexpr std::uint64_t kMaxProgramBytes = 1'000'000'000;
  return run::open_trusted(way.back(), {.max_bytes = kMaxProgramBytes, .user = caller.uid});
}

// It runs outside of every sandbox, with our rights, so it is judged like a policy, and so is what it is told to run.
// Gives the path without symlinks: what was judged is what is started.
Result<std::string> trusted_program(const std::vector<std::string>& argv, const Caller& caller) {
  Result<run::OpenedFile> program = trusted_end(way_to(argv[0]), caller);
  if (!program) {
    return std::unexpected(program.error());
  }
  const std::vector<sandbox::Mount> none;
  std::vector<NamedFile> files = interpreters(argv[0], {none, {}, std::string(kSecretPath)});
  for (NamedFile& file : named_files(argv, {none, {}, {}})) {
    files.push_back(std::move(file));
  }
  for (const NamedFile& file : files) {
    if (const auto trusted = trusted_end(file.way, caller); !trusted) {
      return std::unexpected(trusted.error());
    }
  }
  return std::move(program->path);
}

// The words of a command, the first of which is what may be started.
Result<std::vector<std::string>> trusted_command(const policy::Secret& secret, const Caller& caller,
                                                 std::string& program) {
  if (secret.command.empty()) {
    return fail(Errc::policy_invalid, "from_command is empty");
  }
  std::vector<std::string> argv = secret.command;
  argv[0] = system_program(secret.command[0]);
  if (argv[0].empty()) {
    return fail(Errc::launch_failed,
                text::cat("no program '", text::printable(secret.command[0]), "' in the system directories"), {},
                "write its absolute path");
  }
  Result<std::string> found = trusted_program(argv, caller);
  if (!found) {
    return std::unexpected(found.error());
  }
  program = std::move(*found);
  return argv;
}

Result<std::string> from_command(const policy::Secret& secret, const Caller& caller) {
  CommandRequest request;
  Result<std::vector<std::string>> argv = trusted_command(secret, caller, request.program);
  if (!argv) {
    return std::unexpected(argv.error());
  }
  request.argv = std::move(*argv);
  // Only what a password manager needs to find its data; nothing of the client's.
  request.environment = {text::cat("PATH=", kSecretPath), "HOME=" + caller.home};
  return command_output(request);
}

Result<std::string> value_of(const policy::Secret& secret, const Caller& caller, const ReadTrusted& read_trusted) {
  switch (secret.source) {
    case policy::Secret::Source::env:
      return from_environment(secret, caller);
    case policy::Secret::Source::file: {
      const Result<std::string> path = expand_home(secret.from, caller.home);
      return path ? read_trusted(*path) : path;
    }
    case policy::Secret::Source::command:
      return from_command(secret, caller);
  }
  return fail(Errc::internal, "unknown source of a secret");
}

void cut_line_ends(std::string& value) {
  while (value.ends_with('\n') || value.ends_with('\r')) {
    value.pop_back();
  }
}

// What every value must be, as the server is to get it.
Status usable(std::string& value, const policy::Secret& secret) {
  if (secret.source != policy::Secret::Source::env) {
    cut_line_ends(value);
  }
  if (value.empty()) {
    return fail(Errc::launch_failed, "its value is empty", {}, "check where the policy takes it from");
  }
  if (value.find('\0') != std::string::npos) {
    return fail(Errc::launch_failed, "its value holds a NUL byte", {}, "check where the policy takes it from");
  }
  return {};
}

// With the secret's name in front of the place.
std::unexpected<Error> of_secret(std::string_view name, Error error) {
  const std::string where = text::cat("secret ", name);
  error.where = error.where.empty() ? where : text::cat(where, ": ", error.where);
  return std::unexpected(std::move(error));
}

}  // namespace

ReadTrusted trusted_secret_files() {
  return [](const std::string& path) -> Result<std::string> {
    constexpr std::uint64_t kMaxSecretBytes = 65'536;
    Result<run::TrustedFile> file = run::read_trusted(path, {.max_bytes = kMaxSecretBytes});
    if (!file) {
      return std::unexpected(file.error());
    }
    return std::move(file->content);
  };
}

Result<std::map<std::string, std::string>> read_secrets(const policy::Policy& policy, const Caller& caller,
                                                        const ReadTrusted& read_trusted) {
  std::map<std::string, std::string> out;
  for (const auto& [name, secret] : policy.launch.secrets) {
    Result<std::string> value = value_of(secret, caller, read_trusted);
    if (!value) {
      return of_secret(name, std::move(value.error()));
    }
    if (Status fine = usable(*value, secret); !fine) {
      return of_secret(name, std::move(fine.error()));
    }
    out.emplace(name, std::move(*value));
  }
  return out;
}

Status look_at_secret(std::string_view name, const policy::Secret& secret, const Caller& caller,
                      const ReadTrusted& read_trusted) {
  Status looked;
  if (secret.source == policy::Secret::Source::file) {
    Result<std::string> value = value_of(secret, caller, read_trusted);
    looked = value ? usable(*value, secret) : std::unexpected(std::move(value.error()));
  } else if (secret.source == policy::Secret::Source::command) {
    std::string program;
    if (const auto argv = trusted_command(secret, caller, program); !argv) {
      looked = std::unexpected(argv.error());
    }
  }
  return looked ? looked : of_secret(name, std::move(looked.error()));
}

}  // namespace cordon::app
