// SPDX-License-Identifier: Apache-2.0
#pragma once
// cli: arguments in, use cases of app called, their texts printed, exit statuses given. One file per subcommand.
// Must not: hold logic worth a unit test. A subcommand is a Command class and one CommandEntry in cmd_<name>.cpp; its
// name in meson.build puts it into the generated table. Start reading here, then main.cpp.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"

namespace cordon::cli {

inline constexpr int kFine = 0;
inline constexpr int kFinding = 1;
inline constexpr int kUsage = 2;

// What a subcommand takes. Declared as data, so that parse.cpp alone knows the argument library.
struct Option {
  enum class Kind : std::uint8_t { flag, value, values, positional, positionals, unsupported_flag, unsupported_value };
  Kind kind = Kind::flag;
  std::string name = {};   // "--read-only" or "-o,--output"; a positional's in capitals
  std::string takes = {};  // what a value is, for --help: FILE
  std::string help = {};
  bool* flag = nullptr;
  std::string* value = nullptr;
  std::vector<std::string>* values = nullptr;
};

class Options {
 public:
  void flag(std::string name, bool& target, std::string help);
  void value(std::string name, std::string takes, std::string& target, std::string help);
  // May be given several times, each with one value; an empty value is one too.
  void values(std::string name, std::string takes, std::vector<std::string>& target, std::string help);
  void positional(std::string name, std::string& target, std::string help);
  void positionals(std::string name, std::vector<std::string>& target, std::string help);
  // A flag of the contract that this version does not enforce: refused, never ignored, and not shown in --help.
  void unsupported_flag(std::string name);
  void unsupported_value(std::string name);
  std::span<const Option> all() const { return options_; }

 private:
  std::vector<Option> options_ = {};
};

struct Invocation {
  app::Caller caller = {};
  bool has_separator = false;           // "--" stood on the command line
  std::vector<std::string> after = {};  // what followed it
};

class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;
  // Called once, before parsing. Targets are members, so they live as long as the command.
  virtual void declare(Options& options) = 0;
  // The exit status.
  virtual int execute(const Invocation& invocation) = 0;
};

struct CommandEntry {
  std::string_view name;
  std::string_view summary;    // one line for --help
  bool takes_command = false;  // words after "--" are a server's command line
  std::unique_ptr<Command> (*make)() = nullptr;
};

// In the order of --help. Generated from meson.build.
std::span<const CommandEntry* const> commands();

template <typename T>
std::unique_ptr<Command> make_command() {
  return std::make_unique<T>();
}

}  // namespace cordon::cli
